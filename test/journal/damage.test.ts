/** A journal that is damaged or out of reach is refused at the start with a word on how to go on, and is left as it was found. */
import { chmodSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openJournal } from '../../src/journal/journal.ts'
import { migrate, migrations } from '../../src/journal/schema.ts'
import { incidentEntries, newJournal, rawDatabase, started, temporaryDirectory, testClock } from './fixtures.ts'

const open = (path: string): void => openJournal(path, { clock: testClock() }).close()

/** A closed journal of some hundred entries and fifty pages, without a log beside it. */
function closedJournal(): string {
  const journal = newJournal()
  for (let n = 0; n < 40; n++)
    journal.append([started, ...incidentEntries().map((entry) => ({ ...entry, incident: `i${n}` }))])
  journal.close()
  return journal.path
}

function error(thrower: () => void): { code: string; message: string } {
  try {
    thrower()
  } catch (thrown) {
    return thrown as { code: string; message: string }
  }
  throw new Error('it was opened')
}

test('every page of rubbish is noticed at the start or by the check of the whole chain, and none is written over', () => {
  const path = closedJournal()
  const good = readFileSync(path)
  const pageSize = 4096
  const pages = good.length / pageSize
  const unnoticed: number[] = []
  for (let page = 0; page < pages; page++) {
    const bad = Buffer.from(good)
    for (let at = page * pageSize; at < (page + 1) * pageSize; at++) bad[at] = (at * 31 + 7) & 0xff
    writeFileSync(path, bad)
    let verdict: string
    try {
      const journal = openJournal(path, { clock: testClock() })
      verdict = journal.verify().broken === null ? 'clean' : 'broken'
      journal.close()
    } catch (thrown) {
      verdict = (thrown as { code: string }).code
      expect(readFileSync(path).equals(bad)).toBe(true)
    }
    if (verdict === 'clean') unnoticed.push(page)
  }
  expect(pages).toBeGreaterThan(20)
  expect(unnoticed).toEqual([])
})

test('a file that was cut off is refused with a word on how to go on, and is left as it is', () => {
  const path = closedJournal()
  truncateSync(path, statSync(path).size - 3 * 4096)
  const before = readFileSync(path)
  expect(error(() => open(path))).toMatchObject({
    code: 'JOURNAL_CORRUPT',
    message: expect.stringMatching(/is damaged.*To go on: .*newest backup/s) as string,
  })
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('an altered row among the newest is noticed at the start, an older one by the whole check and by the head', () => {
  const path = closedJournal()
  const alter = (seq: number): void => {
    const db = rawDatabase(path)
    db.exec(`DROP TRIGGER entries_never_change; UPDATE entries SET actor = 'someone' WHERE seq = ${seq};
      CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries
      BEGIN SELECT raise(ABORT, 'a journal entry never changes'); END`)
    db.close()
  }
  const journal = openJournal(path, { clock: testClock() })
  const { seq } = journal.head()
  expect(seq).toBeGreaterThan(1_001)
  journal.close()
  const intact = readFileSync(path)
  alter(seq - 900)
  expect(error(() => open(path))).toMatchObject({
    code: 'JOURNAL_CORRUPT',
    message: expect.stringContaining(`entry ${seq - 900} does not fit: its content is not what was hashed`) as string,
  })
  writeFileSync(path, intact)
  alter(3)
  const opened = openJournal(path, { clock: testClock() })
  expect(opened.verify().broken).toMatchObject({ seq: 3 })
  opened.close()
})

test('a check in pieces finds what the check in one go finds, and lets others write meanwhile', async () => {
  const path = closedJournal()
  const journal = openJournal(path, { clock: testClock() })
  let pauses = 0
  const pause = (): Promise<void> => {
    if (pauses++ === 0) journal.append([started])
    return Promise.resolve()
  }
  const found = await journal.verifyInPieces(pause)
  expect(pauses).toBeGreaterThan(2)
  expect(found).toEqual(journal.verify())
  expect(found.entries).toBe(journal.head().seq)
  journal.close()
})

test('a log that is gone takes what was only in it, and what is left is whole', () => {
  const journal = newJournal()
  journal.append([started])
  journal.checkpoint()
  const kept = readFileSync(journal.path)
  journal.append([started, started])
  // As a machine that lost the log: the database file alone.
  const alone = join(temporaryDirectory(), 'journal.db')
  writeFileSync(alone, kept)
  rmSync(`${alone}-wal`, { force: true })
  const opened = openJournal(alone, { clock: testClock() })
  expect(opened.verify()).toMatchObject({ entries: 1, broken: null })
  expect(opened.append([started])[0]?.seq).toBe(2)
  opened.close()
})

test('a log of rubbish is not played into the journal', () => {
  const path = closedJournal()
  const entries = openJournal(path, { clock: testClock() })
  const { seq } = entries.head()
  entries.close()
  writeFileSync(`${path}-wal`, Buffer.alloc(3 * 4120, 0x5a), { mode: 0o600 })
  const opened = openJournal(path, { clock: testClock() })
  expect(opened.verify()).toMatchObject({ entries: seq, broken: null })
  opened.close()
})

test('a file that is no database is refused and kept', () => {
  const path = join(temporaryDirectory(), 'journal.db')
  writeFileSync(path, 'notes of mine, not a journal\n'.repeat(300), { mode: 0o600 })
  const before = readFileSync(path)
  expect(error(() => open(path)).code).toBe('JOURNAL_CORRUPT')
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a path where no directory can be made is refused at once', () => {
  expect(error(() => open('/proc/lifeboat/state/journal.db'))).toMatchObject({
    code: 'JOURNAL_UNAVAILABLE',
    message: 'Cannot make the directory /proc/lifeboat: its file system takes no directories',
  })
  const file = join(temporaryDirectory(), 'file')
  writeFileSync(file, '')
  expect(error(() => open(join(file, 'state', 'journal.db'))).message).toContain(
    'a part of its path is not a directory',
  )
})

// Root writes whatever the modes say; the sandbox of the unit makes the same read-only for it.
test.skipIf(process.getuid?.() === 0)('a read-only directory or file is refused and named', () => {
  const path = closedJournal()
  chmodSync(path, 0o400)
  expect(error(() => open(path))).toMatchObject({
    code: 'JOURNAL_UNAVAILABLE',
    message: expect.stringContaining(path) as string,
  })
  chmodSync(path, 0o600)
  const directory = temporaryDirectory()
  chmodSync(directory, 0o500)
  expect(error(() => open(join(directory, 'journal.db'))).code).toBe('JOURNAL_UNAVAILABLE')
  chmodSync(directory, 0o700)
})

test('a release that is older than the journal refuses it in clear words, and leaves it alone', () => {
  const path = closedJournal()
  const db = rawDatabase(path)
  const next = {
    number: migrations.length + 1,
    name: 'replicas',
    breaking: true,
    sql: 'CREATE TABLE replicas (id INTEGER PRIMARY KEY) STRICT',
  }
  migrate(db, '2030-01-01T00:00:00.000Z', [...migrations, next])
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  const before = readFileSync(path)
  expect(error(() => open(path))).toMatchObject({
    code: 'JOURNAL_UNAVAILABLE',
    message: `${path} was written by a newer Lifeboat (schema ${next.number} "replicas"; this release knows ${migrations.length}): run the newer release, or give this one a journal of its own`,
  })
  expect(readFileSync(path).equals(before)).toBe(true)
})

test.each([
  ['missing', (path: string) => rmSync(path)],
  ['empty', (path: string) => truncateSync(path, 0)],
])('a database that is %s beside a log with entries is refused, and the log is left as it is', (_what, loses) => {
  const journal = newJournal()
  for (let n = 0; n < 20; n++) journal.append([started])
  // As a daemon that was killed leaves them.
  const path = join(temporaryDirectory(), 'journal.db')
  for (const ending of ['', '-wal']) writeFileSync(path + ending, readFileSync(journal.path + ending))
  const log = readFileSync(`${path}-wal`)
  loses(path)
  expect(error(() => open(path))).toMatchObject({
    code: 'JOURNAL_CORRUPT',
    message: expect.stringContaining('is empty or missing, and its log') as string,
  })
  expect(readFileSync(`${path}-wal`).equals(log)).toBe(true)
})
