/**
 * Whether the brake holds an incident right now: asked before every act of an incident whose host is not yet proven dead.
 *
 * Hosts that are only suspect but whose probes say dead count too: in a mass failure the first host to be confirmed must
 * not slip through before the others are (law L8).
 */
import type { Incident } from '../domain/incident.ts'
import type { BrakeLimits } from '../domain/segment.ts'
import { witnessedDead, type Verdict } from '../domain/verdict.ts'
import { brakeDecision, type BrakeHost } from '../monitor/brake.ts'

export interface BrakeWatchParts {
  openIncidents: () => Incident[]
  verdicts: () => Verdict[]
  segmentLimits: (segment: string) => BrakeLimits | undefined
  /** Whether the segment fences isolated hosts: then they count as dead ones do. */
  fencesIsolated: (segment: string) => boolean
  cloudLimits: BrakeLimits
}

/** Why the brake holds this incident, with numbers; null when it does not. */
export function brakeHolds(
  incident: Incident,
  ownLimits: BrakeLimits,
  { openIncidents, verdicts, segmentLimits, fencesIsolated, cloudLimits }: BrakeWatchParts,
): string | null {
  const fleet = new Map<string, number>()
  // Right after a start no host is known yet; the incident's own segment always is.
  const limits = new Map<string, BrakeLimits>([[incident.segment, ownLimits]])
  const all = verdicts()
  for (const { segment } of all) {
    fleet.set(segment, (fleet.get(segment) ?? 0) + 1)
    const known = segmentLimits(segment)
    if (known !== undefined) limits.set(segment, known)
  }
  const open: BrakeHost[] = [
    ...openIncidents(),
    ...all.filter((it) => isProbablyDead(it) || (it.kind === 'service-down' && fencesIsolated(it.segment))),
  ].map(({ host, segment }) => ({
    host,
    segment,
  }))
  const overrides = new Set(incident.override === null ? [] : [incident.host])
  const [answer] = brakeDecision({
    candidates: [{ host: incident.host, segment: incident.segment }],
    openHosts: open,
    fleet,
    limits: { segments: limits, cloud: cloudLimits },
    overrides,
  })
  return answer === undefined || answer.allowed ? null : answer.reason
}

function isProbablyDead({ kind, evidence }: Verdict): boolean {
  return kind === 'host-down' || (kind === 'suspect' && witnessedDead(evidence))
}
