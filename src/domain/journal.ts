/** The journal port: append and read. One daemon's own file stands behind it, or a store that several share. */
import type { Entry, EntryKind, IncidentId, NewEntry } from './entry.ts'
import type { InstanceId } from './instance.ts'

export interface EntryFilter {
  incident?: IncidentId
  instance?: InstanceId
  /** As `instance`, and every entry of the incidents of its own crashes, such as their holds and their ends. */
  allOfInstance?: InstanceId
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
   * Writes entries in one transaction; durable when it returns, or before anything that rests on it leaves (law L2). Throws JOURNAL_UNAVAILABLE
   * when it cannot, and NOT_ACTIVE where another daemon writes: then nothing was written and nothing may be done. Without entries it only finds
   * out whether it could.
   */
  append(entries: NewEntry[]): Entry[]
  /** Every entry that is appended from now on, in order. */
  onAppend(listen: (entry: Entry) => void): void
  /**
   * The same, once each is durable. A shared journal appends at once and makes durable behind the caller (exits wait for it, domain/tenure.ts);
   * what people are told must not be taken back.
   */
  onDurable(listen: (entry: Entry) => void): void
}
