/**
 * Which colour a word of the domain has, on pages and terminals; for an incident and a receiver also that word. Colour never stands alone:
 * the word is always beside it. Pure.
 */
import type { ReturnState } from '../host-return.ts'
import { holdsForAPerson } from '../incident-phases.ts'
import type { ReceiverHealth } from '../notice.ts'
import type { NoticeState } from '../notice-record.ts'
import type { IncidentSummary } from '../operations.ts'
import type { OutcomeKind } from '../outcome.ts'
import type { InstancePlan } from '../plan.ts'
import type { FencingState } from '../readiness.ts'
import type { ProbeReading, VerdictKind } from '../verdict.ts'

/** Urgent: a person must act now. */
export type Tone = 'good' | 'urgent' | 'bad' | 'wait' | 'plain' | 'live'

export const verdictTone: Record<VerdictKind, Tone> = {
  unknown: 'plain',
  healthy: 'good',
  suspect: 'wait',
  'host-down': 'bad',
  'service-down': 'bad',
  maintenance: 'plain',
  'declared-down': 'bad',
  'forced-down-before': 'wait',
  contradiction: 'bad',
  recovering: 'live',
  returning: 'wait',
}

/** A host that beats while something of ours is still set on it takes no instance yet. */
export function hostTone({
  verdict,
  returning = null,
}: {
  verdict: VerdictKind
  returning?: ReturnState | null
}): Tone {
  return verdict === 'healthy' && returning !== null ? 'wait' : verdictTone[verdict]
}

/** The most urgent first: the order of hosts that need a look. */
export const verdictOrder: readonly VerdictKind[] = [
  'contradiction',
  'host-down',
  'declared-down',
  'service-down',
  'recovering',
  'suspect',
  'forced-down-before',
  'returning',
  'maintenance',
  'unknown',
  'healthy',
]

export const fencingTone: Record<FencingState, Tone> = { answers: 'good', silent: 'bad', unread: 'plain', none: 'bad' }

export const decisionTone: Record<InstancePlan['decision'], Tone> = { recover: 'good', leave: 'wait', hold: 'bad' }

export const noticeTone: Record<NoticeState, Tone> = { waiting: 'plain', retrying: 'wait', sent: 'good', dead: 'bad' }

/** How a receiver of notices stands, in two words and a colour. */
export function receiverStanding({ dead, failingSince, takenAt }: ReceiverHealth): { text: string; tone: Tone } {
  if (dead) return { text: 'takes nothing', tone: 'bad' }
  if (failingSince !== null) return { text: 'failing', tone: 'wait' }
  return takenAt === null ? { text: 'not tried yet', tone: 'plain' } : { text: 'takes notices', tone: 'good' }
}

export const probeTone: Record<ProbeReading['answer'], Tone> = { alive: 'good', dead: 'bad', unknown: 'plain' }

export const outcomeTone: Record<OutcomeKind | 'open', Tone> = {
  recovered: 'good',
  left: 'wait',
  failed: 'bad',
  stuck: 'bad',
  open: 'live',
}

/** The most urgent first. */
export const outcomeOrder: readonly (OutcomeKind | 'open')[] = ['stuck', 'failed', 'left', 'open', 'recovered']

/** How an incident stands, in two words and a colour. */
export function standing(
  incident: Pick<IncidentSummary, 'ended' | 'held' | 'phase' | 'outcomes' | 'mode' | 'crashed'>,
): {
  text: string
  tone: Tone
} {
  const { ended, held, phase, outcomes, mode, crashed } = incident
  if (ended === null && held === null) return { text: phase, tone: 'live' }
  if (ended === null) return { text: `held: ${held?.code}`, tone: holdsForAPerson.has(held?.code) ? 'urgent' : 'wait' }
  if (ended.outcome === 'observed' || mode === 'observe') return { text: 'observed', tone: 'plain' }
  if (ended.outcome !== 'done') return { text: ended.outcome, tone: 'plain' }
  if ((outcomes.failed ?? 0) + (outcomes.stuck ?? 0) > 0)
    return { text: crashed === null ? 'done, not all back' : 'done, not back', tone: 'bad' }
  if ((outcomes.left ?? 0) > 0) return { text: crashed === null ? 'done, some left' : 'done, left', tone: 'wait' }
  return { text: 'done', tone: 'good' }
}

const urgency: readonly Tone[] = ['urgent', 'wait', 'live']

/** What needs a person first, then what waits, what runs, and what is over; each in the order in which it came. */
export function byUrgency<I extends Parameters<typeof standing>[0]>(incidents: readonly I[]): I[] {
  const place = (incident: I): number =>
    incident.ended === null ? urgency.indexOf(standing(incident).tone) : urgency.length
  return incidents.toSorted((a, b) => place(a) - place(b))
}
