/**
 * Recovers one instance by its plan: recipe after recipe, each error routed as the workflow says, and always ends with an
 * outcome (law L9). Picks up after a crash wherever the rows stand.
 */
import { sleep } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { InstanceRecovery } from '../domain/incident.ts'
import type { Instance } from '../domain/instance.ts'
import { powerState } from '../domain/instance.ts'
import type { Outcome, OutcomeKind } from '../domain/outcome.ts'
import type { Recipe, RecipeStep } from '../domain/plan.ts'
import type { Run } from './context.ts'
import type { Gate } from './gate.ts'
import type { HostWatch } from './host-watch.ts'
import { patiently } from './patience.ts'
import { expectedOf, powerOrderNote } from './power-order.ts'
import type { Slots } from './slots.ts'
import { runStep } from './step-runner.ts'
import { drivers } from './steps/drivers.ts'

/** Bounds a workflow that routes in circles; at the pause below that is some hours of trying. */
const mostRounds = 60

/** Pause before a recipe is entered anew, growing. Shorter hammers a scheduler that has no room; longer delays the cure. */
const firstRoundPauseMs = 1_000
const longestRoundPauseMs = 60_000

/** Runs the instance to its outcome and records it. Throws only what ends the whole run: SHUTDOWN, JOURNAL_UNAVAILABLE. */
export async function runInstance(
  run: Run,
  watch: HostWatch,
  recovery: InstanceRecovery,
  gate: Gate,
  slots: Slots,
): Promise<void> {
  if (recovery.outcome !== null) return
  const outcome = await recover(run, watch, recovery, gate, slots)
  const base = { incident: run.id, host: run.host, instance: recovery.plan.instanceId }
  const debts = outcome.outcome === 'recovered' ? recovery.plan.debts : []
  run.journal.append([
    ...debts.map((data) => ({ kind: 'debt.recorded' as const, ...base, data })),
    { kind: 'outcome.recorded', ...base, data: outcome },
  ])
}

async function recover(
  run: Run,
  watch: HostWatch,
  recovery: InstanceRecovery,
  gate: Gate,
  slots: Slots,
): Promise<Outcome> {
  const { plan } = recovery
  if (plan.decision === 'leave') return { outcome: 'left', code: plan.reason, message: plan.message, after: null }
  if (plan.decision === 'hold') return { outcome: 'stuck', code: plan.reason, message: plan.message, after: null }
  let running = recipeOf(recovery)
  for (;;) {
    const ended = await runRecipe(run, watch, recovery, running, gate, slots)
    if (ended === null) return arrived(run, watch, recovery)
    const route = routeOf(ended.step, ended.error)
    if (route === 'fail' || route === 'stuck' || route === 'left' || recovery.round >= (running.rounds ?? mostRounds)) {
      return failure(recovery, route === 'left' || route === 'stuck' ? route : 'failed', ended.error, watch)
    }
    const because = `${ended.error.code}: ${ended.error.message}`
    if (recovery.round > 0) await sleep(run.clock, roundPauseMs(recovery.round), run.signal)
    if (run.signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
    run.journal.append([
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

/** Runs the steps, then the final ones whatever happened. Null: all went well. */
async function runRecipe(
  run: Run,
  watch: HostWatch,
  recovery: InstanceRecovery,
  recipe: Recipe,
  gate: Gate,
  slots: Slots,
): Promise<{ step: RecipeStep; error: LifeboatError } | null> {
  const failed = await runSteps(run, watch, recovery, recipe.steps, false, gate, slots)
  const failedLast = await runSteps(run, watch, recovery, recipe.finally, true, gate, slots)
  return failed ?? failedLast
}

async function runSteps(
  run: Run,
  watch: HostWatch,
  recovery: InstanceRecovery,
  steps: RecipeStep[],
  closing: boolean,
  gate: Gate,
  slots: Slots,
): Promise<{ step: RecipeStep; error: LifeboatError } | null> {
  for (const step of steps) {
    try {
      await runStep(
        drivers[step.do],
        { run, watch, plan: recovery.plan, recovery, step, signal: run.signal, closing },
        gate,
        slots,
      )
    } catch (thrown) {
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
  if (error.code === 'CANCELLED') return 'left'
  const route = step.onError?.[error.code] ?? step.onError?.default ?? 'fail'
  // Whatever a recipe would do next, it would do to an instance that may be under way: only a person can tell (law L3).
  return error.certainty === 'unknown' && route !== 'left' ? 'stuck' : route
}

function roundPauseMs(round: number): number {
  return Math.min(firstRoundPauseMs * 2 ** (round - 1), longestRoundPauseMs)
}

/** The end of an instance whose steps all went well. Its owner may have deleted it since, and after a restart it must be read. */
async function arrived(run: Run, watch: HostWatch, recovery: InstanceRecovery): Promise<Outcome> {
  try {
    return verified(recovery, await readBack(run, watch, recovery))
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    const base = { code: error.code, after: null }
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
    : patiently(run.clock, run.signal, () => watch.read(recovery.plan.instanceId))
}

/** Compares what Nova shows with what was asked for: an accepted call is no success. */
function verified(recovery: InstanceRecovery, instance: Instance): Outcome {
  const { plan, recipe } = recovery
  const expected = expectedOf(recovery)
  const after = afterOf(instance)
  const moved = instance.host !== null && instance.host !== plan.original.instance.host && instance.taskState === null
  const power =
    expected === 'running'
      ? instance.vmState === 'active' && instance.powerState === powerState.running
      : expected === 'stopped'
        ? instance.vmState === 'stopped' && instance.powerState !== powerState.running
        : true
  if (moved && power)
    return {
      outcome: 'recovered',
      code: plan.reason,
      message: [`on ${instance.host}, ${instance.vmState}`, ...powerOrderNote(recovery), ...plan.notes].join('; '),
      after,
    }
  const message = `${recipe} ended, but Nova shows it ${instance.vmState} (power ${instance.powerState}) on ${instance.host}, expected ${expected ?? 'any power state'} elsewhere`
  return { outcome: 'failed', code: 'STATE_MISMATCH', message, after }
}

function failure(recovery: InstanceRecovery, outcome: OutcomeKind, error: LifeboatError, watch: HostWatch): Outcome {
  const seen = watch.instance(recovery.plan.instanceId)
  if (seen === undefined) return { outcome, code: error.code, message: error.message, after: null }
  const expected = expectedOf(recovery)
  const wanted = expected === null ? '' : `, expected ${expected} elsewhere`
  const shown = `Nova shows it ${seen.vmState} on ${seen.host ?? 'no host'}${outcome === 'left' ? '' : wanted}`
  return { outcome, code: error.code, message: `${error.message}; ${shown}`, after: afterOf(seen) }
}

function afterOf({ host, vmState, taskState, powerState: power, locked }: Instance): NonNullable<Outcome['after']> {
  return { host, vmState, taskState, powerState: power, locked }
}
