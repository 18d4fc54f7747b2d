/** Two people attest the same host: what is shown is the word on which the proof rests. */
import { expect, it } from 'vitest'
import { foldIncidents } from '../../src/domain/incident.ts'
import { incidentFacts } from '../../src/review/incident-views.ts'
import { incidentEntries, newJournal } from '../journal/fixtures.ts'

it('the attestation shown is the one that the proof rests on, and the newest only while there is none', () => {
  const journal = newJournal()
  const [opened] = incidentEntries()
  const of = { incident: opened?.incident ?? '', host: opened?.host ?? '' }
  const stated = (by: string, statement: string): void =>
    void journal.append([{ kind: 'operator.statement', ...of, data: { by, statement } }])
  const shown = () => incidentFacts(foldIncidents(journal.read({})).get(of.incident)!).statement
  journal.append([opened!])
  stated('ann', 'the lamps are off')
  stated('bob', 'both cords are out')
  expect(shown()).toMatchObject({ by: 'bob' })
  const proof = {
    host: of.host,
    method: 'operator',
    strength: 'statement',
    provenAt: '2026-01-02T03:04:05.000Z',
  } as const
  journal.append([{ kind: 'proof.recorded', ...of, data: { proof: { ...proof, statedBy: 'bob', evidence: [] } } }])
  stated('eve', 'it is silent')
  expect(shown()).toEqual({ by: 'bob', statement: 'both cords are out' })
})
