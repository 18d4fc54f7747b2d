/** What an owner ordered between the survey and the turn of an instance, from its task and from the rows. */
import { describe, expect, it } from 'vitest'
import type { StepRecord } from '../../../src/domain/incident.ts'
import type { InstanceAction } from '../../../src/domain/instance.ts'
import type { Evacuated, EvacuationRequest, PowerOrder } from '../../../src/domain/step-payloads.ts'
import {
  expectedOf,
  powerOrderAfterLife,
  powerOrderIn,
  powerOrderNote,
  powerOrderOf,
  powerOrderSince,
  powerOrderWiped,
} from '../../../src/executor/power-order.ts'
import { start, stop } from '../../../src/executor/steps/power.ts'
import { instance } from '../../engine/surveys.ts'
import { action, asked, plan, record, Stage, was } from './stage.ts'

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
    ['shelving', 'running', 'stop'],
    ['shelving_image_uploading', 'running', 'stop'],
    ['shelving', 'stopped', null],
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

describe('what our own lock or reset found before the first evacuation', () => {
  const wiped = (kind: 'lock' | 'unlock' | 'reset-state', taskState: string | null, change = {}) =>
    powerOrderWiped({
      plan: plan(change),
      steps: new Map([
        [
          '0.go.mark.1',
          {
            ...record(),
            ...{ kind, before: { vmState: 'suspended', taskState, locked: false, lockedReason: null } },
            ...{ request: 'w', result: null },
          } as StepRecord,
        ],
      ]),
    })

  it.each([
    ['lock', 'shelving', 'stop'],
    ['reset-state', 'powering-off', 'stop'],
    ['reset-state', null, null],
    ['unlock', 'powering-off', null],
  ] as const)('in the row of a %s, the task %s, is the order: %s', (kind, taskState, order) => {
    expect(wiped(kind, taskState)).toBe(order)
  })

  it('is no order where an earlier incident had left it: Nova may have set that task itself', () => {
    const { original } = plan()
    const earlier = { incident: 'i-0', traces: true }
    expect(wiped('lock', 'powering-off', { original: { ...original, earlier } })).toBeNull()
  })
})

describe('the order of an instance whose host lived again', () => {
  const after = (last: PowerOrder | 'nothing', onRecord: PowerOrder | null, expected: 'running' | 'stopped') => {
    const known = { ...recovery(onRecord === null ? asked : ordered(onRecord)), plan: plan({ expected }) }
    return powerOrderAfterLife(last, known)
  }

  it.each([
    ['a stop is obeyed', 'stop', null, 'running', 'stop'],
    ['a stop of what lands off says nothing new', 'stop', null, 'stopped', null],
    ['a start is told of what lands off', 'start', null, 'stopped', 'start'],
    ['a start of what is to run says nothing new', 'start', null, 'running', null],
    ['a start overrules the stop before it', 'start', 'stop', 'running', 'start'],
    ['nothing overrules a task that Nova had set', 'nothing', 'stop', 'running', 'start'],
    ['a stop overrules the start before it', 'stop', 'start', 'stopped', 'stop'],
    ['nothing overrules a start that never was', 'nothing', 'start', 'stopped', 'stop'],
    ['nothing is nothing', 'nothing', null, 'running', null],
  ] as const)('%s', (_what, last, onRecord, expected, order) => {
    expect(after(last, onRecord, expected)).toBe(order)
  })

  it('that only overrules another is in force no more than that, and is not said in the outcome', () => {
    expect(powerOrderOf(recovery(ordered('start')))).toBeNull()
    expect(powerOrderNote(recovery(ordered('start')))).toEqual([])
    expect(expectedOf(recovery(ordered('start')))).toBe('running')
  })

  it('gives way to a stop that comes later, before it is started', () => {
    const stopped: StepRecord = {
      ...record(),
      kind: 'start',
      before: { ...was, ordered: 'stop' },
      request: { power: 'active' },
      result: null,
    }
    const steps = new Map<string, StepRecord>([
      ['0.go.go.1', record({ request: ordered('start') })],
      ['0.go.start.1', stopped],
    ])
    expect(powerOrderOf({ plan: plan(), steps })).toBe('stop')
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
    ['a shelve', [taken('evacuate', 31), taken('shelve', 31)], 'running', 'stop'],
    ['an unshelve after that', [taken('unshelve', 32), taken('shelve', 31)], 'running', null],
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
    ['stop', ordered('stop'), 'running', 'stop'],
    ['start', ordered('start'), 'stopped', 'start'],
    ['none in rows of older releases', asked, 'running', null],
    ['none where nothing could be prepared', null, 'running', null],
  ] as const)('is found: %s', (_what, request, expected, order) => {
    expect(powerOrderOf({ ...recovery(request), plan: plan({ expected }) })).toBe(order)
  })

  it('is found in the row of the landing, too', () => {
    const result: Evacuated = { migration: 'm', host: 'alive', vmState: 'active', powerState: 1, ordered: 'stop' }
    expect(powerOrderOf({ plan: plan(), steps: new Map([['0.go.go.1', record({ request: asked, result })]]) })).toBe(
      'stop',
    )
  })

  it('is one of an evacuation only', () => {
    const lock: StepRecord = { ...record(), kind: 'lock', before: null, request: 'locked', result: null }
    expect(powerOrderOf({ plan: plan(), steps: new Map([['0.go.lock.1', lock]]) })).toBeNull()
    expect(powerOrderOf({ plan: plan(), steps: new Map() })).toBeNull()
  })

  it('to stop decides how it is to end, one to start does not', () => {
    expect(expectedOf(recovery(ordered('stop')))).toBe('stopped')
    expect(expectedOf(recovery(ordered('start')))).toBe('running')
    expect(expectedOf(recovery(asked))).toBe('running')
  })

  it('is said in the outcome of the instance', () => {
    expect(powerOrderNote(recovery(ordered('stop')))).toEqual([expect.stringContaining('stopped')])
    const started = (vmState: string) =>
      powerOrderNote({
        plan: plan({ expected: 'stopped' }),
        steps: new Map([['0.go.go.1', record({ request: ordered('start'), before: { ...was, vmState } })]]),
      })
    expect(started('stopped')).toEqual([expect.stringContaining('forgotten: start it again')])
    expect(started('active')).toEqual([expect.stringContaining('lived again: start it again')])
    expect(powerOrderNote(recovery(asked))).toEqual([])
    const row = record({ request: ordered('stop'), before: { ...was, taskState: 'shelving' } })
    const shelved = { plan: plan(), steps: new Map([['0.go.go.1', row]]) }
    expect(powerOrderNote(shelved)).toEqual([expect.stringContaining('shelve it again')])
    // The evacuation overwrote its task, and the history alone tells.
    const result: Evacuated = { migration: 'm', host: 'alive', vmState: 'active', powerState: 1, ordered: 'stop' }
    const told = (shelve: object) => ({
      plan: plan(),
      steps: new Map([['0.go.go.1', record({ request: asked, result: { ...result, ...shelve } })]]),
    })
    expect(powerOrderNote(told({ shelved: true }))).toEqual([expect.stringContaining('shelve it again')])
    expect(powerOrderNote(told({}))).toEqual([expect.stringContaining('ordered it stopped')])
  })

  it('to rebuild it is said as well, where the survey saw no rebuild', () => {
    const row = record({ request: asked, before: { ...was, taskState: 'rebuilding' } })
    const steps = new Map([['0.go.go.1', row]])
    expect(powerOrderNote({ plan: plan(), steps })).toEqual([expect.stringContaining('rebuild it again')])
    const { original } = plan()
    const seen = { ...original, instance: instance({ taskState: 'rebuilding' }) }
    expect(powerOrderNote({ plan: plan({ original: seen }), steps })).toEqual([])
    // A later attempt finds the task that the first one set.
    const first = ['0.go.go.1', record({ request: asked })] as const
    expect(powerOrderNote({ plan: plan(), steps: new Map([first, ['1.go.go.1', row]]) })).toEqual([])
  })
})

describe('a guest whose owner wants it off', () => {
  const landed = (request = asked): Stage => {
    const stage = new Stage()
    stage.shows({ host: 'alive', vmState: 'stopped', powerState: 4 })
    stage.recovery.steps.set('0.go.go.1', record({ status: 'confirmed', request }))
    return stage
  }
  const byOwner = (name: string, second: number): InstanceAction =>
    action(`req-owner-${second}`, { action: name, startedAt: `2030-01-01T12:00:${second}` })

  it('is not started', async () => {
    const stage = landed(ordered('stop'))
    expect(await start.before(stage.scene({ do: 'start' }))).toHaveProperty('nothingToDo')
  })

  it.each([
    ['was started and stopped since', [byOwner('stop', 50), byOwner('start', 40)], true],
    ['was stopped and started since', [byOwner('start', 50), byOwner('stop', 40)], false],
    ['was stopped by us alone', [action('req-1', { action: 'stop', startedAt: '2030-01-01T12:00:50' })], false],
    [
      'was stopped before our last look',
      [byOwner('stop', 0)].map((it) => ({ ...it, startedAt: '2030-01-01T11:59:00' })),
      false,
    ],
  ])('where it waits to be started and %s', async (_what, actions, isPassedOver) => {
    const stage = landed()
    stage.actions = actions
    expect(await start.before(stage.scene({ do: 'start' }))).toHaveProperty(isPassedOver ? 'nothingToDo' : 'request')
  })

  it('is not asked for its history again right after its landing', async () => {
    const stage = landed()
    const endedAt = new Date(stage.clock.wall()).toISOString()
    stage.recovery.steps.set('0.go.go.1', record({ status: 'confirmed', request: asked, endedAt }))
    await stage.clock.advance(2_000)
    await start.before(stage.scene({ do: 'start' }))
    expect(stage.count('listActions')).toBe(0)
    await stage.clock.advance(1)
    await start.before(stage.scene({ do: 'start' }))
    expect(stage.count('listActions')).toBe(1)
  })

  it('is looked at again while its owner is stopping it', async () => {
    const stage = landed()
    stage.actions = [byOwner('stop', 50)]
    stage.shows({ vmState: 'active', taskState: 'powering-off' })
    await expect(start.before(stage.scene({ do: 'start' }))).rejects.toMatchObject({ code: 'INSTANCE_BUSY' })
  })

  it('is not started over the task of a start that waits at the dead host', async () => {
    const stage = landed()
    stage.actions = [byOwner('start', 50)]
    stage.shows({ taskState: 'powering-on' })
    const refused = {
      code: 'INSTANCE_BUSY',
      message: expect.stringContaining('openstack server set --state active i-1'),
    }
    await expect(start.before(stage.scene({ do: 'start' }))).rejects.toMatchObject(refused)
  })

  it('that was stopped after it had landed is as it is to be, and its outcome says so', () => {
    const before = { host: 'alive', vmState: 'stopped', taskState: null, powerState: 4, ordered: 'stop' } as const
    const row: StepRecord = { ...record(), kind: 'start', before, request: null, result: { nothingToDo: before } }
    const passedOver = { plan: plan(), steps: new Map([['0.go.start.1', row]]) }
    expect(expectedOf(passedOver)).toBe('stopped')
    expect(powerOrderNote(passedOver)).toEqual([expect.stringContaining('before it was started')])
  })

  it('is stopped where a recipe stops it', async () => {
    const stage = landed(ordered('stop'))
    stage.shows({ vmState: 'active', powerState: 1 })
    expect(await stop.before(stage.scene({ do: 'stop' }))).toHaveProperty('request')
  })
})
