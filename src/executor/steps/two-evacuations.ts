/**
 * Whether another evacuation was carried out beside ours: someone else's, or one of ours that was given up. Nova takes both, and the record of
 * the later one may name as its source the host that the earlier one has brought the instance to (docs/nova.md §8): no listing of the dead host's
 * evacuations shows that one. The instance's history shows both, and which hosts took them. Reads only.
 */
import type { Clock } from '../../domain/clock.ts'
import { cloudTimeMs } from '../../domain/cloud-time.ts'
import type { Cloud } from '../../domain/cloud.ts'
import { ensureError, LifeboatError } from '../../domain/errors.ts'
import type { StepRecord } from '../../domain/incident.ts'
import type { InstanceAction, InstanceActionEvent } from '../../domain/instance.ts'
import type { InstancePlan } from '../../domain/plan.ts'
import type { HostName } from '../../domain/service.ts'
import { orderedSince } from '../power-order.ts'
import { pause, retryRead } from '../retry.ts'
import type { StepScene } from '../step-driver.ts'
import { mayHaveStarted } from './guest-started.ts'
import { beforeOf, orderOf, recordsOf, waitsAt } from './evacuation-records.ts'
import { attempts, isRebuilding, mayHaveLeft } from './recheck.ts'

/**
 * How long both orders may take to come to their end once one has. Shorter names no host where a slow conductor is about to choose one; longer
 * delays the word that its guest may run twice.
 */
const mustEndWithinMs = 60_000

/**
 * How far the clock of an API node, which stamps an order, may be ahead of a compute host's, which stamps the landing. Smaller takes an order that
 * crossed ours for one that came later; larger takes one that moved the instance on soon after its landing for one that crossed ours.
 */
const clocksDifferByMs = 5_000

/** What the events of an instance's order are read with. */
interface EventsScene {
  run: { cloud: Pick<Cloud, 'getAction'>; clock: Clock }
  plan: Pick<InstancePlan, 'instanceId'>
  signal: AbortSignal
}

/**
 * The evacuations that are none of ours, since the last look before our first one.
 * @param others what of the instance's history has none of the request ids that we know as ours
 */
export function evacuationsOfOthers(
  { recovery }: Pick<StepScene, 'recovery'>,
  since: string,
  others: readonly InstanceAction[],
): InstanceAction[] {
  // One that was taken up and lost is looked at beside ours that were.
  const lost = attempts(recovery).map(orderOf)
  const found = orderedSince(since, others).filter(
    ({ action, requestId }) => action === 'evacuate' && !lost.includes(requestId),
  )
  // An order whose answer was lost has no id on record: as many of these may be ours. What took up a record has sent nothing.
  const unknown = mayHaveLeft(recovery).filter(
    (attempt) => orderOf(attempt) === null && attempt.globalRequestId !== null,
  ).length
  return found.length > unknown ? found : []
}

/**
 * @param others evacuations by others, from the history that was read once a host had taken ours
 * @param landedOn where the instance has landed
 * @throws LifeboatError GUEST_ON_DESTINATION where a host that may live has taken one of them, or ours, or one of ours that was given up, and the
 *   instance is on another by now
 */
export async function refuseTwo(
  scene: StepScene,
  record: StepRecord<'evacuate'>,
  others: readonly InstanceAction[],
  landedOn: HostName | null,
): Promise<void> {
  const { run } = scene
  const given = others.length === 0 ? { hosts: [], at: landedOn } : await atTheirEnd(scene, record.requestId, others)
  const { at } = given
  const mayRun = (host: HostName | null): boolean =>
    host === null || (host !== at && host !== run.host && !run.permissions.isFenced(host))
  const theirs = given.hosts.filter(mayRun)
  const elsewhere = theirs.length > 0 ? theirs : (await takenThoughGivenUp(scene, record, at)).filter(mayRun)
  if (elsewhere.length === 0) return
  const destinations = [at, ...elsewhere].filter((host) => host !== null)
  const hosts = [at, ...elsewhere].map((host) => host ?? 'an unknown host')
  const why =
    theirs.length > 0
      ? 'someone else ordered an evacuation of it right before ours reached Nova, which took both'
      : 'an earlier evacuation that was given up was carried out beside this one'
  throw new LifeboatError('GUEST_ON_DESTINATION', `${why}: the guest may be running on ${hosts.join(' and on ')}`, {
    certainty: 'unknown',
    details: {
      migrations: scene.watch
        .evacuations(scene.plan.instanceId)
        .map(({ uuid }) => uuid)
        .filter((uuid) => !beforeOf(record).spentEvacuations.includes(uuid)),
      destinations,
    },
  })
}

/**
 * Hosts that may have started the guest where an order was taken for lost, or waited in a dead host's queue: by that order, or by the one that
 * followed it, null for one that Nova does not show.
 */
async function takenThoughGivenUp(
  scene: StepScene,
  record: StepRecord<'evacuate'>,
  at: HostName | null,
): Promise<(HostName | null)[]> {
  const { spentEvacuations } = beforeOf(record)
  // One that was taken up again is the one that has landed.
  const isSpent = (attempt: StepRecord): boolean => recordsOf(attempt).every((uuid) => spentEvacuations.includes(uuid))
  const earlier = givenUp(scene, record).filter(isSpent)
  if (earlier.length === 0) return []
  const hosts: (HostName | null)[] = []
  for (const order of new Set(earlier.map(orderOf))) {
    if (order === null) continue
    const events = await eventsOf(scene, order)
    // An event without an end is what a lost order leaves.
    const ended = events.filter(({ event, result }) => event === 'compute_rebuild_instance' && result !== null)
    const started = ended.filter(({ result, details }) => result === 'Success' || mayHaveStarted(events, details ?? ''))
    hosts.push(...started.flatMap(({ host }) => host ?? []))
  }
  // The earlier order may be the one that has landed, and this one be still on its way.
  if (record.requestId !== null && (await mayBeTaken(scene, earlier, at)))
    hosts.push(...(takenBy(await eventsOf(scene, record.requestId)) ?? [null]))
  return hosts
}

/** The attempts before this one whose order was taken for lost, or waits in a dead host's queue. */
export function givenUp({ recovery }: Pick<StepScene, 'recovery'>, { key }: StepRecord): StepRecord[] {
  return attempts(recovery).filter(
    (attempt) => attempt.key !== key && (attempt.error?.code === 'EVACUATION_LOST' || waitsAt(attempt) !== null),
  )
}

/**
 * Whether one of these orders may be the one that moved the instance to that host, or failed there: nova-compute writes its event before anything
 * else (docs/nova.md §2.8), and one that it began elsewhere and never ended has moved nothing.
 */
export async function mayBeTaken(
  scene: EventsScene,
  earlier: readonly StepRecord[],
  at: HostName | null,
): Promise<boolean> {
  for (const order of new Set(earlier.map(orderOf))) {
    if (order === null) return true
    const events = await eventsOf(scene, order)
    const taken = events.filter(({ event }) => event === 'compute_rebuild_instance')
    if (taken.some(({ host, result }) => result !== null || (host !== null && host === at))) return true
  }
  return false
}

export async function eventsOf({ run, plan, signal }: EventsScene, requestId: string): Promise<InstanceActionEvent[]> {
  try {
    return (await retryRead(run.clock, signal, () => run.cloud.getAction(plan.instanceId, requestId, { signal })))
      .events
  } catch (thrown) {
    // What Nova's database lost with a node of it, nobody carries out.
    if (ensureError(thrown).code === 'NOT_FOUND') return []
    throw thrown
  }
}

interface Ended {
  /** Hosts that took one of the orders, null for one that Nova does not show. */
  hosts: (HostName | null)[]
  /** Where the instance is once both have ended. */
  at: HostName | null
}

async function atTheirEnd(scene: StepScene, own: string | null, others: readonly InstanceAction[]): Promise<Ended> {
  const { run, watch, plan, signal } = scene
  const until = run.clock.now() + mustEndWithinMs
  for (;;) {
    const ours = own === null ? [] : await eventsOf(scene, own)
    const theirs: InstanceActionEvent[][] = []
    for (const order of others) if (!cameAfter(order, ours)) theirs.push(await eventsOf(scene, order.requestId))
    const instance = await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
    // Each had the instance in its turn.
    if (theirs.length === 0) return { hosts: [], at: instance.host }
    const isTaken = theirs.every((events) => takenBy(events) !== null)
    if ((isTaken && !isRebuilding(instance)) || run.clock.now() >= until) {
      const known = (takenBy(ours) ?? []).filter((host) => host !== null)
      return {
        hosts: [...new Set([...known, ...theirs.flatMap((events) => takenBy(events) ?? [null])])],
        at: instance.host,
      }
    }
    await pause(run.clock, run.settings.tickMs, signal)
  }
}

/**
 * Ordered once ours had landed: someone moved it on, from a host that had gone down since. Or Nova's API had accepted the order before, and
 * recorded it late.
 */
export function cameAfter(
  { startedAt }: Pick<InstanceAction, 'startedAt'>,
  ours: readonly InstanceActionEvent[],
): boolean {
  const landed = ours.find(({ event, result }) => event === 'compute_rebuild_instance' && result === 'Success')
  return cloudTimeMs(startedAt) > cloudTimeMs(landed?.finishedAt ?? '') + clocksDifferByMs
}

/** The hosts that took an order and may have started its guest. None where it failed before; null where that is still to be seen. */
export function takenBy(events: readonly InstanceActionEvent[]): (HostName | null)[] | null {
  const taken = events.filter(({ event }) => event === 'compute_rebuild_instance')
  if (taken.length === 0)
    return events.some(({ event, result }) => event === 'rebuild_server' && result === 'Error') ? [] : null
  // One that was refused its claim leaves everything as it was.
  const isRefused = ({ result, details }: InstanceActionEvent): boolean =>
    result === 'Error' && details !== null && !mayHaveStarted(events, details)
  return taken.flatMap((event) => (isRefused(event) ? [] : [event.host]))
}
