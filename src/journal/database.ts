/** SQLite, which is compiled: it is loaded when the first database is opened, and most verbs of the command line open none. */
import { createRequire } from 'node:module'
import type Database from 'better-sqlite3'

const load = createRequire(import.meta.url)

/** Opens a database as better-sqlite3 does. Throws its SqliteError. */
export function openDatabase(file: string, options: Database.Options): Database.Database {
  const Loaded = load('better-sqlite3') as typeof Database
  return new Loaded(file, options)
}
