/**
 * Brings a database to this release's schema, and refuses what is not ours or too new. Owns the list of migrations, each
 * numbered, with a checksum that says that what was applied is what this release knows.
 *
 * A migration is `breaking` when an older release could no longer write a correct journal after it. An older release opens a
 * journal with newer migrations only if none of those is breaking.
 */
import { createHash } from 'node:crypto'
import type Database from 'better-sqlite3'
import { LifeboatError } from '../domain/errors.ts'
import { migration0001 } from './migrations/0001-entries.ts'
import { migration0002 } from './migrations/0002-instances-by-name.ts'

export interface Migration {
  number: number
  name: string
  breaking: boolean
  sql: string
}

export const migrations: readonly Migration[] = [migration0001, migration0002]

/** "LBJ1": tells our files from any other SQLite database. */
const applicationId = 0x4c424a31

interface AppliedRow {
  number: number
  name: string
  breaking: number
  checksum: string
}

/** Applies what is missing, each migration in a transaction of its own. Throws JOURNAL_UNAVAILABLE, JOURNAL_CORRUPT. */
export function migrate(db: Database.Database, at: string, known: readonly Migration[] = migrations): void {
  if (isEmpty(db)) {
    db.exec(`PRAGMA application_id = ${applicationId};
      CREATE TABLE IF NOT EXISTS migrations (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL, breaking INTEGER NOT NULL, checksum TEXT NOT NULL,
        applied_at TEXT NOT NULL
      ) STRICT`)
  }
  checkSchema(db, known)
  const applied = new Set(appliedMigrations(db).map((row) => row.number))
  const note = db.prepare('INSERT INTO migrations VALUES (?, ?, ?, ?, ?)')
  for (const migration of known) {
    if (applied.has(migration.number)) continue
    db.transaction(() => {
      db.exec(migration.sql)
      note.run(migration.number, migration.name, Number(migration.breaking), checksum(migration), at)
    }).immediate()
  }
}

/** Whether this release may use the database, without changing it. Throws JOURNAL_UNAVAILABLE, JOURNAL_CORRUPT. */
export function checkSchema(db: Database.Database, known: readonly Migration[] = migrations): void {
  if (db.pragma('application_id', { simple: true }) !== applicationId) {
    throw new LifeboatError('JOURNAL_UNAVAILABLE', `${db.name} is an SQLite database but not a Lifeboat journal`)
  }
  for (const row of appliedMigrations(db)) {
    const own = known.find((migration) => migration.number === row.number)
    if (own === undefined) {
      if (row.breaking === 0) continue
      throw new LifeboatError(
        'JOURNAL_UNAVAILABLE',
        `${db.name} was written by a newer Lifeboat (schema ${row.number} "${row.name}"; this release knows ` +
          `${known.at(-1)?.number ?? 0}): run the newer release, or give this one a journal of its own`,
      )
    }
    if (checksum(own) !== row.checksum) {
      const what = `schema ${row.number} "${row.name}" of ${db.name} is not the one that this release knows`
      throw new LifeboatError('JOURNAL_CORRUPT', `The journal's ${what}`)
    }
  }
}

/** The newest schema that a journal has, when this release would change it; null when there is nothing to change or to lose. */
export function outdatedSchema(db: Database.Database, known: readonly Migration[] = migrations): number | null {
  if (isEmpty(db)) return null
  const applied = appliedMigrations(db).map(({ number }) => number)
  return known.some(({ number }) => !applied.includes(number)) ? Math.max(0, ...applied) : null
}

/** The migrations that were applied, oldest first. */
function appliedMigrations(db: Database.Database): AppliedRow[] {
  return db.prepare<[], AppliedRow>('SELECT number, name, breaking, checksum FROM migrations ORDER BY number').all()
}

function isEmpty(db: Database.Database): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
}

function checksum(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex')
}
