/** Readiness as of now: gathers what is known of each host and has it judged, in pieces, so that thousands of hosts hold up nothing. */
import type { BrakeScope } from '../domain/brake.ts'
import { sleep, type Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import { orderText } from '../domain/order.ts'
import type { HostReadiness, Readiness } from '../domain/readiness.ts'
import type { HostName } from '../domain/service.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { BrakeWatch } from '../control/brake-watch.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import type { Monitor } from '../monitor/monitor.ts'
import { orderHolds } from '../orders/order-holds.ts'
import type { Orders } from '../orders/orders.ts'
import { returningOf } from './host-views.ts'
import type { ReviewedJournal } from './incident-listing.ts'
import { pastTimes, type PastTimes } from './past-times.ts'
import type { ProvenTimes } from './proven-times.ts'
import { cloudReadiness, hostReadiness, type CloudFacts, type HostFacts } from './readiness.ts'
import type { ReadinessReads } from './readiness-reads.ts'

/** Hosts judged before others get their turn: about a millisecond. */
const pieceSize = 250

/** Incidents that an estimate may be made of. */
const incidentsRead = 100

export interface ReadinessParts {
  clock: Clock
  journal: Pick<ReviewedJournal, 'incidents'>
  store: Pick<IncidentStore, 'openOn' | 'isReturning' | 'returnOf'>
  orders: Pick<Orders, 'covering' | 'inForce'>
  monitor: Pick<Monitor, 'verdicts' | 'verdict' | 'segment' | 'frozen'>
  brake: Pick<BrakeWatch, 'scopes' | 'scopeIdsOf'>
  mode: () => 'observe' | 'armed'
  reads: Pick<ReadinessReads, 'fencing' | 'plan'>
  proven: Pick<ProvenTimes, 'of'>
}

export async function readinessOf(parts: ReadinessParts): Promise<Readiness> {
  const cloud = cloudFacts(parts)
  const times = timesOf(parts)
  const hosts: HostReadiness[] = []
  for (const [place, verdict] of parts.monitor.verdicts().entries()) {
    if (place > 0 && place % pieceSize === 0) await sleep(parts.clock, 0)
    hosts.push(hostReadiness(hostFacts(verdict, times, parts), cloud))
  }
  return { ...cloudReadiness(hosts, (host) => parts.brake.scopeIdsOf(host), cloud), hosts }
}

/** Throws NOT_FOUND for a host that Nova does not list. */
export function readinessOfHost(host: HostName, parts: ReadinessParts): HostReadiness {
  const verdict = parts.monitor.verdict(host)
  if (verdict === undefined) throw new LifeboatError('NOT_FOUND', `Nova shows no nova-compute on ${host}`)
  return hostReadiness(hostFacts(verdict, timesOf(parts), parts), cloudFacts(parts))
}

function cloudFacts({ clock, mode, monitor, orders, brake }: ReadinessParts): CloudFacts {
  const order = orders.inForce().find(({ scope }) => scope.kind === 'cloud')
  return {
    at: new Date(clock.wall()).toISOString(),
    mode: mode(),
    frozen: monitor.frozen()?.message ?? null,
    ordered: order === undefined ? null : orderText(order),
    scopes: new Map(brake.scopes().map((scope): [string, BrakeScope] => [scope.scope, scope])),
  }
}

function timesOf({ journal, proven }: ReadinessParts): (segment: string) => PastTimes | null {
  return pastTimes(journal.incidents({ limit: incidentsRead }), (incident) => proven.of(incident))
}

function hostFacts(
  verdict: Verdict,
  times: (segment: string) => PastTimes | null,
  { monitor, store, orders, brake, reads }: ReadinessParts,
): HostFacts {
  const { host } = verdict
  const segment = monitor.segment(host)
  const holds = orderHolds(host, orders, [segment.name])
  return {
    verdict,
    segment,
    incident: store.openOn(host)?.id ?? null,
    returning: returningOf(store, host),
    scopes: brake.scopeIdsOf({ host, segment: segment.name }),
    ordered:
      holds === null ? null : { hold: holds.hold === 'PAUSED' ? 'PAUSED' : 'MAINTENANCE', message: holds.message },
    plan: reads.plan(host),
    fencing: reads.fencing(host),
    times: times(segment.name),
  }
}
