/** A step as reviewers read it: what was found, what was sent, what came of it. Pure. */
import type { StepRecord } from '../domain/incident.ts'
import type { StepReview } from '../domain/review.ts'

export function stepReview(step: StepRecord): StepReview {
  const { intendedAt, endedAt } = step
  return { ...step, tookMs: endedAt === null ? null : Date.parse(endedAt) - Date.parse(intendedAt) }
}
