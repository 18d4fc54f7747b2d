/** Cinder: whether volumes are encrypted, because such an instance is evacuated with its own project's token (docs/nova.md §5). */
import { z } from 'zod'
import type { CallOptions } from '../domain/cloud.ts'
import { ensureError } from '../domain/errors.ts'
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

/** A volume is missing from the map only when Cinder itself said that it does not know its id. */
export async function getVolumes(
  session: Session,
  ids: readonly string[],
  options?: CallOptions,
): Promise<Map<string, Volume>> {
  const wanted = new Set(ids)
  const found = wanted.size >= many ? await listed(session, wanted, options) : new Map<string, Volume>()
  // What the listing did not show (a policy may narrow it without saying so) is asked for by id.
  const rest = [...wanted].filter((id) => !found.has(id))
  const worker = async (): Promise<void> => {
    for (let id = rest.shift(); id !== undefined; id = rest.shift()) {
      const one = await getVolume(session, id, options)
      if (one !== null) found.set(id, one)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, rest.length) }, worker))
  return found
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
