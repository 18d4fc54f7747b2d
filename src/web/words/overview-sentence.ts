/** The headline of the overview. Pure. */
import type { CountedGroup } from '../../domain/brake.ts'
import { holdsForAPerson } from '../../domain/incident-phases.ts'
import type { DaemonStatus, IncidentSummary } from '../../domain/operations.ts'
import { actsElsewhere } from '../../domain/tenure.ts'
import { verdictOrder } from '../../domain/text/tone.ts'
import type { VerdictKind } from '../../domain/verdict.ts'
import { counted } from './count.ts'

export interface OpenCounts {
  open: number
  held: number
  /** Of those, the ones whose hold asks for a person. */
  forAPerson: number
}

/**
 * The headline counts what stands below it: status and incidents are read one after the other, and in between a recovery comes to be
 * held.
 *
 * @param listed the open incidents; null where not all of them are known: then the status alone counts
 */
export function openCounts(
  { incidents: { open, held } }: Pick<DaemonStatus, 'incidents'>,
  listed: readonly Pick<IncidentSummary, 'held'>[] | null,
): OpenCounts {
  // The status does not say why they are held, and a call too many is better than one too few.
  if (listed === null) return { open, held, forAPerson: held }
  const holds = listed.flatMap((incident) => incident.held ?? [])
  const forAPerson = holds.filter(({ code }) => holdsForAPerson.has(code)).length
  return { open: listed.length, held: holds.length, forAPerson }
}

/** The one sentence that says whether someone must get up. All is well only when everything is known and nothing is left. */
export function overviewSentence(
  status: DaemonStatus,
  { open, held, forAPerson }: OpenCounts,
  groups: readonly CountedGroup[],
): { title: string; tone: 'good' | 'wait' | 'bad' | 'live' | 'plain' } {
  const { frozen, hosts, incidents, lastPoll, paused, restartLoop, tenure } = status
  if (tenure !== null && tenure.state !== 'active' && actsElsewhere(tenure) === null)
    return { title: 'No daemon is active', tone: 'bad' }
  if (lastPoll === null) return { title: 'Nova not read yet', tone: 'wait' }
  if (!lastPoll.ok) return { title: 'Nova does not answer', tone: 'bad' }
  if (frozen !== null) return { title: 'Verdicts are frozen', tone: 'wait' }
  const [group] = groups
  if (group !== undefined && groups.length === 1 && group.members.length === forAPerson)
    return { title: `${counted(forAPerson, 'host')} of ${group.title} wait for you`, tone: 'bad' }
  if (forAPerson > 0) return { title: `${counted(forAPerson, 'incident')} held: a person must decide`, tone: 'bad' }
  if (open > held) return { title: `${counted(open - held, 'recovery', 'recoveries')} under way`, tone: 'live' }
  if (held > 0) return { title: `${counted(held, 'incident')} on hold`, tone: 'wait' }
  const { left, lost } = incidents.unsettled
  if (lost > 0) return { title: `${counted(lost, 'instance')} not recovered: a person must act`, tone: 'bad' }
  const down = countOf(hosts, ['host-down', 'service-down', 'contradiction', 'declared-down'])
  if (down > 0) return { title: `${counted(down, 'host')} down`, tone: 'bad' }
  if (restartLoop !== null) return { title: 'The daemon keeps dying', tone: 'bad' }
  if (left > 0)
    return {
      title: `${counted(left, 'instance')} left where ${left === 1 ? 'it was' : 'they were'}`,
      tone: 'wait',
    }
  if (paused !== null) return { title: 'All recoveries are paused', tone: 'wait' }
  const [dead, ...alsoDead] = status.receivers.filter((receiver) => receiver.dead)
  if (dead !== undefined)
    return {
      title:
        alsoDead.length > 0 ? `${alsoDead.length + 1} receivers take no notices` : `${dead.receiver} takes no notices`,
      tone: 'bad',
    }
  const others = countOf(
    hosts,
    verdictOrder.filter((kind) => kind !== 'healthy'),
  )
  if (others > 0) return { title: `Calm; ${counted(others, 'host')} not healthy`, tone: 'plain' }
  return { title: 'All is well', tone: 'good' }
}

function countOf(hosts: DaemonStatus['hosts'], kinds: readonly VerdictKind[]): number {
  return kinds.reduce((sum, kind) => sum + (hosts[kind] ?? 0), 0)
}
