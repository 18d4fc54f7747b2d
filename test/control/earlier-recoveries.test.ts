/** What an earlier incident left, as the journal tells it. */
import { expect, it } from 'vitest'
import { earlierRecovery } from '../../src/control/earlier-recoveries.ts'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { InstancePlan } from '../../src/domain/plan.ts'
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
  ['off after a return of its host is what that incident knows', 'OFF_AFTER_RETURN', 'i2'],
  ['left because its guest may run elsewhere is what the incident before knows', 'EARLIER_UNSETTLED', 'i1'],
])('an instance that was %s', (_what, reason, expected) => {
  const journal = newJournal()
  journal.append(incidentEntries())
  const [opened] = journal.read({ kinds: ['incident.opened'] })
  const [planned] = journal.read({ instance: 'a', kinds: ['plan.made'] })
  const of = { incident: 'i2', host: 'c1' }
  const plan = { ...(planned?.data as InstancePlan), rule: 'after-return', decision: 'leave', reason }
  const outcome = { outcome: 'left', code: 'HOST_FAILED_AGAIN', message: '', after: null }
  journal.append([
    { kind: 'incident.opened', ...of, data: opened?.data } as NewEntry,
    { kind: 'plan.made', ...of, instance: 'a', data: plan } as NewEntry,
    { kind: 'outcome.recorded', ...of, instance: 'a', data: outcome } as NewEntry,
  ])
  expect(earlierRecovery(journal, store, 'a', null)?.incident).toBe(expected)
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
