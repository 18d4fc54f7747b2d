/**
 * The newest entries of a shared journal that its copy does not hold yet: appended here and not durable, or durable while the copy's disk is in
 * trouble. Owns how they show in what is read, so that nobody who reads sees a difference.
 */
import type { Entry } from '../../domain/entry.ts'
import type { EntryFilter } from '../../domain/journal.ts'
import type { EntryRow } from '../chain.ts'

export interface TailEntry {
  row: EntryRow
  entry: Entry
}

/** What `read` gives of the copy, with the tail after it. */
export function withTail(ofCopy: Entry[], tail: readonly TailEntry[], filter: EntryFilter = {}): Entry[] {
  if (tail.length === 0) return ofCopy
  const { limit = Infinity } = filter
  const found = tail.filter(({ entry }) => fits(entry, filter)).map(({ entry }) => entry)
  const all = filter.newestFirst === true ? [...found.toReversed(), ...ofCopy] : [...ofCopy, ...found]
  return all.slice(0, limit)
}

function fits(entry: Entry, filter: EntryFilter): boolean {
  const { incident, instance, host, kinds, after, before, actor, since, until } = filter
  return (
    (incident === undefined || entry.incident === incident) &&
    (instance === undefined || entry.instance === instance) &&
    (host === undefined || entry.host === host) &&
    (kinds === undefined || kinds.includes(entry.kind)) &&
    (after === undefined || entry.seq > after) &&
    (before === undefined || entry.seq < before) &&
    (actor === undefined || entry.actor === actor) &&
    (since === undefined || entry.at >= since) &&
    (until === undefined || entry.at < until)
  )
}
