/** Advice that depends on the cause. */
import { expect, it } from 'vitest'
import { foldIncidents } from '../../src/domain/incident.ts'
import { adviceFor } from '../../src/review/advice.ts'
import { incidentEntries, newJournal } from '../journal/fixtures.ts'

it('what nobody may act on is said with its cause, and the control plane is blamed for nothing else', () => {
  const message = 'this process stood still for 37.3 s, and Nova was not read since'
  const journal = newJournal()
  const [opened] = incidentEntries()
  journal.append([
    opened!,
    {
      kind: 'incident.held',
      incident: opened?.incident ?? '',
      host: opened?.host ?? '',
      data: { code: 'FROZEN', message },
    },
  ])
  const incident = foldIncidents(journal.read({})).get(opened?.incident ?? '')!
  const [first] = adviceFor(incident, null, false, { fenceRetryMs: 1, fenceRetryMaxMs: 1 })
  expect(first?.text).toBe(
    `Lifeboat waits, because what it knows of the hosts may be untrue: ${message}. If that lasts, repair it: the incident then goes on by itself`,
  )
})
