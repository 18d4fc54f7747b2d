/**
 * Whether what was ordered after an order of ours has been carried out. All orders that need a destination pass one queue from Nova's API
 * to its conductor, and then one queue to the nova-compute of that destination, first in, first out (docs/nova.md §2.2), so an order that
 * was overtaken there waits there no more.
 */
import { cloudTimeMs } from '../../domain/cloud-time.ts'
import type { Entry } from '../../domain/entry.ts'
import type { HostName } from '../../domain/service.ts'
import { retryRead } from '../retry.ts'
import type { StepScene } from '../step-driver.ts'

interface Overtaken {
  /** When Nova's answer to the order was known, by the monotonic clock. */
  answeredAt: number
  /** The host whose queue the order had to pass; null: the conductor's alone. */
  at: HostName | null
  /**
   * When that host began it, or the conductor had sent it there, by Nova's clock: what was ordered before that, and came there first, proves nothing. Conductors work side by side,
   * and two orders may change places between them and the host.
   */
  begunAt?: string
}

export async function wasOvertaken(scene: StepScene, key: string, order: Overtaken): Promise<boolean> {
  return isOvertakenByOurs(scene, key, order) || (await isOvertakenByBoot(scene, order))
}

/**
 * How far the clocks of Nova's API nodes and compute hosts may differ. Too small takes what was ordered before our evacuation for a later one;
 * larger finds the proof as much later.
 */
const clocksDifferByMs = 60_000

/** Enough of the newest steps to find one that was carried out, however many wait beside it. */
const newestSteps = 200

/** By the journal, so that a restarted daemon knows as much. */
function isOvertakenByOurs({ run, plan }: StepScene, key: string, { at, begunAt }: Overtaken): boolean {
  const issued = run.journal
    .read({ incident: run.id, instance: plan.instanceId, kinds: ['step.issued'] })
    .findLast(({ step }) => step === key)
  if (issued === undefined) return false
  const newest = { after: issued.seq, newestFirst: true, limit: newestSteps }
  const laterThan = begunAt === undefined ? -Infinity : cloudTimeMs(begunAt) + clocksDifferByMs
  const sentLater = run.journal
    .read({ ...newest, kinds: ['step.intended'] })
    .filter((entry) => isOrder(entry) && lookedAt(entry) >= laterThan)
  const carriedOut = new Set(
    run.journal
      .read({ ...newest, kinds: ['step.confirmed'] })
      .filter((entry) => at === null || landedOn(entry) === at)
      .map(placeOf),
  )
  return sentLater.some((entry) => carriedOut.has(placeOf(entry)))
}

/** An evacuation of its own, not one that found an earlier order at work: only what is sent has an id to be sent with. */
function isOrder(entry: Entry): boolean {
  return entry.kind === 'step.intended' && entry.data.kind === 'evacuate' && entry.data.globalRequestId !== undefined
}

/** The last look before an order, by Nova's clock: it was sent no earlier. */
function lookedAt(entry: Entry): number {
  if (entry.kind !== 'step.intended' || entry.data.kind !== 'evacuate') return -Infinity
  return Date.parse(entry.data.before?.cloudTime ?? '')
}

function landedOn(entry: Entry): HostName | null {
  return entry.kind === 'step.confirmed' && 'host' in entry.data.result ? entry.data.result.host : null
}

function placeOf({ incident, instance, step }: Entry): string {
  return `${incident} ${instance} ${step}`
}

/** A server that anybody ordered later, and that has a host: Nova names it once nova-compute there has begun. Throws what reading throws. */
async function isOvertakenByBoot(
  { run, watch, signal }: StepScene,
  { answeredAt, at, begunAt }: Overtaken,
): Promise<boolean> {
  const answeredInCloudTime = watch.cloudNow() - (run.clock.now() - answeredAt)
  const begunInCloudTime = begunAt === undefined ? answeredInCloudTime : cloudTimeMs(begunAt)
  const laterThan = Math.max(answeredInCloudTime, begunInCloudTime) + clocksDifferByMs
  const since = new Date(laterThan).toISOString().slice(0, 19)
  const changed = await retryRead(run.clock, signal, () => run.cloud.listChangedInstances(since, { signal }))
  return changed.some(
    ({ createdAt, host }) => host !== null && (at === null || host === at) && cloudTimeMs(createdAt) > laterThan,
  )
}
