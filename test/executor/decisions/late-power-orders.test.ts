/** Which orders on its guest an instance leaves behind in the queue of its dead host. */
import { describe, expect, it } from 'vitest'
import { LifeboatError } from '../../../src/domain/errors.ts'
import type { InstanceAction } from '../../../src/domain/instance.ts'
import type { Outcome } from '../../../src/domain/outcome.ts'
import { isWorkedOn, latePowerOrders } from '../../../src/executor/late-power-orders.ts'
import { asked, landed, Stage, was } from './stage.ts'

const ended: Outcome = { outcome: 'recovered', code: 'RUNNING', message: '', after: null }

/** Landed, and with that task right before its evacuation. */
function landedFrom(taskState: string | null, actions: InstanceAction[]): Stage {
  const stage = new Stage()
  const base = { incident: 'inc-1', host: 'dead', instance: 'i-1', step: '0.go.go.1' }
  const before = { ...was, taskState }
  stage.run.journal.append([
    { kind: 'step.intended', ...base, data: { kind: 'evacuate', attempt: 1, before, request: asked } },
    { kind: 'step.issued', ...base, data: { requestId: 'req-1' } },
    { kind: 'step.confirmed', ...base, data: { result: landed } },
  ])
  stage.actions = actions
  return stage
}

function order(action: string, requestId: string, ...hosts: string[]): InstanceAction {
  const open = { event: 'compute_start_instance', result: null, details: null, startedAt: '', finishedAt: null }
  const base = { action, requestId, userId: 'u', projectId: 'p', startedAt: '', message: null }
  return { ...base, events: hosts.map((host) => ({ ...open, host })) }
}

const left = async (stage: Stage): Promise<unknown> => {
  const found = await stage.ending(latePowerOrders(stage.run, stage.recovery, stage.trouble, ended))
  return typeof found === 'string'
    ? found
    : found.map(({ data }) => (data as { waitsAt?: { power?: string; requestId: string | null } }).waitsAt?.requestId)
}

it('those without an event, up to the last one that the dead host took', async () => {
  const history = [
    order('start', 'ours-elsewhere', 'alive'),
    order('evacuate', 'req-1', 'alive'),
    order('reboot', 'waits'),
    order('start', 'waits-too'),
    order('stop', 'taken', 'dead'),
    order('start', 'lost-long-ago'),
  ]
  expect(await left(landedFrom('powering-on', history))).toEqual(['waits', 'waits-too'])
})

it('none of those that were ordered when it had landed already', async () => {
  const evacuation = order('evacuate', 'req-1', 'alive')
  const ended = { event: 'compute_rebuild_instance', finishedAt: '2030-01-01T12:01:00' }
  const history = [
    { ...order('stop', 'to-its-new-host'), startedAt: '2030-01-01T12:01:06' },
    { ...order('reboot', 'as-it-landed'), startedAt: '2030-01-01T12:01:04' },
    { ...evacuation, events: evacuation.events.map((event) => ({ ...event, ...ended })) },
  ]
  expect(await left(landedFrom('powering-on', history))).toEqual(['as-it-landed'])
})

it('none is looked for where no task told of one, or the instance has not landed', async () => {
  for (const stage of [landedFrom(null, [order('start', 'any')]), new Stage()]) {
    expect(await left(stage)).toEqual([])
    expect(stage.calls).toEqual([])
  }
})

it('one that is on record is not recorded again', async () => {
  const stage = landedFrom('rebooting_hard', [order('reboot', 'waits')])
  stage.run.journal.append(await latePowerOrders(stage.run, stage.recovery, stage.trouble, ended))
  expect(await left(stage)).toEqual([])
})

it('where the history may not be read the recovery goes on, and people are told that one may wait', async () => {
  const stage = landedFrom('powering-off', [order('stop', 'waits')])
  stage.fails('getAction', new LifeboatError('AUTH_FORBIDDEN', 'policy'))
  expect(await stage.ending(latePowerOrders(stage.run, stage.recovery, stage.trouble, ended))).toMatchObject([
    { kind: 'debt.recorded', instance: 'i-1', data: { code: 'ORDERS_UNREAD' } },
    {
      kind: 'alarm.raised',
      data: { code: 'ORDERS_UNREAD', message: expect.stringMatching(/^one: .*policy.* the queue compute\.dead /) },
    },
  ])
})

it('none waits for an instance that is gone', async () => {
  const stage = landedFrom('powering-off', [order('stop', 'waits')])
  stage.fails('listActions', new LifeboatError('INSTANCE_GONE', 'no such instance'))
  expect(await left(stage)).toEqual([])
})

it('the history is read until Nova answers again, and what it waits for is said', async () => {
  const stage = landedFrom('powering-on', [order('start', 'waits')])
  const silent = Array.from({ length: 20 }, () => new LifeboatError('API_UNAVAILABLE', '503'))
  stage.fails('listActions', ...silent)
  expect(await left(stage)).toEqual(['waits'])
  expect(stage.rows().filter((row) => row.startsWith('incident.'))).toEqual([
    'incident.held API_UNAVAILABLE',
    'incident.continued',
  ])
})

it('it is read also where an earlier incident took the task away that told of one', async () => {
  const stage = landedFrom(null, [order('start', 'waits')])
  stage.recovery.plan.original.earlier = { incident: 'inc-0', traces: false }
  expect(await left(stage)).toEqual(['waits'])
})

it('it is read also where an order was taken in the moment of the evacuation, which took its task away', async () => {
  const stage = landedFrom(null, [order('rescue', 'waits')])
  const [evacuated] = stage.recovery.steps.values()
  evacuated!.result = { ...landed, acted: true }
  expect(await left(stage)).toEqual(['waits'])
})

it('one of which only the task tells at the end is looked for where the recovery ended over that task', async () => {
  const after = { host: 'alive', vmState: 'active', taskState: 'powering-off', powerState: 1, locked: false }
  const found = async (code: string, taskState = 'powering-off'): Promise<unknown[]> => {
    const stage = landedFrom(null, [order(taskState === 'rebuilding' ? 'rebuild' : 'stop', 'waits')])
    return latePowerOrders(stage.run, stage.recovery, stage.trouble, { ...ended, code, after: { ...after, taskState } })
  }
  expect(await found('INSTANCE_BUSY')).toHaveLength(1)
  expect(await found('INSTANCE_BUSY', 'rebuilding')).toMatchObject([{ data: { waitsAt: { power: 'rebuild' } } }])
  expect(await found('DESTINATION_DIED')).toEqual([])
})

describe('the newest order of an instance that has landed', () => {
  const ended = { event: 'compute_rebuild_instance', finishedAt: '2030-01-01T12:01:00' }
  const landing = order('evacuate', 'req-1', 'alive')
  const evacuation = { ...landing, events: landing.events.map((event) => ({ ...event, ...ended })) }
  const isWorked = async (...actions: InstanceAction[]): Promise<unknown> => {
    const stage = landedFrom(null, [...actions, evacuation])
    return stage.ending(isWorkedOn(stage.run, stage.recovery, stage.trouble))
  }
  const unlock = order('unlock', 'ours', 'api')
  const unlocked = { ...unlock, events: unlock.events.map((event) => ({ ...event, event: 'api_unlock' })) }
  const stop = (startedAt: string, ...hosts: string[]): InstanceAction => ({
    ...order('stop', 'theirs', ...hosts),
    startedAt,
  })

  it('is worked on once another host than the dead one took it, also where an older one waits', async () => {
    expect(await isWorked(order('stop', 'again', 'alive'), order('stop', 'waits'))).toBe(true)
    expect(await isWorked(order('start', 'late', 'dead'))).toBe(false)
  })

  it('waits for the dead host where none took it and it was given as the instance landed, whatever lock came after it', async () => {
    expect(await isWorked(stop('2030-01-01T12:01:04'))).toBe(false)
    expect(await isWorked(unlocked, stop('2030-01-01T12:01:04'))).toBe(false)
    expect(await isWorked(stop('2030-01-01T12:01:06'))).toBe(true)
  })

  it('waits there too where it is a rebuild that the conductor has only sent on', async () => {
    const sent = { event: 'rebuild_server', host: 'controller', result: 'Success', details: null }
    const rebuild = (startedAt: string, ...hosts: string[]): InstanceAction => {
      const ordered = order('rebuild', 'theirs', ...hosts)
      return { ...ordered, startedAt, events: [...ordered.events, { ...sent, startedAt: '', finishedAt: null }] }
    }
    expect(await isWorked(rebuild('2030-01-01T12:01:04'))).toBe(false)
    expect(await isWorked(rebuild('2030-01-01T12:01:06'))).toBe(true)
    expect(await isWorked(rebuild('2030-01-01T12:01:04', 'alive'))).toBe(true)
  })

  it('is not known where the history may not be read', async () => {
    const stage = landedFrom(null, [order('stop', 'again', 'alive')])
    stage.fails('listActions', new LifeboatError('AUTH_FORBIDDEN', 'policy'))
    expect(await stage.ending(isWorkedOn(stage.run, stage.recovery, stage.trouble))).toBeNull()
  })
})
