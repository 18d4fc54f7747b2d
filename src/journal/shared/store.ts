/**
 * The port of the shared store: a few statements, each of which ends whole or not at all. Owns the words in which a store answers; what follows
 * from an answer is the shipper's and the lease's. Two stores implement it: MariaDB (mariadb.ts), and one in memory with faults (memory.ts).
 *
 * Nothing here rests on a fresh read. Who wins is decided by the primary key of `entries` and by the one row of `tenure`.
 */
import type { KnownDaemon } from '../../domain/tenure.ts'

/** An entry as it is stored. `body`: the exact text that is hashed (chain.ts). */
export interface SharedRow {
  seq: number
  hash: string
  body: string
}

/** The one row that keeps time between daemons. Truth is in the entries alone. */
export interface TenureRow {
  epoch: number
  beat: number
  /** The identity of the daemon that holds it; empty: free. */
  holder: string
  /** The entry format that its writer uses: a daemon that does not know it must not take over. */
  format: number
  cloud: string
}

export interface Look {
  tenure: TenureRow
  /** Entries after the one that was asked for, in order and without holes. */
  rows: SharedRow[]
  /** The newest sequence that this node has; 0 when there is none. */
  newest: number
}

export type DaemonRow = Omit<KnownDaemon, 'present'> & {
  /** Counts its writes: who reads it sees by its own clock whether that daemon goes on. */
  beat: number
}

/**
 * `inserted`: all of them. `taken`: one of these sequences exists already. `nothing`: the entry before them is not there, so none was written.
 */
export type Inserted = 'inserted' | 'taken' | 'nothing'

/** Every call ends within the store's own time limit. Throws StoreTrouble alone. */
export interface SharedStore {
  /** One statement for all `rows`, written only where the entry `after` them is there with that hash (`seq` 0: none is needed). */
  insert(after: { seq: number; hash: string }, rows: readonly SharedRow[]): Promise<Inserted>
  /** Raises the beat of our own tenure; false when the row is not ours any more. */
  renew(epoch: number, holder: string): Promise<boolean>
  /** Takes the tenure from exactly the state that was seen; false when that is over. */
  take(seen: Pick<TenureRow, 'epoch' | 'beat'>, next: Pick<TenureRow, 'epoch' | 'holder' | 'format'>): Promise<boolean>
  /** Frees the tenure; false when the row is not ours any more. */
  release(epoch: number, holder: string): Promise<boolean>
  /** The tenure, and at most `limit` entries after `seq`. */
  look(seq: number, limit: number): Promise<Look>
  /** The hash of an entry as all nodes agree (a causal read); null when there is none. */
  hashAt(seq: number): Promise<string | null>
  /** Writes this daemon's own row. */
  report(row: DaemonRow): Promise<void>
  daemons(): Promise<DaemonRow[]>
  close(): Promise<void>
}

/**
 * Why a statement failed. `again`: it may work on another node or later. `refused`: the account or the schema does not allow it, and a person
 * is needed; it is tried again all the same, for rights are granted while daemons run.
 */
export class StoreTrouble extends Error {
  readonly kind: 'again' | 'refused'
  /** False: the statement cannot have been executed and cannot be later. */
  readonly maybeDone: boolean
  /** A database server said so: it is there, whether or not it serves. */
  readonly answered: boolean

  constructor(
    kind: 'again' | 'refused',
    message: string,
    options: { maybeDone: boolean; answered?: boolean; cause?: unknown },
  ) {
    super(message, { cause: options.cause })
    this.name = 'StoreTrouble'
    this.kind = kind
    this.maybeDone = options.maybeDone
    this.answered = options.answered ?? kind === 'refused'
  }
}

/** Who may take over must know the format of what it goes on with. Raised when an older release would misread an entry. */
export const entryFormat = 1
