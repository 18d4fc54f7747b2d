/**
 * Restarts one guest that crashed on its living host: one step with its rows, from wherever a crash of ours left them. Never decides
 * whether, and never says how it ended: Nova is read again for that.
 */
import { ensureError, LifeboatError } from '../domain/errors.ts'
import { requestsOf, type InstanceRecovery, type StepRecord } from '../domain/incident.ts'
import type { Instance, InstanceAction } from '../domain/instance.ts'
import { stopAgain } from '../domain/instance-failure.ts'
import type { RecipeStep, RetryPolicy } from '../domain/plan.ts'
import { lastOrder } from '../domain/power-history.ts'
import type { Passage } from './attempt.ts'
import type { CloudTrouble } from './cloud-trouble.ts'
import type { Run } from './context.ts'
import type { HostWatch } from './host-watch.ts'
import { orderedSince } from './power-order.ts'
import { retryRead } from './retry.ts'
import type { Slots } from './slots.ts'
import type { StepDriver } from './step-driver.ts'
import { runStep } from './step-runner.ts'
import { powerStateOf, startWhereItIs, stopWhereItIs } from './steps/power.ts'
import { reboot } from './steps/reboot.ts'

export interface RestartScene {
  run: Run
  watch: HostWatch
  recovery: InstanceRecovery
  gate: Passage
  slots: Slots
  trouble: CloudTrouble
}

/**
 * `sent`: the restart came to its end. `nothing`: it ran already, or its owner's word was against it. `changed`: Nova refused it or shows
 * the instance otherwise by now. `failed`: it was carried out, and did not work, or nobody knows.
 */
export type Restarted = { is: 'sent' | 'nothing' } | { is: 'changed' | 'failed'; error: LifeboatError }

const where: { [K in 'reboot' | 'start']: StepDriver<K> } = { reboot, start: startWhereItIs }

/** Carries the recipe in force to its end. Throws only what ends the whole run: SHUTDOWN, JOURNAL_UNAVAILABLE. */
export async function restartGuest(scene: RestartScene): Promise<Restarted> {
  const { recovery } = scene
  const step = recovery.plan.recipes[recovery.recipe ?? '']?.steps[0]
  if (step === undefined || (step.do !== 'reboot' && step.do !== 'start'))
    throw new LifeboatError('INVARIANT', `the plan of ${recovery.plan.instanceId} has no restart`)
  try {
    const result = await runStep(where[step.do], stepScene(scene, step, 'begins'), scene.gate, scene.slots)
    return { is: result !== null && 'nothingToDo' in result ? 'nothing' : 'sent' }
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    return { is: error.certainty === 'not-applied' ? 'changed' : 'failed', error }
  }
}

/**
 * Whether Nova shows by now that it took a restart whose answer nobody heard. One look, which sends nothing. Throws what reading the cloud
 * throws.
 */
export function lookForRestart(
  scene: RestartScene,
  record: StepRecord<'reboot'> | StepRecord<'start'>,
): ReturnType<StepDriver['reconcile']> {
  const { recovery } = scene
  const step = recovery.plan.recipes[recovery.recipe ?? '']?.steps[0]
  if (step === undefined) throw new LifeboatError('INVARIANT', `the plan of ${recovery.plan.instanceId} has no restart`)
  const at = stepScene(scene, step, 'begins')
  return record.kind === 'reboot' ? reboot.reconcile(at, record, 0) : startWhereItIs.reconcile(at, record, 0)
}

/** Without it one refusal leaves a guest running that its owner wants off. Fewer attempts: people are told sooner, and it runs until then. */
const stopRetry: RetryPolicy = {
  ...{ on: ['API_UNAVAILABLE', 'API_THROTTLED', 'INSTANCE_BUSY'], attempts: 20, firstMs: 1_000, capMs: 30_000 },
}

/**
 * Stops the guest again whose owner had ordered a stop in the moment between our last look and our reboot: Nova carried out both, and the
 * reboot came last. A guest that its owner wants off must not run.
 * Goes on with a stop that was tried before, as long as nobody has ordered a start since. Throws what the last attempt threw.
 *
 * @returns what Nova shows of it then; null where no such order stands, or it was deleted
 */
export async function obeyOwner(scene: RestartScene): Promise<Instance | null> {
  const { run, watch, recovery, trouble } = scene
  const { plan } = recovery
  const reading = <T>(read: () => Promise<T>): Promise<T> =>
    trouble.reading({ plan, signal: run.signal }, () => retryRead(run.clock, run.signal, read))
  const stop: RecipeStep = { id: stopAgain, do: 'stop', deadlineMs: 300_000, retry: stopRetry }
  const restart = lastRestart(recovery)
  if (restart === undefined) return null
  const history = (): Promise<InstanceAction[]> => run.cloud.listActions(plan.instanceId, { signal: run.signal })
  const isStopped = (actions: readonly InstanceAction[]): boolean => {
    const ours = requestsOf(recovery)
    const others = actions.filter(({ requestId }) => !ours.has(requestId))
    return lastOrder(orderedSince(restart.cloudTime, others)) === 'stop'
  }
  // Until the stop is taken, which may be hours after it was first tried, its owner may start the guest.
  // By the newest reading of its history.
  const ownersStop = { stands: true }
  const stopIfStillWanted: StepDriver<'stop'> = {
    ...stopWhereItIs,
    before: async (at) => {
      ownersStop.stands = isStopped(await retryRead(run.clock, at.signal, history))
      if (ownersStop.stands) return stopWhereItIs.before(at)
      return { nothingToDo: powerStateOf(await retryRead(run.clock, at.signal, () => watch.read(plan.instanceId))) }
    },
  }
  let mayBeOwed = hasBegun(recovery, stop.id)
  try {
    if (!mayBeOwed) {
      if (!isStopped(await reading(history))) return null
      const seen = await reading(() => watch.read(plan.instanceId))
      if (seen.vmState !== 'active') return null
    }
    mayBeOwed = true
    await runStep(stopIfStillWanted, stepScene(scene, stop, 'closes'), scene.gate, scene.slots)
    mayBeOwed = false
    return ownersStop.stands ? await reading(() => watch.read(plan.instanceId)) : null
  } catch (thrown) {
    // Its owner deleted it: nothing of it is owed, and the next look says so.
    if (!mayBeOwed && ensureError(thrown).code === 'INSTANCE_GONE') return null
    throw thrown
  }
}

function stepScene({ run, watch, recovery, trouble }: RestartScene, step: RecipeStep, act: 'begins' | 'closes') {
  return { run, watch, trouble, plan: recovery.plan, recovery, step, signal: run.signal, act }
}

/**
 * The key of the reboot that came to its end last. Its owner's stop may have crossed it, and only `obeyOwner` finds that out: that is on
 * record nowhere, so a daemon that was killed before it asks once more. Null: there is none.
 */
export function rebootToCheck(recovery: InstanceRecovery): string | null {
  const last = lastRestart(recovery)
  return last?.status === 'confirmed' ? last.key : null
}

/** The reboot that was sent last. A start is refused by Nova where a stop came before it. */
function lastRestart({
  steps,
}: InstanceRecovery): (Pick<StepRecord, 'key' | 'status' | 'requestId'> & { cloudTime: string }) | undefined {
  const sent = [...steps.values()].findLast(
    (record): record is StepRecord<'reboot'> => record.kind === 'reboot' && record.request !== null,
  )
  return sent?.before === undefined || sent.before === null ? undefined : { ...sent, cloudTime: sent.before.cloudTime }
}

function hasBegun({ steps, round, recipe }: InstanceRecovery, id: string): boolean {
  return [...steps.keys()].some((key) => key.startsWith(`${round}.${recipe}.${id}.`))
}
