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

export interface VerifiedChain {
  entries: number
  head: string
  /** The first entry that does not fit or is missing, or null. */
  broken: { seq: number; problem: string } | null
  /** What the head that is kept outside of the journal says of it: the journal alone does not know whether its end was cut off. */
  keptHead?: 'agrees' | 'contradicts' | 'missing' | 'unreadable'
}

export interface JournalReader {
  read(filter?: EntryFilter): Entry[]
  /** Walks the hash chain. */
  verify(): VerifiedChain
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
