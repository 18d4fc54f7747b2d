/** The report of a period, such as a week of observing: what Lifeboat concluded in it, what it did or would have done, and what is missing now. */
import type { IncidentEnd, IncidentId } from './entry.ts'
import type { Failure } from './incident.ts'
import type { OutcomeKind } from './outcome.ts'
import type { InstancePlan } from './plan.ts'
import type { FencingState } from './readiness.ts'
import type { HostName } from './service.ts'
import type { VerdictReason } from './verdict-reasons.ts'

/** What shows that a verdict was wrong. */
export const falseSigns = {
  'healed-without-incident': 'The host was well again before an incident of it opened',
  'life-after-proof': 'The host showed life after it was proven dead',
} as const

export type FalseSign = keyof typeof falseSigns

/** A host that Lifeboat concluded to be dead. */
export interface DeathVerdict {
  host: HostName
  segment: string
  at: string
  reason: VerdictReason
  message: string
  incident: IncidentId | null
  /** When its nova-compute beat again; null: not within the period. */
  backAt: string | null
  false: FalseSign | null
}

export interface PeriodIncident {
  id: IncidentId
  host: HostName
  segment: string
  failure: Failure
  mode: 'observe' | 'armed'
  openedAt: string
  provenAt: string | null
  /** When the last instance got its outcome; null without any. */
  lastOutcomeAt: string | null
  closedAt: string | null
  outcome: IncidentEnd | null
  /** Why it waits. */
  held: string | null
  outcomes: Partial<Record<OutcomeKind | 'open', number>>
  /** What was decided: in observe mode all that there is. */
  decisions: Partial<Record<InstancePlan['decision'], number>>
}

/** The hosts as the daemon knows them at the end of the period. */
export interface PeriodHosts {
  at: string
  sentences: string[]
  hosts: number
  /** Hosts that have no plan yet: what would be left there is not known. */
  unplanned: number
  unfenced: { host: HostName; segment: string; fencing: FencingState; message: string }[]
  left: {
    decision: Exclude<InstancePlan['decision'], 'recover'>
    reason: string
    message: string
    instances: number
    hosts: number
    names: string[]
  }[]
}

export interface PeriodReport {
  from: string
  to: string
  /** As the daemons of the period started, or were switched; of the last before it when none did. */
  modes: ('observe' | 'armed')[]
  verdicts: DeathVerdict[]
  /** How often a host fell silent for long enough to be watched closely. */
  suspicions: number
  /** The oldest first. */
  incidents: PeriodIncident[]
  /** Null: no daemon was asked, or it did not answer. */
  now: PeriodHosts | null
}
