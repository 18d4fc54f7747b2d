/** Of which instance a page of the journal is: people give its name or its UUID. */
import { beforeEach, expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'
import { journalPage, withInstance } from '../../src/review/journal-pages.ts'
import { incidentEntries, newJournal, plan } from '../journal/fixtures.ts'

const uuid = (n: number): string => `0a1b2c3d-0000-4000-8000-00000000000${n}`
const unknown = uuid(9)

let journal: JournalWriter

beforeEach(() => {
  journal = newJournal()
  const opened = incidentEntries().slice(0, 1)
  const of = { incident: 'i1', host: 'c1' }
  const planned = (n: number, name: string): NewEntry => {
    const data = { ...plan(uuid(n)), name }
    return { kind: 'plan.made', ...of, instance: uuid(n), data }
  }
  journal.append([...opened, planned(1, 'web-7'), planned(2, 'mail'), planned(3, 'mail')])
})

const found = (instance: string): (string | null)[] =>
  journalPage(journal, journal.head(), withInstance(journal, { instance })).entries.map((entry) => entry.instance)
const refusal = (instance: string): unknown => {
  try {
    return found(instance)
  } catch (thrown) {
    return thrown
  }
}

it.each([
  ['its name', 'web-7'],
  ['its name in other letters', 'WEB-7'],
  ['its UUID', uuid(1)],
  ['its UUID in capitals', uuid(1).toUpperCase()],
])('an instance is meant by %s', (_by, wanted) => {
  expect(found(wanted)).toEqual([uuid(1)])
})

it('a UUID that no incident knows is taken as it is', () => {
  expect(found(unknown)).toEqual([])
})

it('a name that no instance has is refused with those that come close', () => {
  expect(refusal('web')).toMatchObject({
    code: 'NOT_FOUND',
    message: 'No incident is about an instance web; these come close',
    details: { problems: [expect.stringMatching(`^${uuid(1)}  web-7, on c1 `)] },
  })
})

it('a name that several instances have is refused with the UUID of each', () => {
  expect(refusal('mail')).toMatchObject({
    code: 'USAGE',
    message: 'Several instances are named mail: give a UUID',
    details: { problems: [expect.stringContaining(uuid(2)), expect.stringContaining(uuid(3))] },
  })
})
