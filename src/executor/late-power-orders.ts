/** Which orders that act on an instance's guest still wait in the queue of the dead host that it has left: leftovers for the journal. */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import type { InstanceRecovery, StepRecord } from '../domain/incident.ts'
import type { InstanceAction, InstanceActionEvent } from '../domain/instance.ts'
import {
  isLateOrder,
  isLatePower,
  lateOrderIn,
  standingAt,
  takenAt,
  type LateOrder,
} from '../domain/late-power-order.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { HostName } from '../domain/service.ts'
import { staleOrderCode } from '../domain/stale-order.ts'
import type { CloudTrouble } from './cloud-trouble.ts'
import type { Permissions, Run } from './context.ts'
import { hasLanded } from './how-far.ts'
import { powerOrderOf } from './power-order.ts'
import { retryRead } from './retry.ts'
import { unreadOrders } from './unplanned-leftovers.ts'

/** Orders of one instance that are looked at, the newest first. More reads an owner's whole history where nothing was ever taken. */
const ordersAtMost = 10

/**
 * How much later than the end of its evacuation an order may be stamped that still went to its old host: an API node stamps the one, a compute
 * host the other, in whole seconds. Smaller loses such an order; larger blames the old host for one that its new host is about to take.
 */
const clockMarginMs = 5_000

type Reader = Pick<Run, 'cloud' | 'clock' | 'signal' | 'host'>
type LateRun = Reader & Pick<Run, 'id' | 'journal' | 'observer'>

/**
 * Those of an instance that has landed, and are not on record yet. Reads its history only where a task may have told of such an order,
 * and reads on while Nova is silent. Throws SHUTDOWN; where the history may not be read nothing is known of them, and people are told that.
 * @param ended how its recovery ended
 */
export async function latePowerOrders(
  run: LateRun,
  recovery: InstanceRecovery,
  trouble: Pick<CloudTrouble, 'reading'>,
  ended: Outcome,
): Promise<NewEntry[]> {
  const { plan, leftovers } = recovery
  if (!hasLanded(recovery) || !(taskLeft(ended) !== null || wasOrdered(recovery))) return []
  const base = { incident: run.id, host: run.host, instance: plan.instanceId }
  try {
    const read = (): ReturnType<typeof waitingAtDead> => waitingAtDead(run, recovery)
    const waiting = await trouble.reading({ plan, signal: run.signal }, read, { only: 'silence' })
    return waiting
      .filter(({ requestId }) => !leftovers.some(({ waitsAt }) => waitsAt?.migration === requestId))
      .map(({ power, requestId, wasTaken }): NewEntry => {
        const waitsAt = { host: run.host, migration: requestId, requestId, power }
        const does = isLatePower(power)
          ? 'acts on a guest that has left'
          : 'puts the instance in ERROR (while its task is rebuilding: deletes its disk and starts its guest there)'
        const message = wasTaken
          ? `The ${power} that was ordered as ${run.host} died was taken by nova-compute there after the evacuation had been ordered`
          : `The ${power} that was ordered as ${run.host} died waits for nova-compute there and ${does}; purge the queue compute.${run.host} before nova-compute starts`
        return { kind: 'debt.recorded', ...base, data: { code: staleOrderCode, message, waitsAt } }
      })
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    run.observer.log?.('warn', 'late_power_orders.unread', base, error)
    return unreadOrders(run, recovery, error)
  }
}

/** The order that its task tells of, where its recovery ended over a task that nobody works on. */
function taskLeft({ code, after }: Outcome): LateOrder | null {
  return code === 'INSTANCE_BUSY' ? lateOrderIn(after?.taskState ?? null) : null
}

/**
 * Whether the newest order of an instance that has landed went to its new host, and that lives. One that was given as it landed went to
 * the dead host, and its task stays until someone resets the state (docs/nova.md §2.8). Reads on while Nova is silent; null where the
 * history may not be read. Throws SHUTDOWN.
 *
 * @param at where it is now, if known: if that host is dead, it has not taken what only the conductor has passed on
 */
export async function isWorkedOn(
  run: Reader & { permissions: Pick<Permissions, 'isFenced'> },
  recovery: InstanceRecovery,
  trouble: Pick<CloudTrouble, 'reading'>,
  at: HostName | null = null,
): Promise<boolean | null> {
  try {
    const scene = { plan: recovery.plan, signal: run.signal }
    return await trouble.reading(scene, () => hasItsNewest(run, recovery, at), { only: 'silence' })
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    return null
  }
}

async function hasItsNewest(
  run: Parameters<typeof isWorkedOn>[0],
  recovery: InstanceRecovery,
  at: HostName | null,
): Promise<boolean> {
  const { cloud, clock, signal, host, permissions } = run
  const { instanceId } = recovery.plan
  const actions = await retryRead(clock, signal, () => cloud.listActions(instanceId, { signal }))
  for (const { action, requestId, startedAt } of actions.slice(0, ordersAtMost)) {
    // It goes to its destination: none waits at the host that it leaves.
    if (action === 'evacuate') return true
    const { events } = await retryRead(clock, signal, () => cloud.getAction(instanceId, requestId, { signal }))
    // A lock, ours too, is carried out by the API itself and sets no task. The conductor's event of a rebuild says only that it sent that on.
    const taken = events.filter((event) => !event.event.startsWith('api_') && !isSentOn(event))
    if (taken.length > 0) return taken.some((event) => event.host !== host && !permissions.isFenced(event.host ?? ''))
    if (events.every(isSentOn)) {
      if (permissions.isFenced(at ?? '')) return false
      const landed = await landedAt(run, recovery, actions)
      return landed !== null && cloudTimeMs(startedAt) > landed + clockMarginMs
    }
  }
  return false
}

function isSentOn({ event }: InstanceActionEvent): boolean {
  return event === 'rebuild_server'
}

/** For people: why Nova refuses every order of such an instance, and what frees it. */
export function leftInTask(instance: string, task: string | null, deadHost: string): string {
  return `its task is ${task}, and no host is seen to work on it: an order given just as an instance lands goes to ${deadHost}, and Nova refuses every other order until the state is reset. Before ${deadHost} starts, purge the queue compute.${deadHost}; then run openstack server set --state active ${instance}, and give the order again (instead of a start, order a hard reboot)`
}

/**
 * The queue keeps the order: what came before one that was taken was taken as well. Taken after our evacuation had been ordered, it was taken
 * by a host that came back: while we stood still, or read something else.
 */
async function waitingAtDead(
  run: Reader,
  recovery: InstanceRecovery,
): Promise<{ power: LateOrder; requestId: string; wasTaken: boolean }[]> {
  const { cloud, clock, signal, host } = run
  const instance = recovery.plan.instanceId
  const actions = await retryRead(clock, signal, () => cloud.listActions(instance, { signal }))
  const orders = actions.filter(isOrder)
  if (orders.length === 0) return []
  const until = ((await landedAt(run, recovery, actions)) ?? Infinity) + clockMarginMs
  const before = orders.filter(({ startedAt }) => !(cloudTimeMs(startedAt) > until)).slice(0, ordersAtMost)
  const leftAt = evacuatedAt(recovery, actions)
  const found: { power: LateOrder; requestId: string; wasTaken: boolean }[] = []
  for (const { action, requestId } of before) {
    const { events } = await retryRead(clock, signal, () => cloud.getAction(instance, requestId, { signal }))
    const standing = standingAt(host, events)
    const takenSince = cloudTimeMs(takenAt(host, events)?.startedAt ?? '') > leftAt
    if (standing === 'taken' && !takenSince) break
    if (standing !== 'elsewhere') found.push({ power: action, requestId, wasTaken: standing === 'taken' })
  }
  return found
}

/** When the evacuation ended that brought it away, cloud time in ms; null where nobody can tell. What was ordered later went to its new host. */
async function landedAt(
  run: Reader,
  { plan, steps }: InstanceRecovery,
  actions: readonly InstanceAction[],
): Promise<number | null> {
  // Asked while it is followed, too: then it is not confirmed yet.
  const landing = [...steps.values()].findLast(
    ({ kind, status }) => kind === 'evacuate' && (status === 'issued' || status === 'confirmed'),
  )
  // Without one it was taken up from an earlier attempt: nobody can tell which order brought it.
  const requestId = landing?.requestId ?? null
  if (requestId === null || actions.every((action) => action.requestId !== requestId)) return null
  const read = (): ReturnType<typeof run.cloud.getAction> =>
    run.cloud.getAction(plan.instanceId, requestId, { signal: run.signal })
  const { events } = await retryRead(run.clock, run.signal, read)
  const end =
    events.find(({ event, result }) => event === 'compute_rebuild_instance' && result !== 'Error')?.finishedAt ?? null
  return end === null ? null : cloudTimeMs(end)
}

/** When Nova took our first order to evacuate it, cloud time in ms: the host was proven dead by then. Infinity where nobody can tell. */
function evacuatedAt({ steps }: InstanceRecovery, actions: readonly InstanceAction[]): number {
  const ours = new Set([...steps.values()].flatMap(({ kind, requestId }) => (kind === 'evacuate' && requestId) || []))
  const taken = actions.filter(({ requestId }) => ours.has(requestId)).map(({ startedAt }) => cloudTimeMs(startedAt))
  return Math.min(...taken, Infinity)
}

function isOrder(action: InstanceAction): action is InstanceAction & { action: LateOrder } {
  return isLateOrder(action.action)
}

/** Nova sets the task before it files the order, and an evacuation takes it away: also one of an earlier incident. */
function wasOrdered(recovery: InstanceRecovery): boolean {
  const { plan, steps } = recovery
  const seen = [plan.original.instance.taskState, ...[...steps.values()].map(taskBefore)]
  const acted = [...steps.values()].some(
    ({ kind, result }) => kind === 'evacuate' && result !== null && 'acted' in result,
  )
  return (
    plan.original.earlier !== undefined ||
    acted ||
    seen.some((task) => lateOrderIn(task) !== null) ||
    powerOrderOf(recovery) !== null
  )
}

function taskBefore({ kind, before }: StepRecord): string | null {
  const isBeforeLanding = kind === 'lock' || kind === 'reset-state' || kind === 'evacuate'
  return isBeforeLanding && before !== null ? before.taskState : null
}
