/**
 * The look at a journal before it is written to: whether it is whole, and whether it is all there. Refuses with JOURNAL_CORRUPT and
 * leaves the files as they were found. The whole chain is for `verify`, which the calendar runs.
 */
import { statSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { LifeboatError } from '../domain/errors.ts'
import { openDatabase } from './database.ts'
import { brokenTail, type EntryRow } from './chain.ts'
import { entryQueries } from './entries.ts'
import { wayOn, wayOnWithout } from './failure.ts'
import { headPath, lostEnd, type KeptHead } from './kept-head.ts'
import { checkSchema } from './schema.ts'

/**
 * Journals up to this size have their structure checked at every start. A disk reads some 100 MB a second when it is cold:
 * much more, and a daemon that is needed at once would come too late, or be killed by its unit's time limit.
 */
const structureCheckLimitBytes = 256 * 1024 * 1024

/** Entries at the end whose hashes are checked at every start: some 20 ms. A write that a crash tore is among the newest. */
const tailChecked = 1_000

/**
 * The look at start: the file's structure where that takes no long time, and that the newest entries are what was hashed and
 * follow each other. The whole chain is for `verify`, which the calendar runs.
 */
export function lookOver(db: Database.Database): void {
  const pages = db.pragma('page_count', { simple: true }) as number
  const pageBytes = db.pragma('page_size', { simple: true }) as number
  if (pages * pageBytes <= structureCheckLimitBytes) {
    const found = db.pragma('quick_check(1)', { simple: true })
    if (found !== 'ok') throw damaged(db, `its structure is broken (${String(found).trim()})`)
  }
  const newest = db
    .prepare<[number], EntryRow>('SELECT * FROM entries ORDER BY seq DESC LIMIT ?')
    .all(tailChecked + 1)
    .toReversed()
  const whole = newest.length <= tailChecked
  const [before] = newest
  const broken = whole ? brokenTail(newest, null) : brokenTail(newest.slice(1), before?.hash ?? null)
  if (broken !== null) throw damaged(db, `entry ${broken.seq} does not fit: ${broken.problem}`)
}

/** Beside an empty database SQLite deletes a log that has entries in it, and the journal would begin again without a word. */
export function refuseLoneLog(file: string): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  if (log === undefined || log.size === 0 || statSync(file).size > 0) return
  throw damaged({ name: file }, `it is empty or missing, and its log (-wal, ${log.size} bytes) is still there`)
}

/**
 * Whether the journal still has the newest entry that is known to have been written. SQLite drops the damaged end of a log without
 * a word, and what is left would verify. Asked over a connection that cannot write, before any other: the last one that can copies
 * what it takes for the whole log into the database when it is closed, and deletes the log, with what could be saved from it.
 */
export function refuseLostEnd(file: string, kept: KeptHead, timeout: number): void {
  if (kept.state !== 'kept') return
  const db = openDatabase(file, { readonly: true, timeout })
  try {
    const empty = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
    if (!empty) checkSchema(db)
    const lost = lostEnd(kept, empty ? { newest: () => ({ seq: 0 }), hashAt: () => null } : entryQueries(db))
    if (lost !== null) throw damaged({ name: file }, lost.problem, wayOnWithout(headPath(file)))
  } finally {
    db.close()
  }
}

export function withoutHead(file: string, kept: KeptHead, entries: number): string | null {
  if (kept.state === 'kept' || entries === 0) return null
  const why = kept.state === 'missing' ? 'was not there' : 'could not be read'
  return (
    `The journal begins this run with entry ${entries}, and whether that is its true end cannot be told: ` +
    `${headPath(file)}, which should confirm it, ${why}; the daemon writes it again. That is normal once after an upgrade, and after you put a journal there`
  )
}

function damaged({ name }: { name: string }, what: string, then = wayOn): LifeboatError {
  return new LifeboatError(
    'JOURNAL_CORRUPT',
    `The journal ${name} is damaged: ${what}. Nothing was started and nothing was changed. ${then}`,
  )
}
