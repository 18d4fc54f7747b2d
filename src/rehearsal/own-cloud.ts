/**
 * The hosts of a simulated cloud that fits a configuration: those it names, and made-up ones for segments of which it names none.
 * Pure. A configuration does not say in which zone or rack a host is; what is assumed instead is said.
 */
import { candidates, namedHosts, segmentOf, type Config } from '../config/index.ts'
import { isImplicit, type Segment } from '../domain/segment.ts'

export interface OwnHost {
  name: string
  segment: Segment
  zone: string | null
  aggregates: string[]
  /** Of the failure domain's key; null: the configuration has no failure domains. */
  domain: string | null
  madeUp: boolean
}

export interface OwnCloud {
  hosts: OwnHost[]
  /** What the configuration does not say, one sentence each. */
  assumptions: string[]
}

/** Hosts named in one sentence. More would not be read. */
const mostNamed = 4

/** As few: one of them dies, and the others have to take its instances and stay within the brake's share. */
const fewestHosts = 4

/** The zone of hosts that are in none, by Nova's default. */
export const usualZone = 'nova'

type Placed = Omit<OwnHost, 'domain'>

export function ownCloud(config: Config): OwnCloud {
  const placed: Placed[] = []
  for (const name of namedHosts(config)) placed.push(place(config, name, placed))
  for (const [index, { segment }] of config.segments.entries())
    if (!placed.some((host) => host.segment.name === segment.name)) placed.push(...madeUp(config, index))
  if (placed.length === 0)
    placed.push(...numbered('host-*', config.defaults.brake.maxHosts).map((name) => inNone(config, name, true)))
  if (placed.length === 1) placed.push(inNone(config, 'spare-1', true))
  const hosts = inDomains(config, placed)
  return {
    hosts,
    assumptions: [...aboutZones(hosts), ...aboutMadeUp(config, hosts), ...aboutDomains(config, hosts)],
  }
}

/** Of segments that only its zone or its aggregates decide between, the one with the fewest hosts so far. */
function place(config: Config, name: string, placed: readonly Placed[]): Placed {
  const possible = candidates(config, name).flatMap(({ index }) => (index === null ? [] : [index]))
  const size = (index: number): number =>
    placed.filter(({ segment }) => segment.name === config.segments[index]?.segment.name).length
  const [index] = possible.toSorted((a, b) => size(a) - size(b))
  return index === undefined ? inNone(config, name, false) : inSegment(config, index, name, false)
}

function inSegment(config: Config, index: number, name: string, isMadeUp: boolean): Placed {
  const { zones = [], aggregates: names = [] } = config.segments[index]?.match ?? {}
  const [zone = null] = zones
  const aggregates = names.slice(0, 1)
  return { name, zone, aggregates, madeUp: isMadeUp, segment: segmentOf(config)(name, zone ?? usualZone, aggregates) }
}

function inNone(config: Config, name: string, isMadeUp: boolean): Placed {
  return { name, zone: null, aggregates: [], madeUp: isMadeUp, segment: segmentOf(config)(name, usualZone, []) }
}

/** None where every such host falls to an earlier segment. */
function madeUp(config: Config, index: number): Placed[] {
  const { match, segment } = config.segments[index] ?? {}
  if (match === undefined || segment === undefined) return []
  const pattern = match.hosts[0] ?? `${segment.name.replaceAll(/[^\w.-]/g, '-')}-*`
  return numbered(pattern, segment.brake.maxHosts)
    .map((name) => inSegment(config, index, name, true))
    .filter((host) => host.segment.name === segment.name)
}

/** Names that fit the pattern, enough for the brake to trip and for someone to be left. */
function numbered(pattern: string, brakeHosts: number): string[] {
  const count = Math.max(fewestHosts, brakeHosts + 2)
  return Array.from({ length: count }, (_, n) => {
    const number = String(n + 1)
    // Only the first wildcard counts; the others are the same for all.
    return pattern.replace(/[*?]/, number).replaceAll('*', '').replaceAll('?', '0')
  })
}

/** Neighbours share a rack, one more than its limit lets through, and one that is left. */
function inDomains({ brake }: Config, placed: readonly Placed[]): OwnHost[] {
  const { failureDomain } = brake
  if (failureDomain === null) return placed.map((host) => ({ ...host, domain: null }))
  const size = failureDomain.maxHosts + 2
  return placed.map((host, at) => ({ ...host, domain: String(Math.floor(at / size) + 1) }))
}

function aboutZones(hosts: readonly OwnHost[]): string[] {
  const guessed = hosts.filter(
    ({ zone, aggregates, madeUp: isMadeUp }) => !isMadeUp && (zone !== null || aggregates.length > 0),
  )
  return bySegment(guessed).map(
    ([segment, names]) => `In which zone and aggregates ${list(names)} are: here those of ${nameOf(segment)}`,
  )
}

function aboutMadeUp(config: Config, hosts: readonly OwnHost[]): string[] {
  const empty = config.segments.filter(({ segment }) => !hosts.some((host) => host.segment.name === segment.name))
  return [
    ...bySegment(hosts.filter((host) => host.madeUp)).map(
      ([segment, names]) => `Which hosts are in ${nameOf(segment)}: here ${list(names)}, made up`,
    ),
    ...empty.map(
      ({ segment }) => `Which hosts are in ${nameOf(segment.name)}: each falls to an earlier segment, so none is`,
    ),
  ]
}

function aboutDomains({ brake }: Config, hosts: readonly OwnHost[]): string[] {
  if (brake.failureDomain === null) return []
  const together = hosts.filter(({ domain }) => domain === '1').map(({ name }) => name)
  return [`Which hosts share a ${brake.failureDomain.key}: here ${list(together)}, and so on in their order`]
}

function bySegment(hosts: readonly OwnHost[]): [string, string[]][] {
  const names = new Map<string, string[]>()
  for (const { segment, name } of hosts) names.set(segment.name, [...(names.get(segment.name) ?? []), name])
  return [...names]
}

export function nameOf(segment: string): string {
  return isImplicit(segment) ? 'no segment' : `segment ${segment}`
}

export function list(names: readonly string[]): string {
  const more = names.length - mostNamed
  return more > 1 ? `${names.slice(0, mostNamed).join(', ')} and ${more} more` : names.join(', ')
}
