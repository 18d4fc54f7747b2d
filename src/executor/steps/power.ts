/** Start and stop an instance on its new, living host. */
import { LifeboatError } from '../../domain/errors.ts'
import { powerState, type Instance } from '../../domain/instance.ts'
import { afterReturnRule, ranSince } from '../../domain/after-return.ts'
import { requestsOf } from '../../domain/incident.ts'
import { lastOrder, wasRunSince } from '../../domain/power-history.ts'
import type { PowerState } from '../../domain/step-payloads.ts'
import type { Run } from '../context.ts'
import { doneSince } from '../how-far.ts'
import type { Look } from '../host-watch.ts'
import { isWorkedOn, leftInTask } from '../late-power-orders.ts'
import { retryRead, pause } from '../retry.ts'
import { powerOrderOf } from '../power-order.ts'
import type { StepDriver, StepScene } from '../step-driver.ts'
import { throwIfFailed } from './failed-order.ts'
import { orderedMeanwhile } from './ordered-meanwhile.ts'

/**
 * How long after its landing an instance is started without another look at its history. Longer starts what its owner has started and
 * stopped meanwhile; shorter reads the history of every instance twice.
 */
const historyGoodForMs = 2_000

interface Power {
  vmState: string
  expected: 'running' | 'stopped'
  power: number
  task: string
  send: StepDriver['send']
}

export const start: StepDriver<'start'> = powerStep({
  vmState: 'active',
  expected: 'running',
  power: powerState.running,
  task: 'powering-on',
  send: ({ run, plan }, as) => run.cloud.start(plan.instanceId, plan.asProject ?? undefined, as),
})

/**
 * Starts an instance on its own host, which came back. Right before it is sent both are read again: the instance, and its history,
 * for its owner may have stopped it since, and that is not to be undone.
 */
export const startWhereItIs: StepDriver<'start'> = {
  ...start,
  before: async ({ watch, plan, recovery, run, signal }) => {
    const seen = await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
    if (seen.host !== run.host)
      throw new LifeboatError('STATE_MISMATCH', `it is on ${seen.host ?? 'no host'}, and no longer on ${run.host}`)
    if (isRunning(seen)) return { nothingToDo: powerStateOf(seen) }
    const actions = await retryRead(run.clock, signal, () => run.cloud.listActions(plan.instanceId, { signal }))
    if (lastOrder(actions) === 'stop') throw new LifeboatError('CANCELLED', 'its owner stopped it')
    if (plan.rule === afterReturnRule && wasRunSince(actions, plan.original.instance.updatedAt, requestsOf(recovery)))
      throw new LifeboatError('CANCELLED', ranSince)
    if (seen.taskState !== null)
      throw new LifeboatError('INSTANCE_BUSY', `Nova is at work on it (${seen.taskState})`, { retry: 'backoff' })
    if (seen.vmState !== 'stopped') throw new LifeboatError('STATE_MISMATCH', `Nova shows it ${seen.vmState}`)
    return { before: powerStateOf(seen), request: { power: 'active' } }
  },
}

export const stop: StepDriver<'stop'> = powerStep({
  vmState: 'stopped',
  expected: 'stopped',
  power: powerState.shutdown,
  task: 'powering-off',
  send: ({ run, plan }, as) => run.cloud.stop(plan.instanceId, as),
})

/** Stops an instance on its own host, which lives: its owner had ordered that in the moment of our restart. */
export const stopWhereItIs: StepDriver<'stop'> = {
  ...stop,
  before: async ({ watch, plan, run, signal }) => {
    const seen = await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
    if (seen.host !== run.host)
      throw new LifeboatError('STATE_MISMATCH', `it is on ${seen.host ?? 'no host'}, and no longer on ${run.host}`)
    if (seen.vmState === 'stopped' && seen.taskState === null) return { nothingToDo: powerStateOf(seen) }
    if (seen.taskState !== null)
      throw new LifeboatError('INSTANCE_BUSY', `Nova is at work on it (${seen.taskState})`, { retry: 'backoff' })
    return { before: powerStateOf(seen), request: { power: 'stopped' } }
  },
}

/** Up, and nothing is under way. */
export function isRunning({ vmState, taskState, powerState: power }: Instance): boolean {
  return vmState === 'active' && taskState === null && power === powerState.running
}

function powerStep<K extends 'start' | 'stop'>(wanted: Power): StepDriver<K> {
  const reached = (instance: Instance): boolean =>
    instance.vmState === wanted.vmState && instance.taskState === null && instance.powerState === wanted.power
  const isActedOn = (instance: Instance): boolean => doneSince(instance, wanted.expected) !== null
  const taken = (instance: Instance): boolean => reached(instance) || instance.taskState === wanted.task
  return {
    before: async (scene) => {
      const { watch, plan, recovery, step, run, signal } = scene
      // What was refused before is read again: its owner may have done meanwhile what we were refused for.
      const refused = [...recovery.steps.values()].some(({ kind, status }) => kind === step.do && status === 'failed')
      const known = refused ? undefined : watch.instance(plan.instanceId)
      const seen = known ?? (await retryRead(run.clock, signal, () => watch.read(plan.instanceId)))
      // A write that must reach a host is never sent to the dead one: it would wait in its queue (docs/nova.md §1.4).
      if (seen.host === run.host) throw new LifeboatError('STATE_MISMATCH', `it is still on ${run.host}`)
      requireLivingHost(run, seen)
      if (step.do === 'start' && powerOrderOf(recovery) === 'stop') return { nothingToDo: powerStateOf(seen) }
      if (reached(seen) || isActedOn(seen)) return { nothingToDo: powerStateOf(seen) }
      // Such a task would be taken for the sign that ours came through.
      if (seen.taskState === wanted.task && (await isWorkedOn(run, recovery, scene.trouble)) === false)
        throw new LifeboatError('INSTANCE_BUSY', leftInTask(plan.instanceId, seen.taskState, run.host), {
          retry: 'backoff',
        })
      // A start may have waited for hours since the landing, and its owner acts on a living host meanwhile.
      const { ordered } =
        step.do === 'start' && !hasJustLanded(scene) ? await orderedMeanwhile(scene, { follows: false }) : {}
      if (ordered === 'stop') return { nothingToDo: { ...powerStateOf(stoppedIn(seen)), ordered } }
      return { before: powerStateOf(seen), request: { power: wanted.vmState } }
    },
    send: wanted.send,
    follow: async (scene, { requestId }) => {
      const { run, watch, plan, step, signal } = scene
      const began = run.clock.now()
      /** Of the row for which Nova was asked whether the order has failed. */
      let askedOf: string | null = null
      for (;;) {
        const instance = await watch.until<Instance | 'idle'>(plan.instanceId, signal, () => {
          const seen = watch.instance(plan.instanceId)
          if (seen !== undefined) requireLivingHost(run, seen)
          const isOver = (at: Instance): boolean => reached(at) || (at.host !== run.host && isActedOn(at))
          const look = arrived(seen, isOver, wanted.vmState)
          // What fails leaves the instance as it was, without a task.
          const isIdle = seen?.taskState === null && watch.shownAt(plan.instanceId) > began
          return 'wait' in look && isIdle && seen.updatedAt !== askedOf ? { found: 'idle' } : look
        })
        if (instance !== 'idle') return powerStateOf(instance)
        askedOf = watch.instance(plan.instanceId)?.updatedAt ?? null
        if (requestId !== null) await throwIfFailed(scene, requestId, step.do)
      }
    },
    reconcile: async ({ run, watch, plan, signal }, _record, quietMs) => {
      let quietFrom: number | null = null
      for (;;) {
        if (taken(await retryRead(run.clock, signal, () => watch.read(plan.instanceId))))
          return { applied: true, requestId: null }
        quietFrom ??= run.clock.now()
        if (run.clock.now() - quietFrom >= quietMs) return { applied: false, requestId: null }
        await pause(run.clock, run.settings.tickMs, signal)
      }
    },
  }
}

/** Its history was read with its landing. A wall clock that was set back says nothing. */
function hasJustLanded({ run, recovery }: StepScene): boolean {
  const landing = [...recovery.steps.values()].findLast(
    ({ kind, status }) => kind === 'evacuate' && status === 'confirmed',
  )
  const agoMs = run.clock.wall() - Date.parse(landing?.endedAt ?? '')
  return agoMs >= 0 && agoMs <= historyGoodForMs
}

/** What its owner stops is looked at again once it is off. */
function stoppedIn(seen: Instance): Instance {
  if (seen.taskState === null) return seen
  throw new LifeboatError('INSTANCE_BUSY', `its owner ordered it stopped (${seen.taskState})`, { retry: 'backoff' })
}

/** Where it landed is dead by now as well: the incident of that host brings it back, once this one has let go of it. */
export function requireLivingHost({ permissions }: Pick<Run, 'permissions'>, { host }: Instance): void {
  if (host === null || !permissions.isFenced(host)) return
  const message = `${host}, where it landed, died too: the incident of ${host} goes on with it`
  throw new LifeboatError('DESTINATION_DIED', message, { certainty: 'applied' })
}

function arrived(
  instance: Instance | undefined,
  reached: (instance: Instance) => boolean,
  vmState: string,
): Look<Instance> {
  if (instance === undefined) return { wait: 'instances' }
  // The listing of changes has deleted ones too: nobody would ever see it reach anything.
  if (instance.vmState === 'deleted' || instance.status === 'DELETED')
    throw new LifeboatError('INSTANCE_GONE', `the instance was deleted before it was ${vmState}`, {
      certainty: 'applied',
    })
  if (instance.vmState === 'error')
    throw new LifeboatError(
      'STATE_MISMATCH',
      `it went to ERROR instead of ${vmState}: ${instance.fault ?? 'no reason given'}`,
      { certainty: 'applied' },
    )
  return reached(instance) ? { found: instance } : { wait: 'instances' }
}

/** What the rows keep of it. */
export function powerStateOf(instance: Instance): PowerState {
  const { vmState, taskState, powerState: power, host } = instance
  return { vmState, taskState, powerState: power, host }
}
