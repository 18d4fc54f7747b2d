/** Confirming a resize, starting and stopping, marking: when each is done, when it failed, and whether it was taken. */
import { describe, expect, it } from 'vitest'
import { errorRecord } from '../../../src/domain/errors.ts'
import type { Instance, Migration } from '../../../src/domain/instance.ts'
import type { StepDriver } from '../../../src/executor/step-driver.ts'
import { confirmResize } from '../../../src/executor/steps/confirm-resize.ts'
import { lock, resetState, unlock } from '../../../src/executor/steps/marks.ts'
import { start, stop } from '../../../src/executor/steps/power.ts'
import { action, asked, evacuation, failed, record, Stage } from './stage.ts'

const resize = (changes: Partial<Migration> = {}): Migration =>
  evacuation(1, { type: 'resize', status: 'finished', sourceHost: 'alive', destHost: 'dead', ...changes })

/** What a step's write is sent under. */
const as = { globalRequestId: 'req-step' }

/** An instance whose resize waits for its confirmation. */
function resized(): Stage {
  const stage = new Stage()
  const pending = { migrationUuid: 'm-1', sourceHost: 'alive', destHost: 'dead', sourceUp: true }
  stage.plans({ original: { ...stage.recovery.plan.original, resize: pending } })
  stage.shows({ vmState: 'resized' })
  stage.migrations = [evacuation(0, { uuid: 'm-0', status: 'error' }), resize()]
  return stage
}

const prepared = (driver: StepDriver, stage: Stage) => stage.ending(driver.before(stage.scene()))
const followed = (driver: StepDriver, stage: Stage) => driver.follow(stage.scene(), record())
/** Settled with a quiet time of a second, by a daemon that has run for a while; `took` is what it took. */
async function settled(driver: StepDriver, stage: Stage): Promise<{ answer: unknown; took: number }> {
  await stage.clock.advance(5_000)
  const answer = await stage.ending(driver.reconcile(stage.scene(), record(), 1_000))
  return { answer, took: stage.clock.now() - 5_000 }
}

/** Whether what it follows is still not over after five seconds. */
async function goesOn(driver: StepDriver, stage: Stage): Promise<boolean> {
  let ended = false
  const end = (): void => void (ended = true)
  void followed(driver, stage).then(end, end)
  await stage.clock.advance(5_000)
  stage.stop.abort()
  return !ended
}

describe('confirming a resize', () => {
  it('is asked of the record that the plan knows, with the state before', async () => {
    expect(await prepared(confirmResize, resized())).toEqual({
      before: {
        vmState: 'resized',
        taskState: null,
        powerState: 1,
        resize: { migrationUuid: 'm-1', sourceHost: 'alive', destHost: 'dead', sourceUp: true },
      },
      request: { confirm: 'm-1' },
    })
    const unknown = new Stage()
    unknown.shows({ vmState: 'resized' })
    expect(await prepared(confirmResize, unknown)).toMatchObject({ request: { confirm: null } })
    await confirmResize.send(unknown.scene(), as)
    expect(unknown.calls.at(-1)).toMatchObject({ call: 'confirmResize', args: ['i-1', as] })
  })

  it.each([
    [{ vmState: 'active' }, true],
    [{ vmState: 'stopped' }, true],
    [{ vmState: 'active', taskState: 'x' }, false],
    [{ vmState: 'error' }, false],
  ] as [Partial<Instance>, boolean][])('%o needs no confirmation: %s', async (shown, nothing) => {
    const stage = resized()
    stage.shows(shown)
    expect('nothingToDo' in ((await prepared(confirmResize, stage)) as object)).toBe(nothing)
  })

  it.each([
    ['resize', 'finished', true],
    ['migration', 'finished', true],
    ['migration', 'confirmed', false],
    ['resize', 'reverted', false],
    ['evacuation', 'finished', false],
    ['live-migration', 'finished', false],
  ] as const)('an older %s at %s would be confirmed instead: %s (fact 8)', async (type, status, instead) => {
    const stage = resized()
    const older = evacuation(0, { uuid: 'm-0', type, status, sourceHost: 'other' })
    // Nova lists the newest first.
    stage.migrations = [resize(), older]
    if (!instead) return expect(await prepared(confirmResize, stage)).toMatchObject({ request: { confirm: 'm-1' } })
    await expect(confirmResize.before(stage.scene())).rejects.toMatchObject({
      code: 'INSTANCE_BUSY',
      certainty: 'not-applied',
      message: 'Nova would confirm an older resize that is still on record (m-0, from other), not this one',
      details: { oldest: 'm-0', waiting: 2 },
    })
    stage.migrations = [resize(), { ...older, id: 2 }]
    return expect(await prepared(confirmResize, stage)).toMatchObject({ request: { confirm: 'm-1' } })
  })

  it('is not asked of one that its owner reverts by now, nor is it reset: no recipe goes on after that', async () => {
    const stage = resized()
    stage.shows({ taskState: 'resize_reverting' })
    stage.migrations = [resize({ status: 'reverting' })]
    for (const driver of [confirmResize, resetState])
      await expect(driver.before(stage.scene())).rejects.toMatchObject({ code: 'INSTANCE_BUSY', certainty: 'unknown' })
    // One that came a moment before our order, which Nova then refused: the record is not of our doing.
    expect(await settled(confirmResize, stage)).toMatchObject({ answer: { applied: false } })
  })

  it('a reset is not asked of one that its owner deletes by now', async () => {
    const stage = resized()
    stage.shows({ taskState: 'deleting' })
    await expect(resetState.before(stage.scene())).rejects.toMatchObject({ code: 'INSTANCE_GONE' })
  })

  it('cuts its reads off when the run stops', async () => {
    const stage = resized()
    await prepared(confirmResize, stage)
    expect([stage.count('listMigrations'), stage.count('getInstance'), stage.uncut]).toEqual([1, 1, []])
  })

  it('a record that nobody planned for is not confirmed', async () => {
    const stage = new Stage()
    stage.shows({ vmState: 'resized' })
    stage.migrations = [resize({ sourceHost: null })]
    await expect(confirmResize.before(stage.scene())).rejects.toMatchObject({
      code: 'INSTANCE_BUSY',
      message: expect.stringContaining('from nowhere'),
    })
  })

  it('is not waited for once its source died too; the source of others says nothing', async () => {
    const stage = resized()
    stage.fenced.add('other')
    let ended: unknown = null
    void followed(confirmResize, stage).catch((error: unknown) => (ended = error))
    await stage.clock.advance(5_000)
    expect(ended).toBeNull()
    stage.fenced.add('alive')
    await stage.clock.advance(100)
    expect(ended).toMatchObject({
      code: 'INSTANCE_BUSY',
      certainty: 'applied',
      message: "the resize's source alive died before it had confirmed",
    })
  })

  it('is waited for also where the plan knows no record', async () => {
    const stage = new Stage()
    stage.shows({ vmState: 'resized' })
    expect(await goesOn(confirmResize, stage)).toBe(true)
  })

  it.each(['active', 'stopped'])(
    'is over when it is %s without a task and its record is confirmed',
    async (vmState) => {
      const stage = resized()
      stage.shows({ vmState, powerState: 4 })
      stage.migrations = [evacuation(0, { uuid: 'm-0' }), resize({ status: 'confirmed' })]
      expect(await stage.ending(followed(confirmResize, stage))).toEqual({
        vmState,
        powerState: 4,
        migration: 'confirmed',
      })
    },
  )

  it('is over without a record when there is none', async () => {
    const stage = resized()
    stage.shows({ vmState: 'active' })
    stage.migrations = []
    expect(await stage.ending(followed(confirmResize, stage))).toMatchObject({ migration: null })
  })

  it('goes by the records of this instance, and by none where the plan knows none', async () => {
    const stage = new Stage()
    stage.shows({ vmState: 'active' })
    stage.migrations = [resize({ status: 'error' })]
    expect(await stage.ending(followed(confirmResize, stage))).toMatchObject({ migration: null })
    expect(stage.calls.find(({ call }) => call === 'listMigrations')!.args).toEqual([{ instanceId: 'i-1' }])
    const still = resized()
    still.migrations = []
    expect(await goesOn(confirmResize, still)).toBe(true)
  })

  it.each([
    ['its record is still confirming', { vmState: 'active' }, { status: 'confirming' }],
    ['a task is left', { vmState: 'active', taskState: 'x' }, { status: 'confirmed' }],
    ['it is still resized', { vmState: 'resized' }, { status: 'confirmed' }],
  ] as [string, Partial<Instance>, Partial<Migration>][])('is not while %s', async (_what, shown, migrated) => {
    const stage = resized()
    stage.shows(shown)
    stage.migrations = [resize(migrated)]
    expect(await goesOn(confirmResize, stage)).toBe(true)
  })

  it.each([
    ['the instance is in ERROR', { vmState: 'error', fault: 'disk full' }, { status: 'confirming' }, 'disk full'],
    ['its record is at error', { vmState: 'resized' }, { status: 'error' }, 'no reason given'],
  ] as [string, Partial<Instance>, Partial<Migration>, string][])(
    'failed when %s',
    async (_what, shown, migrated, why) => {
      const stage = resized()
      stage.shows(shown)
      stage.migrations = [resize(migrated)]
      await expect(followed(confirmResize, stage)).rejects.toMatchObject({
        code: 'STATE_MISMATCH',
        certainty: 'applied',
        message: expect.stringContaining(why),
      })
    },
  )

  it.each([
    ['the instance is no longer resized', { vmState: 'active' }, {}, true],
    ['its record moved', {}, { status: 'confirming' }, true],
    ['neither did', {}, {}, false],
    ['there is no record', {}, { uuid: 'other', status: 'confirming' }, false],
  ] as [string, Partial<Instance>, Partial<Migration>, boolean][])(
    'whose answer was lost, when %s',
    async (_what, shown, migrated, applied) => {
      const stage = resized()
      stage.shows(shown)
      stage.migrations = [resize(migrated)]
      expect(await settled(confirmResize, stage)).toEqual({
        answer: { applied, requestId: null },
        took: applied ? 0 : 1_000,
      })
    },
  )
})

it.each([
  ['start', 'stop', 'is passed over', start],
  ['start', 'start', 'is sent', start],
  ['stop', 'stop', 'is sent', stop],
] as const)('a %s after its owner ordered a %s while it waited %s', async (name, ordered, fate, driver) => {
  const stage = new Stage()
  const seen = { vmState: 'other', powerState: 0, host: 'alive' }
  stage.shows(seen)
  stage.recovery.steps.set('earlier', record({ status: 'confirmed', request: { ...asked, ordered } }))
  const step = { ...stage.scene().step, do: name }
  const found = await stage.ending(driver.before({ ...stage.scene(), step }))
  if (fate === 'is sent') expect(found).toHaveProperty('request')
  else expect(found).toEqual({ nothingToDo: { ...seen, taskState: null } })
})

describe.each([
  ['start', start, 'active', 1, 'powering-on'],
  ['stop', stop, 'stopped', 4, 'powering-off'],
] as const)('%s', (name, driver, vmState, powerState, task) => {
  const there: Partial<Instance> = { host: 'alive', updatedAt: '2030-01-01T12:00:09' }
  const reached: Partial<Instance> = { ...there, vmState, powerState }
  const stageOf = (changes: Partial<Instance>): Stage => {
    const stage = new Stage()
    stage.shows({ vmState: 'other', powerState: 0, ...there, ...changes })
    return stage
  }

  it('is never sent to the dead host', async () => {
    expect(await prepared(driver, stageOf({ host: 'dead' }))).toBe('STATE_MISMATCH')
  })

  it('has nothing to do where the power is as asked, and no task left', async () => {
    const state = { vmState, taskState: null, powerState, host: 'alive' }
    expect(await prepared(driver, stageOf(reached))).toEqual({ nothingToDo: state })
    expect(await prepared(driver, stageOf({ ...reached, taskState: 'x' }))).toEqual({
      before: { ...state, taskState: 'x' },
      request: { power: vmState },
    })
    expect(await prepared(driver, stageOf({ ...reached, powerState: 0 }))).toHaveProperty('request')
    expect(await prepared(driver, stageOf({ ...reached, vmState: 'other' }))).toHaveProperty('request')
  })

  it('goes by what was read last, and reads only when nothing was', async () => {
    const stage = stageOf(reached)
    stage.watch.saw({ ...stage.nova, powerState: 0 })
    expect(await prepared(driver, stage)).toHaveProperty('request')
    expect(stage.calls).toEqual([])
  })

  it.each([
    ['failed', {}, true],
    ['confirmed', {}, false],
    ['failed', { kind: 'lock' }, false],
  ] as const)(
    'is read again after a step that %s %o: %s; its owner may have done it meanwhile',
    async (status, of, again) => {
      const stage = stageOf(reached)
      stage.watch.saw({ ...stage.nova, powerState: 0 })
      const rows = { before: null, request: null, result: null }
      stage.recovery.steps.set('earlier', { ...record({ status }), ...rows, kind: name, ...of })
      const step = { ...stage.scene().step, do: name }
      const found = await stage.ending(driver.before({ ...stage.scene(), step }))
      expect(found).toHaveProperty(again ? 'nothingToDo' : 'request')
      expect(stage.count('getInstance')).toBe(again ? 1 : 0)
    },
  )

  it.each([{ vmState: 'deleted' }, { status: 'DELETED' }])(
    'is over when its owner deletes it (%o)',
    async (deleted) => {
      const stage = stageOf({ taskState: task })
      stage.clock.after(1_000, () => stage.shows({ ...deleted, updatedAt: '2030-01-01T12:00:01' }))
      await expect(stage.clock.run(followed(driver, stage))).rejects.toMatchObject({
        code: 'INSTANCE_GONE',
        certainty: 'applied',
      })
      expect(stage.clock.now()).toBeLessThan(5_000)
    },
  )

  it('is over when the power is as asked, and not before', async () => {
    expect(await goesOn(driver, stageOf({ ...reached, taskState: task }))).toBe(true)
    expect(await goesOn(driver, stageOf({ ...reached, powerState: 0 }))).toBe(true)
    const stage = stageOf(reached)
    expect(await stage.ending(followed(driver, stage))).toEqual({ vmState, taskState: null, powerState, host: 'alive' })
  })

  it('is over once Nova shows it, though it did not at first', async () => {
    const stage = stageOf({})
    const ended = followed(driver, stage)
    await stage.clock.advance(3_000)
    stage.shows(reached)
    expect(await stage.ending(ended)).toMatchObject({ vmState })
  })

  it("failed when Nova's history says so, though the instance is as it was; one that did not is waited for", async () => {
    const stage = stageOf({})
    const step = { ...stage.scene().step, do: name }
    stage.actions = [{ ...action('req-1'), events: [] }]
    const { follow } = driver as StepDriver
    const ended = follow({ ...stage.scene(), step }, record()).catch((thrown: unknown) => thrown)
    await stage.clock.advance(2_000)
    stage.shows({ updatedAt: '2030-01-01T12:00:02' })
    await stage.clock.advance(5_000)
    const error = { event: 'compute', result: 'Error', details: 'no memory' }
    stage.actions = [{ ...action('req-1'), events: [error] } as never]
    stage.shows({ updatedAt: '2030-01-01T12:00:07' })
    await stage.clock.advance(5_000)
    expect(await ended).toMatchObject({ code: 'STATE_MISMATCH', message: `its ${name} failed: no memory` })
    expect(stage.count('getAction')).toBe(3)
  })

  it('failed when it went to ERROR', async () => {
    const stage = stageOf({ vmState: 'error', fault: 'no key' })
    const seen = expect(followed(driver, stage)).rejects.toMatchObject({
      code: 'STATE_MISMATCH',
      certainty: 'applied',
      message: expect.stringContaining('no key'),
    })
    await stage.clock.advance(5_000)
    await seen
  })

  it.each([
    ['it got there', reached, true],
    ['its task is under way', { taskState: task }, true],
    ['another task is', { taskState: 'x' }, false],
    ['nothing moved', {}, false],
  ] as [string, Partial<Instance>, boolean][])('whose answer was lost, when %s', async (_what, shown, applied) => {
    const stage = stageOf(shown)
    expect(await settled(driver, stage)).toEqual({ answer: { applied, requestId: null }, took: applied ? 0 : 1_000 })
  })

  it('is sent in the name of the project where that is needed', async () => {
    const stage = new Stage()
    stage.plans({ asProject: 'p-1' })
    await driver.send(stage.scene(), as)
    expect(stage.calls.at(-1)).toMatchObject({ call: name, args: name === 'start' ? ['i-1', 'p-1', as] : ['i-1', as] })
    const plain = new Stage()
    await driver.send(plain.scene(), as)
    expect(plain.calls.at(-1)!.args).toEqual(name === 'start' ? ['i-1', undefined, as] : ['i-1', as])
  })
})

describe('marks', () => {
  const ours = { locked: true, lockedReason: 'lifeboat: instance is being recovered (inc-1)' }
  const marks: [string, StepDriver, Partial<Instance>, Partial<Instance>[], string][] = [
    ['lock', lock, { locked: true }, [{ locked: false }], 'lock'],
    ['unlock', unlock, { locked: false, lockedReason: null }, [ours], 'unlock'],
    ['reset-state', resetState, { vmState: 'active' }, [{ vmState: 'error' }, { taskState: 'x' }], 'resetState'],
  ]

  it.each(marks)('%s: nothing to do where it is so', async (_name, driver, done) => {
    const stage = new Stage()
    stage.shows(done)
    expect(await prepared(driver, stage)).toHaveProperty('nothingToDo')
    expect(await settled(driver, stage)).toEqual({ answer: { applied: true, requestId: null }, took: 0 })
    const { vmState, taskState, locked, lockedReason } = stage.nova
    expect(await followed(driver, stage)).toEqual({ vmState, taskState, locked, lockedReason })
  })

  it.each(marks)('%s: sent where it is not, and one look tells', async (_name, driver, _done, not, call) => {
    for (const shown of not) {
      const stage = new Stage()
      stage.shows(shown)
      expect(await prepared(driver, stage)).toMatchObject({ before: shown, request: expect.any(String) })
      expect(await settled(driver, stage)).toEqual({ answer: { applied: false, requestId: null }, took: 0 })
      await expect(followed(driver, stage)).rejects.toMatchObject({
        code: 'STATE_MISMATCH',
        certainty: 'applied',
        retry: 'backoff',
      })
      await driver.send(stage.scene(), as)
      expect(stage.calls.at(-1)).toMatchObject({ call })
      expect(stage.calls.at(-1)!.args.at(-1)).toBe(as)
    }
  })

  it('what is asked of Nova is on record', async () => {
    const asked = async (driver: StepDriver, shown: Partial<Instance>): Promise<unknown> => {
      const stage = new Stage()
      stage.shows(shown)
      return prepared(driver, stage)
    }
    expect(await asked(lock, { locked: false })).toHaveProperty('request', 'locked')
    expect(await asked(unlock, ours)).toHaveProperty('request', 'without our lock')
    expect(await asked(resetState, { vmState: 'error' })).toHaveProperty('request', 'active without a task')
  })

  it("someone else's lock is not taken away", async () => {
    for (const lockedReason of ['audit', null, 'not lifeboat: instance is being recovered']) {
      const stage = new Stage()
      stage.shows({ locked: true, lockedReason })
      expect(await prepared(unlock, stage)).toHaveProperty('nothingToDo')
    }
  })

  describe('a reset', () => {
    it('is not for an instance that is on a living host by now', async () => {
      const stage = new Stage()
      stage.shows({ host: 'alive', vmState: 'error' })
      expect(await prepared(resetState, stage)).toHaveProperty('nothingToDo')
    })

    it('does not break an evacuation that someone else began', async () => {
      const stage = new Stage()
      stage.shows({ vmState: 'error', taskState: 'rebuilding' })
      stage.migrations = [evacuation(1)]
      expect(await prepared(resetState, stage)).toBe('EVACUATION_STALLED')
    })

    it('does not break an order whose destination was dead, is back, and has taken it', async () => {
      const stage = new Stage()
      const details = { migration: 'm-1', destination: 'alive', queued: true }
      const error = { ...errorRecord(failed('DESTINATION_DIED')), details }
      stage.recovery.steps.set('0.go.go.1', record({ status: 'failed', error }))
      stage.shows({ taskState: 'rebuild_spawning' })
      stage.migrations = [evacuation(1, { status: 'pre-migrating' })]
      expect(await prepared(resetState, stage)).toHaveProperty('nothingToDo')
      stage.fenced.add('alive')
      expect(await prepared(resetState, stage)).toHaveProperty('request')
    })

    it.each([
      ['a host is at work on it', { status: 'pre-migrating' }, 'nothingToDo'],
      ['it has failed, and nobody has seen yet where its guest is', { status: 'failed' }, 'nothingToDo'],
      ['nobody has taken it', { status: 'accepted' }, 'request'],
    ])('after an order that was taken for lost: %s', async (_what, found, fate) => {
      const stage = new Stage()
      const error = { ...errorRecord(failed('EVACUATION_LOST')), details: { spare: ['m-1'] } }
      stage.recovery.steps.set('0.go.go.1', record({ status: 'failed', error }))
      stage.shows({ taskState: 'rebuild_spawning' })
      stage.migrations = [evacuation(1, found)]
      expect(await prepared(resetState, stage)).toHaveProperty(fate)
    })

    it.each([
      ['the task is what that left', { uuid: 'm-1' }, 'request'],
      ['that is at work on it again', { uuid: 'm-1', status: 'pre-migrating' }, 'nothingToDo'],
      ['one is under way that is not that', { uuid: 'm-2', status: 'pre-migrating' }, 'nothingToDo'],
      ['another one has just arrived', { uuid: 'm-2', status: 'done' }, 'nothingToDo'],
      ['another one has failed', { uuid: 'm-2', status: 'failed' }, 'request'],
      ['one is left from earlier days', { uuid: 'm-0', status: 'done' }, 'request'],
    ])('after an attempt of our own: %s', async (_what, found, fate) => {
      const stage = new Stage()
      stage.plans({ original: { ...stage.recovery.plan.original, knownEvacuations: ['m-0'] } })
      const error = { ...errorRecord(failed('NO_VALID_HOST')), details: { migration: 'm-1' } }
      stage.recovery.steps.set('0.go.go.1', record({ status: 'failed', error }))
      stage.shows({ vmState: 'error', taskState: 'rebuilding' })
      stage.migrations = [evacuation(2, found)]
      expect(await prepared(resetState, stage)).toHaveProperty(fate)
    })
  })

  it('our lock says whose it is', async () => {
    const stage = new Stage()
    await lock.send(stage.scene(), as)
    expect(stage.calls.at(-1)!.args[1]).toBe(ours.lockedReason)
  })

  it('a read that fails is read again', async () => {
    const stage = new Stage()
    stage.shows(ours)
    stage.fails('getInstance', failed('API_FAULT'))
    expect(await prepared(unlock, stage)).toHaveProperty('request')
  })
})
