/**
 * Recovers one instance by its plan: recipe after recipe, each error routed as the workflow says, and always ends with an
 * outcome (law L9). Picks up after a crash wherever the rows stand.
 */
import { pauseAfter } from '../domain/back-off.ts'
import { sleep } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { InstanceRecovery } from '../domain/incident.ts'
import type { Instance } from '../domain/instance.ts'
import { powerState } from '../domain/instance.ts'
import type { Outcome, OutcomeKind } from '../domain/outcome.ts'
import type { Recipe, RecipeStep } from '../domain/plan.ts'
import type { CloudTrouble } from './cloud-trouble.ts'
import type { Act, Run } from './context.ts'
import type { Gate } from './gate.ts'
import { followForeign } from './foreign-evacuation.ts'
import type { HostWatch } from './host-watch.ts'
import { doneSince, hasLanded, mayBeLocked, wasChanged } from './how-far.ts'
import { isWorkedOn, latePowerOrders, leftInTask } from './late-power-orders.ts'
import { lateResizes } from './late-resizes.ts'
import { retryRead } from './retry.ts'
import { PlanReplaced } from './plan-check.ts'
import { expectedOf, powerOrderNote } from './power-order.ts'
import { afterOf, shownNow } from './shown.ts'
import type { Slots } from './slots.ts'
import { settlePower } from './landed-power.ts'
import { runStep } from './step-runner.ts'
import { staleOrders, unconfirmedResize } from './unplanned-leftovers.ts'
import { drivers } from './steps/drivers.ts'
import { requireLivingHost } from './steps/power.ts'
import { isRebuilding } from './steps/recheck.ts'

/** Bounds a workflow that routes in circles; at the pause below that is some hours of trying. */
const mostRounds = 60

/** Pause before a recipe is entered again, growing. Shorter hammers a scheduler that has no room; longer delays the cure. */
const firstRoundPauseMs = 1_000
const longestRoundPauseMs = 60_000

/** Runs the instance to its outcome and records it. Throws only what ends the whole run: SHUTDOWN, JOURNAL_UNAVAILABLE. */
export async function runInstance(
  run: Run,
  watch: HostWatch,
  recovery: InstanceRecovery,
  gate: Gate,
  slots: Slots,
  trouble: CloudTrouble,
): Promise<void> {
  if (recovery.outcome !== null) return
  const outcome = await recoverByPlan(run, watch, recovery, gate, slots, trouble)
  const base = { incident: run.id, host: run.host, instance: recovery.plan.instanceId }
  const leftovers = outcome.outcome === 'recovered' || wasChanged(recovery) ? recovery.plan.debts : []
  const late = [
    ...(await latePowerOrders(run, recovery, trouble, outcome)),
    ...(await lateResizes(run, recovery, trouble)),
  ]
  run.journal.append([
    ...leftovers.map((data) => ({ kind: 'debt.recorded' as const, ...base, data })),
    ...staleOrders(run, recovery),
    ...unconfirmedResize(run, recovery),
    ...late,
    { kind: 'outcome.recorded', ...base, data: outcome },
  ])
}

/** As `recover`, and again from the beginning where the instance was planned again before anything was done to it. */
async function recoverByPlan(...of: Parameters<typeof recover>): Promise<Outcome> {
  for (;;) {
    try {
      return await recover(...of)
    } catch (thrown) {
      if (!(thrown instanceof PlanReplaced)) throw thrown
    }
  }
}

async function recover(
  run: Run,
  watch: HostWatch,
  recovery: InstanceRecovery,
  gate: Gate,
  slots: Slots,
  trouble: CloudTrouble,
): Promise<Outcome> {
  const { plan } = recovery
  if (plan.decision === 'leave') return left(run, watch, recovery)
  if (plan.decision === 'hold') return held(run, watch, recovery)
  let running = recipeOf(recovery)
  for (;;) {
    const scene = { run, watch, trouble, plan, recovery, signal: run.signal }
    const ended =
      (await runRecipe(run, watch, recovery, running, gate, slots, trouble)) ?? (await settlePower(scene, gate, slots))
    if (ended === null) return arrived(run, watch, recovery, trouble)
    const { foreign } = ended.error.details
    if (typeof foreign === 'string') return followForeign(run, watch, plan.instanceId, [foreign], ended.error)
    const route = routeOf(ended.step, ended.error)
    const task = watch.instance(plan.instanceId)?.taskState ?? null
    // What it is left in decides, and says how to free it.
    if (route === 'fail' && ended.error.code === 'INSTANCE_BUSY' && task !== null && hasLanded(recovery))
      return arrived(run, watch, recovery, trouble)
    if (route === 'fail' || route === 'stuck' || route === 'left' || recovery.round >= (running.rounds ?? mostRounds)) {
      return failure(run, watch, recovery, endOf(recovery, route, ended.error), ended.error)
    }
    const because = `${ended.error.code}: ${ended.error.message}`
    if (recovery.round > 0)
      await sleep(run.clock, pauseAfter(recovery.round, firstRoundPauseMs, longestRoundPauseMs), run.signal)
    if (run.signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
    run.journal.append([
      ...staleOrders(run, recovery),
      {
        kind: 'recipe.entered',
        incident: run.id,
        host: run.host,
        instance: plan.instanceId,
        data: { recipe: route, because },
      },
    ])
    running = recipeOf(recovery)
  }
}

async function left(run: Run, watch: HostWatch, { plan }: InstanceRecovery): Promise<Outcome> {
  const { reason: code, message, original, instanceId } = plan
  // On the dead host nothing moves. What is elsewhere lives on, and is told as it is now.
  if (original.instance.host === run.host) return { outcome: 'left', code, message, after: null }
  const { instance, words } = await shownNow(run, watch, instanceId)
  return { outcome: 'left', code, message: `${message}; ${words}`, after: instance === null ? null : afterOf(instance) }
}

/** Nothing of ours is done for it. What someone else does is followed first: then the outcome says what came of it. */
async function held(run: Run, watch: HostWatch, { plan }: InstanceRecovery): Promise<Outcome> {
  const { instanceId, original, reason: code, message } = plan
  return code === 'EVACUATION_UNDER_WAY'
    ? followForeign(run, watch, instanceId, original.knownEvacuations, { code, message })
    : { outcome: 'stuck', code, message, after: null }
}

/** Runs the steps, then the final ones whatever happened. Null: all went well. */
async function runRecipe(
  run: Run,
  watch: HostWatch,
  recovery: InstanceRecovery,
  recipe: Recipe,
  gate: Gate,
  slots: Slots,
  trouble: CloudTrouble,
): Promise<{ step: RecipeStep; error: LifeboatError } | null> {
  const failed = await runSteps(run, watch, recovery, recipe.steps, false, gate, slots, trouble)
  const failedLast = await runSteps(run, watch, recovery, recipe.finally, true, gate, slots, trouble)
  // That our lock stayed is more than that a person cancelled before the rest was begun.
  return failed?.error.code === 'CANCELLED' ? (failedLast ?? failed) : (failed ?? failedLast)
}

async function runSteps(
  run: Run,
  watch: HostWatch,
  recovery: InstanceRecovery,
  steps: RecipeStep[],
  closing: boolean,
  gate: Gate,
  slots: Slots,
  trouble: CloudTrouble,
): Promise<{ step: RecipeStep; error: LifeboatError } | null> {
  for (const step of steps) {
    try {
      await runStep(
        drivers[step.do],
        {
          run,
          watch,
          trouble,
          plan: recovery.plan,
          recovery,
          step,
          signal: run.signal,
          act: actOf(recovery, step, closing),
        },
        gate,
        slots,
      )
    } catch (thrown) {
      if (thrown instanceof PlanReplaced) throw thrown
      const error = ensureError(thrown)
      if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
      return { step, error }
    }
  }
  return null
}

function recipeOf(recovery: InstanceRecovery): Recipe {
  const recipe = recovery.recipe === null ? undefined : recovery.plan.recipes[recovery.recipe]
  if (recipe === undefined) throw new LifeboatError('INVARIANT', `the plan has no recipe ${recovery.recipe}`)
  return recipe
}

function routeOf(step: RecipeStep, error: LifeboatError): string {
  if (error.code === 'CANCELLED' || error.code === 'RULES_CHANGED') return 'left'
  const route = step.onError?.[error.code] ?? step.onError?.default ?? 'fail'
  // Whatever a recipe would do next, it would do to an instance that may be under way: only a person can tell (law L3).
  return error.certainty === 'unknown' && route !== 'left' ? 'stuck' : route
}

/** A person who cancels leaves what was never touched. What was has a state that its owner did not give it. */
function endOf(recovery: InstanceRecovery, route: string, { code }: LifeboatError): OutcomeKind {
  if (code === 'HOST_ALIVE') return 'stuck'
  if (code === 'CANCELLED') return wasChanged(recovery) || mayBeLocked(recovery) ? 'stuck' : 'left'
  return route === 'left' || route === 'stuck' ? route : 'failed'
}

/** What has landed is finished, whatever holds up the others. */
function actOf(recovery: InstanceRecovery, step: RecipeStep, closing: boolean): Act {
  if (closing) return 'closes'
  if (!hasLanded(recovery)) return 'begins'
  return step.do === 'start' ? 'finishes' : 'closes'
}

/** The end of an instance whose steps all went well. Its owner may have deleted it since, and after a restart it must be read. */
async function arrived(
  run: Run,
  watch: HostWatch,
  recovery: InstanceRecovery,
  trouble: CloudTrouble,
): Promise<Outcome> {
  try {
    const scene = { plan: recovery.plan, signal: run.signal }
    const instance = await trouble.reading(scene, () => readBack(run, watch, recovery))
    // Nobody ends a task there.
    if (instance.taskState !== null) requireLivingHost(run, instance)
    const worked = instance.taskState === null || (await isWorkedOn(run, recovery, trouble))
    return verified(recovery, instance, worked)
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    const base = { code: error.code, after: null }
    if (error.code === 'DESTINATION_DIED') return { outcome: 'failed', ...base, message: error.message }
    return error.code === 'INSTANCE_GONE'
      ? { outcome: 'left', ...base, message: 'all its steps went well, and then it was deleted' }
      : {
          outcome: 'stuck',
          ...base,
          message: `all its steps went well, but Nova cannot be asked how it is: ${error.message}`,
        }
  }
}

async function readBack(run: Run, watch: HostWatch, recovery: InstanceRecovery): Promise<Instance> {
  const seen = watch.instance(recovery.plan.instanceId)
  // What was read when the last step ended is the read-back; after a restart there is none yet.
  return seen !== undefined && seen.host !== run.host
    ? seen
    : retryRead(run.clock, run.signal, () => watch.read(recovery.plan.instanceId))
}

/**
 * Compares what Nova shows with what was asked for: an accepted call is no success.
 * @param worked it has no task, or its host works on it; null: nobody can tell
 */
function verified(recovery: InstanceRecovery, instance: Instance, worked: boolean | null): Outcome {
  const { plan, recipe } = recovery
  const expected = expectedOf(recovery)
  const after = afterOf(instance)
  const isElsewhere = instance.host !== null && instance.host !== plan.original.instance.host
  const moved = isElsewhere && !isRebuilding(instance)
  const place = `${instance.host === null ? '' : `on ${instance.host}, `}${instance.vmState}`
  if (isElsewhere && worked !== true) {
    const why =
      worked === null
        ? `its task is ${instance.taskState}, and its history, which tells whether a host works on it, cannot be read`
        : leftInTask(plan.instanceId, instance.taskState, plan.original.instance.host ?? 'the dead host')
    return { outcome: 'stuck', code: 'INSTANCE_BUSY', message: `${place}; ${why}`, after }
  }
  const busy = instance.taskState === null ? [] : [`someone acts on it (${instance.taskState})`]
  const since = moved || instance.host === null ? doneSince(instance, expected) : null
  if (since !== null) busy.push(`someone has ${since} since it landed`)
  const power =
    expected === 'running'
      ? instance.vmState === 'active' && instance.powerState === powerState.running
      : expected === 'stopped'
        ? instance.vmState === 'stopped' && instance.powerState !== powerState.running
        : true
  if ((moved && power) || since !== null)
    return {
      outcome: 'recovered',
      code: plan.reason,
      message: [place, ...busy, ...powerOrderNote(recovery), ...plan.notes].join('; '),
      after,
    }
  const message = `${recipe} ended, but Nova shows it ${instance.vmState} (power ${instance.powerState}) on ${instance.host}; target: ${expected ?? 'any power state'} on another host`
  return { outcome: 'failed', code: 'STATE_MISMATCH', message, after }
}

async function failure(
  run: Run,
  watch: HostWatch,
  recovery: InstanceRecovery,
  outcome: OutcomeKind,
  error: LifeboatError,
): Promise<Outcome> {
  const { instance, words } = await shownNow(run, watch, recovery.plan.instanceId)
  const expected = expectedOf(recovery)
  const wanted =
    expected === null || outcome === 'left' || instance === null ? '' : `; target: ${expected} on another host`
  const after = instance === null ? null : afterOf(instance)
  return { outcome, code: error.code, message: `${error.message}; ${words}${wanted}`, after }
}
