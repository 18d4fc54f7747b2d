/** The journal port: append, read, lease. Narrow on purpose, so that a replicated store can stand behind it later. */
import type { Entry, EntryKind, IncidentId, NewEntry } from './entry.ts'
import type { InstanceId } from './instance.ts'

export interface EntryFilter {
  incident?: IncidentId
  instance?: InstanceId
  host?: string
  kinds?: EntryKind[]
  /** Entries with a greater sequence. */
  after?: number
  /** Entries with a smaller sequence. */
  before?: number
  actor?: string
  /** ISO times of our wall clock, the first included, the second not. */
  since?: string
  until?: string
  limit?: number
  /** Newest first. */
  newestFirst?: boolean
}

export interface JournalReader {
  read(filter?: EntryFilter): Entry[]
  /** Walks the hash chain. Reports the first entry that does not fit, or null. */
  verify(): { entries: number; head: string; broken: { seq: number; problem: string } | null }
  close(): void
}

export interface Journal extends JournalReader {
  /**
   * Writes entries in one transaction; durable when it returns (law L2). Throws JOURNAL_UNAVAILABLE when it cannot:
   * then nothing was written and nothing may be done. Without entries it only finds out whether it could.
   */
  append(entries: NewEntry[]): Entry[]
  /** Every entry that is appended from now on, in order. */
  onAppend(listen: (entry: Entry) => void): void
}
