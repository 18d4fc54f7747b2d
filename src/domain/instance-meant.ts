/** Which instance people mean: they give its name or its UUID. Pure. */
import { LifeboatError } from './errors.ts'
import type { InstanceId } from './instance.ts'
import type { FoundInstance } from './review.ts'

/** How many instances a refusal names. Fewer: the one that is meant may be missing. More: nobody reads them. */
export const offered = 10

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * For entries of the journal: a UUID is taken as it is, since reports may be on record of an instance that no incident is about. Throws as
 * `instanceMeant` does for a name.
 */
export function instanceInJournal(
  wanted: string,
  find: (text: string, limit: number) => readonly FoundInstance[],
): InstanceId {
  return uuid.test(wanted) ? wanted.toLowerCase() : instanceMeant(find(wanted, offered), wanted)
}

/**
 * The UUID that a name or a UUID means. Throws NOT_FOUND with those that come close, USAGE for a name that several have.
 *
 * @param found what is on record of a part of it
 */
export function instanceMeant(found: readonly FoundInstance[], wanted: string): InstanceId {
  const same = (text: string): boolean => text.toLowerCase() === wanted.toLowerCase()
  const exact = found.filter(({ id, name }) => same(id) || same(name))
  const problems = (exact.length > 1 ? exact : found).map(
    ({ id, name, host, openedAt }) => `${id}  ${name}, on ${host} when that failed (${openedAt})`,
  )
  const [only] = exact
  if (exact.length > 1)
    throw new LifeboatError('USAGE', `Several instances are named ${wanted}: give a UUID`, { details: { problems } })
  if (only !== undefined) return only.id
  const close = found.length === 0 ? '' : '; these come close'
  throw new LifeboatError('NOT_FOUND', `No incident is about an instance ${wanted}${close}`, { details: { problems } })
}
