/**
 * The brake (law L8): what may be recovered when several hosts fail at once. Pure. Owns the counting: the cloud, each segment
 * and each failure domain is a scope with limits, and a host counts in every scope it is in.
 *
 * All or nothing: while a scope is over its limit none of its waiting hosts is let through, for nobody knows which of them
 * are really dead. When a scope opens again is decided in brake-trips.ts (docs/decisions/0006-brake.md).
 */
import type { CloudBrake, ScopeId, ScopeKind } from '../domain/brake.ts'
import type { BrakeLimits } from '../domain/segment.ts'
import type { HostName } from '../domain/service.ts'

export interface BrakeHost {
  host: HostName
  segment: string
  /** Values of the failure domain's key. More than one when aggregates disagree: it counts in each. */
  domains: readonly string[]
}

export interface BrakeFacts {
  /** The control plane is not believed, or was not read yet: nothing trips, and nothing opens. */
  blind: boolean
  /** Every host that Nova lists. */
  fleet: readonly BrakeHost[]
  /** Hosts with an open incident, and hosts that may be dead. `waits`: nothing was done to it yet, and something would be. */
  down: readonly (BrakeHost & { waits: boolean })[]
  /** Hosts proven dead by an incident of ours, open or over. `beganAt`: our monotonic clock, ms; `alive`: it beats again. */
  recovered: readonly (BrakeHost & { beganAt: number; alive: boolean })[]
}

export interface BrakeRules extends CloudBrake {
  segments: ReadonlyMap<string, BrakeLimits>
}

/** A scope as it was counted. */
export interface ScopeCount {
  scope: ScopeId
  kind: ScopeKind
  /** How a sentence calls it. */
  title: string
  fleet: number
  /** Every host that counts, each once, sorted. */
  hosts: HostName[]
  /** Of them, those that count only because their recovery began a short while ago. */
  cooling: number
  /** Of them, those whose recovery the brake can still hold. */
  waiting: number
  allowed: number
  /** More than the limit of what a site can lose. Only ever true of the cloud. */
  siteLost: boolean
  over: boolean
  /** The one domain that all of its hosts are in, when there are several; else null. */
  sharedDomain: string | null
}

/** Hosts that may be down at once. One is always within the share: a segment of three must be recoverable. */
export function mostAtOnce(limits: BrakeLimits, fleet: number): number {
  return Math.min(limits.maxHosts, Math.max(1, wholeShare(limits.maxShare, fleet)))
}

function wholeShare(share: number, fleet: number): number {
  // The small addend: 0.29 × 100 is 28.999…
  return Math.floor(share * fleet + 1e-9)
}

/** The scopes a host counts in, the cloud first. */
export function scopesOf({ segment, domains }: BrakeHost): ScopeId[] {
  return ['cloud', `segment:${segment}`, ...domains.map((domain) => `domain:${domain}`)]
}

interface Tally {
  fleet: number
  hosts: Map<HostName, BrakeHost>
  cooling: number
  waiting: number
}

/**
 * Counts every scope that has a host, and those in `trippedSince` (our clock, ms) in any case. In a tripped scope a recovered
 * host counts until it is alive again, however long that takes: a tripped brake is opened by hosts that come back or by a
 * person, never by time alone.
 */
export function countScopes(
  facts: BrakeFacts,
  rules: BrakeRules,
  trippedSince: ReadonlyMap<ScopeId, number>,
  now: number,
): Map<ScopeId, ScopeCount> {
  const tallies = new Map<ScopeId, Tally>()
  const tallyOf = (scope: ScopeId): Tally => {
    const known = tallies.get(scope)
    if (known !== undefined) return known
    const fresh: Tally = { fleet: 0, hosts: new Map(), cooling: 0, waiting: 0 }
    tallies.set(scope, fresh)
    return fresh
  }
  tallyOf('cloud')
  for (const scope of trippedSince.keys()) tallyOf(scope)
  for (const host of facts.fleet) for (const scope of scopesOf(host)) tallyOf(scope).fleet += 1
  for (const host of facts.down) {
    for (const scope of scopesOf(host)) {
      const tally = tallyOf(scope)
      if (!tally.hosts.has(host.host) && host.waits) tally.waiting += 1
      tally.hosts.set(host.host, host)
    }
  }
  for (const host of facts.recovered) {
    for (const scope of scopesOf(host)) {
      const tally = tallyOf(scope)
      if (tally.hosts.has(host.host) || !isCooling(host, rules.coolDownMs, trippedSince.get(scope), now)) continue
      tally.hosts.set(host.host, host)
      tally.cooling += 1
    }
  }
  return new Map([...tallies].map(([scope, tally]) => [scope, countOf(scope, tally, rules)]))
}

function isCooling(
  { beganAt, alive }: { beganAt: number; alive: boolean },
  coolDownMs: number,
  trippedSince: number | undefined,
  now: number,
): boolean {
  if (now - beganAt < coolDownMs) return true
  if (trippedSince === undefined || alive) return false
  return beganAt >= trippedSince || trippedSince - beganAt < coolDownMs
}

function countOf(scope: ScopeId, { fleet, hosts, cooling, waiting }: Tally, rules: BrakeRules): ScopeCount {
  const { kind, title, limits } = about(scope, rules)
  const down = hosts.size
  // One host is never a site: a small cloud must be recoverable.
  const siteMost = kind === 'cloud' ? Math.max(1, wholeShare(rules.siteLossShare, fleet)) : Infinity
  // Nobody said that a segment without limits may be recovered.
  const allowed = limits === null ? 0 : Math.min(mostAtOnce(limits, fleet), siteMost)
  return {
    scope,
    kind,
    title,
    fleet,
    hosts: [...hosts.keys()].sort(),
    cooling,
    waiting,
    allowed,
    siteLost: down > siteMost,
    over: down > allowed,
    sharedDomain: sharedDomain([...hosts.values()]),
  }
}

function about(scope: ScopeId, rules: BrakeRules): { kind: ScopeKind; title: string; limits: BrakeLimits | null } {
  if (scope === 'cloud') return { kind: 'cloud', title: 'the cloud', limits: rules }
  const colon = scope.indexOf(':')
  const name = scope.slice(colon + 1)
  if (scope.startsWith('segment:'))
    return { kind: 'segment', title: `segment ${name}`, limits: rules.segments.get(name) ?? null }
  return { kind: 'domain', title: `${rules.failureDomain?.key ?? 'domain'} ${name}`, limits: rules.failureDomain }
}

function sharedDomain(hosts: readonly BrakeHost[]): string | null {
  const [first, ...others] = hosts
  if (first === undefined || others.length === 0) return null
  return first.domains.find((domain) => others.every(({ domains }) => domains.includes(domain))) ?? null
}
