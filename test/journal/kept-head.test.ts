/** A journal that lost its newest entries verifies, and only the head that is kept beside it can tell. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { keepHead, readKeptHead } from '../../src/journal/kept-head.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { newJournal, rawDatabase, started, temporaryDirectory, testClock } from './fixtures.ts'

const endings = ['', '-wal', '.head']

/** The files of a journal of 40 entries as a killed daemon leaves them: 5 of them in the database, the others in the log. */
function leftByAKill(): string {
  const journal = newJournal()
  for (let n = 0; n < 40; n++) {
    journal.append([started])
    if (n === 4) journal.checkpoint()
  }
  return snapshot(journal)
}

function snapshot({ path }: JournalWriter): string {
  const copy = join(temporaryDirectory(), 'journal.db')
  for (const ending of endings) copyFileSync(path + ending, copy + ending)
  return copy
}

const open = (path: string): JournalWriter => openJournal(path, { clock: testClock() })

/** What the start says, or the number of entries it began with. */
function start(path: string): { code: string; message: string } | number {
  try {
    const journal = open(path)
    const { seq } = journal.head()
    journal.close()
    return seq
  } catch (thrown) {
    return thrown as { code: string; message: string }
  }
}

const flipBit = (path: string, at: number): void => {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

test.each([
  ['one flipped bit', (log: string) => flipBit(log, Math.floor(statSync(log).size / 2)), /ends with entry 2\d/],
  [
    'its end cut off',
    (log: string) => truncateSync(log, statSync(log).size - 3 * 4_120),
    /the newest \d entries are missing/,
  ],
  [
    'no bytes',
    (log: string) => truncateSync(log, 0),
    /ends with entry 5, but entry 40 was written: the newest 35 entries/,
  ],
  ['been deleted', (log: string) => rmSync(log), /ends with entry 5, but entry 40 was written: the newest 35 entries/],
])('a log that has %s is refused, and what could be saved from it is left', (_what, harm, says) => {
  const path = leftByAKill()
  harm(`${path}-wal`)
  const kept = endings
    .filter((ending) => existsSync(path + ending))
    .map((ending) => [ending, readFileSync(path + ending)] as const)
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(start(path)).toMatchObject({ code: 'JOURNAL_CORRUPT', message: expect.stringMatching(says) as string })
    for (const [ending, bytes] of kept)
      expect([ending, readFileSync(path + ending).equals(bytes)]).toEqual([ending, true])
  }
})

test('without damage the same files are taken as they are', () => {
  const path = leftByAKill()
  expect(start(path)).toBe(40)
})

test('the message names the file that accepts the journal when it is moved away, and the next start says what it cannot know', () => {
  const path = leftByAKill()
  rmSync(`${path}-wal`)
  expect(start(path)).toMatchObject({ message: expect.stringContaining(`move ${path}.head away`) as string })
  renameSync(`${path}.head`, `${path}.head.old`)
  const journal = open(path)
  expect(journal.warning).toContain('begins this run with entry 5, and whether that is its true end cannot be told')
  journal.append([started])
  journal.close()
  const again = open(path)
  expect(again.warning).toBeNull()
  again.close()
})

test('a backup put in its place is refused until the head is moved away too, and alone it is taken', async () => {
  const journal = newJournal()
  journal.append([started])
  const backup = join(dirname(journal.path), 'backups', 'journal.db')
  await journal.backup(backup)
  journal.append([started])
  journal.close()
  copyFileSync(backup, journal.path)
  expect(start(journal.path)).toMatchObject({
    code: 'JOURNAL_CORRUPT',
    message: expect.stringContaining(
      'ends with entry 1, but entry 2 was written: the newest entry is missing',
    ) as string,
  })
  const alone = join(temporaryDirectory(), 'journal.db')
  copyFileSync(backup, alone)
  expect(start(alone)).toBe(1)
})

test('a deleted journal does not begin again without a word', () => {
  const journal = newJournal()
  journal.append([started, started])
  journal.close()
  rmSync(journal.path)
  expect(start(journal.path)).toMatchObject({
    message: expect.stringContaining('it ends with entry 0, but entry 2 was written') as string,
  })
})

test('a journal that lost its end and grew again, by a release that keeps no head, is told by the hash', () => {
  const one = newJournal()
  one.append([started])
  one.checkpoint()
  const short = readFileSync(one.path)
  one.append([started])
  one.close()
  const other = join(temporaryDirectory(), 'journal.db')
  writeFileSync(other, short)
  const grown = openJournal(other, { clock: testClock(Date.UTC(2027, 0, 1)) })
  grown.append([started, started])
  grown.close()
  copyFileSync(other, one.path)
  expect(start(one.path)).toMatchObject({
    message: expect.stringContaining('entry 2 is not the one that was written') as string,
  })
})

test('a head older than the journal is of the same chain: a kill before it was written, a power failure, an older release', () => {
  const journal = newJournal()
  journal.append([started])
  const older = readFileSync(`${journal.path}.head`)
  journal.append([started, started])
  const path = snapshot(journal)
  writeFileSync(`${path}.head`, older)
  expect(start(path)).toBe(3)
  expect(readKeptHead(path)).toMatchObject({ state: 'kept', seq: 3 })
})

test('no head is no hindrance: the journal of an older release gets one at its first start', () => {
  const journal = newJournal()
  journal.append([started])
  journal.close()
  rmSync(`${journal.path}.head`)
  expect(start(journal.path)).toBe(1)
  expect(readKeptHead(journal.path)).toMatchObject({ state: 'kept', seq: 1 })
})

test('of two records the torn one is left out, whichever it is', () => {
  const journal = newJournal()
  journal.append([started])
  journal.append([started])
  const whole = readFileSync(`${journal.path}.head`)
  const seen = [0, 4_096].map((at) => {
    const torn = Buffer.from(whole)
    torn.fill(0, at + 40, at + 128)
    writeFileSync(`${journal.path}.head`, torn)
    const kept = readKeptHead(journal.path)
    return kept.state === 'kept' ? kept.seq : kept.state
  })
  expect(seen.toSorted()).toEqual([1, 2])
})

test.each([
  ['rubbish', Buffer.alloc(5_000, 0x5a), 'unreadable'],
  ['empty', Buffer.alloc(0), 'missing'],
  ['zeros, as a power failure leaves a new file', Buffer.alloc(4_224), 'missing'],
])('a head file of %s stops no healthy daemon: it is told, and written again', (_what, bytes, state) => {
  const path = leftByAKill()
  writeFileSync(`${path}.head`, bytes)
  expect(readKeptHead(path).state).toBe(state)
  const journal = open(path)
  expect(journal.warning).toContain(state === 'missing' ? 'was not there' : 'could not be read')
  journal.close()
  expect(readKeptHead(path)).toMatchObject({ state: 'kept', seq: 40 })
})

test('a head that is moved away or replaced under a running daemon stands there again after the next append', () => {
  const journal = newJournal()
  journal.append([started])
  rmSync(`${journal.path}.head`)
  journal.append([started])
  expect(readKeptHead(journal.path)).toMatchObject({ seq: 2 })
  const foreign = join(temporaryDirectory(), 'journal.db')
  keepHead(foreign, { seq: 99, hash: 'f'.repeat(64) }).close()
  renameSync(`${foreign}.head`, `${journal.path}.head`)
  journal.append([started])
  expect(readKeptHead(journal.path)).toMatchObject({ seq: 3 })
})

test('the head is written when the commit is on disk, and not before', () => {
  const journal = newJournal()
  const seen: unknown[] = []
  const db = rawDatabase(journal.path)
  db.close()
  expect(() => journal.append([started, { kind: 'alarm.raised', data: { code: 'X', message: 1n } } as never])).toThrow()
  seen.push(readKeptHead(journal.path))
  // Listeners hear of an entry after its commit: by then the head is that of the entry.
  journal.onAppend((entry) => seen.push([entry.seq, readKeptHead(journal.path)]))
  journal.append([started])
  expect(seen).toEqual([expect.objectContaining({ seq: 0 }), [1, { state: 'kept', ...journal.head() }]])
})

test('a head that cannot be written loses no entry; the next write is refused until it can be', () => {
  const journal = newJournal()
  const heard = vi.fn()
  journal.onAppend(heard)
  const head = `${journal.path}.head`
  rmSync(head)
  mkdirSync(head)
  expect(journal.append([started])).toHaveLength(1)
  expect(heard).toHaveBeenCalledTimes(1)
  const refused = expect.objectContaining({
    code: 'JOURNAL_UNAVAILABLE',
    message: `Cannot write the journal's head to ${head}: it is a directory`,
  }) as Error
  expect(() => journal.append([])).toThrow(refused)
  expect(() => journal.append([started])).toThrow(refused)
  rmSync(head, { recursive: true })
  expect(journal.append([])).toEqual([])
  expect(readKeptHead(journal.path)).toMatchObject({ seq: 1 })
  expect(journal.append([started])[0]?.seq).toBe(2)
})

test('verify compares the end with the head, offline and in pieces', async () => {
  const path = leftByAKill()
  const verified = (): ReturnType<JournalWriter['verify']> => {
    const reader = openJournalReader(path)
    const found = reader.verify()
    reader.close()
    return found
  }
  expect(verified()).toMatchObject({ entries: 40, broken: null, keptHead: 'agrees' })
  rmSync(`${path}-wal`)
  expect(verified()).toMatchObject({
    entries: 5,
    keptHead: 'contradicts',
    broken: { seq: 6, problem: 'it ends with entry 5, but entry 40 was written: the newest 35 entries are missing' },
  })
  rmSync(`${path}.head`)
  expect(verified()).toMatchObject({ entries: 5, keptHead: 'missing', broken: null })
  const journal = newJournal()
  journal.append([started])
  expect(await journal.verifyInPieces(() => Promise.resolve())).toMatchObject({ keptHead: 'agrees' })
})
