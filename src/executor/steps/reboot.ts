/**
 * The hard reboot of a guest that crashed, on its own host, which lives. It ends what may be left of the guest and starts it from its
 * definition in Nova; Nova's pending stop of it is dropped with the start (docs/nova.md §1.8).
 */
import { cloudTimeMs } from '../../domain/cloud-time.ts'
import { ensureError, LifeboatError } from '../../domain/errors.ts'
import { requestsOf } from '../../domain/incident.ts'
import { orderedSince } from '../power-order.ts'
import { pause, retryRead } from '../retry.ts'
import type { StepDriver, StepScene } from '../step-driver.ts'
import { throwIfFailed } from './failed-order.ts'
import { isRunning, powerStateOf } from './power.ts'

/**
 * A reboot stamped this much before our last look may be ours: Nova stamps in whole seconds, by the clock of the API node that took it.
 * Smaller: a lost answer is taken for a lost order, and the guest is rebooted twice.
 */
const clockMarginMs = 5_000

/**
 * How old the reading of the instance may be when its reboot leaves; if it is older, its history is read first. Longer: a guest is rebooted that its
 * owner has just stopped or rebooted. Shorter: more histories are read.
 */
const shownGoodForMs = 2_000

export const reboot: StepDriver<'reboot'> = {
  before: async (scene) => {
    const { watch, plan, run, signal } = scene
    const seen = await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
    if (seen.host !== run.host)
      throw new LifeboatError('STATE_MISMATCH', `it is on ${seen.host ?? 'no host'}, and no longer on ${run.host}`)
    if (seen.taskState !== null) throw new LifeboatError('INSTANCE_BUSY', `Nova is at work on it (${seen.taskState})`)
    if (seen.vmState !== 'active' && seen.vmState !== 'error')
      throw new LifeboatError('STATE_MISMATCH', `Nova shows it ${seen.vmState}`)
    const before = { ...powerStateOf(seen), cloudTime: watch.knownAtCloudTime(plan.instanceId) }
    const shownAt = watch.knownAt(plan.instanceId)
    if (await guestRuns(scene)) return { nothingToDo: before }
    if (run.clock.now() - shownAt > shownGoodForMs) await throwIfActedOn(scene, before.cloudTime)
    return { before, request: { type: 'HARD' } }
  },
  send: ({ run, plan }, as) => run.cloud.reboot(plan.instanceId, plan.asProject ?? undefined, as),
  // Nova sets the task before it answers: once that is gone, it has come to an end.
  follow: async (scene, { requestId }) => {
    const { run, watch, plan, signal } = scene
    for (;;) {
      const seen = await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
      const isOver = seen.taskState === null
      // It was in ERROR before, and Nova shows that until the reboot is over.
      if (isOver && seen.vmState === 'error')
        throw new LifeboatError('STATE_MISMATCH', `it went to ERROR: ${seen.fault ?? 'no reason given'}`, {
          certainty: 'applied',
        })
      if (isOver && !isRunning(seen) && requestId !== null) await throwIfFailed(scene, requestId, 'reboot')
      // Off again by now: whether its owner or another crash did that is for the next look.
      if (isOver) return powerStateOf(seen)
      await pause(run.clock, run.settings.tickMs, signal)
    }
  },
  reconcile: async ({ run, plan, signal }, { before }, quietMs) => {
    const from = before === null ? Infinity : cloudTimeMs(before.cloudTime) - clockMarginMs
    const quietFrom = run.clock.now()
    for (;;) {
      const actions = await retryRead(run.clock, signal, () => run.cloud.listActions(plan.instanceId, { signal }))
      const ours = actions.find(({ action, startedAt }) => action === 'reboot' && cloudTimeMs(startedAt) >= from)
      if (ours !== undefined) return { applied: true, requestId: ours.requestId }
      if (run.clock.now() - quietFrom >= quietMs) return { applied: false, requestId: null }
      await pause(run.clock, run.settings.tickMs, signal)
    }
  },
}

/** Of nova-compute: an answer also proves that the reboot reaches somebody, and waits in no dead host's queue. */
async function guestRuns({ run, plan, signal }: StepScene): Promise<boolean> {
  try {
    return await run.cloud.guestRuns(plan.instanceId, { signal })
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code !== 'API_FAULT' && error.code !== 'API_TIMEOUT') throw error
    throw new LifeboatError('STATE_MISMATCH', `the nova-compute of ${run.host} does not answer`, { cause: error })
  }
}

/** Throws if someone acted on the instance after Nova was asked about it. */
async function throwIfActedOn({ run, plan, recovery, signal }: StepScene, since: string): Promise<void> {
  const actions = await retryRead(run.clock, signal, () => run.cloud.listActions(plan.instanceId, { signal }))
  const ours = requestsOf(recovery)
  const newest = orderedSince(since, actions).find(({ requestId }) => !ours.has(requestId))
  if (newest !== undefined)
    throw new LifeboatError('STATE_MISMATCH', `someone acted on it (${newest.action}) while Nova was slow to show it`)
}
