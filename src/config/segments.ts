/** Which segment a host belongs to. Pure: the same host, zone and aggregates always give the same segment. */
import type { ReturnRules } from '../domain/host-return.ts'
import type { RestartRules } from '../domain/instance-failure.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import { implicitSegment, type InstancePolicy, type Segment, type SegmentOf } from '../domain/segment.ts'
import type { SegmentRule, SegmentSettings } from './schema.ts'

export interface SegmentMatch {
  hosts: string[]
  zones: string[]
  aggregates: string[]
}

export interface ConfiguredSegment {
  match: SegmentMatch
  segment: Segment
}

export function resolveSettings(settings: SegmentSettings, fallback: Omit<Segment, 'name'>): Omit<Segment, 'name'> {
  return {
    storage: settings.storage ?? fallback.storage,
    fencing: settings.fencing ?? fallback.fencing,
    probes: settings.probes ?? fallback.probes,
    onDeclaredDown: settings.onDeclaredDown ?? fallback.onDeclaredDown,
    onDisabledDown: settings.onDisabledDown ?? fallback.onDisabledDown,
    onServiceDown: settings.onServiceDown ?? fallback.onServiceDown,
    fencingLimitMs: settings.fencingTimeout ?? fallback.fencingLimitMs,
    policy: { ...fallback.policy, ...omitUndefined(settings.policy) } satisfies InstancePolicy,
    brake: { ...fallback.brake, ...omitUndefined(settings.brake) },
    priority: settings.priority ?? fallback.priority,
    maxParallelPerHost: settings.maxParallelPerHost ?? fallback.maxParallelPerHost,
    return: returnRules(settings.return, fallback.return),
    restart: restartRules(settings.restart, fallback.restart),
  }
}

function returnRules(settings: SegmentSettings['return'], fallback: ReturnRules): ReturnRules {
  return {
    mode: settings?.mode ?? fallback.mode,
    healthyMs: settings?.healthy ?? fallback.healthyMs,
    maxReturns: settings?.maxReturns ?? fallback.maxReturns,
    withinMs: settings?.within ?? fallback.withinMs,
    startStopped: settings?.startStopped ?? fallback.startStopped,
  }
}

function restartRules(settings: SegmentSettings['restart'], fallback: RestartRules): RestartRules {
  return {
    unasked: settings?.unasked ?? fallback.unasked,
    maxRestarts: settings?.maxRestarts ?? fallback.maxRestarts,
    withinMs: settings?.within ?? fallback.withinMs,
    maxPerHost: settings?.maxPerHost ?? fallback.maxPerHost,
  }
}

export function resolveSegment(rule: SegmentRule, defaults: Omit<Segment, 'name'>): ConfiguredSegment {
  const { hosts = [], zones = [], aggregates = [] } = rule.match
  return { match: { hosts, zones, aggregates }, segment: { name: rule.name, ...resolveSettings(rule, defaults) } }
}

/** The first segment that fits; else `default:ZONE` (`default` when Nova names no zone) with the settings of `defaults`. */
export function segmentOf(config: { segments: ConfiguredSegment[]; defaults: Omit<Segment, 'name'> }): SegmentOf {
  const rules = config.segments.map(({ match, segment }) => ({ match, segment, hosts: match.hosts.map(globPattern) }))
  const leftOver = new Map<string | null, Segment>()
  return (host, zone, aggregates) => {
    const rule = rules.find(
      ({ match, hosts }) =>
        (hosts.length === 0 || hosts.some((pattern) => pattern.test(host))) &&
        (match.zones.length === 0 || (zone !== null && match.zones.includes(zone))) &&
        (match.aggregates.length === 0 || match.aggregates.some((name) => aggregates.includes(name))),
    )
    if (rule !== undefined) return rule.segment
    const known = leftOver.get(zone)
    if (known !== undefined) return known
    const segment = { name: zone === null ? implicitSegment : `${implicitSegment}:${zone}`, ...config.defaults }
    leftOver.set(zone, segment)
    return segment
  }
}

/** Whether `match` takes a host of this name; its zones and aggregates may still say no. */
export function matchesHost({ hosts }: SegmentMatch, host: string): boolean {
  return hosts.length === 0 || hosts.some((glob) => globPattern(glob).test(host))
}

/** Only * and ? are special: host names contain dots and dashes that must stay themselves. */
function globPattern(glob: string): RegExp {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`)
}
