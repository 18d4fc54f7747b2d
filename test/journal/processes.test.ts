import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openJournal } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { compileJournal, ended, lineFrom, startWriter } from './children.ts'
import { newJournal, started, temporaryDirectory, testClock } from './fixtures.ts'

test('a killed writer leaves a journal that verifies, holds all that append returned, and is taken over at once', async () => {
  const directory = temporaryDirectory()
  const module = compileJournal(join(directory, 'compiled'))
  const path = join(directory, 'journal.db')
  for (let round = 1; round <= 3; round++) {
    const child = startWriter(
      module,
      path,
      'for (let n = 0; ; n++) say(`seq ${journal.append([note(n), note(n)])[1].seq}`)',
    )
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    await lineFrom(child, /seq \d*[5-9]0$/)
    const gone = new Promise((done) => child.on('close', done))
    child.kill('SIGKILL')
    await gone
    const lastSaid = Number(output.split('\n').slice(0, -1).at(-1)?.slice(4))
    const journal = openJournal(path, { clock: testClock() })
    const { entries, broken } = journal.verify()
    expect(broken).toBeNull()
    expect(entries).toBeGreaterThanOrEqual(lastSaid)
    expect(entries % 2).toBe(0)
    journal.close()
  }
})

test('a second daemon is refused and told who holds the journal; a reader is not', async () => {
  const directory = temporaryDirectory()
  const module = compileJournal(join(directory, 'compiled'))
  const path = join(directory, 'journal.db')
  const child = startWriter(module, path, "journal.append([note(1)]); say('ready'); process.stdin.resume()")
  await lineFrom(child, /ready/)
  expect(() => openJournal(path, { clock: testClock() })).toThrow(
    expect.objectContaining({
      code: 'JOURNAL_UNAVAILABLE',
      message: expect.stringContaining(`process ${child.pid} `) as string,
    }),
  )
  const reader = openJournalReader(path)
  expect(reader.read()).toHaveLength(1)
  reader.close()
  child.kill('SIGKILL')
  await ended(child)
  expect(newJournal(path).head().seq).toBe(1)
})

test('the lease also holds within one process, and ends with close', () => {
  const journal = newJournal()
  expect(() => openJournal(journal.path, { clock: testClock() })).toThrow(/only one daemon may/)
  journal.close()
  openJournal(journal.path, { clock: testClock() }).close()
})

test('when the disk takes no more, append says that the journal is unavailable and what stands there verifies', async () => {
  const directory = temporaryDirectory()
  const module = compileJournal(join(directory, 'compiled'))
  const path = join(directory, 'journal.db')
  newJournal(path).close()
  // The limit on a file's size stands in for a full disk: the write itself fails.
  const body =
    'let n = 0; try { for (;;) journal.append([note(++n)]) } catch (e) { say(`${e.code} after ${n - 1} entries ${journal.read().length}`) }'
  const child = startWriter(module, path, body, "trap '' XFSZ; ulimit -f 400")
  const line = await lineFrom(child, /after/)
  const [, wrote, kept] = /^JOURNAL_UNAVAILABLE after (\d+) entries (\d+)$/.exec(line) ?? []
  expect(Number(wrote)).toBeGreaterThan(10)
  expect(kept).toBe(wrote)
  await ended(child)
  const journal = openJournal(path, { clock: testClock() })
  expect(journal.verify()).toMatchObject({ entries: Number(wrote), broken: null })
  expect(journal.append([started])).toHaveLength(1)
  journal.close()
})
