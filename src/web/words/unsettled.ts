/** Incidents that are over and not done with: instances did not come back, and nobody has signed for that. Pure. */
import type { IncidentSummary } from '../../domain/operations.ts'
import { outcomeOrder } from '../../domain/text/tone.ts'

type Ended = Pick<IncidentSummary, 'ended' | 'mode' | 'outcomes' | 'signedOff'>

/** The outcomes that leave an instance where it died, most urgent first. */
const notBack = outcomeOrder.filter((kind) => kind !== 'recovered' && kind !== 'open')

export function isUnsettled({ ended, mode, outcomes, signedOff }: Ended): boolean {
  // In observe mode nothing was to come back.
  if (ended === null || mode === 'observe' || (signedOff ?? null) !== null) return false
  return notBack.some((kind) => (outcomes[kind] ?? 0) > 0)
}

/** Whether instances did not come back that were to. */
export function isLost({ outcomes }: Pick<IncidentSummary, 'outcomes'>): boolean {
  return (outcomes.failed ?? 0) + (outcomes.stuck ?? 0) > 0
}

/** 1 stuck, 2 failed, 3 left */
export function notBackText({ outcomes }: Pick<IncidentSummary, 'outcomes'>): string {
  return notBack
    .filter((kind) => (outcomes[kind] ?? 0) > 0)
    .map((kind) => `${outcomes[kind] ?? 0} ${kind}`)
    .join(', ')
}
