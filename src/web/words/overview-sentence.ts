/** The headline of the overview. Pure. */
import type { CountedGroup } from '../../domain/brake.ts'
import type { DaemonStatus } from '../../domain/operations.ts'
import { actsElsewhere } from '../../domain/tenure.ts'
import { verdictOrder } from '../../domain/text/tone.ts'
import type { VerdictKind } from '../../domain/verdict.ts'
import { counted } from './count.ts'

/** The one sentence that says whether someone must get up. All is well only when everything is known and nothing is left. */
export function overviewSentence(
  status: DaemonStatus,
  groups: readonly CountedGroup[],
): { title: string; tone: 'good' | 'wait' | 'bad' | 'live' | 'plain' } {
  const { frozen, hosts, incidents, lastPoll, paused, restartLoop, tenure } = status
  if (tenure !== null && tenure.state !== 'active' && actsElsewhere(tenure) === null)
    return { title: 'No daemon is active', tone: 'bad' }
  if (lastPoll === null) return { title: 'Nova not read yet', tone: 'wait' }
  if (!lastPoll.ok) return { title: 'Nova does not answer', tone: 'bad' }
  if (frozen !== null) return { title: 'Verdicts are frozen', tone: 'wait' }
  const [group] = groups
  if (group !== undefined && groups.length === 1 && group.members.length === incidents.held)
    return { title: `${counted(incidents.held, 'host')} of ${group.title} wait for you`, tone: 'bad' }
  if (incidents.held > 0)
    return { title: `${counted(incidents.held, 'incident')} held: a person must decide`, tone: 'bad' }
  if (incidents.open > 0)
    return { title: `${counted(incidents.open, 'recovery', 'recoveries')} under way`, tone: 'live' }
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
