/** What is rehearsed on an operator's own configuration: one host of each segment dies, fencing fails, too many hosts die at once. Pure data. */
import type { Config } from '../config/index.ts'
import { isImplicit } from '../domain/segment.ts'
import { mostAtOnce } from '../monitor/brake.ts'
import { nameOf, usualZone, type OwnCloud, type OwnHost } from './own-cloud.ts'
import type { Setting } from './setting.ts'
import { parseScenario, type Scenario } from './scenario.ts'
import { stringify } from 'yaml'

type Step = Record<string, unknown>

/** Longest time until the incident is there, and until it is over or waits for a person. Shorter: slow rules seem to do nothing. */
const foundWithin = '30m'
const settledWithin = '3h'

/** Each host has been seen to beat, and is believed to live. */
const watchedFirst = '2m'

/** In the order in which they are played. */
export function drillsOf(config: Config, { hosts }: OwnCloud): Scenario[] {
  const drills = [...oneHostOfEach(hosts), ...fencingFails(hosts), ...tooMany(config, hosts)]
  return drills.map((drill) => scenario(config, hosts, drill))
}

interface Drill {
  title: string
  dying: readonly OwnHost[]
  /** What happens before they lose their power. */
  before: Step[]
}

function oneHostOfEach(hosts: readonly OwnHost[]): Drill[] {
  const first = new Map<string, OwnHost>()
  for (const host of hosts) if (!first.has(host.segment.name)) first.set(host.segment.name, host)
  return [...first.values()].map((host) => ({
    title: `${host.name} ${belonging(host.segment.name, 'is')} loses its power`,
    dying: [host],
    before: [],
  }))
}

function fencingFails(hosts: readonly OwnHost[]): Drill[] {
  const host = hosts.find(({ segment }) => segment.fencing.length > 0)
  if (host === undefined) return []
  const before = [{ bmc: { host: host.name, reachable: false } }, { program: { host: host.name, does: 'fails' } }]
  return [{ title: `${host.name} loses its power, and no fencing method of it answers`, dying: [host], before }]
}

/** One more than the brake lets through: in a failure domain where there are any, else in the largest segment. */
function tooMany({ brake }: Config, hosts: readonly OwnHost[]): Drill[] {
  const { failureDomain } = brake
  const together = failureDomain === null ? largestSegment(hosts) : hosts.filter(({ domain }) => domain === '1')
  const limits = failureDomain ?? together[0]?.segment.brake
  if (limits === undefined) return []
  const dying = together.slice(0, mostAtOnce(limits, together.length) + 1)
  if (dying.length < 2 || dying.length === hosts.length) return []
  const whose = failureDomain === null ? belonging(dying[0]?.segment.name ?? '', 'are') : `of one ${failureDomain.key}`
  return [{ title: `${dying.length} hosts ${whose} lose their power at once`, dying, before: [] }]
}

function belonging(segment: string, verb: 'is' | 'are'): string {
  return isImplicit(segment) ? `that ${verb} in no segment` : `of ${nameOf(segment)}`
}

function largestSegment(hosts: readonly OwnHost[]): OwnHost[] {
  const size = (host: OwnHost): number => membersOf(host.segment.name, hosts).length
  const [host] = hosts.toSorted((a, b) => size(b) - size(a))
  return host === undefined ? [] : membersOf(host.segment.name, hosts)
}

function membersOf(segment: string, hosts: readonly OwnHost[]): OwnHost[] {
  return hosts.filter((host) => host.segment.name === segment)
}

function scenario(config: Config, hosts: readonly OwnHost[], { title, dying, before }: Drill): Scenario {
  const names = dying.map(({ name }) => name)
  const script: Step[] = [
    ...before.map((step, at) => (at === 0 ? { at: watchedFirst, ...step } : step)),
    { ...(before.length === 0 && { at: watchedFirst }), crash: names },
    ...names.map((name) => ({ when: { incident: name }, within: foundWithin })),
    { when: { settled: true }, within: settledWithin },
  ]
  const written = {
    title,
    cloud: cloudOf(config, hosts),
    instances: dying.flatMap((host) => guestsOf(config, host)),
    script,
  }
  return parseScenario(stringify(written), title, title)
}

/** What Nova knows of the hosts: their zones, and the aggregates that segments and failure domains ask for. */
export function cloudOf({ brake }: Config, hosts: readonly OwnHost[]): Pick<Setting['cloud'], 'hosts' | 'aggregates'> {
  const grouped = (key: (host: OwnHost) => readonly string[]): [string, string[]][] => {
    const members = new Map<string, string[]>()
    for (const host of hosts) for (const name of key(host)) members.set(name, [...(members.get(name) ?? []), host.name])
    return [...members]
  }
  const domainKey = brake.failureDomain?.key ?? ''
  const zones = grouped(({ zone }) => (zone === null || zone === usualZone ? [] : [zone]))
  return {
    hosts: hosts.map(({ name }) => name),
    aggregates: [
      ...zones.map(([zone, members]) => ({ name: `zone ${zone}`, hosts: members, metadata: {}, zone })),
      ...grouped(({ aggregates }) => aggregates).map(([name, members]) => ({
        name,
        hosts: members,
        metadata: {},
        zone: undefined,
      })),
      ...grouped(({ domain }) => (domain === null ? [] : [domain])).map(([domain, members]) => ({
        name: `${domainKey} ${domain}`,
        hosts: members,
        metadata: { [domainKey]: domain },
        zone: undefined,
      })),
    ],
  }
}

/** One of each kind that segments and owners have rules for. */
function guestsOf({ ownerPolicy }: Config, { name: host, segment }: OwnHost): Record<string, unknown>[] {
  const localDisk = segment.storage === 'local'
  return [
    { name: `${host}-running`, host },
    { name: `${host}-volume`, host, volume_backed: true },
    { name: `${host}-stopped`, host, state: 'stopped' },
    { name: `${host}-paused`, host, state: 'paused', ...(localDisk && { volume_backed: true }) },
    { name: `${host}-error`, host, state: 'error', ...(localDisk && { volume_backed: true }) },
    { name: `${host}-leave`, host, volume_backed: true, metadata: { [ownerPolicy.key]: 'leave' } },
  ]
}
