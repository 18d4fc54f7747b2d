/** What is done about an order that waited in a dead host's queue: only what it broke, and only where nobody acted since. */
import { describe, expect, it } from 'vitest'
import {
  decideStaleOrder,
  repairFailures,
  tellsOfFailures,
  watchedForMs,
  type StaleOrderFacts,
} from '../../src/domain/stale-order.ts'
import { errorRecord, LifeboatError, type ErrorCode } from '../../src/domain/errors.ts'
import { instance } from '../engine/surveys.ts'

const broken = instance({ id: 'i-1', host: 'new', vmState: 'error', taskState: 'rebuilding', powerState: 0 })
const after = { host: 'new', vmState: 'active', taskState: null, powerState: 1, locked: false }

function facts(changes: Partial<StaleOrderFacts> = {}): StaleOrderFacts {
  return {
    order: {
      incident: 'inc',
      source: 'dead',
      instance: 'i-1',
      host: 'gone',
      migration: 'm-1',
      requestId: 'req-1',
      seq: 1,
    },
    instance: broken,
    records: [{ uuid: 'm-1', type: 'evacuation', status: 'failed', sourceHost: 'dead', destHost: 'gone' }],
    event: null,
    wasTaken: true,
    newest: { action: 'unlock', requestId: 'req-ours', userId: 'us', startedAt: '' },
    ours: new Set(['req-ours']),
    outcome: { outcome: 'recovered', after },
    isReset: false,
    isResetForIt: false,
    hostIsWell: true,
    beatingForMs: 10_000,
    blocked: null,
    failing: { count: 0, forMs: Infinity },
    ...changes,
  }
}
const what = (changes: Partial<StaleOrderFacts> = {}): string => {
  const decision = decideStaleOrder(facts(changes))
  return decision.do === 'close' ? decision.end : decision.do
}
const active = { ...broken, vmState: 'active', taskState: null }
const stopped = { outcome: 'recovered' as const, after: { ...after, vmState: 'stopped' } }

it('an order that was carried out after all, before any other, is harmless at once', () => {
  const [record] = facts().records
  const records = [{ ...record!, status: 'done' }]
  const there = { ...active, host: 'gone' }
  const outcome = { outcome: 'recovered' as const, after: { ...after, host: 'gone' } }
  expect(decideStaleOrder(facts({ records, instance: there, outcome, beatingForMs: 0 }))).toMatchObject({
    end: 'harmless',
    message: expect.stringContaining('carried out on gone') as string,
  })
  // Elsewhere by now: what it did there is not known yet.
  expect(what({ records, instance: active, beatingForMs: 0 })).toBe('wait')
})

it('an order that was carried out after its instance had landed elsewhere may run it twice', () => {
  const [record] = facts().records
  const records = [{ ...record!, status: 'done' }]
  expect(decideStaleOrder(facts({ records, instance: { ...active, host: 'gone' } }))).toMatchObject({
    end: 'struck',
    straysOn: 'new',
    message: expect.stringContaining('may run on new as well as on gone') as string,
  })
  // As Nova shows it before the record says that it is done.
  expect(what({ instance: { ...active, host: 'gone' } })).toBe('struck')
  // As it is carried out nobody can tell yet which of the two guests Nova will know.
  const spawning = { instance: { ...broken, taskState: 'rebuild_spawning' }, wasTaken: false }
  expect(decideStaleOrder(facts(spawning))).toMatchObject({
    end: 'struck',
    straysOn: 'gone',
    message: expect.stringContaining('end the guest on the host where Nova does not have the instance') as string,
  })
  // A person has brought it there since; it is told by its record, or by what was done.
  const moved = [{ ...record!, status: 'done', destHost: 'new' }]
  expect(what({ records: moved, instance: { ...active, host: 'gone' } })).toBe('wait')
  const newest = { action: 'live-migration', requestId: 'req-x', userId: 'u', startedAt: '' }
  expect(what({ records, newest, instance: { ...active, host: 'gone' } })).toBe('harmless')
  // A reboot brought it nowhere.
  const rebooted = { ...newest, action: 'reboot' }
  expect(what({ records, newest: rebooted, instance: { ...active, host: 'gone' } })).toBe('struck')
})

describe('an order that broke its instance', () => {
  it('is answered with a reset, and is repaired when the instance is active again', () => {
    expect(what()).toBe('reset-state')
    expect(what({ isReset: true, instance: active })).toBe('repaired')
  })

  it('is answered with a stop as well where the instance had landed stopped', () => {
    expect(what({ isReset: true, instance: active, outcome: stopped })).toBe('stop')
    expect(what({ isReset: true, instance: { ...active, taskState: 'powering-off' }, outcome: stopped })).toBe('wait')
    expect(what({ isReset: true, instance: { ...active, vmState: 'stopped' }, outcome: stopped })).toBe('repaired')
  })

  it.each<[string, Partial<StaleOrderFacts>]>([
    ['someone acted on it since', { newest: { action: 'stop', requestId: 'req-x', userId: 'u', startedAt: '' } }],
    ['it is on another host by now', { instance: { ...broken, host: 'third' } }],
    ['Lifeboat had not brought it back', { outcome: { outcome: 'stuck', after: null } }],
    [
      'someone acted between the two halves',
      { isReset: true, instance: active, newest: { action: 'start', requestId: 'x', userId: 'u', startedAt: '' } },
    ],
  ])('is left to people when %s', (_why, changes) => expect(what(changes)).toBe('not-ours'))

  it.each<[string, Partial<StaleOrderFacts>]>([
    ['something holds all writes', { blocked: 'paused' }],
    ['the host that it is on is not well', { hostIsWell: false }],
    ['its recovery goes on', { outcome: null }],
    ['its repair has just failed', { failing: { count: 1, forMs: 9_999 } }],
    ['its repair failed for the fourth time a minute ago', { failing: { count: 4, forMs: 60_000 } }],
  ])('waits while %s', (_why, changes) => expect(what(changes)).toBe('wait'))

  it('is answered alike where it was the confirmation of a resize, which leaves no task', () => {
    const failed = { uuid: 'm-1', type: 'resize', status: 'error', sourceHost: 'gone', destHost: 'dead' } as const
    const struck = { records: [failed], instance: { ...broken, taskState: null } }
    expect(what(struck)).toBe('reset-state')
    expect(what({ ...struck, isReset: true, instance: active, outcome: stopped })).toBe('stop')
    expect(what({ ...struck, records: [{ ...failed, sourceHost: 'other' }] })).toBe('wait')
    expect(what({ ...struck, instance: { ...broken, taskState: 'rebuilding' } })).toBe('not-ours')
  })

  it.each([[{ count: 1, forMs: 10_000 }], [{ count: 4, forMs: 80_000 }], [{ count: 40, forMs: 3_600_000 }]])(
    'is repaired all the same after a pause that grows with the failures: %o',
    (failing) => expect(what({ failing })).toBe('reset-state'),
  )

  it('is known by its event where it was a rebuild, which has no record', () => {
    const rebuild = { order: { ...facts().order, power: 'rebuild' as const }, records: [] }
    const refused = { result: 'Error', details: "Conflict updating instance i-1. Actual: {'task_state': None}" }
    expect(what({ ...rebuild, beatingForMs: watchedForMs - 1 })).toBe('wait')
    expect(what({ ...rebuild, event: { result: null, details: null } })).toBe('wait')
    expect(what({ ...rebuild, event: refused })).toBe('reset-state')
    expect(what({ ...rebuild, event: refused, instance: active, isReset: true })).toBe('repaired')
    // It found the task of another rebuild, or of an evacuation, and was carried out.
    expect(what({ ...rebuild, event: { result: 'Error', details: 'no disk' } })).toBe('struck')
    expect(what({ ...rebuild, event: { result: 'Success', details: null }, instance: active })).toBe('struck')
    // By then it is there again: Nova knows of its guest.
    const there = { ...rebuild, event: { result: 'Error', details: 'no disk' }, instance: { ...active, host: 'gone' } }
    expect(what(there)).toBe('harmless')
    expect(
      what({ ...rebuild, event: { result: null, details: null }, instance: active, beatingForMs: watchedForMs }),
    ).toBe('struck')
    expect(
      what({ ...rebuild, event: { result: 'Success', details: null }, instance: { ...active, host: 'gone' } }),
    ).toBe('harmless')
  })

  it('is known by its own task where it was a resize, and leaves its room in Placement to people', () => {
    const order = { ...facts().order, resize: true }
    const records = [{ uuid: 'm-1', type: 'resize' as const, status: 'error', sourceHost: 'gone', destHost: 'dest' }]
    const moving = { ...broken, taskState: 'resize_migrating' }
    expect(what({ order, records, instance: moving })).toBe('reset-state')
    // Something else broke it: that order leaves another task.
    expect(what({ order, records, instance: { ...broken, taskState: null } })).toBe('not-ours')
    const done = decideStaleOrder(facts({ order, records, isReset: true, instance: active }))
    expect(done).toMatchObject({
      end: 'repaired',
      message: expect.stringContaining('Placement counts it on gone') as string,
    })
  })

  it('is known by the older record too, which Nova carries a later order out with', () => {
    const order = { ...facts().order, migration: 'm-2', older: ['m-1'] }
    expect(what({ order })).toBe('reset-state')
  })
})

describe('an order that broke nothing', () => {
  const taken = [{ uuid: 'm-1', type: 'evacuation', status: 'done', sourceHost: 'dead', destHost: 'new' }] as const

  it('is waited for until its host has run for a while', () => {
    expect(what({ records: taken, instance: active })).toBe('wait')
    expect(what({ records: taken, instance: active, beatingForMs: watchedForMs })).toBe('harmless')
  })

  it('is over when it was taken and the instance is well, or does not exist', () => {
    expect(what({ instance: active })).toBe('harmless')
    expect(what({ instance: null })).toBe('gone')
    expect(what({ instance: { ...active, status: 'DELETED' } })).toBe('gone')
  })

  it('is looked at once more when it was taken just now: nova-compute fails the record before the instance', () => {
    expect(what({ instance: active, wasTaken: false })).toBe('wait')
    expect(what({ instance: active })).toBe('harmless')
    expect(what({ wasTaken: false })).toBe('reset-state')
  })

  it('does not make an ERROR of another cause ours, and tells people of it', () => {
    expect(what({ records: taken })).toBe('wait')
    expect(what({ instance: { ...broken, taskState: null } })).toBe('not-ours')
  })
})

describe('failures of a repair', () => {
  const failed = (code: ErrorCode, endedAt: string) => ({
    status: 'failed',
    error: errorRecord(new LifeboatError(code, '')),
    endedAt,
  })
  const confirmed = { status: 'confirmed', error: null, endedAt: '1' }
  const count = (...steps: Parameters<typeof repairFailures>[0]) => repairFailures(steps, (at) => 100 - Number(at))

  it('count from the last write that succeeded', () => {
    expect(count()).toEqual({ count: 0, forMs: Infinity })
    expect(count(failed('AUTH_FORBIDDEN', '1'), confirmed)).toEqual({ count: 0, forMs: Infinity })
    expect(count(confirmed, failed('AUTH_FORBIDDEN', '2'), failed('AUTH_FORBIDDEN', '5'))).toEqual({
      count: 2,
      forMs: 95,
    })
  })

  it('are told once, at the third, and not again while the next write is held back', () => {
    const writes = [...['1', '2', '3', '4'].map((at) => failed('AUTH_FORBIDDEN', at))]
    expect([1, 2, 3, 4].map((many) => tellsOfFailures(writes.slice(0, many)))).toEqual([false, false, true, false])
    expect(tellsOfFailures([...writes.slice(0, 3), failed('HELD_BACK', '5')])).toBe(false)
  })

  it('are none of what never left', () => {
    expect(count(failed('AUTH_FORBIDDEN', '2'), failed('HELD_BACK', '5'))).toEqual({ count: 1, forMs: 98 })
  })
})
