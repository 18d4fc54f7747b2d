/** The id of an incident as an argument. An unset variable of a script must not ask for the incident without a name. */
import { InvalidArgumentError } from 'commander'
import { LifeboatError } from '../../domain/errors.ts'
import type { IncidentFilter, IncidentSummary } from '../../domain/operations.ts'

/** Stands for the id of the newest incident where one is only read: an order names what it is about. */
export const latest = 'latest'

/** For the help of commands that only read. */
export const idOrName = `its id or the beginning of it, ${latest}, or a host (its newest incident)`

/** 20261122T092824Z-cmp13, and 20261122T09: how the daemon names incidents, and how such a name begins. */
const wholeId = /^\d{8}T\d{6}Z-./
const beginning = /^\d{4,8}(T|$)/

/** Incidents whose ids are compared with a beginning: a month of a restless cloud. An older one needs its whole id. */
const searched = 1000

export function incidentId(given: string): string {
  if (given.trim() === '')
    throw new InvalidArgumentError('It must not be empty: `lifeboat incident list` shows the ids.')
  return given.trim()
}

/** Named in a refusal. */
const offered = 10

interface Incidents {
  incidents(filter: IncidentFilter): Promise<IncidentSummary[]>
}

/** Throws NOT_FOUND while there is none. */
export async function newestOf(record: Incidents): Promise<string> {
  const [newest] = await record.incidents({ limit: 1 })
  if (newest === undefined) throw new LifeboatError('NOT_FOUND', 'There is no incident yet')
  return newest.id
}

/** The id that is meant; what fits nothing is taken for an id. Throws USAGE with the ids that begin so if there are several. */
export async function idMeant(record: Incidents, given: string): Promise<string> {
  if (given === latest) return newestOf(record)
  if (wholeId.test(given)) return given
  if (!beginning.test(given)) {
    const [newest] = await record.incidents({ host: given, limit: 1 })
    return newest?.id ?? given
  }
  const found = (await record.incidents({ limit: searched })).map(({ id }) => id).filter((id) => id.startsWith(given))
  const [only, ...others] = found
  if (others.length > 0)
    throw new LifeboatError('USAGE', `The ids of ${found.length} incidents begin with ${given}: give more of it`, {
      details: { problems: found.slice(0, offered) },
    })
  return only ?? given
}
