/** Before a newer release changes the schema of a journal, a whole copy of it lies beside the calendar's backups. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backUpNow, pruneBackups } from '../../src/journal/backup.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { migrate, migrations, outdatedSchema } from '../../src/journal/schema.ts'
import { VirtualClock } from '../../src/simulator/index.ts'

const newer = [...migrations, { number: 9, name: 'more', breaking: false, sql: 'CREATE TABLE more (it TEXT) STRICT' }]
let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lifeboat-migration-'))
  file = join(directory, 'journal.db')
  const clock = new VirtualClock()
  const journal = openJournal(file, { clock })
  journal.append([
    { kind: 'daemon.started', actor: 'system', data: { version: '1', pid: 1, mode: 'observe' } },
  ] as never)
  journal.close()
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('a journal of an older schema', () => {
  it('is known by what is missing', () => {
    const db = new Database(file)
    expect(outdatedSchema(db)).toBe(null)
    expect(outdatedSchema(db, newer)).toBe(migrations.at(-1)?.number)
    migrate(db, '2026-01-01T00:00:00Z', newer)
    expect(outdatedSchema(db, newer)).toBe(null)
    db.close()
  })

  it('is copied whole, privately, and the copy survives pruning and later starts', () => {
    const db = new Database(file)
    const copy = join(directory, 'backups', 'journal-schema-1.db')
    backUpNow(db, copy)
    migrate(db, '2026-01-01T00:00:00Z', newer)
    backUpNow(db, copy)
    db.close()
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(pruneBackups(join(directory, 'backups'), 1)).toEqual([])
    const reader = openJournalReader(copy)
    expect(reader.verify()).toMatchObject({ entries: 1, broken: null })
    reader.close()
    const old = new Database(copy)
    expect(outdatedSchema(old, newer)).toBe(migrations.at(-1)?.number)
    old.close()
  })

  it('of a new installation there is nothing to copy', () => {
    const db = new Database(':memory:')
    expect(outdatedSchema(db, newer)).toBe(null)
    db.close()
  })
})
