/**
 * When a scope of the brake trips and when it opens again. Pure: the trips so far, the facts, now -> the trips from now on.
 *
 * A scope trips when it is over its limit and a recovery would begin in it. It opens only when it is within its limits again
 * AND the same hosts have been down for the steady time: after a power loss hosts come back one by one, and one that is
 * still booting must not be fenced because enough of the others are back already. A person's override lets one host through
 * and opens nothing.
 */
import type { ScopeId } from '../domain/brake.ts'
import type { HostName } from '../domain/service.ts'
import { countScopes, scopesOf, type BrakeFacts, type BrakeHost, type BrakeRules, type ScopeCount } from './brake.ts'
import { heldSentence, openSentence, openedSentence } from './brake-sentences.ts'

/** Times are of our monotonic clock, ms. */
export interface Trip {
  since: number
  /** When its down hosts, or how many of them wait, last changed or could last not be seen. */
  changedAt: number
  hosts: readonly HostName[]
  waiting: number
}

export type Trips = ReadonlyMap<ScopeId, Trip>

/** A scope with its count, whether it holds, and the sentence that says so. */
export interface ScopeReading extends ScopeCount {
  trip: Trip | null
  message: string
}

export interface BrakeReading {
  /** The trips from now on. */
  trips: Trips
  scopes: ReadonlyMap<ScopeId, ScopeReading>
  /** What began and what ended with this reading. */
  tripped: ScopeReading[]
  released: (ScopeReading & { trippedForMs: number })[]
}

export function readBrake(previous: Trips, facts: BrakeFacts, rules: BrakeRules, now: number): BrakeReading {
  const since = new Map([...previous].map(([scope, trip]) => [scope, trip.since]))
  const trips = new Map<ScopeId, Trip>()
  const scopes = new Map<ScopeId, ScopeReading>()
  const tripped: ScopeReading[] = []
  const released: BrakeReading['released'] = []
  for (const count of countScopes(facts, rules, since, now).values()) {
    const before = previous.get(count.scope) ?? null
    const trip = facts.blind ? stale(before, now) : nextTrip(before, count, rules.steadyMs, now)
    const message = trip !== null || count.over ? heldSentence(count, rules) : openSentence(count)
    const reading = { ...count, trip, message }
    scopes.set(count.scope, reading)
    if (trip !== null) trips.set(count.scope, trip)
    if (trip !== null && before === null) tripped.push(reading)
    if (trip === null && before !== null)
      released.push({ ...reading, message: openedSentence(count, rules), trippedForMs: now - before.since })
  }
  return { trips, scopes, tripped, released }
}

/** The scope's trip from now on, or null: it is open. */
function nextTrip(
  before: Trip | null,
  { over, waiting, hosts }: ScopeCount,
  steadyMs: number,
  now: number,
): Trip | null {
  if (before === null) return over && waiting > 0 ? { since: now, changedAt: now, hosts, waiting } : null
  const same = before.waiting === waiting && sameHosts(before.hosts, hosts)
  const trip = same ? before : { ...before, changedAt: now, hosts, waiting }
  // Over its limit it stays shut as long as it holds anybody; with nobody to hold there is nothing to open for.
  const mayOpen = !over || waiting === 0
  return mayOpen && now - trip.changedAt >= steadyMs ? null : trip
}

/** The steady time begins again: what came and went while nobody could look is not known. */
function stale(trip: Trip | null, now: number): Trip | null {
  return trip === null ? null : { ...trip, changedAt: now }
}

/** The scopes that hold a host's recovery, widest first; none: it may begin. */
export function holding(host: BrakeHost, { scopes }: Pick<BrakeReading, 'scopes'>): ScopeReading[] {
  return scopesOf(host).flatMap((scope) => {
    const reading = scopes.get(scope)
    return reading !== undefined && (reading.over || reading.trip !== null) ? [reading] : []
  })
}

/**
 * Of `hosts`, those that would be let through if all of them were down now: in every scope of theirs there is room for all that are in
 * it, and none is tripped. While nothing is believed it is none.
 */
export function roomFor(
  hosts: readonly BrakeHost[],
  facts: BrakeFacts,
  rules: BrakeRules,
  trips: Trips,
  now: number,
): HostName[] {
  if (facts.blind) return []
  const since = new Map([...trips].map(([scope, trip]) => [scope, trip.since]))
  const down = [...facts.down, ...hosts.map((host) => ({ ...host, waits: true }))]
  const counts = countScopes({ ...facts, down }, rules, since, now)
  const hasRoom = (scope: ScopeId): boolean => !trips.has(scope) && counts.get(scope)?.over === false
  return hosts.filter((host) => scopesOf(host).every(hasRoom)).map(({ host }) => host)
}

function sameHosts(some: readonly HostName[], others: readonly HostName[]): boolean {
  return some.length === others.length && some.every((host, index) => host === others[index])
}
