/**
 * Orders that Nova accepted and nobody carries out: record at `accepted` and task `rebuilding`, for ever. Only what proves that no guest
 * can start ends one; an order that waits for a dead conductor looks the same and is carried out when the conductor returns
 * (docs/nova.md fact 11).
 */
import { ensureError, LifeboatError } from '../../domain/errors.ts'
import type { InstanceActionEvent, Migration } from '../../domain/instance.ts'
import { requestsOf, type StepRecord } from '../../domain/incident.ts'
import type { HostName } from '../../domain/service.ts'
import { orderedSince } from '../power-order.ts'
import { retryRead } from '../retry.ts'
import { askPlacementEveryMs, destinationOf, hasRoomOnlyOn, suspectOf } from './destination.ts'
import { orderOf } from './evacuation-records.ts'
import type { StepScene } from '../step-driver.ts'
import { wasOvertaken } from './overtaken.ts'
import { attempts } from './recheck.ts'

/**
 * For how many times `longest_request` a conductor, or the host that is to claim an instance, may work on an order. With the default that is
 * Nova's `long_rpc_timeout`, 30 minutes, after which a living service gives up what does not answer. Fewer would send an order again that a slow
 * scheduler still serves.
 */
const nobodyWorksAfter = 3

/**
 * How long the host that is to carry out an order may leave it untaken before it is looked at. Too short reads the services and the history
 * for a slow one in vain; longer finds an order that nobody will carry out as much later.
 */
export const mustBeTakenWithinMs = 30_000

/**
 * Throws EVACUATION_LOST when an order will never be carried out:
 *
 * - The conductor ended it with an error, and it holds room nowhere (Placement was asked). The conductor resets nothing then
 *   (docs/nova.md §2.2), and choosing a destination and telling it come last, so nothing was started.
 * - The conductor ended it with an error after the scheduler had claimed room, and the chosen host was well for `longest_request`
 *   (decision 20): a host that had been told would have taken the order within seconds.
 * - The conductor never began it, has carried out what was ordered later (overtaken.ts), and the time is over in which anything may
 *   still be served late (decision 20). RabbitMQ drops what reaches it before the conductor has declared its queue again, and what a
 *   conductor had taken dies with it (docs/nova.md §2.2).
 * - The chosen host was told, was well for `longest_request`, and has let the instance go: the task is gone, nobody ordered anything since,
 *   and the record names no destination yet. A nova-compute that cannot reach the conductor ends so before it claims (docs/nova.md §2.3).
 * - The conductor has sent it to the chosen host, which was well for `longest_request`, has not begun it, and has carried out what was ordered after
 *   the conductor's end. RabbitMQ drops it if it restarts before nova-compute has taken it (docs/nova.md §2.2). Placement must show its room on
 *   that host alone, as of now.
 * - The conductor began it and is not seen to end it for three times `longest_request`, which is longer than any works on an order, and has
 *   carried out what was ordered later. It died over this one: what it had started it would have told the chosen host, and that host would
 *   have taken it.
 * - The same of the chosen host, which is well: it began the order, and has not claimed the instance, which is the first thing that it does.
 *   A nova-compute whose conductor dies in between cannot even take the task away (docs/nova.md §2.3). What it has carried out was ordered
 *   after it began this one: a thread that still waited for the lock of its claims would have had it first.
 *
 * @param known.answeredAt when Nova's answer to it was known, by the monotonic clock
 * @param known.chosenWell for how long the chosen host is seen to be well; null: no host is known, or it is not
 * @param known.begun what this told of it the last time
 * @returns how far it has come by its events, to be handed back the next time
 */
export async function throwIfLost(
  scene: StepScene,
  { key, requestId: own }: StepRecord,
  order: Migration,
  { answeredAt, isNowhere, chosenWell, begun: before }: KnownOfOrder,
): Promise<SeenBegun | null> {
  const { run } = scene
  const { longestRequestMs } = run.settings
  const requestId = own ?? (await requestBehind(scene))
  if (requestId === null || order.destHost !== null) return null
  const events = await eventsOf(scene, requestId)
  if (events === null) return null
  const suspect = suspectOf(run, order)
  const begun = lastOf(events, before, run.clock.now())
  const seenMs = begun === null ? 0 : run.clock.now() - begun.since
  // Placement was asked after the conductor had been seen to end: no other host has the room of this order.
  const wasToldBefore = before?.event === 'rebuild_server' && before.result === 'Success'
  if (wasToldBefore && suspect !== null) run.destinations.set(order.uuid, { host: suspect })
  const lost = (message: string): LifeboatError => wasLost(order, message, requestId, suspect)
  const chosenIsWell = chosenWell !== null && chosenWell.seenAt - chosenWell.since >= longestRequestMs
  const conducted = events.find(({ event }) => event === 'rebuild_server')
  if (!(isNowhere || chosenIsWell)) return begun
  const isTaken = begun?.event === 'compute_rebuild_instance'
  // Of a host that an earlier order may have chosen, only what it let pass since the conductor's end says something.
  const isWaitedFor = isNowhere || destinationOf(run, order) !== null || seenMs >= longestRequestMs
  if (conducted?.result === 'Error' && !isTaken && isWaitedFor)
    throw lost(`Nova's conductor gave it up: ${conducted.details ?? 'it gives no reason'}`)
  if (conducted === undefined) {
    if (isNowhere && (await neverCame(scene, key, answeredAt, null)))
      throw lost("Nova's conductor never got it, and has taken later ones: the message bus lost it")
    return begun
  }
  if (conducted.result === 'Success' && chosenIsWell && (await isLetGo(scene, requestId)))
    throw lost('The chosen host let it go before it claimed the instance')
  if (conducted.result === 'Success' && chosenIsWell && !isTaken && seenMs >= longestRequestMs) {
    const sent = { answeredAt, at: suspect, begunAt: conducted.finishedAt ?? conducted.startedAt }
    if (suspect !== null && (await wasOvertaken(scene, key, sent)) && (await hasRoomOnlyOn(scene, suspect)))
      throw lost(`nova-compute on ${suspect} never got it, and has taken later orders: the message bus lost it`)
  }
  if (begun === null || begun.result !== null || seenMs < nobodyWorksAfter * longestRequestMs) return begun
  if (!isTaken && (await wasOvertaken(scene, key, { answeredAt, at: null })))
    throw lost("Nova's conductor began it and died, and later ones were carried out")
  const isOfChosen = isTaken && begun.host === suspect && chosenIsWell
  if (isOfChosen && (await wasOvertaken(scene, key, { answeredAt, at: suspect, begunAt: begun.startedAt })))
    throw lost(`${suspect} began it, never claimed the instance, and has carried out what was ordered later`)
  return begun
}

interface KnownOfOrder {
  answeredAt: number
  isNowhere: boolean
  chosenWell: SeenWell | null
  begun: SeenBegun | null
}

/** How far an order has come by its events, and since when that is seen, by the monotonic clock. */
export type SeenBegun = Pick<InstanceActionEvent, 'event' | 'host' | 'startedAt' | 'result'> & { since: number }

/** The event of the host that took it, else the conductor's. An order may wait in a queue for long: only what was seen counts. */
function lastOf(events: readonly InstanceActionEvent[], before: SeenBegun | null, now: number): SeenBegun | null {
  const named = (name: string): InstanceActionEvent | undefined => events.find(({ event }) => event === name)
  const last = named('compute_rebuild_instance') ?? named('rebuild_server')
  if (last === undefined) return null
  const { event, host, startedAt, result } = last
  const isSame =
    before?.event === event && before.host === host && before.startedAt === startedAt && before.result === result
  return { event, host, startedAt, result, since: isSame ? before.since : now }
}

/**
 * The order behind a record that was taken up, someone else's or one of ours whose answer was lost: the only evacuation of the instance since our
 * last look before our first one whose request we do not know. Null: there is none, or several.
 */
async function requestBehind({ run, plan, recovery, signal }: StepScene): Promise<string | null> {
  const since = attempts(recovery)[0]?.before?.cloudTime
  if (since === undefined) return null
  const actions = await retryRead(run.clock, signal, () => run.cloud.listActions(plan.instanceId, { signal }))
  const known = new Set([...requestsOf(recovery), ...attempts(recovery).map(orderOf)])
  const [found, ...more] = orderedSince(since, actions).filter(
    ({ action, requestId }) => action === 'evacuate' && !known.has(requestId),
  )
  return found !== undefined && more.length === 0 ? found.requestId : null
}

/**
 * Whether an order that nobody has begun will never be: what was ordered later was carried out, and the time is over in which anything
 * may still be served late (decision 20).
 *
 * @param at the host whose nova-compute had to take it; null: the conductor
 */
export async function neverCame(
  scene: StepScene,
  key: string,
  answeredAt: number,
  at: HostName | null,
): Promise<boolean> {
  const { clock, settings } = scene.run
  return clock.now() - answeredAt >= settings.longestRequestMs && (await wasOvertaken(scene, key, { answeredAt, at }))
}

/** No task, and by nobody's order: a person who resets the state takes the task away as well. */
async function isLetGo({ run, watch, plan, signal }: StepScene, requestId: string): Promise<boolean> {
  const { taskState } = await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
  if (taskState !== null) return false
  const [newest] = await retryRead(run.clock, signal, () => run.cloud.listActions(plan.instanceId, { signal }))
  return newest?.requestId === requestId
}

/** How long the host that the scheduler chose is seen to be well, by the monotonic clock. */
export interface SeenWell {
  host: HostName
  since: number
  seenAt: number
}

/**
 * The longest time between two looks at that host. Longer: the process may have stood still while the host died and came back with the
 * order in its queue. Shorter: one slow reading of Nova begins the watch again.
 */
const longestGapMs = 3 * askPlacementEveryMs

/**
 * Looks at the host that the scheduler chose: its nova-compute beats, so it takes what waits for it, and nothing says that it failed.
 * Null: it is not well, or no host is known. Throws what reading the services throws.
 */
export async function lookAtChosen(
  { run, signal }: StepScene,
  order: Migration,
  before: SeenWell | null,
): Promise<SeenWell | null> {
  const chosen = suspectOf(run, order)
  if (chosen === null || run.permissions.hasIncident(chosen)) return null
  const { services } = await retryRead(run.clock, signal, () => run.cloud.listServices({ signal }))
  const isWell = services.some(
    ({ binary, host, state, forcedDown }) =>
      binary === 'nova-compute' && host === chosen && state === 'up' && !forcedDown,
  )
  if (!isWell) return null
  const seenAt = run.clock.now()
  const goesOn = before !== null && before.host === chosen && seenAt - before.seenAt <= longestGapMs
  return { host: chosen, since: goesOn ? before.since : seenAt, seenAt }
}

/** Null: Nova has no such action (any more). */
async function eventsOf({ run, plan, signal }: StepScene, requestId: string): Promise<InstanceActionEvent[] | null> {
  try {
    return (await retryRead(run.clock, signal, () => run.cloud.getAction(plan.instanceId, requestId, { signal })))
      .events
  } catch (thrown) {
    if (ensureError(thrown).code === 'NOT_FOUND') return null
    throw thrown
  }
}

function wasLost({ uuid }: Migration, message: string, request: string, destination: HostName | null): LifeboatError {
  // The next order moves this record (docs/nova.md §2.7).
  return new LifeboatError('EVACUATION_LOST', message, {
    certainty: 'applied',
    retry: 'backoff',
    details: { spare: [uuid], request, ...(destination !== null && { destination }) },
  })
}
