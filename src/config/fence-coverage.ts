/**
 * Which hosts no fencing method of theirs can reach, because they lack a variable that it needs. Pure: says what the
 * configuration alone shows. A host that cannot be fenced is not recovered, and nobody would see that before it dies.
 */
import type { HostName } from '../domain/service.ts'
import { variablesIn } from '../domain/template.ts'
import type { Config, FencingConfig } from './config.ts'
import { matchesHost } from './segments.ts'

/** Hosts named in one warning. More would not be read. */
const mostNamed = 5

type Parts = Pick<Config, 'hosts' | 'fencing' | 'segments' | 'defaults'>

/** A segment that a host may be in. */
export interface Candidate {
  /** Its place in `segments`; null: `defaults`. */
  index: number | null
  name: string
  fencing: readonly string[]
  probes: readonly string[]
}

/** What a host would have to have for a method. */
export interface Gap {
  method: string
  variables: string[]
}

/** Hosts of one segment that lack the same. */
export interface Unfenceable {
  hosts: HostName[]
  segment: Candidate
  /** False: they are of that segment only if their zone or aggregates say so. */
  sure: boolean
  gaps: Gap[]
}

/** Every host that the configuration names: under `hosts`, or as itself in a segment. */
export function namedHosts({ hosts, segments }: Pick<Parts, 'hosts' | 'segments'>): HostName[] {
  const exact = segments.flatMap(({ match }) => match.hosts.filter((name) => !/[*?]/.test(name)))
  return [...new Set([...Object.keys(hosts), ...exact])]
}

/** The segments that a host may be in, as far as its name says; one: it is in that, whatever its zone and aggregates. */
export function candidates({ segments, defaults }: Pick<Parts, 'segments' | 'defaults'>, host: HostName): Candidate[] {
  const found: Candidate[] = []
  for (const [index, { match, segment }] of segments.entries()) {
    if (!matchesHost(match, host)) continue
    found.push({ index, name: segment.name, fencing: segment.fencing, probes: segment.probes })
    if (match.zones.length === 0 && match.aggregates.length === 0) return found
  }
  return [...found, { index: null, name: 'default', fencing: defaults.fencing, probes: defaults.probes }]
}

/** Variables that each of these methods needs and `host` does not have; methods that lack nothing are left out. */
export function gapsOf(
  { hosts, fencing }: Pick<Parts, 'hosts' | 'fencing'>,
  host: HostName,
  methods: readonly string[],
): Gap[] {
  const own = Object.hasOwn(hosts, host) ? Object.keys(hosts[host] ?? {}) : []
  const known = new Set(['host', ...own])
  return methods.flatMap((name) => {
    const method = fencing[name]
    if (method === undefined) return []
    const variables = [...new Set(templates(method).flatMap(variablesIn))].filter((variable) => !known.has(variable))
    return variables.length === 0 ? [] : [{ method: name, variables }]
  })
}

/**
 * Hosts that none of the segments they may be in could fence, though one of those names methods. Where a zone or an aggregate
 * decides, a host that one of them can fence is taken to be of that one.
 */
export function unfenceableHosts(config: Parts): Unfenceable[] {
  const found = new Map<string, Unfenceable>()
  for (const host of namedHosts(config)) {
    const possible = candidates(config, host)
    const fencing = possible.filter((candidate) => candidate.fencing.length > 0)
    const [segment] = fencing
    if (segment === undefined) continue
    if (fencing.some((candidate) => gapsOf(config, host, candidate.fencing).length < candidate.fencing.length)) continue
    const gaps = gapsOf(config, host, segment.fencing)
    const key = JSON.stringify([segment.index, possible.length, gaps])
    const alike = found.get(key)
    if (alike === undefined) found.set(key, { hosts: [host], segment, sure: possible.length === 1, gaps })
    else alike.hosts.push(host)
  }
  return [...found.values()]
}

/** "bmc needs {bmc}, ipmi needs {ip} and {port}" */
export function gapText(gaps: readonly Gap[]): string {
  return gaps
    .map(({ method, variables }) => `${method} needs ${variables.map((name) => `{${name}}`).join(' and ')}`)
    .join(', ')
}

/** What is wrong with them, in one sentence. */
export function unfenceableText({ hosts, segment, sure, gaps }: Unfenceable): string {
  const more = hosts.length - mostNamed
  const names = more > 0 ? `${hosts.slice(0, mostNamed).join(', ')} and ${more} more` : hosts.join(', ')
  const where = segment.index === null ? 'no segment' : `segment ${segment.name}`
  const lack = `${hosts.length === 1 ? 'lacks' : 'lack'} what its fencing needs (${gapText(gaps)})`
  return `${names}${sure ? ` of ${where}` : `, if of ${where},`} ${lack}: ${unfenceableMeans}`
}

/** What follows for such a host. */
export const unfenceableMeans = "cannot be fenced, so nothing there is recovered but on a person's word"

/** What to do about it. */
export function unfenceableAdvice(host: HostName, gaps: readonly Gap[]): string {
  const [first] = gaps
  const wanted = first === undefined ? 'what is missing' : first.variables.join(' and ')
  return `Give ${wanted} under hosts.${host}; until then: lifeboat recover ${host} --by NAME --proof "how you know"`
}

/** Texts of a method that take the host's variables. */
function templates(method: FencingConfig): string[] {
  switch (method.kind) {
    case 'redfish':
      return [method.system]
    case 'fence-agent':
      return Object.values(method.options)
    case 'command':
      return [...method.fence, ...method.verify]
  }
}
