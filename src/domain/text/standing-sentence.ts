/**
 * How an incident stands, in one sentence. Pure. The daemon says it with the headline, and pages say it again with every entry that
 * arrives: both from here, so that no page shows two counts at once.
 */
import type { IncidentEnd } from '../entry.ts'
import { incidentPhases, type IncidentPhase } from '../incident-phases.ts'
import type { Failure, WatchedInstances } from '../incident.ts'
import type { OutcomeKind } from '../outcome.ts'

export interface Standing {
  /** What failed. */
  failure: Failure
  ended: { outcome: IncidentEnd; message: string } | null
  held: { message: string } | null
  phase: IncidentPhase
  mode: 'observe' | 'armed'
  instances: number
  outcomes: Partial<Record<OutcomeKind | 'open', number>>
  /** Those that are, or would be, brought back. */
  recoverable: number
  watched: Pick<WatchedInstances, 'message'> | null
}

const endings = {
  done: 'Ended',
  returned: 'The host returned',
  cancelled: 'Cancelled',
  observed: 'Observed',
  'host-failed': 'The host failed',
  'left-to-people': 'Left to people',
} as const satisfies Record<IncidentEnd, string>

export function standingSentence(standing: Standing): string {
  const { failure, ended, held, phase, instances, watched } = standing
  // There are no instances to count.
  if (failure !== 'host' && ended !== null) return `${capitalised(trimmed(ended.message))}.`
  if (ended !== null && watched !== null) return `${trimmed(watched.message)}.`
  // Of releases that did not look at what was on it.
  if (ended?.outcome === 'returned' && instances === 0) return `${endings.returned}: its instances were not checked.`
  if (ended !== null) return `${endings[ended.outcome]}: ${countsOf(standing)}.`
  if (held !== null) return `Held: ${reasonAlone(held.message)}.`
  return instances === 0 ? `${incidentPhases[phase].means}.` : `${incidentPhases[phase].means}: ${countsOf(standing)}.`
}

/** 3 of 5 instances recovered, 1 left, 1 open */
function countsOf({ instances, mode, outcomes, recoverable }: Standing): string {
  if (instances === 0) return 'no instance was planned for'
  const noun = instances === 1 ? 'instance' : 'instances'
  if (mode === 'observe') return `${recoverable} of ${instances} ${noun} would have been recovered`
  const first = `${outcomes.recovered ?? 0} of ${instances} ${noun} recovered`
  const others = (['left', 'failed', 'stuck', 'open'] as const).flatMap((end) => {
    const count = outcomes[end] ?? 0
    return count === 0 ? [] : [`${count} ${end}`]
  })
  return [first, ...others].join(', ')
}

/** The reason alone: what to do about it is advice, and stands elsewhere. */
function reasonAlone(message: string): string {
  return trimmed(message.split('. ')[0] ?? message)
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function trimmed(text: string): string {
  return text.replace(/[.\s]+$/, '')
}
