/**
 * Backups for the calendar. A backup is a whole journal: it opens, verifies and exports like the original.
 *
 * Nothing here deletes entries, and no release may do so in place: the chain starts at entry 1, and a journal without its
 * beginning proves nothing. About 2 kB per entry and some ten entries per recovered instance make 1 GB hold 50,000
 * recoveries. Only old backup files are removed, because each newer one contains them.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type Database from 'better-sqlite3'
import { LifeboatError } from '../domain/errors.ts'
import { journalFailure } from './failure.ts'
import { createPrivately } from './place.ts'

/**
 * Copies the database to `file` (0600) while it is in use: first beside it, then renamed, so that a file of that name is
 * always whole. Refuses to write over an existing file. Throws JOURNAL_UNAVAILABLE.
 */
export async function backUp(db: Database.Database, file: string): Promise<void> {
  if (existsSync(file))
    throw new LifeboatError('JOURNAL_UNAVAILABLE', `${file} exists already: a backup replaces nothing`)
  const partial = `${file}.partial`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    rmSync(partial, { force: true })
    createPrivately(partial)
    await db.backup(partial)
    chmodSync(partial, 0o600)
    renameSync(partial, file)
  } catch (thrown) {
    rmSync(partial, { force: true })
    throw journalFailure(thrown, file, 'back the journal up to')
  }
}

/**
 * Copies the database to `file` (0600) at once, before its schema is changed: an upgrade that goes wrong is taken back with it.
 * A copy that an earlier start made of the same state is kept. Throws JOURNAL_UNAVAILABLE.
 */
export function backUpNow(db: Database.Database, file: string): void {
  if (existsSync(file)) return
  const partial = `${file}.partial`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    rmSync(partial, { force: true })
    createPrivately(partial)
    db.prepare('VACUUM INTO ?').run(partial)
    renameSync(partial, file)
  } catch (thrown) {
    rmSync(partial, { force: true })
    throw journalFailure(thrown, file, 'back the journal up to')
  }
}

const backupName = /^journal-\d{8}T\d{6}Z\.db$/

/** The file for a backup made at `wallMs`: `journal-20260102T030405Z.db`. Names sort by age. */
export function backupFile(directory: string, wallMs: number): string {
  const stamp = new Date(wallMs).toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '')
  return join(directory, `journal-${stamp}.db`)
}

/** Removes all but the newest `keep` backups from the directory; other files there stay. Returns the removed names. */
export function pruneBackups(directory: string, keep: number): string[] {
  if (keep < 1) throw new LifeboatError('INVARIANT', 'At least one backup must be kept')
  const names = readdirSync(directory).filter((name) => backupName.test(basename(name)))
  const old = names.sort().slice(0, -keep)
  for (const name of old) rmSync(join(directory, name))
  return old
}
