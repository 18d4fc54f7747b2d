/** Which orders that act on an instance's guest still wait in the queue of the dead host that it has left: leftovers for the journal. */
import type { NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import type { InstanceRecovery, StepRecord } from '../domain/incident.ts'
import type { InstanceAction } from '../domain/instance.ts'
import { isLateOrder, isLatePower, standingAt, tellsOfLateOrder, type LateOrder } from '../domain/late-power-order.ts'
import { staleOrderCode } from '../domain/stale-order.ts'
import type { CloudTrouble } from './cloud-trouble.ts'
import type { Run } from './context.ts'
import { hasLanded } from './how-far.ts'
import { powerOrderOf } from './power-order.ts'
import { retryRead } from './retry.ts'

/** Orders of one instance that are looked at, the newest first. More reads an owner's whole history where nothing was ever taken. */
const ordersAtMost = 10

type LateRun = Pick<Run, 'id' | 'host' | 'cloud' | 'clock' | 'signal' | 'journal' | 'observer'>

/**
 * Those of an instance that has landed, and are not on record yet. Reads its history only where a task may have told of such an order,
 * and reads on while Nova is silent. Throws SHUTDOWN; where the history may not be read nothing is known of them.
 */
export async function latePowerOrders(
  run: LateRun,
  recovery: InstanceRecovery,
  trouble: Pick<CloudTrouble, 'reading'>,
): Promise<NewEntry[]> {
  const { plan, leftovers } = recovery
  if (!hasLanded(recovery) || !wasOrdered(recovery)) return []
  const base = { incident: run.id, host: run.host, instance: plan.instanceId }
  try {
    const read = (): ReturnType<typeof waitingAtDead> => waitingAtDead(run, plan.instanceId)
    const waiting = await trouble.reading({ plan, signal: run.signal }, read, { only: 'silence' })
    return waiting
      .filter(({ requestId }) => !leftovers.some(({ waitsAt }) => waitsAt?.migration === requestId))
      .map(({ power, requestId }): NewEntry => {
        const waitsAt = { host: run.host, migration: requestId, requestId, power }
        const does = isLatePower(power) ? 'acts on a guest that has left' : 'puts the instance in ERROR'
        const message = `The ${power} that was ordered as ${run.host} died waits for nova-compute there and ${does}; purge the queue compute.${run.host} before that starts`
        return { kind: 'debt.recorded', ...base, data: { code: staleOrderCode, message, waitsAt } }
      })
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    run.observer.log?.('warn', 'late_power_orders.unread', base, error)
    return []
  }
}

/** The queue keeps the order: what came before one that was taken was taken as well. */
async function waitingAtDead(run: LateRun, instance: string): Promise<{ power: LateOrder; requestId: string }[]> {
  const { cloud, clock, signal, host } = run
  const actions = await retryRead(clock, signal, () => cloud.listActions(instance, { signal }))
  const found: { power: LateOrder; requestId: string }[] = []
  for (const { action, requestId } of actions.filter(isOrder).slice(0, ordersAtMost)) {
    const { events } = await retryRead(clock, signal, () => cloud.getAction(instance, requestId, { signal }))
    const standing = standingAt(host, events)
    if (standing === 'taken') break
    if (standing === 'waits') found.push({ power: action, requestId })
  }
  return found
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
  return plan.original.earlier !== undefined || acted || seen.some(tellsOfLateOrder) || powerOrderOf(recovery) !== null
}

function taskBefore({ kind, before }: StepRecord): string | null {
  const isBeforeLanding = kind === 'lock' || kind === 'reset-state' || kind === 'evacuate'
  return isBeforeLanding && before !== null ? before.taskState : null
}
