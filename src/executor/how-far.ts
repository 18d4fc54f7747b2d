/** How far the recovery of an instance got: what was done to it, whatever became of the rest. Pure. */
import type { InstanceRecovery, StepRecord } from '../domain/incident.ts'
import { powerState, type Instance } from '../domain/instance.ts'
import type { InstancePlan } from '../domain/plan.ts'

/** An evacuation of ours is over, and it is on another host. */
export function hasLanded({ steps }: Pick<InstanceRecovery, 'steps'>): boolean {
  return [...steps.values()].some(({ kind, status }) => kind === 'evacuate' && status === 'confirmed')
}

const afterLanding: Partial<Record<string, string>> = {
  paused: 'paused it',
  suspended: 'suspended it',
  rescued: 'put it in rescue mode',
  resized: 'resized or migrated it, which waits for a confirmation',
  shelved: 'shelved it',
  shelved_offloaded: 'shelved it',
}

/**
 * What someone has done with an instance that had landed: an evacuation ends in none of these states (docs/nova.md §2.4). Null: nothing, or
 * what does not take back what is still to be done: a resize keeps the power that its confirmation leaves the guest with, a rescue ends
 * running.
 */
export function doneSince(
  { vmState, taskState, powerState: power }: Pick<Instance, 'vmState' | 'taskState' | 'powerState'>,
  expected: InstancePlan['expected'],
): string | null {
  const done = taskState === null ? (afterLanding[vmState] ?? null) : null
  if (expected === null || done === null || (vmState !== 'resized' && vmState !== 'rescued')) return done
  const runs = power === powerState.running
  if (vmState === 'rescued') return runs && expected === 'stopped' ? null : done
  return runs === (expected === 'running') ? done : null
}

/** A confirmation of ours is over, and the resize's source has let go of the instance. */
export function wasConfirmed({ steps }: Pick<InstanceRecovery, 'steps'>): boolean {
  return [...steps.values()].some((step) => step.kind === 'confirm-resize' && isDone(step))
}

/**
 * Whether Nova took a write of ours that changed more than our lock: then it is not as it was, and what its plan said would be left
 * behind is there.
 */
export function wasChanged({ steps }: Pick<InstanceRecovery, 'steps'>): boolean {
  return [...steps.values()].some((step) => step.kind !== 'lock' && step.kind !== 'unlock' && wasTaken(step))
}

/** Whether our lock may still be on it. */
export function mayBeLocked({ steps }: Pick<InstanceRecovery, 'steps'>): boolean {
  const marks = [...steps.values()].filter((step) => step.kind === 'lock' || (step.kind === 'unlock' && isDone(step)))
  const last = marks.at(-1)
  return last?.kind === 'lock' && wasTaken(last)
}

function isDone({ status }: StepRecord): boolean {
  return status === 'confirmed'
}

function wasTaken({ request, status, error }: StepRecord): boolean {
  if (request === null || status === 'intended') return false
  return status !== 'failed' || error?.certainty !== 'not-applied'
}
