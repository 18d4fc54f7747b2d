/**
 * The brake (law L8): what may be recovered when several hosts fail at once. Pure, without memory, so it holds from the
 * first poll on. All or nothing: when more hosts are down than the limits allow, none of the waiting ones is let
 * through, for nobody knows which of them are really dead.
 */
import type { BrakeLimits } from '../domain/segment.ts'
import type { HostName } from '../domain/service.ts'

export interface BrakeHost {
  host: HostName
  segment: string
}

export interface BrakeQuestion {
  /** Hosts whose recovery would begin. */
  candidates: readonly BrakeHost[]
  /** Hosts with an open incident, held ones included. A candidate may be among them; it counts once. */
  openHosts: readonly BrakeHost[]
  /** Number of hosts per segment. */
  fleet: ReadonlyMap<string, number>
  limits: { segments: ReadonlyMap<string, BrakeLimits>; cloud: BrakeLimits }
  /** Hosts that a named person let through. They still count. */
  overrides: ReadonlySet<HostName>
}

export interface BrakeAnswer extends BrakeHost {
  allowed: boolean
  /** For people, with the numbers. */
  reason: string
}

/** Hosts that may be down at once. One is always within the share: a segment of three must be recoverable. */
export function mostAtOnce(limits: BrakeLimits, fleet: number): number {
  // The small addend: 0.29 × 100 is 28.999…
  return Math.min(limits.maxHosts, Math.max(1, Math.floor(limits.maxShare * fleet + 1e-9)))
}

/** One answer per candidate, in their order. A segment without limits is held: nobody said that it may be recovered. */
export function brakeDecision(question: BrakeQuestion): BrakeAnswer[] {
  const down = new Map<HostName, string>()
  for (const { host, segment } of [...question.openHosts, ...question.candidates]) down.set(host, segment)
  const perSegment = new Map<string, number>()
  for (const segment of down.values()) perSegment.set(segment, (perSegment.get(segment) ?? 0) + 1)
  const all = [...question.fleet.values()].reduce((sum, hosts) => sum + hosts, 0)
  const cloudMost = mostAtOnce(question.limits.cloud, all)

  return question.candidates.map(({ host, segment }) => {
    const limits = question.limits.segments.get(segment)
    const fleet = question.fleet.get(segment) ?? 0
    const count = perSegment.get(segment) ?? 0
    const most = limits ? mostAtOnce(limits, fleet) : 0
    const numbers = `${count} of ${fleet} hosts of segment ${segment} are down, ${most} may be; ${down.size} of ${all} in the cloud, ${cloudMost} may be`
    const within = count <= most && down.size <= cloudMost
    if (within) return { host, segment, allowed: true, reason: numbers }
    if (question.overrides.has(host))
      return { host, segment, allowed: true, reason: `let through by a person: ${numbers}` }
    return { host, segment, allowed: false, reason: `held: ${numbers}` }
  })
}
