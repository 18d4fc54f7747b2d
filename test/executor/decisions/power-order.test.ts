/** What an owner ordered between the survey and the turn of an instance, from its task and from the rows. */
import { describe, expect, it } from 'vitest'
import type { StepRecord } from '../../../src/domain/incident.ts'
import type { EvacuationRequest, PowerOrder } from '../../../src/domain/step-payloads.ts'
import { expectedOf, powerOrderIn, powerOrderNote, powerOrderOf } from '../../../src/executor/power-order.ts'
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

describe('an order on record', () => {
  it.each([
    ['stop', ordered('stop'), 'stop'],
    ['start', ordered('start'), 'start'],
    ['none in rows of older releases', asked, null],
    ['none where nothing could be prepared', null, null],
  ] as const)('is found: %s', (_what, request, order) => {
    expect(powerOrderOf(recovery(request))).toBe(order)
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
