/**
 * What the brake counts, gathered from the monitor and the open incidents. Pure.
 *
 * Hosts that nobody has confirmed dead count too, as soon as they look it: in a mass failure the first host to be confirmed
 * must not slip through before the others are (law L8), nor one whose incident is older than this daemon.
 */
import type { Incident } from '../domain/incident.ts'
import type { HostName } from '../domain/service.ts'
import { beatingUnderOurFlags, looksDead, type Evidence, type Verdict } from '../domain/verdict.ts'
import type { BrakeFacts } from '../monitor/brake.ts'

export interface BrakeSources {
  blind: boolean
  verdicts: readonly Verdict[]
  openIncidents: readonly Incident[]
  /** When the last recovery of each host began, on our monotonic clock, ms. */
  recoveries: ReadonlyMap<HostName, number>
  /** When this daemon began, on the same clock. */
  startedAt?: number
  /** Whether what an incident of ours set on the host still stands. */
  hasOurFlags?: (host: HostName) => boolean
  /** Whether it is disabled only because we keep it out of scheduling while it is silent: nobody meant it to be down. */
  isSetAside?: (host: HostName) => boolean
  domains: (host: HostName) => readonly string[]
  /** Missed heartbeats beyond which silence alone makes a host count. */
  confirmAfterBeats: number
  /** Whether the segment fences hosts that live but are cut off: then they are on their way to a recovery as dead ones are. */
  fencesIsolated?: (segment: string) => boolean
}

export function brakeFacts({
  blind,
  verdicts,
  openIncidents,
  recoveries,
  startedAt = -Infinity,
  hasOurFlags = () => false,
  isSetAside = () => false,
  domains,
  confirmAfterBeats,
  fencesIsolated = () => false,
}: BrakeSources): BrakeFacts {
  const open = new Set(openIncidents.map(({ host }) => host))
  const listed = new Map(verdicts.map((verdict) => [verdict.host, verdict]))
  const place = ({ host, segment }: { host: HostName; segment: string }): BrakeFacts['fleet'][number] => ({
    host,
    segment,
    domains: domains(host),
  })
  const isFenced = ({ kind, segment }: Verdict): boolean => kind === 'service-down' && fencesIsolated(segment)
  const mayBeDead = ({ host, segment, kind, evidence }: Verdict): boolean => {
    switch (kind) {
      case 'host-down':
        return true
      case 'suspect':
        // Nova calls one cut-off host after another down: each counts before that, or the first of a rack is fenced before the rest count.
        return looksDead(evidence, confirmAfterBeats) || (fencesIsolated(segment) && isSilent(evidence))
      case 'unknown':
        // Nova says down, nobody keeps it out on purpose, and we have not watched long enough to say so ourselves.
        return evidence.state === 'down' && (evidence.status === 'enabled' || isSetAside(host)) && !evidence.forcedDown
      default:
        return false
    }
  }
  const isSilent = ({ missedBeats }: Evidence): boolean => missedBeats >= confirmAfterBeats
  return {
    blind,
    fleet: verdicts.map(place),
    down: [
      ...openIncidents.map((incident) => ({
        ...place(incident),
        waits: incident.proof === null && incident.cancelled === null,
      })),
      ...verdicts
        .filter((it) => !open.has(it.host) && (mayBeDead(it) || isFenced(it)))
        .map((verdict) => ({ ...place(verdict), waits: verdict.kind === 'host-down' || isFenced(verdict) })),
    ],
    // A host that Nova no longer lists is gone for good: it is no part of any scope.
    recovered: [...recoveries].flatMap(([host, beganAt]) => {
      const verdict = listed.get(host)
      if (verdict === undefined) return []
      // Of a run before this one only the wall clock tells how long ago it began, and that may have been set, or be wrong since the
      // machine booted. A host that is still away counts as if its recovery had begun with this run.
      const away = hasOurFlags(host) && !beats(verdict)
      const since = away ? Math.max(beganAt, startedAt) : beganAt
      return [{ ...place(verdict), beganAt: since, alive: verdict.kind === 'healthy' }]
    }),
  }
}

function beats({ kind, reason }: Verdict): boolean {
  return kind === 'healthy' || reason === beatingUnderOurFlags
}
