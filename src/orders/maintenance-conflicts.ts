/** What stands against maintenance: incidents that it holds, and segments that it takes in whole. Pure. */
import type { IncidentId } from '../domain/entry.ts'
import type { MaintenanceConflict } from '../domain/maintenance-view.ts'
import { covers, type Scope } from '../domain/order.ts'
import type { HostName } from '../domain/service.ts'

/** A maintenance that is in force, planned, or of the calendar. */
export interface Span {
  scope: Scope
  /** Wall ms; null: now. */
  from: number | null
  /** Wall ms; null: until a person ends it. */
  until: number | null
}

export interface HostInSegments {
  host: HostName
  /** The segment whose rules it has, then those of Masakari's API that it is in. */
  segments: readonly string[]
  /** Its open incident, or null. */
  incident: IncidentId | null
}

/** Each conflict once, at the first moment at which it stands, the soonest first. */
export function maintenanceConflicts(spans: readonly Span[], hosts: readonly HostInSegments[]): MaintenanceConflict[] {
  const moments = [...new Set(spans.map(({ from }) => from))].toSorted((a, b) => (a ?? 0) - (b ?? 0))
  const found = new Map<string, MaintenanceConflict>()
  for (const moment of moments) {
    const covered = coveredAt(spans, moment, hosts)
    for (const conflict of [...openIncidents(covered, moment), ...wholeSegments(covered, hosts, moment)]) {
      const key = conflict.incident ?? `segment ${conflict.segment}`
      if (!found.has(key)) found.set(key, conflict)
    }
  }
  return [...found.values()]
}

function coveredAt(spans: readonly Span[], moment: number | null, hosts: readonly HostInSegments[]): HostInSegments[] {
  const standing = spans.filter(
    ({ from, until }) => from === moment || ((from ?? 0) <= (moment ?? 0) && (until === null || until > (moment ?? 0))),
  )
  return hosts.filter(({ host, segments }) => standing.some(({ scope }) => covers(scope, host, segments)))
}

function openIncidents(covered: readonly HostInSegments[], moment: number | null): MaintenanceConflict[] {
  return covered.flatMap(({ host, incident }) =>
    incident === null
      ? []
      : [
          {
            ...{ code: 'OPEN_INCIDENT', from: isoOf(moment), segment: null, host, incident },
            message:
              moment === null
                ? `${host} has an open incident, and its maintenance holds it`
                : `${host} has an open incident now; if it is still open when the maintenance begins, it is held`,
          } as const,
        ],
  )
}

function wholeSegments(
  covered: readonly HostInSegments[],
  hosts: readonly HostInSegments[],
  moment: number | null,
): MaintenanceConflict[] {
  const ownSegment = ({ segments }: HostInSegments): string => segments[0] ?? ''
  return [...new Set(hosts.map(ownSegment))].flatMap((segment) => {
    const all = hosts.filter((host) => ownSegment(host) === segment)
    const down = covered.filter((host) => ownSegment(host) === segment)
    // Of a single host it says nothing that its maintenance does not.
    if (all.length < 2 || down.length < all.length) return []
    const message = `All ${all.length} hosts of ${segment} are in maintenance at once: Lifeboat recovers none of them`
    return [{ code: 'WHOLE_SEGMENT', from: isoOf(moment), message, segment, host: null, incident: null } as const]
  })
}

function isoOf(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString()
}
