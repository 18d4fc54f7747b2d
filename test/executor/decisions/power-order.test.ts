/** What an owner ordered between the survey and the turn of an instance, from its task and from the rows. */
import { describe, expect, it } from 'vitest'
import type { StepRecord } from '../../../src/domain/incident.ts'
import type { InstanceAction } from '../../../src/domain/instance.ts'
import type { Evacuated, EvacuationRequest, PowerOrder } from '../../../src/domain/step-payloads.ts'
import {
  expectedOf,
  powerOrderIn,
  powerOrderNote,
  powerOrderOf,
  powerOrderSince,
} from '../../../src/executor/power-order.ts'
import { start, stop } from '../../../src/executor/steps/power.ts'
import { instance } from '../../engine/surveys.ts'
import { asked, plan, record, Stage } from './stage.ts'

/** A recovery whose evacuation was asked for with that. */
const recovery = (request: EvacuationRequest | null) => ({
  plan: plan(),
  steps: new Map([['0.go.go.1', record({ request })]]),
})
const ordered = (order: PowerOrder): EvacuationRequest => ({ ...asked, ordered: order })

describe('the task of an instance', () => {
  it.each([
    ['powering-off', 'running', 'stop'],
    ['powering-off', 'stopped', null],
    ['powering-on', 'stopped', 'start'],
    ['powering-on', 'running', null],
    ['rebooting', 'running', null],
    [null, 'running', null],
    ['powering-off', null, null],
  ] as const)('%s, with %s to come, is the order: %s', (taskState, expected, order) => {
    expect(powerOrderIn({ taskState }, plan({ expected }))).toBe(order)
  })

  it('that the survey saw already is part of the plan', () => {
    const { original } = plan()
    const seen = { ...original, instance: instance({ taskState: 'powering-off' }) }
    expect(powerOrderIn({ taskState: 'powering-off' }, plan({ original: seen }))).toBeNull()
  })
})

describe('the history of an instance whose evacuation was taken', () => {
  const looked = '2026-11-03T12:00:30.400Z'
  const taken = (action: string, second: number, rest: Partial<InstanceAction> = {}): InstanceAction => ({
    ...{ action, requestId: `req-${second}`, startedAt: `2026-11-03T12:00:${second}.000000` },
    ...{ userId: 'owner', projectId: 'p', message: null, events: [], ...rest },
  })

  it.each<[string, InstanceAction[], 'running' | 'stopped' | null, PowerOrder | null]>([
    ['a stop after our look', [taken('evacuate', 31), taken('stop', 31)], 'running', 'stop'],
    ['a stop in the second of our look', [taken('evacuate', 31), taken('stop', 30)], 'running', 'stop'],
    ['a stop by an API node whose clock is behind', [taken('evacuate', 31), taken('stop', 27)], 'running', 'stop'],
    ['a stop of long ago, after which it ran again', [taken('evacuate', 31), taken('stop', 20)], 'running', null],
    ['a stop, and a start after it', [taken('start', 32), taken('stop', 31)], 'running', null],
    ['a stop that failed', [taken('stop', 31, { message: 'Error' })], 'running', null],
    ['a stop by nova-compute', [taken('stop', 31, { userId: null, projectId: null })], 'running', null],
    ['a start of what is to be off', [taken('evacuate', 31), taken('start', 31)], 'stopped', 'start'],
    ['a stop of what is to be off', [taken('stop', 31)], 'stopped', null],
    ['a stop where nobody knows how it is to be', [taken('stop', 31)], null, null],
    ['nothing', [], 'running', null],
  ])('with %s', (_what, actions, expected, order) => {
    expect(powerOrderSince(looked, actions, plan({ expected }))).toBe(order)
  })
})

describe('an order on record', () => {
  it.each([
    ['stop', ordered('stop'), 'stop'],
    ['start', ordered('start'), 'start'],
    ['none in rows of older releases', asked, null],
    ['none where nothing could be prepared', null, null],
  ] as const)('is found: %s', (_what, request, order) => {
    expect(powerOrderOf(recovery(request))).toBe(order)
  })

  it('is found in the row of the landing, too', () => {
    const result: Evacuated = { migration: 'm', host: 'alive', vmState: 'active', powerState: 1, ordered: 'stop' }
    expect(powerOrderOf({ steps: new Map([['0.go.go.1', record({ request: asked, result })]]) })).toBe('stop')
  })

  it('is one of an evacuation only', () => {
    const lock: StepRecord = { ...record(), kind: 'lock', before: null, request: 'locked', result: null }
    expect(powerOrderOf({ steps: new Map([['0.go.lock.1', lock]]) })).toBeNull()
    expect(powerOrderOf({ steps: new Map() })).toBeNull()
  })

  it('to stop decides how it is to end, one to start does not', () => {
    expect(expectedOf(recovery(ordered('stop')))).toBe('stopped')
    expect(expectedOf(recovery(ordered('start')))).toBe('running')
    expect(expectedOf(recovery(asked))).toBe('running')
  })

  it('is said in the outcome of the instance', () => {
    expect(powerOrderNote(recovery(ordered('stop')))).toEqual([expect.stringContaining('stopped')])
    expect(powerOrderNote(recovery(ordered('start')))).toEqual([expect.stringContaining('start it again')])
    expect(powerOrderNote(recovery(asked))).toEqual([])
  })
})

describe('a guest whose owner wants it off', () => {
  const landed = (): Stage => {
    const stage = new Stage()
    stage.shows({ host: 'alive', vmState: 'stopped', powerState: 4 })
    stage.recovery.steps.set('0.go.go.1', record({ status: 'confirmed', request: ordered('stop') }))
    return stage
  }

  it('is not started', async () => {
    const stage = landed()
    expect(await start.before(stage.scene({ do: 'start' }))).toHaveProperty('nothingToDo')
  })

  it('is stopped where a recipe stops it', async () => {
    const stage = landed()
    stage.shows({ vmState: 'active', powerState: 1 })
    expect(await stop.before(stage.scene({ do: 'stop' }))).toHaveProperty('request')
  })
})
