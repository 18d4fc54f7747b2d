/** A confirmation that stands still: what proves that it is lost, what people are told, and what may still come of it. */
import { describe, expect, it } from 'vitest'
import { LifeboatError } from '../../../src/domain/errors.ts'
import type { InstanceActionEvent, Migration } from '../../../src/domain/instance.ts'
import { confirmResize } from '../../../src/executor/steps/confirm-resize.ts'
import { staleOrders, unconfirmedResize } from '../../../src/executor/unplanned-leftovers.ts'
import { instance } from '../../engine/surveys.ts'
import { action, evacuation, plan, record, Stage } from './stage.ts'

const longestRequestMs = 120_000
const begun = (changes: Partial<InstanceActionEvent> = {}): InstanceActionEvent => ({
  ...{ event: 'compute_confirm_resize', result: null, host: 'source', details: null, startedAt: '', finishedAt: null },
  ...changes,
})
const confirming = (changes: Partial<Migration> = {}): Migration =>
  evacuation(1, { type: 'resize', status: 'confirming', sourceHost: 'source', destHost: 'dead', ...changes })
const pending = { migrationUuid: 'm-1', sourceHost: 'source', destHost: 'dead', sourceUp: true }

/** Nova took the confirmation under req-1, and its source never began it. */
function lost(events: InstanceActionEvent[] = []): Stage {
  const stage = new Stage()
  stage.run.settings = { ...stage.run.settings, longestRequestMs }
  stage.plans({ original: { ...plan().original, resize: pending } })
  stage.shows({ vmState: 'resized' })
  stage.migrations = [confirming()]
  stage.actions = [action('req-1', { action: 'confirmResize', events }), action('req-0', { action: 'resize' })]
  return stage
}

/** The code and the message with which it ended, and what it had confirmed. */
function following(stage: Stage, requestId: string | null = 'req-1') {
  let ended: unknown
  const scene = stage.scene({ do: 'confirm-resize' })
  const of = record({ kind: 'confirm-resize', requestId } as object)
  void confirmResize.follow(scene, of as never).then(
    (result) => (ended = result),
    (error: unknown) => (ended = error),
  )
  return { ended: () => ended, code: () => (ended instanceof LifeboatError ? ended.code : (ended ?? null)) }
}

const boots = (stage: Stage, createdAt: string, host: string): void => {
  stage.instances.set('booted', instance({ id: 'booted', createdAt, updatedAt: createdAt, host }))
}
const later = '2030-01-01T12:01:01Z'
const alarms = (stage: Stage): unknown[] =>
  stage.entries.flatMap(({ kind, data }) => (kind === 'alarm.raised' ? [data] : []))

describe('a confirmation that its source never began', () => {
  it('is lost once the source took a later order and nothing can serve it late', async () => {
    const stage = lost()
    const order = following(stage)
    boots(stage, later, 'source')
    await stage.clock.advance(longestRequestMs - 1_000)
    expect(order.code()).toBeNull()
    await stage.clock.advance(20_000)
    expect(order.ended()).toMatchObject({
      code: 'INSTANCE_BUSY',
      certainty: 'applied',
      message: 'nova-compute on source never got the confirmation, and has taken later orders: the message bus lost it',
      details: { migration: 'm-1' },
    })
  })

  it.each([
    ['went to another host', later, 'alive'],
    ['was ordered within a minute of it', '2030-01-01T12:00:59Z', 'source'],
  ])('is waited for while the only other server %s', async (_what, createdAt, host) => {
    const stage = lost()
    const order = following(stage)
    boots(stage, createdAt, host)
    await stage.clock.advance(1_000_000)
    expect(order.code()).toBeNull()
  })

  it('is lost as well where its answer was lost, and where Nova never wrote that it was ordered', async () => {
    for (const actions of [lost().actions, [action('req-0', { action: 'resize' })]]) {
      const stage = lost()
      stage.actions = [...actions, action('req-x', { action: 'confirmResize', events: [begun({ result: 'Success' })] })]
      const order = following(stage, null)
      boots(stage, later, 'source')
      await stage.clock.advance(longestRequestMs + 20_000)
      expect(order.code()).toBe('INSTANCE_BUSY')
    }
  })

  it('is not known to be lost where its history cannot be read, or does not have it any more', async () => {
    const forbidden = lost()
    const refusals = Array.from({ length: 99 }, () => new LifeboatError('AUTH_FORBIDDEN', 'not allowed'))
    forbidden.fails('getAction', ...refusals)
    const forgotten = lost()
    forgotten.actions = []
    for (const stage of [forbidden, forgotten]) {
      boots(stage, later, 'source')
      const order = following(stage)
      await stage.clock.advance(1_000_000)
      expect(order.code()).toBeNull()
    }
  })
})

it('a confirmation whose source has an incident leaves its room to others', async () => {
  const stage = lost()
  let left = 0
  const scene = { ...stage.scene({ do: 'confirm-resize' }), leaveRoom: () => void left++ }
  void confirmResize.follow(scene, record({ kind: 'confirm-resize', requestId: 'req-1' } as object) as never)
  await stage.clock.advance(1_000)
  expect(left).toBe(0)
  stage.failing = ['source']
  await stage.clock.advance(1_000)
  expect(left).toBeGreaterThan(0)
})

describe('a confirmation that its source began', () => {
  it('is waited for, whatever the source took later', async () => {
    const stage = lost([begun()])
    const order = following(stage)
    boots(stage, later, 'source')
    await stage.clock.advance(1_000_000)
    expect(order.code()).toBeNull()
  })

  it('has failed when it ended in an error, and the record did not hear of it', async () => {
    const stage = lost([begun({ result: 'Error', details: 'no conductor' })])
    const order = following(stage)
    await stage.clock.advance(40_000)
    expect(order.code()).toBeNull()
    await stage.clock.advance(10_000)
    expect(order.ended()).toMatchObject({ code: 'STATE_MISMATCH', message: expect.stringContaining('no conductor') })
  })

  it('is not over before the source has let go of it, for half a minute at most', async () => {
    const stage = lost([begun()])
    stage.shows({ vmState: 'active' })
    stage.migrations = [confirming({ status: 'confirmed' })]
    const order = following(stage)
    await stage.clock.advance(29_000)
    expect(order.code()).toBeNull()
    await stage.clock.advance(2_000)
    expect(order.ended()).toMatchObject({ migration: 'confirmed' })
    stage.actions = [action('req-1', { action: 'confirmResize', events: [begun({ result: 'Success' })] })]
    const second = following(stage)
    await stage.clock.advance(200)
    expect(second.ended()).toMatchObject({ migration: 'confirmed' })
  })
})

describe('a confirmation that stands still', () => {
  it.each([
    [
      'was not begun',
      () => lost(),
      'which has not begun it: see nova-compute there and the message bus. If they are well, boot any server on source: once Nova has built it, an order that was lost on its way is done without',
    ],
    [
      'was begun',
      () => lost([begun()]),
      'which has begun it: see nova-compute there. If it was restarted meanwhile, it has forgotten the order; then set the instance to ERROR (os-resetState), and its recovery goes on without',
    ],
    [
      'waits for a host in trouble',
      () => Object.assign(lost(), { failing: ['source'] }),
      'which has an incident of its own: once that proves it dead, the instance is evacuated without it',
    ],
  ])('is told once, after five minutes, when it %s', async (_what, make, where) => {
    const stage = make()
    following(stage)
    await stage.clock.advance(299_000)
    expect(alarms(stage)).toEqual([])
    await stage.clock.advance(600_000)
    const message = expect.stringContaining(where)
    expect(alarms(stage)).toEqual([{ code: 'CONFIRMATION_STANDS_STILL', message }])
  })

  it('outlasts the time of its step as long as its source has an incident', () => {
    const stage = lost()
    const late = confirmResize.overdue!(stage.scene(), record() as never)
    expect(late).toMatchObject({ goesOn: false, details: { migration: 'm-1' } })
    expect(late.where).toContain('waits for source: see nova-compute there')
    stage.failing = ['source']
    expect(confirmResize.overdue!(stage.scene(), record() as never).goesOn).toBe(true)
    expect(confirmResize.overdue!(new Stage().scene(), record() as never).goesOn).toBe(false)
  })
})

describe('a confirmation whose source died', () => {
  it.each([
    ['before it began it waits in its queue', [], { migration: 'm-1', destination: 'source', queued: true }],
    ['over it died with it', [begun()], { migration: 'm-1' }],
  ])('%s', async (_what, events, details) => {
    const stage = lost(events)
    stage.fenced.add('source')
    const order = following(stage)
    await stage.clock.advance(100)
    expect(order.ended()).toMatchObject({ code: 'INSTANCE_BUSY', certainty: 'applied' })
    expect((order.ended() as LifeboatError).details).toEqual(details)
  })

  it('is a stale order, and its resize a leftover once the recovery went on without it', () => {
    const stage = lost()
    const { run, recovery } = stage
    const details = { migration: 'm-1', destination: 'source', queued: true }
    const error = { code: 'INSTANCE_BUSY', message: '', certainty: 'applied', retry: 'never', details } as const
    recovery.steps.set('confirm', record({ kind: 'confirm-resize', status: 'failed', error } as object))
    expect(staleOrders(run, recovery)).toMatchObject([
      { data: { code: 'STALE_ORDER', waitsAt: { host: 'source', migration: 'm-1', requestId: 'req-1' } } },
    ])
    expect(unconfirmedResize(run, recovery)).toEqual([])
    recovery.steps.set('reset', record({ kind: 'reset-state', status: 'confirmed' } as object))
    expect(unconfirmedResize(run, recovery)).toMatchObject([{ data: { code: 'RESIZE_LEFTOVER' } }])
    recovery.plan.debts = [{ code: 'RESIZE_LEFTOVER', message: 'planned' }]
    expect(unconfirmedResize(run, recovery)).toEqual([])
  })

  it('leaves no resize behind that failed at its source or was confirmed', () => {
    const { run, recovery } = lost()
    recovery.steps.set('reset', record({ kind: 'reset-state', status: 'confirmed' } as object))
    recovery.steps.set('confirm', record({ kind: 'confirm-resize', status: 'confirmed' } as object))
    expect(unconfirmedResize(run, recovery)).toEqual([])
    const error = { code: 'STATE_MISMATCH', message: '', certainty: 'applied', retry: 'never', details: {} } as const
    recovery.steps.set('confirm', record({ kind: 'confirm-resize', status: 'failed', error } as object))
    expect(unconfirmedResize(run, recovery)).toEqual([])
  })
})
