/** What a tenure is made of, and what it tells of itself. Types only. */
import type { Clock } from '../../domain/clock.ts'
import type { Entry } from '../../domain/entry.ts'
import type { LifeboatError } from '../../domain/errors.ts'
import type { KnownDaemon, TenureState } from '../../domain/tenure.ts'
import type { EntryRow } from '../chain.ts'
import type { JournalWriter } from '../journal.ts'
import type { Identity } from './identity.ts'
import type { DaemonRow, SharedStore } from './store.ts'

export interface TenureParts {
  store: SharedStore
  copy: Pick<JournalWriter, 'head' | 'hashAt' | 'rows' | 'read'>
  clock: Clock
  identity: Identity
  leaseMs: number
  cloud: string
  about: () => Pick<DaemonRow, 'name' | 'address' | 'version' | 'mode' | 'configDigest' | 'goodPollAgeMs'>
  /** Rows that others wrote, in order: they go into the copy. Throws JOURNAL_UNAVAILABLE, JOURNAL_CORRUPT. */
  pulled: (rows: readonly EntryRow[]) => Entry[]
  /** Rows of ours that are durable now. */
  acknowledged: (rows: readonly EntryRow[]) => void
  told: (event: TenureEvent) => void
  /** It is active and should not be: the process is to stop in order and to release the tenure. */
  shouldHandOver: (why: string) => void
}

export type TenureEvent =
  | { kind: 'state'; state: TenureState; why: string }
  | { kind: 'trouble'; problem: LifeboatError | null }
  | { kind: 'put-back'; entries: number }
  /** Something that was unanswered when the lease was over could not be cut off: it may still arrive. */
  | { kind: 'not-cut-off'; problem: LifeboatError }
  /** Another daemon runs under this one's name; null: not any more. */
  | { kind: 'namesake'; daemon: KnownDaemon | null }
