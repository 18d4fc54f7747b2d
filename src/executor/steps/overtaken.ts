/**
 * Whether Nova's conductor has carried out what was ordered after an order of ours. All orders that need a destination pass one queue
 * from Nova's API to its conductor, first in, first out (docs/nova.md §2.2), so an order that was overtaken there waits there no more.
 */
import { cloudTimeMs } from '../../domain/cloud-time.ts'
import type { Entry } from '../../domain/entry.ts'
import { retryRead } from '../retry.ts'
import type { StepScene } from '../step-driver.ts'

/** @param answeredAt when Nova's answer to the order was known, by the monotonic clock */
export async function wasOvertaken(scene: StepScene, key: string, answeredAt: number): Promise<boolean> {
  return isOvertakenByOurs(scene, key) || (await isOvertakenByBoot(scene, answeredAt))
}

/** Enough of the newest steps to find one that was carried out, however many wait beside it. */
const newestSteps = 200

/** By the journal, so that a restarted daemon knows as much. */
function isOvertakenByOurs({ run, plan }: StepScene, key: string): boolean {
  const issued = run.journal
    .read({ incident: run.id, instance: plan.instanceId, kinds: ['step.issued'] })
    .findLast(({ step }) => step === key)
  if (issued === undefined) return false
  const newest = { after: issued.seq, newestFirst: true, limit: newestSteps }
  const sentLater = run.journal.read({ ...newest, kinds: ['step.intended'] }).filter(isOrder)
  const carriedOut = new Set(run.journal.read({ ...newest, kinds: ['step.confirmed'] }).map(placeOf))
  return sentLater.some((entry) => carriedOut.has(placeOf(entry)))
}

/** An evacuation of its own, not one that found an earlier order at work: only what is sent has an id to be sent with. */
function isOrder(entry: Entry): boolean {
  return entry.kind === 'step.intended' && entry.data.kind === 'evacuate' && entry.data.globalRequestId !== undefined
}

function placeOf({ incident, instance, step }: Entry): string {
  return `${incident} ${instance} ${step}`
}

/**
 * How far the clocks of Nova's API nodes may differ. Too small takes a server that was ordered before our evacuation for a later one;
 * larger finds the proof as much later.
 */
const clocksDifferByMs = 60_000

/** A server that anybody ordered later, and that has a host. Throws what reading throws. */
async function isOvertakenByBoot({ run, watch, signal }: StepScene, answeredAt: number): Promise<boolean> {
  const answeredInCloudTime = watch.cloudNow() - (run.clock.now() - answeredAt)
  const laterThan = answeredInCloudTime + clocksDifferByMs
  const since = new Date(laterThan).toISOString().slice(0, 19)
  const changed = await retryRead(run.clock, signal, () => run.cloud.listChangedInstances(since, { signal }))
  return changed.some(({ createdAt, host }) => host !== null && cloudTimeMs(createdAt) > laterThan)
}
