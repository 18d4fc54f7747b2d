/** The record of an incident between two looks of a page: a line that was given out never changes, and what changes is another line. */
import { expect, it } from 'vitest'
import { IncidentRecord } from '../../src/review/incident-record.ts'
import { incidentEntries, newJournal } from '../journal/fixtures.ts'

it('after every entry each line is what a first look would give, and every earlier one is as it was', () => {
  const journal = newJournal()
  journal.append(incidentEntries())
  const entries = journal.read({ incident: 'i1' })
  const record = new IncidentRecord('i1')
  const given = new Map<object, string>()
  for (const [nth, entry] of entries.entries()) {
    record.take(entry)
    const first = new IncidentRecord('i1')
    for (const earlier of entries.slice(0, nth + 1)) first.take(earlier)
    for (const id of record.incident.instances.keys()) {
      const line = record.line(id)!
      expect(line).toEqual(first.line(id))
      given.set(line, given.get(line) ?? JSON.stringify(line))
    }
    expect([...given.keys()].map((line) => JSON.stringify(line))).toEqual([...given.values()])
  }
  expect(given.size).toBeGreaterThan(record.incident.instances.size)
})
