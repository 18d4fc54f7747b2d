/**
 * The power of an instance that has landed otherwise than its owner wants it, and whose recipe has no step for that:
 *
 * - It is to run and landed stopped. Its host lived again for a while before it was fenced again, and nova-compute stopped what it
 *   found off (docs/nova.md §8): the evacuation then lands it as Nova shows it. It is started, as the plan says.
 * - It landed running, and its owner's stop was taken in the moment between our last look and the evacuation (power-order.ts). It is
 *   stopped: nobody else is going to.
 *
 * What its owner stops after its landing is not started: then the outcome says how it is.
 */
import { ensureError, type LifeboatError } from '../domain/errors.ts'
import type { Instance } from '../domain/instance.ts'
import { lastOrder } from '../domain/power-history.ts'
import type { RecipeStep } from '../domain/plan.ts'
import { retryRead } from './retry.ts'
import { isWorkedOn } from './late-power-orders.ts'
import { expectedOf, wasStoppedSince } from './power-order.ts'
import type { Slots } from './slots.ts'
import type { StepScene } from './step-driver.ts'
import type { Passage } from './attempt.ts'
import { runStep } from './step-runner.ts'
import { drivers } from './steps/drivers.ts'

type LandedScene = Omit<StepScene, 'step' | 'act'>

const perseverance: Pick<RecipeStep, 'deadlineMs' | 'retry'> = {
  deadlineMs: 900_000,
  retry: {
    on: ['API_UNAVAILABLE', 'API_THROTTLED', 'INSTANCE_BUSY'],
    ...{ attempts: 20, firstMs: 1_000, capMs: 30_000 },
  },
}
const startLanded: RecipeStep = { id: 'start-landed', do: 'start', ...perseverance }
const stopLanded: RecipeStep = { id: 'stop-landed', do: 'stop', ...perseverance }

/** Null: it is as its owner wants it, or nothing may be done about it. Throws only SHUTDOWN and JOURNAL_UNAVAILABLE. */
export async function settlePower(
  scene: LandedScene,
  gate: Passage,
  slots: Slots,
): Promise<{ step: RecipeStep; error: LifeboatError } | null> {
  let step
  try {
    step = await stepFor(scene)
  } catch (thrown) {
    // Nothing was begun: the reading for its outcome says what this means.
    return unlessOver(thrown, null)
  }
  if (step === null) return null
  try {
    // A stop keeps a guest from running that must not: like the rest of what has landed it waits for nothing.
    await runStep(drivers[step.do], { ...scene, step, act: step.do === 'start' ? 'finishes' : 'closes' }, gate, slots)
    return null
  } catch (thrown) {
    return unlessOver(thrown, { step, error: ensureError(thrown) })
  }
}

function unlessOver<T>(thrown: unknown, otherwise: T): T {
  const error = ensureError(thrown)
  if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
  return otherwise
}

async function stepFor(scene: LandedScene): Promise<RecipeStep | null> {
  const { run, plan, recovery, signal } = scene
  // A restart finds it under way: its row is brought to its end, however the instance looks by now.
  const begun = [startLanded, stopLanded].find(({ id }) => hasBegun(recovery, id))
  if (begun !== undefined) return begun
  if (expectedOf(recovery) === 'stopped') {
    // What its owner stopped on its new host may be started there by its owner, too.
    if (plan.expected !== 'running' || wasStoppedSince(recovery)) return null
    const seen = await shown(scene)
    if (seen.vmState !== 'active') return null
    // While it keeps the task of an order that waits at the dead host Nova refuses a stop: its outcome tells people what frees it.
    const worked = seen.taskState === null || (await isWorkedOn(run, recovery, scene.trouble))
    return worked === false ? null : stopLanded
  }
  if (expectedOf(recovery) !== 'running' || hasStart(recovery)) return null
  const seen = await shown(scene)
  if (seen.vmState !== 'stopped' || seen.taskState !== null || seen.host === run.host) return null
  const history = (): ReturnType<typeof run.cloud.listActions> => run.cloud.listActions(plan.instanceId, { signal })
  const actions = await scene.trouble.reading(scene, () => retryRead(run.clock, signal, history))
  return lastOrder(actions) === 'stop' ? null : startLanded
}

async function shown(scene: LandedScene): Promise<Instance> {
  const { run, watch, plan, signal } = scene
  const read = (): ReturnType<typeof watch.read> => watch.read(plan.instanceId)
  return watch.instance(plan.instanceId) ?? scene.trouble.reading(scene, () => retryRead(run.clock, signal, read))
}

function hasBegun({ steps, round, recipe }: StepScene['recovery'], id: string): boolean {
  return [...steps.keys()].some((key) => key.startsWith(`${round}.${recipe}.${id}.`))
}

function hasStart({ recipe, plan }: StepScene['recovery']): boolean {
  return plan.recipes[recipe ?? '']?.steps.some((step) => step.do === 'start') === true
}
