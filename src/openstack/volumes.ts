/** Cinder: whether volumes are encrypted, because such an instance is evacuated with its own project's token (docs/nova.md §5). */
import { z } from 'zod'
import type { CallOptions } from '../domain/cloud.ts'
import { ensureError, type ErrorCode, type LifeboatError } from '../domain/errors.ts'
import type { Volume } from '../domain/instance.ts'
import { calls } from './call-table.ts'
import { allPages, pageSize } from './paging.ts'
import type { Session } from './session.ts'

/** From here on one listing is cheaper than asking one by one. */
const many = 64
/** Asked at once. More would make a recovery compete with the cloud's own use of Cinder. */
const atOnce = 6

const volume = z.object({ id: z.string(), encrypted: z.boolean() })
const volumeAnswer = z.object({ volume })
const volumesAnswer = z.object({ volumes: z.array(volume), volumes_links: z.array(z.unknown()).optional() })

/** What Cinder says of one volume. Any other failure is of Cinder itself, and would be the same for each. */
const ofOne: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'API_FAULT',
  'API_MALFORMED',
  'API_REFUSED',
  'AUTH_FORBIDDEN',
])

/**
 * A volume is missing from the map when Cinder does not know its id, or cannot tell of this one: it counts as encrypted then, and says nothing of
 * the others. Throws where Cinder does not answer, and where it can tell of none.
 */
export async function getVolumes(
  session: Session,
  ids: readonly string[],
  options?: CallOptions,
): Promise<Map<string, Volume>> {
  const wanted = new Set(ids)
  const found = wanted.size >= many ? await listedIfAny(session, wanted, options) : new Map<string, Volume>()
  // What the listing did not show (a policy may narrow it without saying so) is asked for by id.
  const rest = [...wanted].filter((id) => !found.has(id))
  const untold: LifeboatError[] = []
  let told = found.size
  const worker = async (): Promise<void> => {
    for (let id = rest.shift(); id !== undefined; id = rest.shift()) {
      try {
        const one = await getVolume(session, id, options)
        told += 1
        if (one !== null) found.set(id, one)
      } catch (thrown) {
        const error = ensureError(thrown)
        untold.push(error)
        // Cinder tells of none: three hundred more would not be told either, and an evacuation waits.
        const tellsOfNone = told === 0 && untold.length >= atOnce
        if (!ofOne.has(error.code) || tellsOfNone) {
          rest.length = 0
          throw error
        }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, rest.length) }, worker))
  const [first] = untold
  if (first !== undefined && told === 0) throw first
  return found
}

/** One page of the listing that fails, of a cloud with tens of thousands of volumes, says nothing of those that are asked for. */
async function listedIfAny(
  session: Session,
  wanted: ReadonlySet<string>,
  options?: CallOptions,
): Promise<Map<string, Volume>> {
  try {
    return await listed(session, wanted, options)
  } catch (thrown) {
    if (options?.signal?.aborted === true) throw thrown
    return new Map()
  }
}

async function getVolume(session: Session, id: string, options?: CallOptions): Promise<Volume | null> {
  try {
    const { data } = await session.read({ call: calls.getVolume, ids: { id } }, volumeAnswer, options)
    return { id, encrypted: data.volume.encrypted }
  } catch (thrown) {
    if (ensureError(thrown).code === 'NOT_FOUND') return null
    throw thrown
  }
}

async function listed(
  session: Session,
  wanted: ReadonlySet<string>,
  options?: CallOptions,
): Promise<Map<string, Volume>> {
  const fetch = async (marker?: string) => {
    const query = { all_tenants: '1', limit: String(pageSize), ...(marker === undefined ? {} : { marker }) }
    const { data } = await session.read({ call: calls.listVolumes, query }, volumesAnswer, options)
    return { items: data.volumes, linked: (data.volumes_links ?? []).length > 0, marker: data.volumes.at(-1)?.id }
  }
  const all = await allPages(calls.listVolumes.route, fetch, (item) => item.id)
  return new Map(all.filter(({ id }) => wanted.has(id)).map((item) => [item.id, item]))
}
