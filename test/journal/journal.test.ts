import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import { canonicalJson } from '../../src/journal/canonical.ts'
import { genesisHash, type EntryRow } from '../../src/journal/chain.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { checkSchema, migrate, migrations } from '../../src/journal/schema.ts'
import { incidentEntries, newJournal, rawDatabase, started, temporaryDirectory, testClock } from './fixtures.ts'

const alarm = (message: string, over: Partial<NewEntry> = {}): NewEntry =>
  ({ kind: 'alarm.raised', data: { code: 'TEST', message }, ...over }) as NewEntry

/** As someone with root and a tool would: the triggers taken away first. */
function tamper(path: string, sql: string): void {
  const db = new Database(path)
  for (const name of ['change', 'go', 'follow_each_other'])
    db.exec(`DROP TRIGGER IF EXISTS entries_${name === 'follow_each_other' ? name : `never_${name}`}`)
  db.exec(sql)
  db.close()
}

describe('appending', () => {
  test('what was appended is read back as it was returned, in order', () => {
    const journal = newJournal()
    const written = journal.append([started, ...incidentEntries()])
    expect(journal.read()).toEqual(written)
    expect(written.map((entry) => entry.seq)).toEqual(written.map((_, index) => index + 1))
  })

  test('the actor is the daemon unless said otherwise', () => {
    const [own, persons] = newJournal().append([started, alarm('x', { actor: 'operator:ada' })])
    expect([own?.actor, persons?.actor]).toEqual(['daemon', 'operator:ada'])
  })

  test('entries go in together or not at all', () => {
    const journal = newJournal()
    expect(() => journal.append([started, alarm('x', { actor: '' })])).toThrow(
      expect.objectContaining({ code: 'INVARIANT' }),
    )
    expect(journal.read()).toEqual([])
    expect(journal.append([started])[0]?.seq).toBe(1)
  })

  test('listeners hear of entries after the commit, in order, also of those that a listener appends', () => {
    const journal = newJournal()
    const reader = openJournalReader(journal.path)
    const heard: number[] = []
    journal.onAppend((entry) => {
      expect(reader.read({ after: entry.seq - 1 }).length).toBeGreaterThan(0)
      if (entry.seq === 1) journal.append([alarm('from a listener')])
    })
    journal.onAppend((entry) => heard.push(entry.seq))
    journal.append([started, started])
    expect(heard).toEqual([1, 2, 3])
    reader.close()
  })

  test('a listener that throws neither undoes the entry nor silences the others', () => {
    const thrown: unknown[] = []
    const journal = openJournal(join(temporaryDirectory(), 'j.db'), {
      clock: testClock(),
      onListenerError: (error) => thrown.push(error),
    })
    const heard: number[] = []
    journal.onAppend(() => {
      throw new Error('listener')
    })
    journal.onAppend((entry) => heard.push(entry.seq))
    expect(journal.append([started])).toHaveLength(1)
    expect([heard, thrown.length]).toEqual([[1], 1])
    journal.close()
  })

  test('data of many megabytes and any text survive', () => {
    const journal = newJournal()
    const message = 'ü\u0000"\\\n🛟'.repeat(500_000)
    journal.append([alarm(message)])
    expect(journal.read()[0]?.data).toEqual({ code: 'TEST', message })
    expect(journal.verify().broken).toBeNull()
  })

  test('what JSON would lose is refused before anything is written', () => {
    const journal = newJournal()
    const lost = { kind: 'step.confirmed', data: { result: new Map([[1, 2]]) } } as unknown as NewEntry
    expect(() => journal.append([lost])).toThrow(expect.objectContaining({ code: 'INVARIANT' }))
    expect(journal.head().seq).toBe(0)
  })

  test('a closed journal says that it is unavailable', () => {
    const journal = newJournal()
    journal.close()
    expect(() => journal.append([started])).toThrow(expect.objectContaining({ code: 'JOURNAL_UNAVAILABLE' }))
  })

  test('a lock that someone holds makes it unavailable, with nothing written, until it is let go', () => {
    const seen: (string | null)[] = []
    const path = join(temporaryDirectory(), 'j.db')
    const journal = openJournal(path, {
      clock: testClock(),
      busyTimeoutMs: 10,
      onWrite: ({ problem }) => seen.push(problem),
    })
    const other = rawDatabase(path)
    other.exec('BEGIN IMMEDIATE')
    expect(() => journal.append([started])).toThrow(
      expect.objectContaining({
        code: 'JOURNAL_UNAVAILABLE',
        message: expect.stringContaining('another process holds a lock') as string,
      }),
    )
    other.exec('ROLLBACK')
    expect(journal.append([started])[0]?.seq).toBe(1)
    expect([typeof seen[0], seen[1]]).toEqual(['string', null])
    journal.close()
  })
})

describe('reading', () => {
  test('filters combine', () => {
    const journal = newJournal()
    journal.append([started, ...incidentEntries(), alarm('other', { host: 'c9' })])
    expect(
      journal.read({ incident: 'i1', instance: 'a', kinds: ['step.issued', 'step.failed'] }).map((entry) => entry.kind),
    ).toEqual(['step.failed', 'step.issued'])
    expect(journal.read({ host: 'c9' })).toHaveLength(1)
    expect(journal.read({ newestFirst: true, limit: 2 }).map((entry) => entry.seq)).toEqual([33, 32])
    expect(journal.read({ after: 31 }).map((entry) => entry.seq)).toEqual([32, 33])
    expect(journal.read({ kinds: [] })).toEqual([])
  })

  test('a reader sees the commits of a writer at work, and cannot write', () => {
    const journal = newJournal()
    const reader = openJournalReader(journal.path)
    journal.append([started])
    const streaming = reader.each()
    streaming.next()
    journal.append([started])
    expect(reader.read()).toHaveLength(2)
    expect(reader.verify()).toEqual({ entries: 2, head: journal.head().hash, broken: null, keptHead: 'agrees' })
    expect(reader).not.toHaveProperty('append')
    reader.close()
  })

  test('streaming passes every entry once, over page ends', () => {
    const journal = newJournal()
    journal.append(Array.from({ length: 2_001 }, () => started))
    expect([...journal.each()].map((entry) => entry.seq)).toEqual(
      Array.from({ length: 2_001 }, (_, index) => index + 1),
    )
  })
})

describe('the chain', () => {
  test('the hash is what the documented form says, computed here again', () => {
    const journal = newJournal()
    journal.append(incidentEntries())
    let previous = genesisHash
    for (const row of rawDatabase(journal.path).prepare<[], EntryRow>('SELECT * FROM entries ORDER BY seq').all()) {
      const text = JSON.stringify([
        'lifeboat/1',
        row.seq,
        row.at,
        row.actor,
        row.incident,
        row.host,
        row.instance,
        row.step,
        row.kind,
        row.data,
        previous,
      ])
      expect(row.hash).toBe(createHash('sha256').update(text).digest('hex'))
      previous = row.hash
    }
    expect(journal.verify()).toEqual({ entries: 31, head: previous, broken: null, keptHead: 'agrees' })
  })

  test.each([
    'UPDATE entries SET data = 1',
    'DELETE FROM entries',
    'INSERT OR REPLACE INTO entries SELECT * FROM entries WHERE seq = 1',
  ])('SQLite itself refuses: %s', (sql) => {
    const journal = newJournal()
    journal.append([started, started])
    expect(() => rawDatabase(journal.path).exec(sql)).toThrow(/journal entry/)
  })

  test.each([
    ['a changed value', "UPDATE entries SET actor = 'operator:eve' WHERE seq = 3", 3, 'content'],
    ['a value moved to another column', 'UPDATE entries SET step = host, host = step WHERE seq = 4', 4, 'content'],
    ['a removed entry', 'DELETE FROM entries WHERE seq = 5', 6, 'entry 5 is missing'],
    ['a removed beginning', 'DELETE FROM entries WHERE seq = 1', 2, 'entry 1 is missing'],
    ['a link to another past', `UPDATE entries SET prev_hash = '${'f'.repeat(64)}' WHERE seq = 7`, 7, 'follow'],
  ])('%s is found, and the first broken entry named', (_what, sql, seq, problem) => {
    const journal = newJournal()
    journal.append(incidentEntries())
    journal.close()
    tamper(journal.path, sql)
    const reader = openJournalReader(journal.path)
    expect(reader.verify().broken).toEqual({ seq, problem: expect.stringContaining(problem) as string })
    reader.close()
  })

  test('a changed newest entry keeps the daemon from starting', () => {
    const journal = newJournal()
    journal.append([started, started])
    journal.close()
    tamper(journal.path, "UPDATE entries SET actor = 'x' WHERE seq = 2")
    expect(() => openJournal(journal.path, { clock: testClock() })).toThrow(
      expect.objectContaining({ code: 'JOURNAL_CORRUPT' }),
    )
  })
})

describe('canonical JSON', () => {
  test('the order in which keys were set does not show', () => {
    expect(canonicalJson({ b: 1, a: [{ d: null, c: undefined }] })).toBe('{"a":[{"d":null}],"b":1}')
  })
  test('lone surrogates, which UTF-8 cannot hold, are replaced', () => {
    expect(canonicalJson('a\ud800b🛟')).toBe('"a\ufffdb🛟"')
  })
  test.each([[Number.NaN], [10n], [new Set()], [new Error('x')], [() => 1], [new Date(0)]])(
    '%s is refused',
    (value) => {
      expect(() => canonicalJson({ value })).toThrow(expect.objectContaining({ code: 'INVARIANT' }))
    },
  )
  test('a cycle is refused, the same object twice is not', () => {
    const twice = {}
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    expect(canonicalJson([twice, twice])).toBe('[{},{}]')
    expect(() => canonicalJson(cycle)).toThrow(/cycle/)
  })
})

describe('the place', () => {
  test('a missing directory is made for the daemon alone, and so is every file', () => {
    const directory = join(temporaryDirectory(), 'deep', 'state')
    const journal = newJournal(join(directory, 'journal.db'))
    journal.append([started])
    const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)
    expect(mode(directory)).toBe('700')
    for (const suffix of ['', '-wal', '-shm', '.head', '.lock', '.owner'])
      expect([suffix, mode(journal.path + suffix)]).toEqual([suffix, '600'])
  })

  test('a file that everybody may write is refused', () => {
    const path = join(temporaryDirectory(), 'j.db')
    writeFileSync(path, '')
    chmodSync(path, 0o666)
    expect(() => openJournal(path, { clock: testClock() })).toThrow(/Everybody may write/)
  })

  test.each([
    ['not a database', (path: string) => writeFileSync(path, 'x'.repeat(8192)), 'JOURNAL_CORRUPT'],
    ['a directory', (path: string) => mkdirSync(path), 'JOURNAL_UNAVAILABLE'],
    [
      'the database of another program',
      (path: string) => new Database(path).exec('CREATE TABLE t (x)').close(),
      'JOURNAL_UNAVAILABLE',
    ],
  ])('%s is refused and the lease given back', (_what, make, code) => {
    const path = join(temporaryDirectory(), 'j.db')
    make(path)
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(() => openJournal(path, { clock: testClock() })).toThrow(
        expect.objectContaining({ code, message: expect.not.stringContaining('is writing this journal') as string }),
      )
    }
  })

  test('a damaged file is refused at start', () => {
    const journal = newJournal()
    for (let round = 0; round < 20; round++) journal.append(incidentEntries())
    journal.close()
    const db = new Database(journal.path)
    const pageSize = db.pragma('page_size', { simple: true }) as number
    db.close()
    const whole = statSync(journal.path).size
    const bytes = Buffer.alloc(pageSize * 6, 0xa5)
    const damaged = readFileSync(journal.path)
    bytes.copy(damaged, Math.floor(whole / pageSize / 2) * pageSize)
    writeFileSync(journal.path, damaged)
    expect(() => openJournal(journal.path, { clock: testClock() })).toThrow(
      expect.objectContaining({ code: 'JOURNAL_CORRUPT' }),
    )
  })

  test('a reader of a journal that does not exist says so and makes none', () => {
    const path = join(temporaryDirectory(), 'none.db')
    expect(() => openJournalReader(path)).toThrow(/There is no journal/)
    expect(() => statSync(path)).toThrow(/ENOENT/)
  })
})

describe('the schema', () => {
  const newer = (breaking: boolean) => [
    ...migrations,
    { number: 99, name: 'later', breaking, sql: 'CREATE TABLE later (x) STRICT'.replace('x', 'x TEXT') },
  ]

  test('a newer breaking schema is refused with both numbers; a newer compatible one is used', () => {
    const journal = newJournal()
    journal.append([started])
    journal.close()
    const db = rawDatabase(journal.path)
    migrate(db, 'now', newer(false))
    openJournal(journal.path, { clock: testClock() }).close()
    db.exec('UPDATE migrations SET breaking = 1 WHERE number = 99')
    expect(() => openJournal(journal.path, { clock: testClock() })).toThrow(
      /newer Lifeboat \(schema 99 "later"; this release knows 2\)/,
    )
    expect(() => openJournalReader(journal.path)).toThrow(expect.objectContaining({ code: 'JOURNAL_UNAVAILABLE' }))
  })

  test('a migration that was edited after its release is found', () => {
    const journal = newJournal()
    const edited = migrations.map((migration) => ({ ...migration, sql: `${migration.sql} ` }))
    expect(() => checkSchema(rawDatabase(journal.path), edited)).toThrow(
      expect.objectContaining({ code: 'JOURNAL_CORRUPT' }),
    )
  })

  test('every table is STRICT', () => {
    const tables = rawDatabase(newJournal().path)
      .prepare<[], { name: string; strict: number }>(
        "SELECT name, strict FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite%'",
      )
      .all()
    expect(tables.map(({ name }) => name).sort()).toEqual(['entries', 'incidents', 'instances', 'migrations', 'steps'])
    expect(tables.every(({ strict }) => strict === 1)).toBe(true)
  })
})
