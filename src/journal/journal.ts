/**
 * The writer's journal: one process appends, every commit is on disk when `append` returns (law L2). Owns the connection, the
 * lease and the order in which listeners hear of entries. Entries are never changed or deleted, by anybody.
 *
 * WAL with synchronous=FULL: each commit is one fsync of the write-ahead log, and then the head beside the journal is written
 * (kept-head.ts). A crash of the machine loses nothing that
 * `append` returned; it may keep an append that threw, which is harmless: an `intended` step is reconciled by reading the cloud.
 */
import { dirname, join } from 'node:path'
import type Database from 'better-sqlite3'
import type { Clock } from '../domain/clock.ts'
import type { Entry, NewEntry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import { openDatabase } from './database.ts'
import { backUp, backUpNow } from './backup.ts'
import { canonicalJson, wellFormed } from './canonical.ts'
import { entryHash, extendChain, type ChainState, type EntryRow } from './chain.ts'
import { derivation } from './derive.ts'
import { toEntry } from './entries.ts'
import { journalFailure, writeFailure } from './failure.ts'
import { keepHead, readKeptHead, type Head, type KeptHead } from './kept-head.ts'
import { takeLease, type Lease } from './lease.ts'
import { preparePlace } from './place.ts'
import { moveAside } from './put-aside.ts'
import { journalView, type JournalView } from './reader.ts'
import { sameFiles } from './same-files.ts'
import { lookOver, refuseLoneLog, refuseLostEnd, withoutHead } from './start-look.ts'
import { checkSchema, migrate, outdatedSchema } from './schema.ts'

/**
 * Waiting for a lock that someone holds with a tool of theirs (the sqlite3 shell). The whole daemon stands still meanwhile:
 * longer than a second would delay heartbeats; much shorter would fail an append that could have been written.
 */
const defaultBusyTimeoutMs = 1_000

/** The log is cut back to this after a checkpoint, so that one long-lived reader does not leave a huge file behind. */
const walSizeLimitBytes = 64 * 1024 * 1024

export interface JournalOptions {
  clock: Clock
  busyTimeoutMs?: number
  /**
   * Told what a listener threw: the entries are written all the same. Default: thrown outside of `append`, where it ends the
   * process rather than pass unseen.
   */
  onListenerError?: (thrown: unknown) => void
  /** Told of each attempt to append: how long it took, and why it failed or null. Must not throw. */
  onWrite?: (seen: { tookMs: number; problem: string | null }) => void
}

export interface JournalWriter extends Journal, JournalView {
  path: string
  /** A word for anyone who reads the log: the journal was opened, and nothing shows whether its end is missing. Else null. */
  warning: string | null
  /**
   * Writes entries that another daemon wrote, exactly as they are. Throws JOURNAL_UNAVAILABLE, and JOURNAL_CORRUPT when they do not follow the
   * newest entry: then none was written.
   */
  takeIn(rows: readonly EntryRow[]): Entry[]
  /** Makes the derived tables again from the entries, in one transaction. Returns how many entries were read. */
  rebuild(): number
  /** Copies the log into the database file and cuts the log back. False, at once, when a reader stands in the way. */
  checkpoint(): boolean
  /** A consistent copy of the whole journal, made while the daemon goes on. Throws JOURNAL_UNAVAILABLE. */
  backup(file: string): Promise<void>
  /** Closes it and moves it into a directory of its own. Gives its path there. Throws JOURNAL_UNAVAILABLE: then it is closed, and stands where it was. */
  putAside(): string
}

/**
 * Opens the journal for writing: makes it where there is none, takes the lease, brings the schema up to date and looks it over.
 * Throws JOURNAL_UNAVAILABLE (held by another daemon, newer schema, no access) or JOURNAL_CORRUPT.
 */
export function openJournal(path: string, options: JournalOptions): JournalWriter {
  const file = preparePlace(path)
  const at = new Date(options.clock.wall()).toISOString()
  const lease = takeLease(file, at)
  let db: Database.Database | null = null
  try {
    refuseLoneLog(file)
    const kept = readKeptHead(file)
    refuseLostEnd(file, kept, options.busyTimeoutMs ?? defaultBusyTimeoutMs)
    db = openDatabase(file, { timeout: options.busyTimeoutMs ?? defaultBusyTimeoutMs })
    prepareConnection(db)
    backUpOutdated(db, file)
    migrate(db, at)
    lookOver(db)
    return journalWriter(db, file, { lease, kept }, options)
  } catch (thrown) {
    db?.close()
    lease.release()
    throw journalFailure(thrown, file, 'open the journal')
  }
}

/** Beside the calendar's backups and under a name of its own, so that those are pruned without it. */
function backUpOutdated(db: Database.Database, file: string): void {
  const schema = outdatedSchema(db)
  if (schema !== null) backUpNow(db, join(dirname(file), 'backups', `journal-schema-${schema}.db`))
}

function prepareConnection(db: Database.Database): void {
  // Before anything is written: a stranger's database must stay as it is.
  if (db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined) checkSchema(db)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma(`journal_size_limit = ${walSizeLimitBytes}`)
  db.pragma('trusted_schema = OFF')
  db.pragma('cell_size_check = ON')
}

function journalWriter(
  db: Database.Database,
  path: string,
  { lease, kept }: { lease: Lease; kept: KeptHead },
  options: JournalOptions,
): JournalWriter {
  const view = journalView(db, path)
  const warning = withoutHead(path, kept, view.head().seq)
  const mustBeTheSameFiles = sameFiles(path)
  const busyTimeoutMs = options.busyTimeoutMs ?? defaultBusyTimeoutMs
  const tables = derivation(db)
  const announce = announcer(options.onListenerError ?? rethrowLater)
  const insert = db.prepare<[EntryRow]>(
    `INSERT INTO entries VALUES (@seq, @at, @actor, @incident, @host, @instance, @step, @kind, @data, @prev_hash, @hash)`,
  )
  const insertAll = (rows: readonly EntryRow[]): Entry[] =>
    rows.map((row) => {
      insert.run(row)
      const written = toEntry(row)
      tables.apply(written)
      return written
    })
  const appendAll = db.transaction((added: PreparedEntry[]): Entry[] =>
    insertAll(linkedRows(added, view.head(), new Date(options.clock.wall()).toISOString())),
  )
  const takeAll = db.transaction((rows: readonly EntryRow[]): Entry[] => {
    const { seq, hash } = view.head()
    const state: ChainState = { entries: seq, head: hash, broken: null }
    for (const row of rows) if (!extendChain(state, row)) throw doesNotFollow(path, state.broken)
    return insertAll(rows)
  })
  const rebuildAll = db.transaction((): number => {
    tables.clear()
    let last = 0
    for (const entry of view.each()) {
      tables.apply(entry)
      last = entry.seq
    }
    return last
  })
  const write = <T>(work: () => T): T => {
    try {
      mustBeTheSameFiles()
      keeper.mustBeKept()
      return work()
    } catch (thrown) {
      throw writeFailure(thrown, path)
    }
  }
  const timed = <T>(work: () => T): T => {
    const began = options.clock.now()
    let problem: string | null = null
    try {
      return work()
    } catch (thrown) {
      problem = thrown instanceof Error ? thrown.message : String(thrown)
      throw thrown
    } finally {
      options.onWrite?.({ tookMs: options.clock.now() - began, problem })
    }
  }

  /** A quiet daemon learns so, too, that what it will write would be lost. Only a failure is worth telling. */
  const nothingToAppend = (): Entry[] => {
    try {
      return write(() => [])
    } catch (thrown) {
      return timed(() => {
        throw thrown
      })
    }
  }

  const keeper = keepHead(path, view.head())
  const commit = (work: () => Entry[]): Entry[] => {
    const written = timed(() =>
      write(() => {
        const committed = work()
        // Only now: the head must never be ahead of what is on disk.
        for (const newest of committed.slice(-1)) keeper.keep(newest)
        return committed
      }),
    )
    announce.tell(written)
    return written
  }

  const close = (): void => {
    keeper.close()
    db.close()
  }

  return {
    ...view,
    path,
    warning,
    append: (entries) => {
      if (entries.length === 0) return nothingToAppend()
      const prepared = entries.map(prepareEntry)
      return commit(() => appendAll.immediate(prepared))
    },
    takeIn: (rows) => (rows.length === 0 ? [] : commit(() => takeAll.immediate(rows))),
    onAppend: (listen) => announce.add(listen),
    onDurable: (listen) => announce.add(listen),
    rebuild: () => write(() => rebuildAll.immediate()),
    checkpoint: () => write(() => cutLogBack(db, busyTimeoutMs)),
    backup: (file) => backUp(db, file),
    putAside: () => {
      close()
      try {
        return moveAside(path, new Date(options.clock.wall()).toISOString())
      } finally {
        lease.release()
      }
    },
    close: () => {
      close()
      lease.release()
    },
  }
}

/** Without waiting: the whole daemon would stand still for a reader that is in no hurry. */
function cutLogBack(db: Database.Database, busyTimeoutMs: number): boolean {
  db.pragma('busy_timeout = 0')
  try {
    const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
    return result?.busy === 0
  } finally {
    db.pragma(`busy_timeout = ${busyTimeoutMs}`)
  }
}

export type PreparedEntry = Omit<EntryRow, 'seq' | 'at' | 'prev_hash' | 'hash'>

/** The rows that follow `head`. `at`: ISO, of all of them. */
export function linkedRows(added: readonly PreparedEntry[], head: Head, at: string): EntryRow[] {
  let previous = head
  return added.map((entry) => {
    const row = { seq: previous.seq + 1, at, ...entry, prev_hash: previous.hash }
    const complete: EntryRow = { ...row, hash: entryHash(row) }
    previous = complete
    return complete
  })
}

function doesNotFollow(path: string, broken: ChainState['broken']): LifeboatError {
  const what = broken === null ? '' : `: entry ${broken.seq} does not fit (${broken.problem})`
  return new LifeboatError('JOURNAL_CORRUPT', `What was read for ${path} does not follow its newest entry${what}`)
}

/** The columns that the writer gives. Throws INVARIANT when the data has no JSON form: before anything is written. */
export function prepareEntry(entry: NewEntry): PreparedEntry {
  const column = (value: string | undefined): string | null => (value === undefined ? null : wellFormed(value))
  return {
    actor: wellFormed(entry.actor ?? 'daemon'),
    incident: column(entry.incident),
    host: column(entry.host),
    instance: column(entry.instance),
    step: column(entry.step),
    kind: entry.kind,
    data: canonicalJson(entry.data),
  }
}

/**
 * Tells listeners of entries in the order of their sequence, each after its commit. An append that a listener makes is told
 * when everybody has heard of the one before it.
 */
export function announcer(onError: (thrown: unknown) => void): {
  add(listen: (entry: Entry) => void): void
  tell(entries: Entry[]): void
} {
  const listeners: ((entry: Entry) => void)[] = []
  const waiting: Entry[] = []
  let telling = false
  return {
    add: (listen) => {
      listeners.push(listen)
    },
    tell: (entries) => {
      waiting.push(...entries)
      if (telling) return
      telling = true
      for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
        for (const listen of listeners) {
          try {
            listen(entry)
          } catch (thrown) {
            onError(thrown)
          }
        }
      }
      telling = false
    },
  }
}

export function rethrowLater(thrown: unknown): void {
  queueMicrotask(() => {
    throw thrown
  })
}
