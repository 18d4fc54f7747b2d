/** The evacuation until it is known to be taken: proven first, and never sent twice (laws L1, L3, L5). How it ends: evacuate-followed.test.ts. */
import { describe, expect, it } from 'vitest'
import type { InstanceAction, Migration } from '../../../src/domain/instance.ts'
import type { StepRecord } from '../../../src/domain/incident.ts'
import type { BeforeEvacuation } from '../../../src/domain/step-payloads.ts'
import { evacuate } from '../../../src/executor/steps/evacuate.ts'
import { errorRecord } from '../../../src/domain/errors.ts'
import { action, evacuation, failed, record, Stage, was } from './stage.ts'

/** What a step's write is sent under. */
const as = { globalRequestId: 'req-step' }

/** An earlier attempt of this recovery that followed the migration. */
function earlier(stage: Stage, changes: Partial<StepRecord<'evacuate'>>): void {
  const key = `0.go.go.${stage.recovery.steps.size + 1}`
  stage.recovery.steps.set(key, record({ key, status: 'failed', ...changes }))
}

/** What a lock has in place of an evacuation's. */
const lockRows = { kind: 'lock', before: null, request: 'locked', result: null } as const

const lost = (uuid: string): Partial<StepRecord<'evacuate'>> => ({
  error: errorRecord(failed('EVACUATION_FAILED', { details: { migration: uuid } })),
})

/** What was there before the attempt. */
const before = (changes: Partial<BeforeEvacuation>): BeforeEvacuation => ({ ...was, ...changes })

describe('before an evacuation is sent', () => {
  /** Read a moment ago, where the test says nothing else: the recheck (recheck.test.ts) then asks nothing. */
  const prepared = (stage: Stage, step = {}) => {
    stage.watch.surveyed(stage.watch.instance('i-1') === undefined ? [stage.nova] : [], [], stage.clock.now())
    return stage.ending(evacuate.before(stage.scene(step)))
  }

  it('the state is what was read last, and the request says how it lands', async () => {
    const stage = new Stage()
    stage.plans({ original: { ...stage.recovery.plan.original, knownEvacuations: ['old'] } })
    expect(await prepared(stage)).toEqual({
      before: {
        vmState: 'active',
        taskState: null,
        powerState: 1,
        host: 'dead',
        spentEvacuations: ['old'],
        knownRequests: [],
        cloudTime: '2030-01-01T12:00:00.000Z',
      },
      request: { landing: 'stopped', asProject: null, fencedBy: 'bmc' },
    })
    stage.watch.saw({ ...stage.nova, vmState: 'stopped', host: 'dead', taskState: 'x', powerState: 0 })
    expect(await prepared(stage, { landing: 'as-before' })).toMatchObject({
      before: { vmState: 'stopped', taskState: 'x', powerState: 0 },
      request: { landing: 'as-before' },
    })
    // Before the first none can be ours.
    expect(await prepared(stage)).not.toHaveProperty('adopt')
    expect(stage.calls).toEqual([])
  })

  it('the state before a later attempt is what was read last too', async () => {
    const stage = new Stage()
    earlier(stage, lost('m-1'))
    stage.watch.saw({ ...stage.nova, vmState: 'error', powerState: 0 })
    expect(await prepared(stage)).toMatchObject({ before: { vmState: 'error', powerState: 0 } })
  })

  it('the cloud time is that of the survey and what has passed since', async () => {
    const stage = new Stage()
    await stage.clock.advance(90_000)
    expect(await prepared(stage)).toMatchObject({ before: { cloudTime: '2030-01-01T12:01:30.000Z' } })
  })

  it.each([
    ['a stop by its owner', action('req-9', { action: 'stop', startedAt: '2030-01-01T12:00:30' }), 'stop', 'stopped'],
    [
      'a stop by nova-compute',
      action('req-9', { action: 'stop', startedAt: '2030-01-01T12:00:30', userId: null, projectId: null }),
      undefined,
      'as-before',
    ],
    [
      'a stop of before its incident',
      action('req-9', { action: 'stop', startedAt: '2030-01-01T11:50:00' }),
      undefined,
      'as-before',
    ],
  ])('once its host has lived again the history counts, and no task: %s', async (_what, stop, ordered, landing) => {
    const stage = new Stage()
    stage.incident.revoked = { method: 'bmc', strength: 'power-off', provenAt: '', code: 'c', message: 'm', at: '' }
    stage.watch.saw({ ...stage.nova, taskState: 'powering-off' })
    stage.actions = [stop]
    const row = await prepared(stage, { landing: 'as-before' })
    expect(row).toMatchObject({ request: { landing } })
    expect((row as { request: { ordered?: string } }).request.ordered).toBe(ordered)
  })

  it('a step that does not say lands stopped', async () => {
    const stage = new Stage()
    const step = { id: 'go', do: 'evacuate', deadlineMs: 1 } as const
    expect(await stage.ending(evacuate.before({ ...stage.scene(), step }))).toMatchObject({
      request: { landing: 'stopped' },
    })
  })

  it('there must be a proof, and it must be genuine (law L1)', async () => {
    expect(await prepared(new Stage({ proof: null }))).toBe('PROOF_INVALID')
    const stage = new Stage()
    stage.forged = failed('PROOF_INVALID')
    expect(await prepared(stage)).toBe('PROOF_INVALID')
    expect(stage.calls).toEqual([])
  })

  it('a later attempt knows what the earlier ones made, and looks whether one came through late', async () => {
    const stage = new Stage()
    earlier(stage, { requestId: 'req-a', ...lost('m-1') })
    earlier(stage, { requestId: null })
    stage.recovery.steps.set('lock', { ...record({ requestId: 'req-lock' }), ...lockRows })
    stage.migrations = [evacuation(1, { status: 'error' })]
    expect(await prepared(stage)).toMatchObject({
      before: { spentEvacuations: ['m-1'], knownRequests: ['req-a'] },
      request: { landing: 'stopped' },
    })
    expect(await prepared(stage)).not.toHaveProperty('adopt')
    stage.migrations = [evacuation(3), evacuation(2, { status: 'done' }), ...stage.migrations]
    // The oldest that no attempt knows is the one that was given up as lost.
    expect(await prepared(stage)).toMatchObject({ adopt: 'm-2' })
  })

  it.each(['HELD_BACK', 'AUTH_FORBIDDEN'] as const)(
    'one that ended as %s took nothing: what is found after it is someone else’s',
    async (code) => {
      const stage = new Stage()
      earlier(stage, { error: errorRecord(failed(code)) })
      expect(await prepared(stage)).toMatchObject({ before: { spentEvacuations: [], knownRequests: [] } })
      stage.migrations = [evacuation(1, { status: 'done' })]
      await stage.clock.advance(10_000)
      expect(await prepared(stage)).toBe('EVACUATION_STALLED')
    },
  )

  it('one that was answered with 503 may have been taken: what is found after it is ours', async () => {
    const stage = new Stage()
    earlier(stage, { error: errorRecord(failed('API_UNAVAILABLE', { details: { status: 503 } })) })
    stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
    expect(await prepared(stage)).toMatchObject({ adopt: 'm-1' })
  })

  it('one that was held back told of an order of its owner: a newer one counts more', async () => {
    const stage = new Stage()
    const request = { landing: 'stopped', asProject: null, fencedBy: 'bmc', ordered: 'stop' } as const
    earlier(stage, { request, error: errorRecord(failed('HELD_BACK')) })
    expect(await prepared(stage)).toMatchObject({ request: { ordered: 'stop', landing: 'stopped' } })
    earlier(stage, { request: { ...request, ordered: 'start' }, error: errorRecord(failed('HELD_BACK')) })
    expect(await prepared(stage)).not.toMatchObject({ request: { ordered: 'stop' } })
  })

  it('one of ours that is still under way forbids a second, unless its destination is fenced by now', async () => {
    const stage = new Stage()
    earlier(stage, lost('m-1'))
    stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
    await expect(evacuate.before(stage.scene())).rejects.toMatchObject({
      code: 'EVACUATION_STALLED',
      certainty: 'unknown',
    })
    stage.fenced.add('alive')
    expect(await prepared(stage)).toHaveProperty('request')
    stage.migrations = [evacuation(1, { status: 'accepted', destHost: null })]
    expect(await prepared(stage)).toBe('EVACUATION_STALLED')
  })

  it.each(['done', 'completed', 'failed', 'error', 'cancelled'])(
    'one of ours at %s is over where the instance is still on the dead host: another one is sent',
    async (status) => {
      const stage = new Stage()
      earlier(stage, lost('m-1'))
      stage.migrations = [evacuation(1, { status })]
      expect(await prepared(stage)).not.toHaveProperty('adopt')
    },
  )

  it.each(['pre-migrating', 'done', 'completed'])(
    'one of ours at %s that was given up and has brought the instance elsewhere is taken up: none is sent',
    async (status) => {
      const stage = new Stage()
      earlier(stage, {
        error: errorRecord(failed('DESTINATION_DIED', { details: { migration: 'm-1', destination: 'alive' } })),
      })
      stage.migrations = [evacuation(1, { status })]
      stage.shows({ host: 'alive' })
      expect(await prepared(stage)).toMatchObject({ adopt: 'm-1', before: { spentEvacuations: [] } })
    },
  )

  it.each([
    ['was brought elsewhere by nobody that we know', []],
    ['is not where the one of ours that failed went', [evacuation(1, { status: 'failed' })]],
  ])('an instance that %s is nobody’s to evacuate', async (_what, migrations) => {
    const stage = new Stage()
    earlier(stage, lost('m-1'))
    stage.migrations = migrations
    stage.shows({ host: 'alive' })
    expect(await prepared(stage)).toBe('STATE_MISMATCH')
  })

  it('one that was given up with its destination is taken up once that lives and is at work on it', async () => {
    const stage = new Stage()
    earlier(stage, {
      error: errorRecord(failed('DESTINATION_DIED', { details: { migration: 'm-1', destination: 'alive' } })),
    })
    stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
    expect(await prepared(stage)).toMatchObject({ adopt: 'm-1', before: { spentEvacuations: [] } })
    stage.fenced.add('alive')
    expect(await prepared(stage)).not.toHaveProperty('adopt')
  })

  it.each(['pre-migrating', 'done', 'failed', 'error'])(
    'one that was taken for lost and is at %s by now is taken up: someone has carried it out',
    async (status) => {
      const stage = new Stage()
      earlier(stage, { error: errorRecord(failed('EVACUATION_LOST', { details: { spare: ['m-1'] } })) })
      stage.migrations = [evacuation(1, { status: 'accepted', destHost: null })]
      expect(await prepared(stage)).not.toHaveProperty('adopt')
      stage.migrations = [evacuation(1, { status })]
      expect(await prepared(stage)).toMatchObject({ adopt: 'm-1', before: { spentEvacuations: [] } })
    },
  )

  it('one that was taken for lost tells nothing more once a later order has moved its record and failed', async () => {
    const stage = new Stage()
    earlier(stage, { error: errorRecord(failed('EVACUATION_LOST', { details: { spare: ['m-1'] } })) })
    const moved = failed('EVACUATION_FAILED', { details: { migration: 'm-1', spare: ['m-2'] } })
    earlier(stage, { key: '1.go.go.1', error: errorRecord(moved) })
    stage.migrations = [evacuation(1, { status: 'failed' }), evacuation(2, { status: 'accepted', destHost: null })]
    expect(await prepared(stage)).not.toHaveProperty('adopt')
  })

  it.each([0, 1])('an instance that its owner deleted meanwhile is gone, after %d attempts', async (attempts) => {
    const stage = new Stage()
    if (attempts > 0) earlier(stage, lost('m-1'))
    stage.watch.surveyed([{ ...stage.nova, vmState: 'deleted' }], [], 0)
    await expect(evacuate.before(stage.scene())).rejects.toMatchObject({
      code: 'INSTANCE_GONE',
      message: 'the instance was deleted before its turn came',
    })
  })

  it.each([0, 1])('an instance that its owner deletes just now is left alone, after %d attempts', async (attempts) => {
    const stage = new Stage()
    if (attempts > 0) earlier(stage, lost('m-1'))
    stage.shows({ taskState: 'deleting' })
    await expect(evacuate.before(stage.scene())).rejects.toMatchObject({ code: 'INSTANCE_GONE' })
  })

  it('one of someone else that stood before ours is no attempt of ours', async () => {
    const stage = new Stage()
    stage.plans({ original: { ...stage.recovery.plan.original, knownEvacuations: ['m-1'] } })
    earlier(stage, { error: errorRecord(failed('API_FAULT', { details: { migration: 7 } })) })
    stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
    const found = await prepared(stage)
    expect(found).not.toHaveProperty('adopt')
    expect(found).toMatchObject({ before: { spentEvacuations: ['m-1'] } })
  })
})

describe('what is sent', () => {
  const sent = async (stage: Stage, step = {}) => {
    await evacuate.send(stage.scene(step), as)
    return stage.calls.at(-1)!.args
  }

  it('is the landing, in the name of the project only where the plan says so', async () => {
    expect(await sent(new Stage())).toEqual(['i-1', { landing: 'stopped' }, as])
    expect(await sent(new Stage(), { landing: 'as-before' })).toEqual(['i-1', { landing: 'as-before' }, as])
    const stage = new Stage()
    stage.plans({ asProject: 'p-1' })
    expect(await sent(stage)).toEqual(['i-1', { landing: 'stopped', asProject: 'p-1' }, as])
  })

  it('never without a genuine proof (law L1)', () => {
    const without = new Stage({ proof: null })
    expect(() => evacuate.send(without.scene(), as)).toThrow(expect.objectContaining({ code: 'PROOF_INVALID' }))
    const stage = new Stage()
    stage.forged = failed('PROOF_INVALID')
    expect(() => evacuate.send(stage.scene(), as)).toThrow('PROOF_INVALID')
    expect([...without.calls, ...stage.calls]).toEqual([])
  })
})

describe('whether an evacuation was taken whose answer was lost', () => {
  /** By a daemon that has run for five seconds, with a quiet time of one. */
  const settled = async (stage: Stage, changes: Partial<StepRecord<'evacuate'>> = {}) => {
    await stage.clock.advance(5_000)
    const scene = stage.scene()
    const intended = record({ status: 'intended', requestId: null, ...changes })
    return stage.ending(stage.trouble.reading(scene, () => evacuate.reconcile(scene, intended, 1_000)))
  }

  it('is told by a new migration, with the request that made it', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1)]
    expect(await settled(stage)).toEqual({ applied: true, requestId: null })
    stage.actions = [action('req-9')]
    expect(await settled(stage)).toEqual({ applied: true, requestId: 'req-9' })
    expect([stage.count('listMigrations'), stage.count('listActions'), stage.uncut]).toEqual([2, 2, []])
  })

  it('has the newest request of its own kind', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1)]
    stage.actions = [action('req-8', { action: 'lock' }), action('req-9'), action('req-7')]
    expect(await settled(stage)).toEqual({ applied: true, requestId: 'req-9' })
  })

  it.each([
    ['an earlier attempt', { knownRequests: ['req-9'] }, {}],
    ['long before', {}, { startedAt: '2030-01-01T11:59:54' }],
    ['another kind', {}, { action: 'rebuild' }],
  ] as [string, object, object][])('does not have the request of an action of %s', async (_what, was, change) => {
    const stage = new Stage()
    stage.migrations = [evacuation(1)]
    stage.actions = [action('req-9', change)]
    expect(await settled(stage, { before: before(was) })).toEqual({ applied: true, requestId: null })
  })

  it.each([
    ['an old migration', { spentEvacuations: ['m-1'] }, [evacuation(1)], []],
    ['its own action alone, which an API that stands still may yet follow with the order', {}, [], [action('req-9')]],
  ] as [string, object, Migration[], InstanceAction[]][])(
    'is not told by %s: nothing was taken, after a quiet time',
    async (_what, was, migrations, actions) => {
      const stage = new Stage()
      stage.migrations = migrations
      stage.actions = actions
      expect(await settled(stage, { before: before(was) })).toMatchObject({ applied: false })
      expect(stage.clock.now()).toBe(6_000)
    },
  )

  it('an action by a clock that is a few seconds behind is still its own', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1)]
    stage.actions = [action('req-9', { startedAt: '2030-01-01T11:59:55' })]
    expect(await settled(stage)).toEqual({ applied: true, requestId: 'req-9' })
  })

  it('is asked until the quiet time is over, and what shows up meanwhile counts', async () => {
    const stage = new Stage()
    const asked = settled(stage)
    stage.clock.after(5_850, () => (stage.migrations = [evacuation(1)]))
    expect(await asked).toMatchObject({ applied: true })
    expect(stage.clock.now()).toBe(5_900)
  })

  it('may show up a moment after Nova answers again, however long it did not: both hung with its database', async () => {
    const stage = new Stage()
    stage.fails('listMigrations', ...Array.from({ length: 8 }, () => failed('API_FAULT')))
    const asked = settled(stage)
    let answeredAt = 0
    const list = stage.run.cloud.listMigrations
    stage.run.cloud.listMigrations = async (...filter) => {
      const found = await list(...filter)
      if (answeredAt === 0) stage.clock.after(500, () => (stage.migrations = [evacuation(1)]))
      answeredAt ||= stage.clock.now()
      return found
    }
    expect(await asked).toMatchObject({ applied: true })
    expect(answeredAt).toBeGreaterThan(10_000)
  })

  it('is not guessed while Nova does not answer (law L7)', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1)]
    stage.fails('listMigrations', ...Array.from({ length: 5 }, () => failed('API_FAULT')))
    expect(await settled(stage)).toMatchObject({ applied: true })
  })
})
