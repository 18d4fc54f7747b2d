/** A journal that is put aside: it can be read where it is then, and its place is free. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { openJournal } from '../../src/journal/journal.ts'
import { countAside } from '../../src/journal/put-aside.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { newJournal, temporaryDirectory, testClock } from './fixtures.ts'

const alarm = { kind: 'alarm.raised', data: { code: 'N', message: 'm' } } as const

it('is whole in a directory of its own, with its head, and a new one begins in its place', () => {
  const journal = newJournal()
  journal.append([alarm, alarm])
  const head = journal.head()
  const there = journal.putAside()
  expect(there.slice(dirname(journal.path).length)).toMatch(/^\/aside\/2026-01-02T03-04-\d\d\.000Z\/journal\.db$/)
  expect(existsSync(journal.path)).toBe(false)
  expect(openJournalReader(there).verify()).toMatchObject({ entries: 2, head: head.hash, broken: null })
  const again = openJournal(there, { clock: testClock() })
  expect([again.warning, again.head()]).toEqual([null, head])
  again.close()
  const next = newJournal(journal.path)
  expect([next.warning, next.head().seq]).toEqual([null, 0])
})

it('has all its entries while someone reads it', () => {
  const journal = newJournal()
  const reader = openJournalReader(journal.path)
  expect(reader.read()).toEqual([])
  journal.append([alarm, alarm])
  const there = journal.putAside()
  reader.close()
  expect(openJournalReader(there).verify()).toMatchObject({ entries: 2, broken: null })
})

it('is counted for as long as it is there', () => {
  const path = join(temporaryDirectory(), 'journal.db')
  expect(countAside(path)).toBe(0)
  for (const aside of [1, 2]) {
    const journal = newJournal(path, testClock(Date.UTC(2026, 0, aside)))
    journal.append([alarm])
    journal.putAside()
    expect(countAside(path)).toBe(aside)
  }
})

it('stays where it was when there is no room for it elsewhere', () => {
  const journal = newJournal()
  journal.append([alarm])
  journal.close()
  const blocked = newJournal(journal.path)
  const directory = dirname(journal.path)
  // Its name is taken by a file.
  newJournal(join(directory, 'aside')).close()
  expect(() => blocked.putAside()).toThrow(expect.objectContaining({ code: 'JOURNAL_UNAVAILABLE' }))
  expect(readdirSync(directory)).toContain('journal.db')
  expect(newJournal(journal.path).head().seq).toBe(1)
})
