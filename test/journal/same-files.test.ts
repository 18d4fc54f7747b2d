/** A daemon whose journal was moved, deleted or replaced while it runs writes nothing to what nobody will find. */
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openJournalReader } from '../../src/journal/reader.ts'
import { newJournal, started } from './fixtures.ts'

const away = (path: string): void => renameSync(path, `${path}.away`)
const deleted = (path: string): void => rmSync(path)
const replaced = (path: string): void => {
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
}

test.each([
  ['the database moved away', '', away, 'is not there any more'],
  ['the database deleted', '', deleted, 'is not there any more'],
  ['a backup put in its place', '', replaced, 'was replaced by another file'],
  ['the log deleted', '-wal', deleted, 'is not there any more'],
  ['the index of the log deleted', '-shm', deleted, 'is not there any more'],
  ['the lease deleted, so that a second daemon could start', '.lock', deleted, 'is not there any more'],
])('%s: nothing is recorded, and it is said', (_what, ending, happens, says) => {
  const journal = newJournal()
  journal.append([started])
  expect(existsSync(journal.path + ending)).toBe(true)
  happens(journal.path + ending)
  const refused = expect.objectContaining({
    code: 'JOURNAL_UNAVAILABLE',
    message: expect.stringContaining(`${journal.path}${ending} ${says}`) as string,
  }) as Error
  expect(() => journal.append([started])).toThrow(refused)
  // A quiet daemon appends nothing at each poll, and so it learns of it.
  expect(() => journal.append([])).toThrow(refused)
})

test('what was moved away and is put back is written to again', () => {
  const journal = newJournal()
  journal.append([started])
  away(journal.path)
  expect(() => journal.append([started])).toThrow('is not there any more')
  renameSync(`${journal.path}.away`, journal.path)
  journal.append([started])
  const reader = openJournalReader(journal.path)
  expect(reader.read()).toHaveLength(2)
  reader.close()
})
