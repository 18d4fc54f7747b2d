/** What an earlier incident left, as the journal tells it. */
import { expect, it } from 'vitest'
import { earlierRecovery } from '../../src/control/earlier-recoveries.ts'
import type { NewEntry } from '../../src/domain/entry.ts'
import { incidentEntries, newJournal } from '../journal/fixtures.ts'

const store = { open: () => [], openCrashes: () => [] }
const about = { incident: 'i2', host: 'c2' }
const proof = { host: 'c2', method: 'bmc', strength: 'power-off', provenAt: '', statedBy: null, evidence: [] }
const proven = { kind: 'proof.recorded', ...about, data: { proof } } as NewEntry
const word = { code: 'BEATING', message: '', updatedAt: null, unproven: true }
const wordRevoked = { kind: 'proof.voided', ...about, data: word } as NewEntry
const voided = { kind: 'proof.voided', ...about, data: { code: 'BEATING', message: '', updatedAt: null } } as NewEntry

it('ended with its outcome, whatever is settled of it much later', () => {
  const journal = newJournal()
  const rows = journal.append(incidentEntries())
  const outcome = rows.find(({ kind, instance }) => kind === 'outcome.recorded' && instance === 'a')
  const of = { incident: 'i1', host: 'c1', instance: 'a' }
  const late = { kind: 'debt.recorded', ...of, data: { code: 'STALE_ORDER', message: 'an order waits' } }
  journal.append([late as NewEntry])
  expect(earlierRecovery(journal, store, 'a', null)?.endedAt).toBe(outcome?.at)
  journal.close()
})

it.each([
  ['nothing proved it dead', [], false],
  ['it was proven dead', [proven], true],
  ['that proof was revoked: it may never have been off', [proven, voided], false],
  ["only a person's word on another death of it was revoked since", [proven, wordRevoked], true],
  ['it was proven dead again after that', [proven, voided, proven], true],
] as const)('whether a guest died with the host that it may have reached: %s', (_why, since, expected) => {
  const journal = newJournal()
  journal.append([proven, ...incidentEntries(), ...since])
  expect(earlierRecovery(journal, store, 'a', null)?.provenDeadSince('c2')).toBe(expected)
  journal.close()
})
