/**
 * Reading a journal beside a running daemon. Never writes, never takes the lease, and blocks nobody: in WAL mode a reader
 * sees the last committed entries while the daemon goes on appending.
 */
import { existsSync, realpathSync } from 'node:fs'
import type Database from 'better-sqlite3'
import type { Entry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { EntryFilter, JournalReader, VerifiedChain } from '../domain/journal.ts'
import { openDatabase } from './database.ts'
import type { ChainState, EntryRow } from './chain.ts'
import { entryQueries } from './entries.ts'
import { journalFailure } from './failure.ts'
import { lostEnd, readKeptHead, type Head, type KeptHead } from './kept-head.ts'
import { instanceSearch, type FoundLine } from './instance-search.ts'
import { incidentListing, type IncidentLine, type IncidentQuery } from './listing.ts'
import { checkSchema } from './schema.ts'

/** Waiting for a lock: a reader meets one only while the writer opens or closes the journal. Too short: a spurious failure. */
export const readerBusyTimeoutMs = 2_000

export interface JournalView extends JournalReader {
  /** Entries one by one, oldest first, for exports that are too big to hold at once. */
  each(filter?: Omit<EntryFilter, 'newestFirst' | 'limit'>): Generator<Entry>
  incidents(query?: IncidentQuery): IncidentLine[]
  /** Instances of any incident by a part of their name or the beginning of their UUID, the best match first. */
  instances(text: string, limit: number): FoundLine[]
  /** As `verify`, without keeping the process from its work: `pause` is awaited between pieces. */
  verifyInPieces(pause: () => Promise<void>): Promise<VerifiedChain>
  /** The newest durable entry: its sequence (0 when there is none) and hash. */
  head(): Head
  /** Whether `incidents`, `instances` and `each` lack entries that are durable. Missing: never. */
  isBehind?(): boolean
  /** Null when there is no such entry. */
  hashAt(seq: number): string | null
  /** Rows after `seq` as they are stored, at most `limit`. */
  rows(seq: number, limit: number): EntryRow[]
}

/** Opens an existing journal read-only. Throws JOURNAL_UNAVAILABLE, JOURNAL_CORRUPT. */
export function openJournalReader(path: string, options: { busyTimeoutMs?: number } = {}): JournalView {
  if (!existsSync(path)) throw new LifeboatError('JOURNAL_UNAVAILABLE', `There is no journal at ${path}`)
  let db: Database.Database | null = null
  try {
    db = openDatabase(path, {
      readonly: true,
      fileMustExist: true,
      timeout: options.busyTimeoutMs ?? readerBusyTimeoutMs,
    })
    checkSchema(db)
    return journalView(db, realpathSync(path))
  } catch (thrown) {
    db?.close()
    throw journalFailure(thrown, path, 'open the journal')
  }
}

/** The reading half over any connection; the writer uses it too. `path`: the true one, beside which the head is kept. */
export function journalView(db: Database.Database, path: string): JournalView {
  const queries = entryQueries(db)
  const incidents = incidentListing(db)
  const instances = instanceSearch(db)
  const against = (kept: KeptHead, found: ChainState): VerifiedChain => {
    const lost = lostEnd(kept, queries)
    const keptHead = kept.state !== 'kept' ? kept.state : lost === null ? 'agrees' : 'contradicts'
    return { ...found, broken: found.broken ?? lost, keptHead }
  }
  const guarded = <T>(read: () => T): T => {
    try {
      return read()
    } catch (thrown) {
      throw journalFailure(thrown, db.name, 'read the journal')
    }
  }
  return {
    read: (filter) => guarded(() => queries.read(filter)),
    each: (filter) => queries.each(filter),
    head: () => guarded(() => queries.newest()),
    hashAt: (seq) => guarded(() => queries.hashAt(seq)),
    rows: (seq, limit) => guarded(() => queries.rows(seq, limit)),
    // The head first: the journal may grow meanwhile, the head must not.
    verify: () =>
      guarded(() => {
        const kept = readKeptHead(path)
        return against(kept, queries.verify())
      }),
    verifyInPieces: async (pause) => {
      try {
        const kept = readKeptHead(path)
        return against(kept, await queries.verifyInPieces(pause))
      } catch (thrown) {
        throw journalFailure(thrown, db.name, 'read the journal')
      }
    },
    incidents: (query) => guarded(() => incidents(query)),
    instances: (text, limit) => guarded(() => instances(text, limit)),
    close: () => db.close(),
  }
}
