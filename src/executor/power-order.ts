/**
 * What an owner ordered between the survey and the turn of an instance. Nova takes a stop or a start for a dead host, and only
 * the task tells of it until the evacuation overwrites that (docs/nova.md §1.4): so it is kept in the request of the
 * evacuation's row. Pure.
 *
 * The initial state stays what it was (law L4); this is a later word, and a stop is obeyed: a guest that its owner wants off must
 * not run. A start is only told: the recipe has no step for it, and anyone who gave it can give it again.
 */
import type { InstanceRecovery } from '../domain/incident.ts'
import type { Instance } from '../domain/instance.ts'
import type { InstancePlan } from '../domain/plan.ts'
import type { PowerOrder } from '../domain/step-payloads.ts'

/** An order that says otherwise than the plan, from the task of the instance right before its first evacuation. */
export function powerOrderIn(
  { taskState }: Pick<Instance, 'taskState'>,
  { original, expected }: Pick<InstancePlan, 'original' | 'expected'>,
): PowerOrder | null {
  if (taskState === original.instance.taskState) return null
  if (taskState === 'powering-off' && expected === 'running') return 'stop'
  return taskState === 'powering-on' && expected === 'stopped' ? 'start' : null
}

/** The order on record, or null. */
export function powerOrderOf({ steps }: Pick<InstanceRecovery, 'steps'>): PowerOrder | null {
  for (const { kind, request } of steps.values()) {
    if (kind === 'evacuate' && request?.ordered !== undefined) return request.ordered
  }
  return null
}

/** How the instance is to end. */
export function expectedOf(recovery: Pick<InstanceRecovery, 'steps' | 'plan'>): InstancePlan['expected'] {
  return powerOrderOf(recovery) === 'stop' ? 'stopped' : recovery.plan.expected
}

/** For the outcome of the instance. */
export function powerOrderNote(recovery: Pick<InstanceRecovery, 'steps'>): string[] {
  switch (powerOrderOf(recovery)) {
    case 'stop':
      return ['its owner ordered it stopped while it waited for its turn']
    case 'start':
      return ['its owner ordered it started while it waited for its turn, which Nova has forgotten: start it again']
    case null:
      return []
  }
}
