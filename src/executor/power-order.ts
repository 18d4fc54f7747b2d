/**
 * What an owner ordered between the survey of an instance and its evacuation. Nova takes a stop or a start for a dead host, and only
 * the task tells of it until the evacuation overwrites that (docs/nova.md §1.4): so it is kept in the request of the evacuation's row.
 * What came after that last look only the history tells: it is read once a host has taken the order, and kept in the row of the result. It is
 * read again before a start, and kept in the row of that. Pure.
 *
 * The initial state stays what it was (law L4); this is a later word, and a stop is obeyed: a guest that its owner wants off must
 * not run. A start is only told, also one that came through while the host lived again: anyone who gave it can give it again, and what
 * was to land off for other reasons must.
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import { tookNothing, type InstanceRecovery } from '../domain/incident.ts'
import type { Instance, InstanceAction } from '../domain/instance.ts'
import type { InstancePlan } from '../domain/plan.ts'
import { lastOrder, powerOrders } from '../domain/power-history.ts'
import type { PowerOrder } from '../domain/step-payloads.ts'

/** An order that says otherwise than the plan, from the task of the instance right before its first evacuation. */
export function powerOrderIn(
  { taskState }: Pick<Instance, 'taskState'>,
  { original, expected }: Pick<InstancePlan, 'original' | 'expected'>,
): PowerOrder | null {
  if (taskState === original.instance.taskState) return null
  if ((taskState === 'powering-off' || isShelving({ taskState })) && expected === 'running') return 'stop'
  return taskState === 'powering-on' && expected === 'stopped' ? 'start' : null
}

/**
 * The same, of what a lock or a reset of ours found before the first evacuation: the reset takes the task away. What an earlier incident left on
 * the instance may be a task that Nova itself set.
 */
export function powerOrderWiped({ steps, plan }: Pick<InstanceRecovery, 'steps' | 'plan'>): PowerOrder | null {
  if (plan.original.earlier !== undefined) return null
  for (const { kind, before } of steps.values())
    if ((kind === 'lock' || kind === 'reset-state') && before !== null) {
      const ordered = powerOrderIn(before, plan)
      if (ordered !== null) return ordered
    }
  return null
}

/** It ends off, as the survey has it, too. On a dead host it never goes further: to land it shelved is nothing that Nova can do. */
function isShelving({ taskState }: Pick<Instance, 'taskState'>): boolean {
  return taskState?.startsWith('shelving') === true
}

/**
 * How much earlier than our last look an order may be stamped that came after it: Nova stamps in whole seconds, by the clock of the API
 * node that took it. Smaller loses a stop that was taken by a node whose clock is behind. Larger does not harm while it is shorter than
 * what makes a host dead: a stop that came through on the living host is never taken for one that was lost.
 */
const clockMarginMs = 5_000

/**
 * An order that says otherwise than the plan, from the history of the instance after its order was taken.
 * @param since cloud time of the last look before its first evacuation, ISO
 */
export function powerOrderSince(
  since: string,
  actions: readonly InstanceAction[],
  { expected }: Pick<InstancePlan, 'expected'>,
): PowerOrder | null {
  return otherwise(lastOrderSince(since, actions), expected)
}

/** The last order, whatever the plan says. A shelve counts as a stop. @param since as for `powerOrderSince` */
export function lastOrderSince(since: string, actions: readonly InstanceAction[]): PowerOrder | null {
  return lastOrder(orderedSince(since, actions).map(asPower))
}

/** An order that says otherwise than the plan. */
function otherwise(order: PowerOrder | null, expected: InstancePlan['expected']): PowerOrder | null {
  if (order === 'stop') return expected === 'running' ? 'stop' : null
  return order === 'start' && expected === 'stopped' ? 'start' : null
}

/**
 * The order to put on record with an evacuation of an instance whose host lived again: the history alone counts then, and what is on record and
 * was not its last is overruled by its opposite, which says what the plan does.
 * @param last the last that others ordered since the incident began
 */
export function powerOrderAfterLife(
  last: PowerOrder | 'nothing',
  recovery: Pick<InstanceRecovery, 'steps' | 'plan'>,
): PowerOrder | null {
  const { expected } = recovery.plan
  const onRecord = powerOrderOf(recovery)
  if (onRecord !== null && onRecord !== last) return onRecord === 'stop' ? 'start' : 'stop'
  return last === 'nothing' ? null : otherwise(last, expected)
}

/** Whether the stop that `powerOrderSince` finds is a shelve. @param since cloud time of our last look, ISO */
export function wasShelvedSince(since: string, actions: readonly InstanceAction[]): boolean {
  const found = orderedSince(since, actions)
  const [last] = powerOrders(found.map(asPower))
  return found.some(({ action, requestId }) => action === 'shelve' && requestId === last?.requestId)
}

/** A shelve ends off, and an unshelve running. */
function asPower(action: InstanceAction): InstanceAction {
  if (action.action === 'shelve') return { ...action, action: 'stop' }
  return action.action === 'unshelve' ? { ...action, action: 'start' } : action
}

/** What of a history may have come after our last look. @param since cloud time of that, ISO */
export function orderedSince(since: string, actions: readonly InstanceAction[]): InstanceAction[] {
  const from = cloudTimeMs(since) - clockMarginMs
  return actions.filter(({ startedAt }) => cloudTimeMs(startedAt) >= from)
}

/**
 * The order in force that says otherwise than the plan, or null. An evacuation that was held back is prepared again, and may see a newer one; what
 * came after its last look, or after the landing, is newer still.
 */
export function powerOrderOf({ steps, plan }: Pick<InstanceRecovery, 'steps' | 'plan'>): PowerOrder | null {
  if (wasStoppedSince({ steps })) return 'stop'
  for (const { kind, request, result } of [...steps.values()].toReversed()) {
    if (kind !== 'evacuate') continue
    const ordered = result !== null && 'ordered' in result ? result.ordered : request?.ordered
    if (ordered !== undefined) return otherwise(ordered, plan.expected)
  }
  return null
}

/** It landed to be started, and its owner stopped it before that. */
export function wasStoppedSince({ steps }: Pick<InstanceRecovery, 'steps'>): boolean {
  return [...steps.values()].some(({ kind, before }) => kind === 'start' && before?.ordered === 'stop')
}

/** Its host, which lived again for a while, had carried that out before it died the next time. */
function wasStartedBefore({ steps }: Pick<InstanceRecovery, 'steps'>): boolean {
  return [...steps.values()].some(
    ({ kind, before, request }) => kind === 'evacuate' && request?.ordered === 'start' && before?.vmState === 'active',
  )
}

/** How the instance is to end. */
export function expectedOf(recovery: Pick<InstanceRecovery, 'steps' | 'plan'>): InstancePlan['expected'] {
  return powerOrderOf(recovery) === 'stop' ? 'stopped' : recovery.plan.expected
}

/** For the outcome of the instance. */
export function powerOrderNote(recovery: Pick<InstanceRecovery, 'steps' | 'plan'>): string[] {
  switch (powerOrderOf(recovery)) {
    case 'stop':
      if (wasBeingShelved(recovery))
        return ['its owner ordered it shelved while it waited for its turn: shelve it again']
      if (wasStoppedSince(recovery)) return ['its owner stopped it before it was started']
      return ['its owner ordered it stopped while it waited for its turn']
    case 'start':
      return [
        wasStartedBefore(recovery)
          ? 'its owner had started it while its host lived again: start it again'
          : 'its owner ordered it started while it waited for its turn, which Nova has forgotten: start it again',
      ]
    case null:
      return wasBeingRebuilt(recovery)
        ? [
            'its owner ordered it rebuilt while it waited for its turn: check which disk it has, and rebuild it again if that is the old one',
          ]
        : []
  }
}

/** Its task said so right before our first order, and not in the survey. Later our own order sets the same. */
function wasBeingRebuilt({ steps, plan }: Pick<InstanceRecovery, 'steps' | 'plan'>): boolean {
  const sent = [...steps.values()].filter((step) => step.before !== null && !tookNothing(step))
  const first = sent.find(({ kind }) => kind === 'evacuate')
  return first?.kind === 'evacuate' && isRebuilding(first.before) && !isRebuilding(plan.original.instance)
}

function isRebuilding(of: Pick<Instance, 'taskState'> | null): boolean {
  return of?.taskState === 'rebuilding'
}

function wasBeingShelved({ steps }: Pick<InstanceRecovery, 'steps'>): boolean {
  return [...steps.values()].some(({ kind, before, request, result }) => {
    if (kind === 'lock' || kind === 'reset-state') return before !== null && isShelving(before)
    if (kind !== 'evacuate') return false
    const wasTold = result !== null && 'shelved' in result && result.shelved
    return wasTold || (before !== null && request?.ordered === 'stop' && isShelving(before))
  })
}
