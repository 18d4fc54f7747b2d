/** The verdicts around an incident, kept between looks: always what reading them again would give. */
import { expect, it } from 'vitest'
import { HostVerdicts } from '../../src/review/host-verdicts.ts'
import { IncidentRecord } from '../../src/review/incident-record.ts'
import type { NewEntry } from '../../src/domain/entry.ts'
import { newJournal } from '../journal/fixtures.ts'

const verdict = (host: string, reason: string): NewEntry =>
  ({ kind: 'verdict.changed', host, data: { host, kind: 'dead', from: 'suspect', reason, evidence: {} } }) as never
const of = { incident: 'i-1', host: 'cmp01' }
const opened = {
  segment: 'az1',
  failure: 'host',
  mode: 'armed',
  openedBy: 'monitor',
  workflowDigest: 'd',
  verdict: null,
}
const closed = { outcome: 'done', message: 'over', counts: {} }

it('each look gives what a first look would, whatever was written since the last one', () => {
  const journal = newJournal()
  const record = new IncidentRecord('i-1')
  const look = (): number[] => {
    for (const entry of journal.read({ incident: 'i-1', after: record.lastSeq })) record.take(entry)
    const kept = record.verdicts.read(journal, record.incident, record)
    expect(kept).toEqual(new HostVerdicts().read(journal, record.incident, record))
    return kept.map(({ seq }) => seq)
  }
  const write = (...entries: NewEntry[]): void => void journal.append(entries)

  write(verdict('cmp01', 'before'), verdict('cmp02', 'another host'))
  write({ kind: 'incident.opened', ...of, data: opened } as NewEntry)
  expect(look()).toEqual([1])
  write(verdict('cmp01', 'since'), verdict('cmp02', 'another host'))
  expect(look()).toEqual([1, 4])
  expect(look()).toEqual([1, 4])
  write({ kind: 'review.noted', ...of, data: { by: 'ann', text: 'x' } }, verdict('cmp01', 'after a note'))
  expect(look()).toEqual([1, 4, 7])
  for (let nth = 0; nth < 50; nth++) write(verdict('cmp01', `flaps ${nth}`))
  expect(look()).toHaveLength(41)
  write({ kind: 'incident.closed', ...of, data: closed } as NewEntry)
  expect(look()).toHaveLength(41)
})

it('what the host does after its incident is over is not among them', async () => {
  const journal = newJournal()
  const record = new IncidentRecord('i-1')
  journal.append([{ kind: 'incident.opened', ...of, data: opened } as NewEntry])
  journal.append([verdict('cmp01', 'since')])
  journal.append([{ kind: 'incident.closed', ...of, data: closed } as NewEntry])
  for (const entry of journal.read({ incident: 'i-1' })) record.take(entry)
  expect(record.verdicts.read(journal, record.incident, record)).toHaveLength(1)
  journal.append([verdict('cmp01', 'later')])
  expect(record.verdicts.read(journal, record.incident, record)).toHaveLength(1)
})
