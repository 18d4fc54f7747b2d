/** An order that no destination has taken: where it went is asked of Placement, and what is known is said. */
import { describe, expect, it } from 'vitest'
import { sleep } from '../../../src/domain/clock.ts'
import { errorRecord, LifeboatError } from '../../../src/domain/errors.ts'
import type { StepRecord } from '../../../src/domain/incident.ts'
import type { InstanceAction, InstanceActionEvent } from '../../../src/domain/instance.ts'
import { evacuate } from '../../../src/executor/steps/evacuate.ts'
import { instance } from '../../engine/surveys.ts'
import { action, cloudTimeMs, evacuation, record, Stage } from './stage.ts'

const waiting = { status: 'accepted', destHost: null } as const

function following(stage: Stage): { code: () => string | null } {
  let code: string | null = null
  evacuate.follow(stage.scene(), record()).catch((error: unknown) => (code = (error as LifeboatError).code))
  return { code: () => code }
}

const alarms = (stage: Stage): string[] =>
  stage.entries.flatMap((entry) => (entry.kind === 'alarm.raised' ? [entry.data.message] : []))

describe('an order that stands at accepted', () => {
  it('is dead once the host that Placement names beside the old one is proven dead', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, waiting)]
    stage.allocated = ['dead', 'chosen']
    const order = following(stage)
    await stage.clock.advance(10_500)
    expect([stage.count('allocatedHosts'), order.code()]).toEqual([1, null])
    stage.fenced.add('chosen')
    await stage.clock.advance(1_000)
    expect(order.code()).toBe('DESTINATION_DIED')
  })

  it('has its history and its host looked at half a minute after it was sent, and not while a busy Nova is at work', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, waiting)]
    stage.allocated = ['dead', 'chosen']
    stage.up = ['chosen']
    stage.actions = [action('req-1')]
    following(stage)
    await stage.clock.advance(29_000)
    expect([stage.count('listServices'), stage.count('getAction')]).toEqual([0, 0])
    await stage.clock.advance(10_000)
    expect([stage.count('listServices'), stage.count('getAction')]).toEqual([1, 1])
  })

  it('is not looked up when it is taken within seconds', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, waiting)]
    following(stage)
    await stage.clock.advance(4_000)
    stage.migrations = [evacuation(1, { status: 'pre-migrating', destHost: 'alive' })]
    await stage.clock.advance(60_000)
    expect(stage.count('allocatedHosts')).toBe(0)
  })

  it('went to no host that was fenced before it was sent, and has a part of the allocation from an earlier move', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, waiting)]
    stage.allocated = ['dead', 'left']
    stage.fenced.add('left')
    stage.fencedBefore.add('left')
    const order = following(stage)
    await stage.clock.advance(10_000)
    stage.allocated = ['dead', 'left', 'chosen']
    await stage.clock.advance(20_000)
    expect(order.code()).toBeNull()
    stage.fenced.add('chosen')
    await stage.clock.advance(1_000)
    expect(order.code()).toBe('DESTINATION_DIED')
  })

  it.each([
    ['which has not ended', { status: 'migrating' }, null],
    ['from a host before that, which has not ended', { status: 'pre-migrating', sourceHost: 'elsewhere' }, null],
    ['which is over', { status: 'error' }, 'DESTINATION_DIED'],
    ['of which it is the source', { status: 'confirming', sourceHost: 'chosen', destHost: 'dead' }, 'DESTINATION_DIED'],
  ])(
    'went to the destination of an earlier resize of the instance only if that is over: one %s',
    async (_what, move, code) => {
      const stage = new Stage()
      const resize = { ...evacuation(1, { destHost: 'chosen', ...move }), type: 'migration' as const }
      stage.migrations = [resize, evacuation(2, waiting)]
      stage.allocated = ['dead', 'chosen']
      const order = following(stage)
      await stage.clock.advance(10_000)
      stage.fenced.add('chosen')
      await stage.clock.advance(20_000)
      expect(order.code()).toBe(code)
    },
  )

  it.each([
    ['one beside', ['dead', 'lost', 'chosen'], 'chosen', 'DESTINATION_DIED'],
    ['the one of the lost order alone', ['dead', 'lost'], 'lost', null],
  ])('did not go where an order that was lost holds room: Placement names %s', async (_what, rooms, dies, code) => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, waiting)]
    const error = errorRecord(
      new LifeboatError('EVACUATION_LOST', 'lost', { details: { spare: ['m-0'], destination: 'lost' } }),
    )
    stage.recovery.steps.set('0', record({ key: '0', status: 'failed', error }))
    stage.allocated = rooms
    const order = following(stage)
    await stage.clock.advance(10_000)
    stage.fenced.add(dies)
    await stage.clock.advance(20_000)
    expect(order.code()).toBe(code)
  })

  it.each([
    ['the old host alone', ['dead']],
    ['two others', ['dead', 'one', 'two']],
  ])('is waited for while Placement names %s', async (_what, hosts) => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, waiting)]
    stage.allocated = hosts
    for (const host of hosts) stage.fenced.add(host)
    const order = following(stage)
    await stage.clock.advance(45_000)
    expect([order.code(), stage.count('allocatedHosts')]).toEqual([null, 3])
  })
})

describe('an order that the conductor gave up behind the claim of the scheduler', () => {
  const longestRequestMs = 120_000
  const givenUp = (): Stage => {
    const stage = new Stage()
    stage.run.settings = { ...stage.run.settings, longestRequestMs }
    stage.migrations = [evacuation(1, waiting)]
    stage.allocated = ['dead', 'chosen']
    stage.up = ['chosen']
    const times = { startedAt: '2030-01-01T12:00:00', finishedAt: '2030-01-01T12:00:01' }
    const event = { event: 'rebuild_server', result: 'Error', host: null, details: 'Timed out', ...times }
    const action = { action: 'evacuate', requestId: 'req-1', userId: 'u', projectId: 'p', startedAt: '', message: null }
    stage.actions = [{ ...action, events: [event] }]
    return stage
  }

  it('is lost once the chosen host was well for as long as anything may be served late, and not before', async () => {
    const stage = givenUp()
    const order = following(stage)
    await stage.clock.advance(longestRequestMs)
    expect(order.code()).toBeNull()
    await stage.clock.advance(60_000)
    expect(order.code()).toBe('EVACUATION_LOST')
  })

  it('is lost as well when the chosen host was told and took the task away, unless someone acted since', async () => {
    for (const [newer, code] of [
      [[], 'EVACUATION_LOST'],
      [[action('req-2', { action: 'resetState' })], null],
    ] as const) {
      const stage = givenUp()
      stage.shows({ taskState: null })
      stage.actions = [
        ...newer,
        ...stage.actions.map((one) => ({
          ...one,
          events: one.events.map((event) => ({ ...event, result: 'Success' })),
        })),
      ]
      const order = following(stage)
      await stage.clock.advance(longestRequestMs + 60_000)
      expect(order.code()).toBe(code)
    }
  })

  const told = (): Stage => {
    const stage = givenUp()
    stage.shows({ taskState: 'rebuilding' })
    stage.actions = stage.actions.map((one) => ({
      ...one,
      events: one.events.map((event) => ({ ...event, result: 'Success' })),
    }))
    return stage
  }

  it('is waited for while the chosen host was told and has the task', async () => {
    const stage = told()
    const order = following(stage)
    await stage.clock.advance(1_000_000)
    expect(order.code()).toBeNull()
  })

  it.each([
    ['is lost once the chosen host, which was told, has built what was ordered later', 'chosen', 90, 'EVACUATION_LOST'],
    ['is waited for while the chosen host may have built first what was ordered at the same time', 'chosen', 30, null],
    ['is waited for while another host alone has built what was ordered later', 'other', 90, null],
  ])('%s', async (_what, host, orderedAfterS, code) => {
    const stage = told()
    const createdAt = new Date(cloudTimeMs + orderedAfterS * 1_000).toISOString()
    stage.instances.set('later', instance({ id: 'later', host, createdAt, updatedAt: '2030-01-01T13:00:00' }))
    const order = following(stage)
    await stage.clock.advance(1_000_000)
    expect(order.code()).toBe(code)
  })

  it.each([
    ['is not up', (stage: Stage) => (stage.up = [])],
    ['has an incident', (stage: Stage) => (stage.failing = ['chosen'])],
    ['was not looked at for a while', (stage: Stage) => (stage.onServices = () => sleep(stage.clock, 100_000))],
  ])('is waited for as long again when the chosen host %s meanwhile', async (_what, happens) => {
    const stage = givenUp()
    const order = following(stage)
    await stage.clock.advance(100_000)
    happens(stage)
    await stage.clock.advance(100_000)
    Object.assign(stage, { up: ['chosen'], failing: [], onServices: () => undefined })
    await stage.clock.advance(100_000)
    expect(order.code()).toBeNull()
    await stage.clock.advance(60_000)
    expect(order.code()).toBe('EVACUATION_LOST')
  })
})

describe('an order that was sent to the host of a lost one again', () => {
  const longestRequestMs = 120_000
  const again = (result: string): Stage => {
    const stage = new Stage()
    stage.run.settings = { ...stage.run.settings, longestRequestMs }
    stage.migrations = [evacuation(1, waiting)]
    stage.allocated = ['dead', 'chosen']
    stage.up = ['chosen']
    const details = { spare: ['m-0'], request: 'req-0', destination: 'chosen' }
    const error = errorRecord(new LifeboatError('EVACUATION_LOST', 'lost', { details }))
    stage.recovery.steps.set('0', record({ key: '0', requestId: 'req-0', status: 'failed', error }))
    const conducted = { event: 'rebuild_server', result, host: 'vm', details: null, startedAt: '', finishedAt: null }
    stage.actions = [action('req-1', { events: [conducted] })]
    return stage
  }

  it.each(['Error', 'Success'])('is lost as the first was, where the conductor ended it with %s', async (result) => {
    const stage = again(result)
    const order = following(stage)
    await stage.clock.advance(longestRequestMs)
    expect(order.code()).toBeNull()
    await stage.clock.advance(60_000)
    expect(order.code()).toBe('EVACUATION_LOST')
  })

  it.each([
    ['before Placement was asked after the conductor had told a host', 30_000, null],
    ['after that', 40_000, 'DESTINATION_DIED'],
  ])('is dead with that host where it dies %s', async (_what, afterMs, code) => {
    const stage = again('Success')
    stage.shows({ taskState: 'rebuilding' })
    const order = following(stage)
    await stage.clock.advance(afterMs)
    stage.fenced.add('chosen')
    stage.up = []
    await stage.clock.advance(1_000)
    expect(order.code()).toBe(code)
  })

  it('is waited for as long from when the conductor gave it up: until then that host had nothing to take', async () => {
    const stage = again('Error')
    const [late] = stage.actions
    stage.actions = [{ ...late!, events: [] }]
    const order = following(stage)
    await stage.clock.advance(3 * longestRequestMs)
    stage.actions = [late!]
    await stage.clock.advance(longestRequestMs - 15_000)
    expect(order.code()).toBeNull()
    await stage.clock.advance(60_000)
    expect(order.code()).toBe('EVACUATION_LOST')
  })
})

describe('an order that the conductor never began', () => {
  const longestRequestMs = 120_000
  const unbegun = (): Stage => {
    const stage = new Stage()
    stage.run.settings = { ...stage.run.settings, longestRequestMs }
    stage.migrations = [evacuation(1, waiting)]
    stage.allocated = ['dead']
    const action = { action: 'evacuate', requestId: 'req-1', userId: 'u', projectId: 'p', startedAt: '', message: null }
    stage.actions = [{ ...action, events: [] }]
    return stage
  }
  const boots = (stage: Stage, createdAt: string, host: string | null): void => {
    stage.instances.set('booted', instance({ id: 'booted', createdAt, updatedAt: createdAt, host }))
  }

  it('is lost once a server that was ordered later has a host and nothing can serve the order late', async () => {
    const stage = unbegun()
    const order = following(stage)
    boots(stage, '2030-01-01T12:01:01Z', 'alive')
    await stage.clock.advance(longestRequestMs)
    expect(order.code()).toBeNull()
    await stage.clock.advance(30_000)
    expect(order.code()).toBe('EVACUATION_LOST')
  })

  it('and one that it began and never ended is lost three times as late', async () => {
    const stage = unbegun()
    const event = { event: 'rebuild_server', result: null, host: 'vm', details: null, startedAt: '', finishedAt: null }
    stage.actions = stage.actions.map((action) => ({ ...action, events: [event] }))
    boots(stage, '2030-01-01T12:01:01Z', 'alive')
    const order = following(stage)
    await stage.clock.advance(3 * longestRequestMs)
    expect(order.code()).toBeNull()
    await stage.clock.advance(30_000)
    expect(order.code()).toBe('EVACUATION_LOST')
  })

  it.each([
    ['was ordered within a minute of it, as the clocks of two API nodes may differ', '2030-01-01T12:00:59Z', 'alive'],
    ['has no host yet', '2030-01-01T12:05:00Z', null],
  ])('is waited for while the only other server %s', async (_what, createdAt, host) => {
    const stage = unbegun()
    const order = following(stage)
    boots(stage, createdAt, host)
    await stage.clock.advance(1_000_000)
    expect(order.code()).toBeNull()
  })
})

describe('an order that the chosen host began and never claimed', () => {
  const longestRequestMs = 120_000
  const event = (name: string, host: string, startedAt: string, result: string | null): InstanceActionEvent => ({
    ...{ event: name, host, startedAt, result, details: null, finishedAt: null },
  })
  const begun = (host = 'chosen'): Stage => {
    const stage = new Stage()
    stage.run.settings = { ...stage.run.settings, longestRequestMs }
    stage.migrations = [evacuation(1, waiting)]
    stage.allocated = ['dead', 'chosen']
    stage.up = ['chosen']
    stage.shows({ taskState: 'rebuilding' })
    const events = [
      event('rebuild_server', 'vm', '2030-01-01T12:00:00', 'Success'),
      event('compute_rebuild_instance', host, '2030-01-01T12:00:05', null),
    ]
    stage.actions = [action('req-1', { events })]
    return stage
  }
  const boots = (stage: Stage, createdAt: string, host: string): void => {
    stage.instances.set('booted', instance({ id: 'booted', createdAt, updatedAt: createdAt, host }))
  }

  it('is lost once that host has carried out a later one, and can work on it no more', async () => {
    const stage = begun()
    boots(stage, '2030-01-01T12:01:06Z', 'chosen')
    const order = following(stage)
    await stage.clock.advance(3 * longestRequestMs)
    expect(order.code()).toBeNull()
    await stage.clock.advance(60_000)
    expect(order.code()).toBe('EVACUATION_LOST')
  })

  it.each([
    ['another host carries out what is ordered later', () => begun(), '2030-01-01T12:05:00Z', 'alive'],
    [
      'what it carried out may have been ordered before it began this one',
      () => begun(),
      '2030-01-01T12:01:04Z',
      'chosen',
    ],
    [
      'the one that began it is not the one that Placement names',
      () => begun('alive'),
      '2030-01-01T12:05:00Z',
      'chosen',
    ],
  ])('is waited for while %s', async (_what, stageOf, createdAt, host) => {
    const stage = stageOf()
    boots(stage, createdAt, host)
    const order = following(stage)
    await stage.clock.advance(2_000_000)
    expect(order.code()).toBeNull()
  })

  it('is waited for as long from when it is seen to begin it: it may have stood in a queue until then', async () => {
    const stage = begun()
    const [late] = stage.actions
    stage.actions = [{ ...late!, events: late!.events.slice(0, 1) }]
    const order = following(stage)
    await stage.clock.advance(3 * longestRequestMs)
    stage.actions = [late!]
    boots(stage, '2030-01-01T12:07:00Z', 'chosen')
    await stage.clock.advance(3 * longestRequestMs)
    expect(order.code()).toBeNull()
    await stage.clock.advance(30_000)
    expect(order.code()).toBe('EVACUATION_LOST')
  })
})

it('an order that the conductor gave up and a host has begun all the same is not lost', async () => {
  const stage = new Stage()
  stage.run.settings = { ...stage.run.settings, longestRequestMs: 60_000 }
  stage.migrations = [evacuation(1, waiting)]
  stage.allocated = ['dead', 'chosen']
  stage.up = ['chosen']
  const event = { host: 'chosen', details: null, startedAt: '2030-01-01T12:00:05', finishedAt: null }
  const events = [
    { ...event, event: 'rebuild_server', result: 'Error' },
    { ...event, event: 'compute_rebuild_instance', result: null },
  ]
  stage.actions = [action('req-1', { events })]
  const order = following(stage)
  await stage.clock.advance(600_000)
  expect(order.code()).toBeNull()
})

describe('a record that was taken up', () => {
  const adopting = (...actions: InstanceAction[]): Stage => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, waiting)]
    stage.allocated = ['dead']
    stage.recovery.steps.set('0.go.go.1', record({ requestId: null, globalRequestId: null }))
    stage.actions = actions
    return stage
  }
  const order = (requestId: string): InstanceAction => {
    const gaveUp = { event: 'rebuild_server', result: 'Error', host: 'vm', details: 'ConnectFailure' }
    const events = [{ ...gaveUp, startedAt: '2030-01-01T12:00:01', finishedAt: '2030-01-01T12:00:02' }]
    return action(requestId, { events })
  }
  const follow = (stage: Stage): ReturnType<typeof evacuate.follow> =>
    evacuate.follow(stage.scene(), stage.recovery.steps.get('0.go.go.1') as StepRecord<'evacuate'>)

  it('is lost as the order is that someone else gave: the history tells which', async () => {
    const stage = adopting(order('req-other'))
    expect(await stage.ending(follow(stage))).toBe('EVACUATION_LOST')
  })

  it('is waited for where any of two may have made it', async () => {
    const stage = adopting(order('req-other'), order('req-third'))
    let ended = false
    void follow(stage).catch(() => (ended = true))
    await stage.clock.advance(300_000)
    expect(ended).toBe(false)
  })
})

describe('an evacuation of which nothing moves', () => {
  it('raises one alarm after five minutes, with why its destination is not known', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, waiting)]
    stage.fails(
      'allocatedHosts',
      ...Array.from({ length: 99 }, () => new LifeboatError('AUTH_FORBIDDEN', 'not allowed')),
    )
    following(stage)
    await stage.clock.advance(299_000)
    expect(alarms(stage)).toEqual([])
    await stage.clock.advance(300_000)
    expect(alarms(stage)).toEqual([
      'one: evacuation m-1 stands at accepted; where Nova sent it cannot be read from Placement: not allowed. Nothing has moved for 5 min',
    ])
  })

  it('raises another one when it moved and then stands still again, with what to look at', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
    following(stage)
    await stage.clock.advance(200_000)
    stage.shows({ taskState: 'rebuild_spawning', updatedAt: '2030-01-01T12:03:00' })
    await stage.clock.advance(200_000)
    expect(alarms(stage)).toEqual([])
    await stage.clock.advance(200_000)
    expect(alarms(stage)).toEqual([
      'one: evacuation m-1 stands at pre-migrating on alive; see nova-compute on alive. If nova-compute was restarted there meanwhile, it has forgotten the order, and the guest may run there. Nothing has moved for 5 min',
    ])
  })
})
