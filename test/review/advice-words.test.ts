/** Advice that depends on the cause. */
import { expect, it } from 'vitest'
import { foldIncidents, type Incident } from '../../src/domain/incident.ts'
import { aboutReturned } from '../../src/review/advice-after-return.ts'
import { adviceFor } from '../../src/review/advice.ts'
import { incidentEntries, newJournal } from '../journal/fixtures.ts'

it('of what may run elsewhere nobody is told to start it', () => {
  const off = (id: string, decision: string, reason: string): [string, unknown] => [
    id,
    { plan: { instanceId: id, rule: 'after-return', decision, reason }, outcome: { outcome: 'left', code: reason } },
  ]
  const instances = new Map([
    off('web', 'leave', 'EARLIER_UNSETTLED'),
    off('vault', 'leave', 'ENCRYPTED_WITHOUT_KEY'),
    off('db', 'recover', 'OFF_AFTER_RETURN'),
  ])
  const watched = { to: 'known' }
  const incident = { id: 'i', host: 'cmp01', watched, startOrder: null, instances } as unknown as Incident
  expect(aboutReturned(incident).map(({ code, instances: ids }) => `${code} ${ids.join()}`)).toEqual([
    ...['INSTANCES_PERHAPS_ELSEWHERE web', 'INSTANCES_OFF db', 'INSTANCES_OFF_FOR_OWNERS vault'],
  ])
  expect(aboutReturned(incident)[0]).toMatchObject({ command: null })
})

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
