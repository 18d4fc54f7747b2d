/** An instance that has landed while its owner acts on it: what is waited for, and for how long. */
import { expect, it } from 'vitest'
import type { Instance, InstanceAction } from '../../../src/domain/instance.ts'
import type { StepDriver } from '../../../src/executor/step-driver.ts'
import { evacuate } from '../../../src/executor/steps/evacuate.ts'
import { start, stop } from '../../../src/executor/steps/power.ts'
import { action, evacuation, record, Stage } from './stage.ts'

const arrived: Partial<Instance> = {
  ...{ host: 'alive', vmState: 'stopped', powerState: 4 },
  updatedAt: '2030-01-01T12:00:09',
}

const follow = (stage: Stage): Promise<unknown> => evacuate.follow(stage.scene(), record())

it('has arrived half a minute after it moved, though a task is left that is none of a rebuild', async () => {
  const stage = new Stage()
  stage.migrations = [evacuation(1, { status: 'done' })]
  stage.shows({ ...arrived, taskState: 'powering-off' })
  let ended = false
  void follow(stage).then(() => (ended = true))
  await stage.clock.advance(29_000)
  expect(ended).toBe(false)
  await stage.clock.advance(3_000)
  expect(ended).toBe(true)
})

it('waits for a task that its new host works on, until that ends or that host is fenced too', async () => {
  const busy = (): Stage => {
    const stage = new Stage()
    stage.migrations = [evacuation(1, { status: 'done' })]
    const event = {
      event: 'compute_snapshot_instance',
      host: 'alive',
      result: null,
      details: null,
      startedAt: '',
      finishedAt: null,
    }
    stage.actions = [action('req-owner', { action: 'createImage', events: [event] })]
    stage.shows({ ...arrived, taskState: 'image_uploading' })
    return stage
  }
  for (const end of [(stage: Stage) => stage.shows({ taskState: null }), (stage: Stage) => stage.fenced.add('alive')]) {
    const stage = busy()
    let ended = false
    void follow(stage).then(() => (ended = true))
    await stage.clock.advance(300_000)
    expect(ended).toBe(false)
    end(stage)
    await stage.clock.advance(62_000)
    expect(ended).toBe(true)
  }
})

const conducted = {
  event: 'rebuild_server',
  host: 'controller',
  result: 'Success',
  details: null,
  startedAt: '',
  finishedAt: null,
}
const begun = { ...conducted, event: 'compute_rebuild_instance', host: 'alive', result: null }

it.each<[string, InstanceAction, boolean]>([
  ['has arrived: no host has taken the rebuild', action('req-owner', { action: 'rebuild', events: [conducted] }), true],
  ['waits: its new host rebuilds it', action('req-owner', { action: 'rebuild', events: [begun, conducted] }), false],
  ['waits: someone else evacuates it from there', action('req-other'), false],
])('with the task rebuilding, half a minute after it moved, it %s', async (_what, newest, ends) => {
  const stage = new Stage()
  stage.migrations = [evacuation(1, { status: 'done' })]
  stage.actions = [newest]
  stage.shows({ ...arrived, taskState: 'rebuilding' })
  let ended = false
  void follow(stage).then(() => (ended = true))
  await stage.clock.advance(29_000)
  expect(ended).toBe(false)
  await stage.clock.advance(3_000)
  expect(ended).toBe(ends)
})

it('has arrived where it is rebuilt by a host that died over that: its incident waits for this one', async () => {
  const rebuild = action('req-owner', { action: 'rebuild', events: [begun, conducted] })
  for (const { newest, ends } of [
    { newest: rebuild, ends: true },
    // Someone else evacuates it from there: a rebuild of that host, too.
    { newest: action('req-other'), ends: false },
  ]) {
    const stage = new Stage()
    stage.migrations = [evacuation(1, { status: 'done' })]
    stage.actions = [newest]
    stage.shows({ ...arrived, taskState: 'rebuild_spawning' })
    let ended = false
    void follow(stage).then(() => (ended = true))
    await stage.clock.advance(300_000)
    expect(ended).toBe(false)
    stage.fenced.add('alive')
    await stage.clock.advance(62_000)
    expect(ended).toBe(ends)
  }
})

it('has arrived where its new host died before it took a rebuild that came after the landing', async () => {
  const stage = new Stage()
  stage.migrations = [evacuation(1, { status: 'done' })]
  const ended = { ...begun, result: 'Success', finishedAt: '2030-01-01T12:00:00' }
  stage.recovery.steps.set('0.go.go.1', record({ requestId: 'req-ours' }))
  stage.actions = [
    action('req-owner', { action: 'rebuild', events: [conducted], startedAt: '2030-01-01T12:01:00' }),
    action('req-ours', { events: [ended] }),
  ]
  stage.shows({ ...arrived, taskState: 'rebuilding' })
  let isOver = false
  void follow(stage).then(() => (isOver = true))
  await stage.clock.advance(300_000)
  expect(isOver).toBe(false)
  stage.fenced.add('alive')
  await stage.clock.advance(62_000)
  expect(isOver).toBe(true)
})

it('has arrived as well once someone has shelved it: then it is on no host', async () => {
  const stage = new Stage()
  stage.migrations = [evacuation(1, { status: 'done' })]
  stage.shows({ ...arrived, host: null, vmState: 'shelved_offloaded' })
  expect(await stage.ending(follow(stage))).toMatchObject({ host: null, vmState: 'shelved_offloaded' })
})

it.each<[string, StepDriver, string, number]>([
  ['start', start, 'paused', 3],
  ['start', start, 'resized', 1],
  ['stop', stop, 'resized', 4],
  ['stop', stop, 'suspended', 4],
])('is no longer ours to %s once someone has acted on it', async (_name, step, vmState, power) => {
  const before = new Stage()
  before.shows({ host: 'alive', vmState, powerState: power })
  expect(await step.before(before.scene())).toMatchObject({ nothingToDo: { vmState } })
  const sent = new Stage()
  sent.shows({ host: 'alive', vmState: 'active', taskState: 'powering-on', powerState: 0 })
  let ended = false
  void step.follow(sent.scene(), record()).then(() => (ended = true))
  await sent.clock.advance(5_000)
  expect(ended).toBe(false)
  sent.shows({ vmState, powerState: power, taskState: null })
  await sent.clock.advance(5_000)
  expect(ended).toBe(true)
})

it.each([
  ['start', start, 'resized', 4],
  ['stop', stop, 'resized', 1],
  ['stop', stop, 'rescued', 1],
] as const)(
  'is still ours to %s where it comes out of that act in the other power',
  async (_name, step, vmState, power) => {
    const stage = new Stage()
    stage.shows({ host: 'alive', vmState, powerState: power })
    expect(await step.before(stage.scene())).toMatchObject({ before: { vmState } })
  },
)
