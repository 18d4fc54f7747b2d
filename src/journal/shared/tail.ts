/**
 * The newest entries of a shared journal that its copy does not hold yet: appended here and not durable, or durable while the copy's disk is in
 * trouble. Owns how they show in what is read, so that nobody who reads sees a difference.
 */
import type { Entry, IncidentId } from '../../domain/entry.ts'
import type { InstanceId } from '../../domain/instance.ts'
import type { EntryFilter, JournalReader } from '../../domain/journal.ts'
import type { EntryRow } from '../chain.ts'

export interface TailEntry {
  row: EntryRow
  entry: Entry
}

/** What the copy has, with the tail after it. */
export function readWithTail(
  copy: Pick<JournalReader, 'read'>,
  tail: readonly TailEntry[],
  filter: EntryFilter = {},
): Entry[] {
  const ofCopy = copy.read(filter)
  if (tail.length === 0) return ofCopy
  const { limit = Infinity, allOfInstance } = filter
  const crashes = allOfInstance === undefined ? [] : crashesOf(allOfInstance, copy, tail)
  const found = tail.filter(({ entry }) => fits(entry, filter, crashes)).map(({ entry }) => entry)
  const all = filter.newestFirst === true ? [...found.toReversed(), ...ofCopy] : [...ofCopy, ...found]
  return all.slice(0, limit)
}

/** The incidents of an instance's own crashes. */
function crashesOf(instance: InstanceId, copy: Pick<JournalReader, 'read'>, tail: readonly TailEntry[]): IncidentId[] {
  const crashes = readWithTail(copy, tail, { instance, kinds: ['instance.failed'] })
  return crashes.flatMap(({ incident }) => incident ?? [])
}

function fits(entry: Entry, filter: EntryFilter, crashes: readonly IncidentId[]): boolean {
  const { incident, instance, allOfInstance, host, kinds, after, before, actor, since, until } = filter
  return (
    (incident === undefined || entry.incident === incident) &&
    (instance === undefined || entry.instance === instance) &&
    (allOfInstance === undefined || entry.instance === allOfInstance || crashes.includes(entry.incident ?? '')) &&
    (host === undefined || entry.host === host) &&
    (kinds === undefined || kinds.includes(entry.kind)) &&
    (after === undefined || entry.seq > after) &&
    (before === undefined || entry.seq < before) &&
    (actor === undefined || entry.actor === actor) &&
    (since === undefined || entry.at >= since) &&
    (until === undefined || entry.at < until)
  )
}
