/**
 * Starts one instance that is off since its host came back by itself: one step with its rows, then what Nova shows of it. Picks up
 * after a crash wherever the rows stand, as the steps of a recovery do. Never decides whether.
 */
import { startRecipe } from '../domain/after-return.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { InstanceRecovery } from '../domain/incident.ts'
import type { Instance } from '../domain/instance.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { StepKind } from '../domain/plan.ts'
import type { ResultOf } from '../domain/step-payloads.ts'
import type { CloudTrouble } from './cloud-trouble.ts'
import type { Run } from './context.ts'
import type { HostWatch } from './host-watch.ts'
import { retryRead } from './retry.ts'
import type { Slots } from './slots.ts'
import type { Passage } from './attempt.ts'
import { runStep } from './step-runner.ts'
import { isRunning, startWhereItIs } from './steps/power.ts'

/** How it ended. Throws only what ends the whole run: SHUTDOWN, JOURNAL_UNAVAILABLE. */
export async function startAgain(
  run: Run,
  watch: HostWatch,
  recovery: InstanceRecovery,
  gate: Passage,
  slots: Slots,
  trouble: CloudTrouble,
): Promise<Outcome> {
  const { plan } = recovery
  const step = plan.recipes[startRecipe]?.steps[0]
  if (step === undefined) throw new LifeboatError('INVARIANT', `the plan of ${plan.instanceId} has no start`)
  const scene = { run, watch, trouble, plan, recovery, step, signal: run.signal, act: 'begins' as const }
  try {
    const result = await runStep(startWhereItIs, scene, gate, slots)
    const read = (): Promise<Instance> => retryRead(run.clock, run.signal, () => watch.read(plan.instanceId))
    const seen = await trouble.reading(scene, read)
    if (!isRunning(seen))
      return { outcome: 'failed', code: 'STATE_MISMATCH', message: shown(seen), after: afterOf(seen) }
    return runningAgain(seen, isByOthers(result) ? 'STARTED_BY_OTHERS' : 'STARTED_AFTER_RETURN')
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    if (error.code === 'CANCELLED')
      return { outcome: 'left', code: 'STOPPED_BY_OWNER', message: `${error.message}; it stays off`, after: null }
    const { code, message } = error
    if (code === 'INSTANCE_GONE') return { outcome: 'left', code, message: 'it was deleted', after: null }
    const seen = watch.instance(plan.instanceId)
    const outcome = error.certainty === 'unknown' ? 'stuck' : 'failed'
    if (seen === undefined) return { outcome, code, message, after: null }
    return { outcome, code, message: `${message}; ${shown(seen)}`, after: afterOf(seen) }
  }
}

/** The outcome of an instance that runs where it was. */
export function runningAgain(seen: Instance, code: 'STARTED_AFTER_RETURN' | 'STARTED_BY_OTHERS'): Outcome {
  const who = code === 'STARTED_BY_OTHERS' ? 'someone else started it' : 'started after its host had come back'
  return { outcome: 'recovered', code, message: `on ${seen.host}, ${seen.vmState}; ${who}`, after: afterOf(seen) }
}

function isByOthers(result: ResultOf<StepKind> | null): boolean {
  return result !== null && 'nothingToDo' in result
}

function shown({ vmState, host }: Instance): string {
  return `Nova shows it ${vmState} on ${host ?? 'no host'}`
}

/** What Nova shows, as outcomes keep it. */
export function afterOf({ host, vmState, taskState, powerState, locked }: Instance): NonNullable<Outcome['after']> {
  return { host, vmState, taskState, powerState, locked }
}
