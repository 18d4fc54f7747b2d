/** Which record an attempt moves: with an order of ours left in a dead host's queue, Nova moves the older one. */
import { describe, expect, it } from 'vitest'
import { errorRecord, LifeboatError } from '../../../src/domain/errors.ts'
import type { StepRecord } from '../../../src/domain/incident.ts'
import type { BeforeEvacuation } from '../../../src/domain/step-payloads.ts'
import { recordInForce, recordsOf, waitingOf, waitsAt } from '../../../src/executor/steps/evacuation-records.ts'
import { evacuation, record, was } from './stage.ts'

const before = (waiting: BeforeEvacuation['waitingEvacuations'] = []): BeforeEvacuation => ({
  ...was,
  spentEvacuations: waiting.map(({ migration }) => migration),
  waitingEvacuations: waiting,
})
const failedWith = (details: Record<string, unknown>): StepRecord<'evacuate'> =>
  record({ error: errorRecord(new LifeboatError('DESTINATION_DIED', 'died', { details })) })
const given = { migration: 'm-1', destination: 'gone' }

describe('the record in force', () => {
  it('is the one that came with the attempt, and none before Nova shows it', () => {
    expect(recordInForce([], before())).toBeUndefined()
    expect(recordInForce([evacuation(1, {})], before())?.uuid).toBe('m-1')
  })

  it.each([
    ['stands at accepted', { status: 'accepted', destHost: null }, 'm-2'],
    ['was claimed elsewhere', { status: 'pre-migrating', destHost: 'alive' }, 'm-1'],
    ['is done elsewhere', { status: 'done', destHost: 'alive' }, 'm-1'],
    ['was claimed by the host that it waited for', { status: 'pre-migrating', destHost: 'gone' }, 'm-2'],
  ])('is told by whether the one that was given up %s', (_what, changes, uuid) => {
    const records = [evacuation(1, changes), evacuation(2, { status: 'accepted', destHost: null })]
    expect(recordInForce(records, before([given]))?.uuid).toBe(uuid)
  })

  it('is read in journals of before, which knew of none that waits', () => {
    const { waitingEvacuations: _missing, ...older } = before()
    expect(recordInForce([evacuation(1, {})], older)?.uuid).toBe('m-1')
  })
})

describe('a failed attempt', () => {
  it('is known by the record that it moved and by its own that it left', () => {
    expect(recordsOf(failedWith({ migration: 'm-1', spare: ['m-2'] }))).toEqual(['m-1', 'm-2'])
    expect(recordsOf(failedWith({}))).toEqual([])
  })

  it('left an order behind only where its destination never took it', () => {
    expect(waitsAt(failedWith({ ...given, queued: true }))).toEqual(given)
    expect(waitsAt(failedWith(given))).toBeNull()
  })

  it('has its accepted records waiting for the host that they were sent to', () => {
    const records = [evacuation(1, { status: 'accepted' }), evacuation(2, { status: 'done' })]
    expect(waitingOf(records, [failedWith({ ...given, queued: true })])).toEqual([given])
    expect(waitingOf(records, [])).toEqual([{ migration: 'm-1', destination: null }])
  })
})
