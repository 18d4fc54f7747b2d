/**
 * Whether a host, and the cloud, could fail safely now. Pure: what is known -> readiness with its reasons. What is read for it is in
 * readiness-reads.ts. Room on other hosts is not in it: only Placement knows that.
 */
import type { BrakeScope, ScopeId } from '../domain/brake.ts'
import type { IncidentId } from '../domain/entry.ts'
import type { ReturnState } from '../domain/host-return.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import type { HostPlan } from '../domain/plan.ts'
import {
  gapCodes,
  type CloudReadiness,
  type FenceReading,
  type FencingState,
  type HostReadiness,
  type LeftGroup,
  type PlanCounts,
  type SegmentReadiness,
} from '../domain/readiness.ts'
import type { Segment } from '../domain/segment.ts'
import type { Verdict, VerdictKind } from '../domain/verdict.ts'
import type { PastTimes } from './past-times.ts'
import { cloudSentences } from './readiness-sentences.ts'

/** What was read of a host beside everything else, and what kept the last try from reading it. */
export interface Seen<T> {
  value: T | null
  failure: { message: string; at: string } | null
}

/** What holds for the cloud as a whole. */
export interface CloudFacts {
  at: string
  mode: 'observe' | 'armed'
  /** Why verdicts are frozen. */
  frozen: string | null
  /** The pause or maintenance of the whole cloud, in words. */
  ordered: string | null
  scopes: ReadonlyMap<ScopeId, BrakeScope>
}

export interface HostFacts {
  verdict: Verdict
  segment: Segment
  incident: IncidentId | null
  /** How far its return is, while something of ours is still set on it. */
  returning?: ReturnState | null
  /** The scopes of the brake that the host counts in. */
  scopes: readonly ScopeId[]
  /** The pause or maintenance that takes the host in. */
  ordered: { hold: 'PAUSED' | 'MAINTENANCE'; message: string } | null
  plan: Seen<PlanCounts>
  fencing: Seen<FenceReading[]>
  times: PastTimes | null
}

/** Instances named in a group. More are in the plan. */
const mostNamed = 5

/** @param storage of the host's segment. @param at when Nova was read, ISO */
export function planCounts({ instances }: HostPlan, storage: Segment['storage'], at: string): PlanCounts {
  const groups = new Map<string, LeftGroup>()
  let onLocalDisks = 0
  for (const { decision, reason, message, name, original } of instances) {
    if (decision === 'recover') continue
    // A root disk without an image is a volume.
    if (storage === 'local' && original.instance.imageId !== null) onLocalDisks += 1
    const key = `${decision} ${reason}`
    const group = groups.get(key) ?? { decision, reason, message, instances: 0, names: [] }
    group.instances += 1
    if (group.names.length < mostNamed) group.names.push(name)
    groups.set(key, group)
  }
  const left = [...groups.values()].toSorted((a, b) => b.instances - a.instances)
  const back = instances.length - left.reduce((sum, group) => sum + group.instances, 0)
  return { at, instances: instances.length, back, left, onLocalDisks }
}

export function hostReadiness(facts: HostFacts, cloud: CloudFacts): HostReadiness {
  const { verdict, segment, incident, plan, times } = facts
  const methods = fenceReadings(segment, facts.fencing)
  const fencing = { state: fencingState(methods), methods }
  return {
    host: verdict.host,
    segment: segment.name,
    verdict: verdict.kind,
    reason: verdict.reason,
    ...omitUndefined({ returning: facts.returning }),
    incident,
    plan: plan.value,
    fencing,
    probes: segment.probes.map((probe) => ({
      probe,
      last: verdict.evidence.probes.find((reading) => reading.probe === probe) ?? null,
    })),
    holds: holdsOf(facts, cloud),
    estimateMs:
      times === null || plan.value === null ? null : Math.round(times.provenMs + plan.value.back * times.instanceMs),
    missing: gapsOf(facts, methods),
  }
}

/** A reload may have changed the methods since the reading. */
function fenceReadings({ fencing }: Segment, { value }: Seen<FenceReading[]>): FenceReading[] {
  return fencing.map(
    (method) =>
      value?.find((reading) => reading.method === method) ?? { method, power: null, detail: 'not read yet', at: null },
  )
}

function fencingState(methods: readonly FenceReading[]): FencingState {
  if (methods.some(({ power }) => power === 'on' || power === 'off')) return 'answers'
  if (methods.some(({ at }) => at === null)) return 'unread'
  // A method that was looked at and read nothing is not configured for the host.
  return methods.some(({ power }) => power === 'unknown') ? 'silent' : 'none'
}

function holdsOf(
  { ordered, scopes, verdict }: HostFacts,
  { frozen, scopes: brake }: CloudFacts,
): HostReadiness['holds'] {
  const holds: HostReadiness['holds'] = ordered === null ? [] : [{ code: ordered.hold, message: ordered.message }]
  if (frozen !== null) holds.push({ code: 'FROZEN', message: frozen })
  for (const id of scopes) {
    const scope = brake.get(id)
    if (scope !== undefined && roomIn(scope) === 0 && !scope.hosts.includes(verdict.host))
      holds.push({ code: 'BRAKE', message: scope.message })
  }
  return holds
}

/** Hosts of the scope that may fail before its brake holds them. */
function roomIn({ trippedSince, allowed, down }: BrakeScope): number {
  return trippedSince === null ? Math.max(0, allowed - down) : 0
}

function gapsOf({ segment, plan, verdict }: HostFacts, methods: readonly FenceReading[]): HostReadiness['missing'] {
  const missing: HostReadiness['missing'] = []
  const lacks = (code: HostReadiness['missing'][number]['code'], message: string = gapCodes[code]): void =>
    void missing.push({ code, message })
  const state = fencingState(methods)
  if (state === 'none') lacks('NO_FENCING')
  if (state === 'unread') lacks('FENCING_UNREAD')
  for (const { method, power, detail, at } of methods) {
    if (power === 'unknown' && at !== null) lacks('FENCING_SILENT', `${method} did not answer at ${at}: ${detail}`)
    if (power === 'off' && verdict.kind === 'healthy')
      lacks(
        'FENCING_READS_OFF',
        `${method} read off at ${at}, and the host beats: if it has not booted since, ${method} reads another machine, whose "off" would prove this host dead`,
      )
  }
  if (segment.probes.length === 0) lacks('NO_PROBES')
  if (plan.failure !== null)
    lacks('PLAN_FAILED', `Its instances could not be read at ${plan.failure.at}: ${plan.failure.message}`)
  else if (plan.value === null) lacks('NO_PLAN')
  return missing
}

/** Verdicts of hosts that can still fail. */
const inService: ReadonlySet<VerdictKind> = new Set(['healthy', 'suspect', 'unknown'])

/** @param scopesOf the scopes of the brake that a host counts in */
export function cloudReadiness(
  hosts: readonly HostReadiness[],
  scopesOf: (host: HostReadiness) => readonly ScopeId[],
  cloud: CloudFacts,
): CloudReadiness {
  const able = new Map<ScopeId, number>()
  let ready = 0
  for (const host of hosts) {
    if (!isReady(host)) continue
    ready += 1
    for (const scope of scopesOf(host)) able.set(scope, (able.get(scope) ?? 0) + 1)
  }
  // Failures fall where they like: a scope limits them when more of its hosts could fail than it has room for.
  let tightest: BrakeScope | null = null
  for (const scope of cloud.scopes.values())
    if ((able.get(scope.scope) ?? 0) > roomIn(scope) && (tightest === null || roomIn(scope) < roomIn(tightest)))
      tightest = scope
  const failures = cloud.frozen !== null || cloud.ordered !== null ? 0 : tightest === null ? ready : roomIn(tightest)
  const segments = segmentsOf(hosts)
  return {
    at: cloud.at,
    sentences: cloudSentences({ hosts, segments, cloud, ready, failures, tightest }),
    failures,
    limit:
      tightest === null
        ? null
        : { scope: tightest.scope, title: tightest.title, down: tightest.down, allowed: tightest.allowed },
    segments,
  }
}

/** Whether it is in service, and nothing but the brake would keep its recovery from beginning by itself. */
function isReady({ verdict, incident, fencing, holds }: HostReadiness): boolean {
  if (!inService.has(verdict) || incident !== null) return false
  return isFenceable(fencing.state) && holds.every(({ code }) => code === 'BRAKE')
}

function isFenceable(state: FencingState): boolean {
  return state === 'answers' || state === 'unread'
}

function segmentsOf(hosts: readonly HostReadiness[]): SegmentReadiness[] {
  const segments = new Map<string, SegmentReadiness>()
  for (const { segment: name, fencing, plan } of hosts) {
    const segment = segments.get(name) ?? { name, hosts: 0, fenceable: 0, onLocalDisks: 0 }
    segment.hosts += 1
    if (isFenceable(fencing.state)) segment.fenceable += 1
    segment.onLocalDisks += plan?.onLocalDisks ?? 0
    segments.set(name, segment)
  }
  return [...segments.values()].toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
}
