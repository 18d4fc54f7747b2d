/** The outcome of what was never begun. Pure. */
import type { Outcome } from '../domain/outcome.ts'
import type { InstancePlan } from '../domain/plan.ts'

/** The outcome of an instance that nothing was begun for when its incident was cancelled. */
export function leftAlone({ decision, reason, message }: InstancePlan, why: string): Outcome {
  if (decision === 'recover') return { outcome: 'left', code: 'CANCELLED', message: why, after: null }
  return { outcome: decision === 'leave' ? 'left' : 'stuck', code: reason, message, after: null }
}
