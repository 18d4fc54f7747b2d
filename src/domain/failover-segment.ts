/**
 * Failover segments as Masakari's API makes them: named groups of hosts in the journal, beside the segments of the configuration. They say
 * which hosts belong together and which hosts an order of a segment covers. Only the configuration says what protects a host.
 *
 * Pure: the records, folded from the journal.
 */
import type { Entry, Via } from './entry.ts'
import type { SegmentFields, SegmentHostFields } from './failover-words.ts'
import type { Scope } from './order.ts'
import type { HostName } from './service.ts'

interface Recorded {
  /** Rises, and is never used twice: clients page lists by it. */
  number: number
  uuid: string
  /** ISO, by our clock. */
  createdAt: string
  /** Null: not changed since. */
  updatedAt: string | null
}

export interface FailoverSegment extends SegmentFields, Recorded {}

export interface SegmentHost extends SegmentHostFields, Recorded {
  /** UUID of its segment. */
  segment: string
}

/** Who writes. */
export interface Writer {
  by: string
  via: Via | null
}

/** What the API of Masakari needs of the daemon to read and write segments. Every write is one entry or one batch of entries. */
export interface FailoverSegments {
  segments(): FailoverSegment[]
  hosts(): SegmentHost[]
  /** The UUID under which a host was last known, or null. */
  uuidOfHost(name: HostName): string | null
  /** Throws CONFLICT for a name that is taken. */
  createSegment(fields: SegmentFields, enabled: boolean, writer: Writer): FailoverSegment
  /** Throws NOT_FOUND, and CONFLICT for a name that is taken, and for a rename while a failure of one of its hosts is open. */
  updateSegment(uuid: string, change: Partial<SegmentFields> & { enabled?: boolean }, writer: Writer): FailoverSegment
  /** Also removes its hosts. Throws NOT_FOUND, and CONFLICT while a failure of one of them is open or an order given elsewhere covers it. */
  deleteSegment(uuid: string, writer: Writer): void
  /** Throws USAGE for a host that Nova does not list, CONFLICT for one that is in a segment, API_UNAVAILABLE before Nova was read. */
  addHost(segment: string, fields: SegmentHostFields, onMaintenance: boolean, writer: Writer): SegmentHost
  /** Throws as `updateSegment` and `addHost` do, and for a new name also as `removeHost` does. */
  updateHost(uuid: string, change: HostChange, writer: Writer): SegmentHost
  /** Throws NOT_FOUND, and CONFLICT while a failure of it is open or an order given elsewhere covers its segment. */
  removeHost(uuid: string, writer: Writer): void
  /** Orders maintenance of a segment, or ends it; also for a segment of the configuration. */
  enableSegment(name: string, enabled: boolean, writer: Writer): void
  /**
   * Orders maintenance of a host, or ends it and lets the host return if flags of ours keep it out. Throws CONFLICT if the
   * maintenance covers more than the host.
   */
  maintainHost(name: HostName, wanted: boolean, writer: Writer): void
  /**
   * Throws CONFLICT while the host or the segment is on maintenance by an order that was given elsewhere, and while a person keeps the host out:
   * a form may be older, and would end that unseen.
   */
  refuseUnseen(scope: Scope): void
}

export type HostChange = Partial<SegmentHostFields> & { onMaintenance?: boolean }

export interface FailoverRecords {
  /** By UUID, the oldest first. */
  segments: ReadonlyMap<string, FailoverSegment>
  hosts: ReadonlyMap<string, SegmentHost>
  /** UUIDs of hosts by name, including removed ones. */
  uuids: ReadonlyMap<HostName, string>
  /** The highest numbers ever given. */
  last: { segment: number; host: number }
}

export const noFailoverRecords: FailoverRecords = {
  segments: new Map(),
  hosts: new Map(),
  uuids: new Map(),
  last: { segment: 0, host: 0 },
}

/** The records after one more entry. */
export function withFailoverEntry(records: FailoverRecords, entry: Entry): FailoverRecords {
  const { last } = records
  if (entry.kind === 'segment.written') {
    const { number, uuid, after } = entry.data
    const segments = written(records.segments, uuid, after === null ? null : { number, uuid, ...after }, entry.at)
    return { ...records, segments, last: { ...last, segment: Math.max(last.segment, number) } }
  }
  if (entry.kind !== 'segment.host.written') return records
  const { number, uuid, segment, after } = entry.data
  const hosts = written(
    records.hosts,
    uuid,
    after === null ? null : { number, uuid, segment: segment.uuid, ...after },
    entry.at,
  )
  const uuids = after === null ? records.uuids : new Map(records.uuids).set(after.name, uuid)
  return { ...records, hosts, uuids, last: { ...last, host: Math.max(last.host, number) } }
}

function written<T extends Recorded>(
  known: ReadonlyMap<string, T>,
  uuid: string,
  after: Omit<T, 'createdAt' | 'updatedAt'> | null,
  at: string,
): Map<string, T> {
  const next = new Map(known)
  const before = known.get(uuid)
  if (after === null) next.delete(uuid)
  else
    next.set(uuid, { ...after, createdAt: before?.createdAt ?? at, updatedAt: before === undefined ? null : at } as T)
  return next
}
