/** An evacuation that was taken: over only when Nova shows that it is, and why it failed where it did (laws L3, L5). */
import { describe, expect, it } from 'vitest'
import type { Instance, Migration } from '../../../src/domain/instance.ts'
import type { StepRecord } from '../../../src/domain/incident.ts'
import type { BeforeEvacuation } from '../../../src/domain/step-payloads.ts'
import { evacuate } from '../../../src/executor/steps/evacuate.ts'
import { leftBehind } from './actor.ts'
import { action, evacuation, failed, record, Stage, was } from './stage.ts'

/** What was there before the attempt. */
const before = (changes: Partial<BeforeEvacuation>): BeforeEvacuation => ({ ...was, ...changes })

describe('following an evacuation', () => {
  const follow = (stage: Stage, changes: Partial<StepRecord<'evacuate'>> = {}) =>
    evacuate.follow(stage.scene(), record(changes))
  const arrived: Partial<Instance> = {
    host: 'alive',
    vmState: 'stopped',
    powerState: 4,
    updatedAt: '2030-01-01T12:00:09',
  }

  it.each(['done', 'completed'])('it arrived when its migration is %s and it is on the destination', async (status) => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, { status })]
    stage.shows(arrived)
    expect(await stage.ending(follow(stage))).toEqual({
      migration: 'm-1',
      host: 'alive',
      vmState: 'stopped',
      powerState: 4,
    })
  })

  it('it has also arrived if its destination died before ending the migration, whatever task it left', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
    stage.shows(arrived)
    for (const taskState of [null, 'powering-off']) {
      stage.shows({ ...arrived, taskState })
      await stage.watch.read('i-1')
      stage.fenced.add('alive')
      expect(await stage.ending(follow(stage))).toMatchObject({ host: 'alive' })
    }
  })

  it.each([
    ['its host is not the destination yet', { host: 'dead' }, {}],
    ['a task of a rebuild is left', { taskState: 'rebuild_spawning' }, {}],
    ['it is on no host', { host: null }, {}],
    ['its migration is under way', {}, { status: 'pre-migrating' }],
    ['its migration is not of this attempt', {}, { uuid: 'old' }],
  ] as [string, Partial<Instance>, Partial<Migration>][])('it has not while %s', async (_what, shown, migrated) => {
    const stage = new Stage()
    let ended = false
    stage.migrations = [evacuation(1, { status: 'done', ...migrated })]
    stage.shows({ ...arrived, ...shown })
    void follow(stage, { before: before({ spentEvacuations: ['old'] }) }).then(() => (ended = true))
    await stage.clock.advance(40_000)
    expect(ended).toBe(false)
    stage.migrations = [evacuation(1, { status: 'done' })]
    stage.shows({ ...arrived, taskState: null })
    await stage.clock.advance(3_000)
    expect(ended).toBe(true)
  })

  describe('whose owner may have ordered something in its very moment', () => {
    const stop = action('req-owner', { action: 'stop', startedAt: '2030-01-01T12:00:00' })

    it('has its history read once, while a host rebuilds it, and not before a host has taken it', async () => {
      const stage = new Stage()
      await leftBehind(stage, 'intended', 'issued')
      stage.actions = [stop]
      stage.migrations = [evacuation(1)]
      const landing = follow(stage)
      await stage.clock.advance(1_000)
      expect(stage.count('listActions')).toBe(0)
      stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
      await stage.clock.advance(1_000)
      expect(stage.count('listActions')).toBe(1)
      stage.migrations = [evacuation(1, { status: 'done' })]
      stage.shows(arrived)
      expect(await stage.ending(landing)).toMatchObject({ host: 'alive', ordered: 'stop' })
      expect([stage.count('listActions'), stage.uncut]).toEqual([1, []])
    })

    it('has its history read no more once it has failed, however long Nova is silent about it', async () => {
      const stage = new Stage()
      await leftBehind(stage, 'intended', 'issued')
      stage.fails(
        'listActions',
        ...Array.from({ length: 500 }, () => failed('API_FAULT', { certainty: 'not-applied' })),
      )
      stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
      const landing = follow(stage)
      landing.catch(() => undefined)
      await stage.clock.advance(60_000)
      expect(stage.incident.held?.code).toBe('CLOUD_UNAVAILABLE')
      stage.fenced.add('alive')
      expect(await stage.ending(landing)).toBe('DESTINATION_DIED')
      const asked = stage.count('listActions')
      await stage.clock.advance(600_000)
      expect([stage.count('listActions'), stage.incident.held]).toEqual([asked, null])
    })

    it('is followed on where its history could not be read, and that is said at its landing', async () => {
      const stage = new Stage()
      await leftBehind(stage, 'intended', 'issued')
      stage.fails('listActions', failed('AUTH_FAILED', { certainty: 'not-applied' }))
      stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
      let ended = false
      const landing = follow(stage).finally(() => (ended = true))
      landing.catch(() => undefined)
      await stage.clock.advance(1_000)
      expect([ended, stage.count('listActions')]).toEqual([false, 1])
      stage.migrations = [evacuation(1, { status: 'done' })]
      stage.shows(arrived)
      expect(await stage.ending(landing)).toBe('AUTH_FAILED')
    })
  })

  describe('that is done although Nova still has it on the dead host', () => {
    /** Done at that time by the cloud's clock, which stands at 12:00. */
    const unmoved = (stage: Stage, changes: Partial<Migration>) => {
      stage.migrations = [evacuation(1, { status: 'done', ...changes })]
      stage.shows({ ...arrived, host: 'dead' })
      let ended: unknown = null
      const end = (error: unknown): void => void (ended = error)
      void follow(stage).then(end, end)
      return () => ended
    }

    it('is stuck a minute after it was done: the guest may be running where nobody sees it', async () => {
      const stage = new Stage()
      const ended = unmoved(stage, { updatedAt: '2030-01-01T12:00:00' })
      await stage.clock.advance(60_100)
      expect(ended()).toBeNull()
      await stage.clock.advance(100)
      expect(ended()).toMatchObject({
        code: 'STATE_MISMATCH',
        certainty: 'unknown',
        message: expect.stringContaining('on alive'),
        details: { migration: 'm-1', destination: 'alive' },
      })
    })

    it('is not, when it was only read before: Nova may have been silent for long (law L7)', async () => {
      const stage = new Stage()
      stage.watch.saw(stage.nova)
      stage.fails('listMigrations', ...Array.from({ length: 60 }, () => failed('API_UNAVAILABLE')))
      const followed = follow(stage)
      await stage.clock.advance(200_000)
      stage.migrations = [evacuation(1, { status: 'done', updatedAt: '2030-01-01T12:00:30' })]
      stage.shows(arrived)
      expect(await stage.ending(followed)).toMatchObject({ host: 'alive' })
    })

    it('whatever time Nova gives for it, and without a name where there is none', async () => {
      const stage = new Stage()
      const ended = unmoved(stage, { updatedAt: null, createdAt: '2030-01-01T11:00:00', destHost: null })
      await stage.clock.advance(60_000)
      expect(ended()).toBeNull()
      await stage.clock.advance(300)
      expect(ended()).toMatchObject({ message: expect.stringContaining('an unknown host') })
    })

    it('is not, when a reading of its own shows that it moved: the listing is behind', async () => {
      const stage = new Stage()
      const ended = unmoved(stage, {})
      const behind = stage.nova
      stage.run.cloud.listChangedInstances = async () => [behind]
      stage.shows(arrived)
      await stage.clock.advance(60_000)
      expect(ended()).toBeNull()
      await stage.clock.advance(1_000)
      expect(ended()).toMatchObject({ host: 'alive' })
    })

    it('has arrived where it is on another host than either: someone moved it on', async () => {
      const stage = new Stage()
      stage.migrations = [evacuation(1, { status: 'done' })]
      stage.shows({ ...arrived, host: 'other' })
      expect(await stage.ending(follow(stage))).toMatchObject({ host: 'other' })
    })
  })

  it('two orders that met may have started the guest twice, whatever their records say: a person must look', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(2, { status: 'accepted' }), evacuation(1, { status: 'done' })]
    stage.shows(arrived)
    const seen = expect(follow(stage)).rejects.toMatchObject({
      code: 'GUEST_ON_DESTINATION',
      certainty: 'unknown',
      details: { migrations: ['m-1', 'm-2'] },
    })
    await stage.clock.advance(61_000)
    await seen
  })

  it('one that arrived in ERROR may run twice: a person must look', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, { status: 'done' })]
    stage.shows({ ...arrived, vmState: 'error', fault: 'oh' })
    const seen = expect(follow(stage)).rejects.toMatchObject({
      code: 'GUEST_ON_DESTINATION',
      certainty: 'unknown',
      message: expect.stringContaining('oh'),
      details: { migration: 'm-1', destination: 'alive' },
    })
    await stage.clock.advance(1_000)
    await seen
  })

  it('in ERROR where it was it has not arrived', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, { status: 'done' })]
    stage.shows({ ...arrived, vmState: 'error', host: 'dead' })
    let ended = false
    void follow(stage).catch(() => (ended = true))
    await stage.clock.advance(5_000)
    expect(ended).toBe(false)
  })

  it('a destination that is fenced while it takes the instance has failed; not before', async () => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
    const followed = follow(stage)
    const seen = expect(followed).rejects.toMatchObject({
      code: 'DESTINATION_DIED',
      certainty: 'applied',
      details: { migration: 'm-1' },
    })
    stage.fenced.add('other')
    await stage.clock.advance(1_000)
    stage.fenced.add('alive')
    await stage.clock.advance(1_000)
    await seen
  })

  it('a fenced destination does not undo what had arrived on it, nor end what has none', async () => {
    const stage = new Stage()
    stage.fenced.add('alive')
    stage.migrations = [evacuation(1, { status: 'done' })]
    stage.shows(arrived)
    expect(await stage.ending(follow(stage))).toMatchObject({ host: 'alive' })
    const waiting = new Stage()
    waiting.fenced.add('alive')
    waiting.migrations = [evacuation(1, { status: 'accepted', destHost: null })]
    let ended = false
    void follow(waiting).catch(() => (ended = true))
    await waiting.clock.advance(5_000)
    expect(ended).toBe(false)
  })

  describe('of which Nova shows no migration', () => {
    it('is lost after two minutes, and only when the listing by itself shows none either', async () => {
      const stage = new Stage()
      await stage.clock.advance(300_000)
      const seen = expect(follow(stage)).rejects.toMatchObject({
        code: 'EVACUATION_LOST',
        certainty: 'applied',
        retry: 'backoff',
      })
      const byItself = () => stage.calls.filter(({ args }) => (args[0] as { instanceId?: string }).instanceId).length
      await stage.clock.advance(120_000)
      expect(byItself()).toBe(0)
      await stage.clock.advance(100)
      expect(byItself()).toBe(1)
      await stage.clock.advance(4_000)
      await seen
    })

    it('goes on when the listing by itself shows it: it waits for a conductor', async () => {
      const stage = new Stage()
      const list = stage.run.cloud.listMigrations
      // What is only accepted was never updated, and a listing of changes leaves it out.
      stage.run.cloud.listMigrations = async (filter, options) =>
        filter.instanceId === undefined ? [] : list(filter, options)
      stage.migrations = [evacuation(1)]
      let ended: unknown = null
      void follow(stage).then(
        (result) => (ended = result),
        (error: unknown) => (ended = error),
      )
      await stage.clock.advance(400_000)
      expect(ended).toBeNull()
      stage.run.cloud.listMigrations = list
      stage.migrations = [evacuation(1, { status: 'done', updatedAt: '2030-01-01T12:06:40' })]
      stage.shows(arrived)
      await stage.clock.advance(5_000)
      expect(ended).toMatchObject({ host: 'alive' })
    })

    it('is not lost while the instance cannot be read: of a cell that is away Nova lists nothing', async () => {
      const stage = new Stage()
      await stage.clock.advance(300_000)
      let ended: unknown = null
      void stage.trouble
        .reading(stage.scene(), () => follow(stage))
        .then(
          (result) => (ended = result),
          (error: unknown) => (ended = error),
        )
      stage.fails('getInstance', ...Array.from({ length: 500 }, () => failed('API_UNAVAILABLE')))
      stage.run.cloud.listChangedInstances = async () => []
      await stage.clock.advance(400_000)
      expect(ended).toBeNull()
      stage.fails('getInstance')
      stage.migrations = [evacuation(1, { status: 'done' })]
      stage.shows(arrived)
      await stage.clock.advance(70_000)
      expect(ended).toMatchObject({ host: 'alive' })
    })

    it('looks at the instance itself after a while, and not at once', async () => {
      const stage = new Stage()
      await stage.clock.advance(300_000)
      void follow(stage).catch(() => undefined)
      await stage.clock.advance(12_000)
      expect(stage.count('listChangedInstances')).toBe(0)
      await stage.clock.advance(1_000)
      expect(stage.count('listChangedInstances')).toBeGreaterThan(0)
    })

    it.each([{ vmState: 'deleted' }, { status: 'DELETED' }])('is gone when its owner deleted it: %o', async (gone) => {
      const stage = new Stage()
      stage.shows({ updatedAt: '2030-01-01T12:00:05', ...gone })
      const seen = expect(follow(stage)).rejects.toMatchObject({ code: 'INSTANCE_GONE', certainty: 'applied' })
      await stage.clock.advance(20_000)
      await seen
    })
  })

  describe('that ended badly', () => {
    const how = async (stage: Stage, changes: Partial<StepRecord<'evacuate'>> = {}) => {
      const outcome = follow(stage, changes).then(
        () => null,
        (error: unknown) => error,
      )
      await stage.clock.advance(1_000)
      return outcome
    }
    const event = (name: string) => ({
      event: name,
      result: 'Error',
      host: 'alive',
      details: null,
      startedAt: '',
      finishedAt: null,
    })

    const refused = { ...event('compute_rebuild_instance'), details: 'no memory' }

    it('at error: the scheduler found no destination', async () => {
      const stage = new Stage()
      stage.migrations = [evacuation(1, { status: 'error', destHost: null })]
      stage.shows({ fault: 'No valid host' })
      expect(await how(stage)).toMatchObject({
        code: 'NO_VALID_HOST',
        certainty: 'applied',
        retry: 'backoff',
        message: 'no destination: No valid host',
        details: { migration: 'm-1', destination: null, fault: 'No valid host' },
      })
      expect(stage.count('getAction')).toBe(0)
    })

    it.each(['failed', 'cancelled'])('at %s, and nothing was started there: it can be tried again', async (status) => {
      const stage = new Stage()
      stage.migrations = [evacuation(1, { status })]
      stage.actions = [action('req-1', { events: [event('compute_rebuild_instance')] })]
      expect(await how(stage)).toMatchObject({
        code: 'EVACUATION_FAILED',
        certainty: 'applied',
        retry: 'backoff',
        details: { migration: 'm-1', destination: 'alive' },
      })
    })

    it('after its guest was started there: a person must look', async () => {
      const stage = new Stage()
      stage.migrations = [evacuation(1, { status: 'failed' })]
      stage.actions = [action('req-1', { events: [event('compute_rebuild_instance'), event('compute_stop_instance')] })]
      expect(await how(stage)).toMatchObject({ code: 'GUEST_ON_DESTINATION', certainty: 'unknown' })
    })

    it('after its guest was started on a host that is fenced by now: nothing runs there', async () => {
      const stage = new Stage()
      stage.migrations = [evacuation(1, { status: 'failed' })]
      stage.actions = [action('req-1', { events: [event('compute_stop_instance')] })]
      stage.run.permissions.isFenced = (host) => host === 'alive' && stage.count('getAction') > 0
      expect(await how(stage)).toMatchObject({ code: 'EVACUATION_FAILED' })
    })

    it('on the source of a resize that was never confirmed, whose guest is still there, off: people are told once', async () => {
      const resize = { migrationUuid: 'm-0', sourceHost: 'alive', destHost: 'dead', sourceUp: true }
      const exists = 'Instance instance-00000001 already exists.'
      const failing = (changes: Partial<typeof resize> = {}): Stage => {
        const stage = new Stage()
        stage.plans({ original: { ...stage.recovery.plan.original, resize: { ...resize, ...changes } } })
        stage.migrations = [evacuation(1, { status: 'failed' })]
        stage.shows({ fault: exists })
        stage.actions = [action('req-1')]
        return stage
      }
      const stage = failing()
      const told = (): number => stage.entries.filter(({ kind }) => kind === 'alarm.raised').length
      expect(await how(stage)).toMatchObject({ code: 'EVACUATION_FAILED', retry: 'backoff', certainty: 'applied' })
      expect(await how(stage)).toMatchObject({ code: 'EVACUATION_FAILED' })
      expect(told()).toBe(1)
      stage.recovery.steps.set('c', record({ kind: 'confirm-resize', status: 'confirmed' } as object))
      expect(await how(stage)).toMatchObject({ code: 'GUEST_ON_DESTINATION' })
      expect(await how(failing({ sourceHost: 'other' }))).toMatchObject({ code: 'GUEST_ON_DESTINATION' })
    })

    it('without a record of it: the instance in ERROR for half a minute tells', async () => {
      const stage = new Stage()
      stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
      stage.shows({ vmState: 'error', fault: 'MessagingTimeout' })
      const ended = follow(stage)
      const seen = expect(ended).rejects.toMatchObject({
        code: 'GUEST_ON_DESTINATION',
        certainty: 'unknown',
        details: { migration: 'm-1', destination: 'alive' },
      })
      await stage.clock.advance(181_000)
      await seen
    })

    it('whose history nobody knows is taken for one that started its guest', async () => {
      const stage = new Stage()
      stage.migrations = [evacuation(1, { status: 'failed', destHost: null })]
      expect(await how(stage, { requestId: null })).toMatchObject({
        code: 'GUEST_ON_DESTINATION',
        message: expect.stringContaining('an unknown host'),
      })
    })

    it.each([
      ['the claim that was refused', [refused], null, 'alive could not take it: no memory'],
      ['the instance itself, when it knows', [refused], 'no image', 'alive could not take it: no image'],
      [
        'nobody: other events and those that went well are no reason',
        [
          { ...refused, event: 'conductor_rebuild', details: 'other' },
          { ...refused, result: 'Success', details: 'well' },
        ],
        null,
        'alive could not take it: Nova gives no reason',
      ],
    ] as const)('gives the reason of %s', async (_whose, events, fault, message) => {
      const stage = new Stage()
      stage.migrations = [evacuation(1, { status: 'failed' })]
      stage.actions = [action('req-1', { events: [...events] })]
      stage.shows({ fault })
      expect(await how(stage)).toMatchObject({ code: 'EVACUATION_FAILED', message })
    })

    it('waits for the fault until the task ends: a disk that was refused tells that the old guest lives', async () => {
      const stage = new Stage()
      stage.migrations = [evacuation(1, { status: 'failed' })]
      stage.actions = [action('req-1', { events: [refused] })]
      stage.shows({ vmState: 'error', taskState: 'rebuild_spawning' })
      const explained = follow(stage).catch((error: unknown) => error)
      await stage.clock.advance(2_000)
      stage.shows({ taskState: null, fault: 'libvirtError', diskInUse: true })
      expect(await stage.clock.run(explained, 60_000)).toMatchObject({
        message: expect.stringContaining('write lock') as string,
      })
    })

    it('without a destination names the host whose claim was refused', async () => {
      const stage = new Stage()
      stage.migrations = [evacuation(1, { status: 'failed', destHost: null })]
      stage.actions = [action('req-1', { events: [refused] })]
      expect(await how(stage)).toMatchObject({ message: 'alive could not take it: no memory' })
    })

    it('whose request was never told is looked for among the actions', async () => {
      const stage = new Stage()
      stage.migrations = [evacuation(1, { status: 'failed' })]
      stage.actions = [action('req-5', { events: [] })]
      expect(await how(stage, { requestId: null })).toMatchObject({ code: 'EVACUATION_FAILED' })
      expect(stage.calls.find(({ call }) => call === 'getAction')!.args).toEqual(['i-1', 'req-5'])
      expect(stage.uncut).toEqual([])
    })
  })
})
