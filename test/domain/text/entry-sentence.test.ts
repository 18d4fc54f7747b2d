/** What everyone reads of an entry: one sentence, wherever it is read. */
import { expect, it } from 'vitest'
import type { Entry, EntryKind } from '../../../src/domain/entry.ts'
import { foldIncidents } from '../../../src/domain/incident.ts'
import { lineOf, sentenceOf } from '../../../src/domain/text/entry-sentence.ts'

const on = { incident: 'i1', host: 'cmp01', instance: null, step: null, actor: 'daemon', at: '2026-01-02T00:00:00Z' }
const entry = (seq: number, kind: EntryKind, data: unknown, of = {}): Entry =>
  ({ ...on, seq, kind, data, hash: '', prevHash: '', ...of }) as unknown as Entry

it('a line names the instance, the sentence does not', () => {
  const failed = { error: { code: 'NO_VALID_HOST', message: 'no host has room' } }
  const told = entry(1, 'step.failed', failed, { instance: 'a1', step: '0.plain.evacuate.1' })
  expect(sentenceOf(told)).toMatchObject({ subject: 'a1', tone: 'bad' })
  expect(lineOf(told)).toBe(`a1: ${sentenceOf(told).text}`)
})

it('a hold that an older release recorded with the word "held" is read without it', () => {
  const opened = { segment: 's', mode: 'armed', openedBy: 'daemon', verdict: null, workflow: { digest: 'd' } }
  const held = entry(2, 'incident.held', { code: 'BRAKE', message: 'held: 5 of 20 hosts are down' })
  const incident = foldIncidents([entry(1, 'incident.opened', opened), held]).get('i1')
  expect(incident?.held?.message).toBe('5 of 20 hosts are down')
  expect(lineOf(held)).toBe('Held (BRAKE): 5 of 20 hosts are down')
})

it('a written failover segment is told by what became of it, a change by each field with what it was', () => {
  const rack = { name: 'rack', serviceType: 'COMPUTE', recoveryMethod: 'auto', description: null }
  const told = (before: object | null, after: object | null): string =>
    lineOf(entry(1, 'segment.written', { number: 1, uuid: 'u', by: 'ann', before, after }))
  expect([told(null, rack), told(rack, null), told(rack, { ...rack, name: 'row', description: 'Row 1' })]).toEqual([
    'ann created failover segment rack',
    'ann deleted failover segment rack',
    'ann changed name from "rack" to "row", description from null to "Row 1" of failover segment rack',
  ])
  const host = { name: 'cmp01', type: 'COMPUTE', controlAttributes: 'SSH', reserved: false }
  const data = { number: 1, uuid: 'u', segment: { uuid: 's', name: 'rack' }, by: 'ann', before: null, after: host }
  expect(lineOf(entry(2, 'segment.host.written', data))).toBe('ann added host cmp01 of failover segment rack')
})

const act = { by: 'ann', reason: 'the rack burnt' }
it.each<[string, EntryKind, object, string]>([
  ['a retry', 'operator.again', { ...act, of: 'i0' }, 'ann retries the instances that incident i0 did not bring back'],
  ['a start', 'operator.start', act, 'ann ordered a start of the instances that are off'],
  ['a hand-over', 'operator.hand-over', act, 'ann ordered another daemon to take over'],
  ['a pause', 'operator.paused', { ...act, until: null }, 'ann paused recoveries of the whole cloud with no end set'],
  [
    'a move',
    'journal.moved',
    { ...act, to: 'own', holder: 'ctl1' },
    'ann moved the journal out of the shared store, to ctl1 alone',
  ],
])('%s is told by who ordered it, what, and why', (_what, kind, data, sentence) => {
  expect(lineOf(entry(1, kind, data))).toBe(`${sentence}: the rack burnt`)
})

it('why a configuration was rejected stands before what holds instead', () => {
  const data = { code: 'CONFIG_INVALID', by: 'SIGHUP', message: 'lifeboat.yaml:3:1: no such option' }
  expect(lineOf(entry(1, 'config.refused', data))).toBe(
    'Configuration rejected (CONFIG_INVALID): lifeboat.yaml:3:1: no such option; the current one stays in force (reload ordered by SIGHUP)',
  )
})

it('a step says until when it waits, and for what', () => {
  const data = { sentAt: '02:00:00Z', until: '02:10:00Z' }
  expect(lineOf(entry(1, 'step.waiting', data, { step: '0.evacuate.1' }))).toBe(
    'Step 0.evacuate.1 waits until 02:10:00Z at the latest: Nova may still carry out what was sent at 02:00:00Z',
  )
})

it('while Lifeboat watches a host that came back, it says so', () => {
  const told = (to: string): string => lineOf(entry(1, 'instances.watched', { to, message: 'cmp01 is back' }))
  expect([told('watching'), told('known')]).toEqual([
    'cmp01 is back; Lifeboat still watches for instances that are off',
    'cmp01 is back',
  ])
})

it('a kind of a newer release is named, not hidden', () => {
  expect(lineOf(entry(1, 'sun.rose' as EntryKind, {}))).toBe('sun.rose')
})
