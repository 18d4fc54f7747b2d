/** The end of an instance: every one gets its line, also when Nova has nothing to show for it any more (law L9). */
import { describe, expect, it } from 'vitest'
import { LifeboatError } from '../../../src/domain/errors.ts'
import type { Instance } from '../../../src/domain/instance.ts'
import type { RecipeStep } from '../../../src/domain/plan.ts'
import { runInstance } from '../../../src/executor/instance-runner.ts'
import { action, asked, landed, Stage, was } from './stage.ts'

/** Killed after its last step was confirmed and before its line was written. */
function withoutItsLine(): Stage {
  const stage = new Stage()
  const go: RecipeStep = { id: 'go', do: 'evacuate', landing: 'as-before', deadlineMs: 600_000 }
  stage.plans({ recipes: { go: { name: 'go', steps: [go], finally: [] } } })
  const base = { incident: 'inc-1', host: 'dead', instance: 'i-1', step: '0.go.go.1' }
  stage.run.journal.append([
    { kind: 'step.intended', ...base, data: { kind: 'evacuate', attempt: 1, before: was, request: asked } },
    { kind: 'step.issued', ...base, data: { requestId: 'req-1' } },
    { kind: 'step.confirmed', ...base, data: { result: landed } },
  ])
  return stage
}

const ran = async (stage: Stage): Promise<unknown> => {
  const { run, watch, recovery, gate, slots, trouble } = stage
  return (await stage.ending(runInstance(run, watch, recovery, gate, slots, trouble))) ?? stage.recovery.outcome
}

it('it is read once more after a restart, and recovered when it is as it should be', async () => {
  const stage = withoutItsLine()
  stage.shows({ host: 'alive', vmState: 'active', powerState: 1, taskState: null })
  expect(await ran(stage)).toMatchObject({ outcome: 'recovered', code: 'RUNNING' })
  expect(stage.count('evacuate')).toBe(0)
})

it.each([
  ['recovered, where its new host works on it', 'alive', { outcome: 'recovered' }],
  ['stuck, where the dead host took the order that left it', 'dead', { outcome: 'stuck', code: 'INSTANCE_BUSY' }],
  ['stuck, where its history is not shown', null, { outcome: 'stuck', code: 'INSTANCE_BUSY' }],
])('with a task that is left it is %s', async (_what, host, outcome) => {
  const stage = withoutItsLine()
  stage.shows({ host: 'alive', vmState: 'active', powerState: 1, taskState: 'powering-off' })
  const event = {
    event: 'compute_stop_instance',
    host: host ?? '',
    result: null,
    details: null,
    startedAt: '',
    finishedAt: null,
  }
  stage.actions = [action('req-owner', { action: 'stop', events: [event] })]
  if (host === null)
    stage.fails('listActions', ...Array.from({ length: 4 }, () => new LifeboatError('AUTH_FORBIDDEN', 'policy')))
  expect(await ran(stage)).toMatchObject(outcome)
})

it('with the task of a rebuild that waits at the dead host it is stuck, and a leftover names that order', async () => {
  const stage = withoutItsLine()
  stage.shows({ host: 'alive', vmState: 'active', powerState: 1, taskState: 'rebuilding' })
  stage.actions = [action('req-owner', { action: 'rebuild' })]
  expect(await ran(stage)).toMatchObject({ outcome: 'stuck', code: 'INSTANCE_BUSY' })
  expect(stage.recovery.leftovers).toMatchObject([
    { code: 'STALE_ORDER', waitsAt: { host: 'dead', power: 'rebuild', requestId: 'req-owner' } },
  ])
})

it.each<[string, Partial<Instance>, string]>([
  ['paused it', { vmState: 'paused', powerState: 3 }, 'paused it'],
  ['put it in rescue mode', { vmState: 'rescued', powerState: 1 }, 'put it in rescue mode'],
  [
    'migrated it and has not confirmed that',
    { vmState: 'resized', powerState: 1, host: 'third' },
    'waits for a confirmation',
  ],
  ['shelved it, and it is on no host', { vmState: 'shelved_offloaded', powerState: 4, host: null }, 'shelved it'],
])('someone has %s since it landed: recovered, and its line says so', async (_what, shown, says) => {
  const stage = withoutItsLine()
  stage.shows({ host: 'alive', taskState: null, ...shown })
  expect(await ran(stage)).toMatchObject({
    ...{ outcome: 'recovered', code: 'RUNNING', message: expect.stringContaining(says) },
    after: { vmState: shown.vmState, host: shown.host === undefined ? 'alive' : shown.host },
  })
})

it.each<[string, Partial<Instance>]>([
  ['on the dead host', { host: 'dead', vmState: 'paused', powerState: 3 }],
  ['migrated while it was off and is to run', { host: 'third', vmState: 'resized', powerState: 4 }],
])('in such a state, but %s, it has not been recovered', async (_what, shown) => {
  const stage = withoutItsLine()
  stage.shows({ taskState: null, ...shown })
  expect(await ran(stage)).toMatchObject({ outcome: 'failed', code: 'STATE_MISMATCH' })
})

it('with a task that is left on a host that died too it is failed: the incident of that host goes on with it', async () => {
  const stage = withoutItsLine()
  stage.fenced.add('alive')
  stage.shows({ host: 'alive', vmState: 'active', powerState: 1, taskState: 'image_snapshot' })
  expect(await ran(stage)).toMatchObject({ outcome: 'failed', code: 'DESTINATION_DIED' })
})

it('it was deleted before its line was written: left, and nothing waits for it', async () => {
  const stage = withoutItsLine()
  stage.instances.clear()
  expect(await ran(stage)).toMatchObject({ outcome: 'left', code: 'INSTANCE_GONE', after: null })
})

it('it may not be read for a while: the incident says so, and its line is written when it may', async () => {
  const stage = withoutItsLine()
  stage.shows({ host: 'alive', vmState: 'active', powerState: 1, taskState: null })
  stage.fails('getInstance', new LifeboatError('AUTH_FORBIDDEN', 'the policy changed'))
  expect(await ran(stage)).toMatchObject({ outcome: 'recovered' })
  expect(stage.rows().slice(-3)).toEqual(['incident.held AUTH_FORBIDDEN', 'incident.continued', 'outcome.recorded'])
})

it('it may not be read and a person cancelled: stuck, with the reason', async () => {
  const stage = withoutItsLine()
  stage.cancel()
  const refused = new LifeboatError('AUTH_FORBIDDEN', 'the policy changed')
  stage.fails('getInstance', refused, refused)
  const outcome = { outcome: 'stuck', code: 'AUTH_FORBIDDEN', message: expect.stringContaining('the policy changed') }
  expect(await ran(stage)).toMatchObject(outcome)
})

it('the daemon stops while it is read: no line, the next run writes it', async () => {
  const stage = withoutItsLine()
  stage.fails('getInstance', new LifeboatError('API_TIMEOUT', 'late'))
  stage.clock.after(10, () => stage.stop.abort())
  expect(await ran(stage)).toBe('SHUTDOWN')
  expect(stage.recovery.outcome).toBeNull()
})

describe('a person cancels', () => {
  const debts = [{ code: 'RESIZE_LEFTOVER', message: 'its record stays' }]

  const shown = { vmState: 'active', taskState: null, locked: false, lockedReason: null }

  /** Cancelled after these steps of an earlier run. */
  async function cancelledAfter(...kinds: ('lock' | 'unlock' | 'reset-state')[]): Promise<Stage> {
    const stage = new Stage()
    const go: RecipeStep = { id: 'go', do: 'evacuate', landing: 'as-before', deadlineMs: 600_000 }
    stage.plans({ debts, recipes: { go: { name: 'go', steps: [go], finally: [] } } })
    for (const kind of kinds) {
      const base = { incident: 'inc-1', host: 'dead', instance: 'i-1', step: `0.go.${kind}.1` }
      stage.run.journal.append([
        { kind: 'step.intended', ...base, data: { kind, attempt: 1, before: shown, request: 'so' } },
        { kind: 'step.issued', ...base, data: { requestId: null } },
        { kind: 'step.confirmed', ...base, data: { result: shown } },
      ])
    }
    stage.cancel()
    await ran(stage)
    return stage
  }

  it.each([
    ['before anything was done', [], 'left'],
    ['after its lock was taken back', ['lock', 'unlock'], 'left'],
    ['while our lock is on it', ['lock'], 'stuck'],
    ['after its state was changed', ['lock', 'reset-state', 'unlock'], 'stuck'],
  ] as const)('%s: its line says whether it is as it was', async (_when, kinds, outcome) => {
    const stage = await cancelledAfter(...kinds)
    expect(stage.recovery.outcome).toMatchObject({ outcome, code: 'CANCELLED' })
    expect(stage.recovery.leftovers).toEqual(outcome === 'stuck' && kinds.length > 1 ? debts : [])
  })
})
