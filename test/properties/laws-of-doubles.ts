/** The law that no guest runs twice, but by a person's own hands. */
import type { Entry } from '../../src/domain/entry.ts'
import type { Incident } from '../../src/domain/incident.ts'
import type { Simulator } from '../../src/simulator/index.ts'
import { timelineOf } from './timeline.ts'

export interface Ran extends Pick<ReturnType<Simulator['truth']>, 'doubles' | 'running'> {
  requests: ReturnType<Simulator['requests']>
}

/**
 * A person's evacuation excuses a double run in two cases: it met an order of ours that was under way, for Nova takes both, and the
 * instance's line says so; or it came when its recovery was over and nothing of ours was on its way, so that it moved a guest that ran.
 */
export function ranTwice(ran: Ran, entries: readonly Entry[], incidents: Map<string, Incident>): string[] {
  const isTold = (id: string): boolean =>
    [...incidents.values()].some(({ instances }) => instances.get(id)?.outcome?.code === 'GUEST_ON_DESTINATION')
  return ran.doubles
    .filter((double) => {
      const byHand = ordersByHand(ran, double)
      return byHand.length === 0 || !(isTold(double.uuid) || movesARunningGuest(byHand, entries, double, ran))
    })
    .map(({ uuid, host, alsoOn }) => `${uuid} ran on ${host} and ${alsoOn.join(', ')}`)
}

/** No instance of which the newest line says `recovered` runs on two hosts, but where a person evacuated it after that. */
export function recoveredTwice(ran: Ran, entries: readonly Entry[], incidents: Map<string, Incident>): string[] {
  const lines = new Map<string, string>()
  for (const incident of incidents.values())
    for (const [id, { outcome }] of incident.instances) if (outcome !== null) lines.set(id, outcome.outcome)
  return Object.entries(ran.running).flatMap(([id, hosts]) => {
    if (lines.get(id) !== 'recovered' || hosts.length < 2) return []
    const doubles = ran.doubles.filter(({ uuid }) => uuid === id)
    const own = doubles.every((double) => movesARunningGuest(ordersByHand(ran, double), entries, double, ran))
    return own && doubles.length > 0 ? [] : [`${id} is recovered, and runs on ${hosts.join(' and ')}`]
  })
}

type Double = Ran['doubles'][number]

/** When a person ordered the evacuation of a guest before it was started twice, ms. */
function ordersByHand({ requests }: Ran, { uuid, at }: Double): number[] {
  return requests
    .filter(({ action, user, path }) => action === 'evacuate' && user !== 'lifeboat' && path.includes(uuid))
    .map((order) => order.at)
    .filter((ordered) => ordered <= at)
}

/** Before one of the orders it was recovered, and from then until it was started twice we ordered nothing else. */
function movesARunningGuest(byHand: readonly number[], entries: readonly Entry[], double: Double, ran: Ran): boolean {
  const { uuid, at } = double
  // Where the clock was set back, times say nothing: the cloud's own sequence does.
  const timed = timelineOf(entries, ran.requests) !== null
  const last = entries.findLast(
    (entry) =>
      entry.instance === uuid &&
      (!timed || Date.parse(entry.at) <= at) &&
      (entry.kind === 'outcome.recorded' || (entry.kind === 'step.intended' && entry.data.kind === 'evacuate')),
  )
  if (last?.kind !== 'outcome.recorded' || last.data.outcome !== 'recovered') return false
  if (!timed) return lastToEvacuate(ran, uuid) !== 'lifeboat'
  return byHand.some((ordered) => Date.parse(last.at) < ordered)
}

function lastToEvacuate({ requests }: Ran, uuid: string): string | null {
  return requests.findLast(({ action, path }) => action === 'evacuate' && path.includes(uuid))?.user ?? null
}
