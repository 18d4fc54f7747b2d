/**
 * An instance that is to run and landed stopped. Its host lived again for a while before it was fenced again, and nova-compute
 * stopped what it found off (docs/nova.md §8): the evacuation then lands it as Nova shows it. It is started, as the plan says.
 *
 * What its owner stopped meanwhile is not: then the outcome says how it is.
 */
import { ensureError, type LifeboatError } from '../domain/errors.ts'
import { lastOrder } from '../domain/power-history.ts'
import type { RecipeStep } from '../domain/plan.ts'
import { retryRead } from './retry.ts'
import { expectedOf } from './power-order.ts'
import type { Slots } from './slots.ts'
import type { StepScene } from './step-driver.ts'
import type { Passage } from './attempt.ts'
import { runStep } from './step-runner.ts'
import { drivers } from './steps/drivers.ts'

const startLandedStep: RecipeStep = {
  ...{ id: 'start-landed', do: 'start', deadlineMs: 900_000 },
  retry: {
    on: ['API_UNAVAILABLE', 'API_THROTTLED', 'INSTANCE_BUSY'],
    ...{ attempts: 20, firstMs: 1_000, capMs: 30_000 },
  },
}

/** Null: it runs, or is not to run, or nothing may be done about it. Throws only SHUTDOWN and JOURNAL_UNAVAILABLE. */
export async function startLanded(
  scene: Omit<StepScene, 'step' | 'act'>,
  gate: Passage,
  slots: Slots,
): Promise<{ step: RecipeStep; error: LifeboatError } | null> {
  try {
    if (!(await isToBeStarted(scene))) return null
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    // Nothing was begun: the reading for its outcome says what this means.
    return null
  }
  try {
    await runStep(drivers.start, { ...scene, step: startLandedStep, act: 'finishes' }, gate, slots)
    return null
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    return { step: startLandedStep, error }
  }
}

async function isToBeStarted(scene: Omit<StepScene, 'step' | 'act'>): Promise<boolean> {
  const { run, watch, plan, recovery, signal } = scene
  if (expectedOf(recovery) !== 'running' || hasStart(recovery)) return false
  const read = (): ReturnType<typeof watch.read> => watch.read(plan.instanceId)
  const known = watch.instance(plan.instanceId)
  const seen = known ?? (await scene.trouble.reading(scene, () => retryRead(run.clock, signal, read)))
  if (seen.vmState !== 'stopped' || seen.taskState !== null || seen.host === run.host) return false
  const actions = await retryRead(run.clock, signal, () => run.cloud.listActions(plan.instanceId, { signal }))
  return lastOrder(actions) !== 'stop'
}

function hasStart({ recipe, plan }: StepScene['recovery']): boolean {
  return plan.recipes[recipe ?? '']?.steps.some((step) => step.do === 'start') === true
}
