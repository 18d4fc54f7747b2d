/**
 * What the owners of instances are told. Pure. A project hears of its own instances only: never of the host (its name, its
 * incident, the reasons of the engine, which may name it), and never of other projects.
 */
import { afterReturnRule } from '../domain/after-return.ts'
import { inDoubtEarlier } from '../domain/earlier-recovery.ts'
import type { Entry, EntryData } from '../domain/entry.ts'
import type { Incident, InstanceRecovery } from '../domain/incident.ts'
import { holdsForAPerson, holdsWith } from '../domain/incident-phases.ts'
import { powerState, type Instance } from '../domain/instance.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import type { Notice, NoticedInstance, NoticedState, NoticeSeverity } from '../domain/notice.ts'
import { referenceOf } from './identity.ts'
import type { Draft } from './rules.ts'

/** Longer names are cut: a tenant chooses them, and the journal keeps them for good. */
const longestName = 100

/**
 * Whether the entry is the moment to tell owners: the verdict that the host is dead; else, for a death that another verdict
 * or a person's word stands for, the opening of its incident.
 */
export function affectsTenants(entry: Entry): boolean {
  if (entry.kind === 'verdict.changed') return entry.data.kind === 'host-down'
  return entry.kind === 'incident.opened' && entry.data.verdict?.kind !== 'host-down'
}

/** One draft for each project that has instances on the host. */
export function affectedDrafts(
  entry: Entry,
  instances: readonly Instance[],
  { mode, segment, maxInstances }: { mode: Draft['mode']; segment: string; maxInstances: number },
): Draft[] {
  return [...byProject(instances, ({ projectId }) => projectId)].map(([project, own]) => {
    const noticed = own.map(noticedHere)
    return tenantDraft(entry, 'instances-affected', {
      ...{ mode, segment, project, maxInstances },
      code: 'HOST_DEAD',
      severity: worst(noticed) === 'info' ? 'warning' : 'critical',
      reference: referenceOf(entry.hash, project),
      instances: noticed,
    })
  })
}

/**
 * One draft for each project: of those that had instances in the incident, and of those that were told that some of theirs
 * were affected (the host may have come back before anything was surveyed).
 */
export function endedDrafts(
  entry: Extract<Entry, { kind: 'incident.closed' | 'instances.watched' }>,
  incident: Incident,
  told: ReadonlyMap<string, Pick<Notice, 'reference' | 'instances' | 'instanceCount'>>,
  { maxInstances }: { maxInstances: number },
): Draft[] {
  const closing = entry.kind === 'incident.closed' ? entry.data.outcome : 'returned'
  const ended = byProject([...incident.instances.values()], ({ plan }) => plan.projectId)
  const projects = new Set([...told.keys(), ...ended.keys()])
  return [...projects].map((project) => {
    const known = told.get(project)
    const own = (ended.get(project) ?? []).map((recovery) => noticedEnd(recovery, closing))
    const seen = new Set(own.map(({ id }) => id))
    const rest = (known?.instances ?? [])
      .filter(({ id }) => !seen.has(id))
      .map((one): NoticedInstance => ({ id: one.id, name: one.name, state: unplanned(closing) }))
    const instances = [...own, ...rest]
    return tenantDraft(entry, 'instances-ended', {
      mode: incident.mode,
      segment: incident.segment,
      project,
      maxInstances,
      code: closing,
      severity: worst(instances),
      reference: known?.reference ?? referenceOf(entry.hash, project),
      instances,
      count: Math.max(instances.length, known?.instanceCount ?? 0),
    })
  })
}

/** Ends of a crash of which its owner is told nothing. */
const untold: ReadonlySet<string> = new Set(['STOPPED_BY_OWNER', 'STARTED_SINCE', 'SAME_CRASH'])

/** Of what never ran: its owner creates it again. One that is being deleted, or was left by a cancel, is none of these. */
const unbuilt: ReadonlySet<string> = new Set(['BUILDING', 'NEVER_LAUNCHED'])

const crashHolds = holdsWith('of-a-crash')

/** Tells what became of an instance that crashed, once its incident is over or waits for a person. Empty if its owner need not be told. */
export function crashedDrafts(
  entry: Extract<Entry, { kind: 'incident.closed' | 'incident.held' }>,
  { mode, segment, instances }: Incident,
): Draft[] {
  // If the host failed, the incident of the host tells.
  if (entry.kind === 'incident.closed' && (entry.data.outcome === 'host-failed' || mode === 'observe')) return []
  const held = entry.kind === 'incident.held' ? entry.data : undefined
  const code = held?.code
  const counted = omitUndefined({ restarts: held?.restarts })
  if (code !== undefined && !(crashHolds.has(code) && holdsForAPerson.has(code))) return []
  return [...instances.values()].flatMap(({ plan, outcome }) => {
    // Its owner stopped it, and so knows; or another incident of the same crash tells.
    if (code === undefined && untold.has(outcome?.code ?? '')) return []
    const state = code !== undefined ? 'crashing' : outcome?.outcome === 'recovered' ? 'rebooted' : 'crashed'
    const said = code ?? outcome?.code ?? ''
    return tenantDraft(entry, 'instance-crashed', {
      ...{ mode, segment, project: plan.projectId, maxInstances: 1, code: said },
      severity: state === 'rebooted' ? 'info' : 'critical',
      reference: referenceOf(entry.hash, plan.projectId),
      instances: [{ id: plan.instanceId, name: short(plan.name), state, code: said, ...counted }],
    })
  })
}

/** The host came back before any incident was opened: nothing was done, and nothing is lost. */
export function returnedDrafts(
  entry: Entry,
  told: ReadonlyMap<string, Pick<Notice, 'reference' | 'instances' | 'instanceCount'>>,
  { mode, segment, maxInstances }: { mode: Draft['mode']; segment: string; maxInstances: number },
): Draft[] {
  return [...told].map(([project, { reference, instances = [], instanceCount }]) =>
    tenantDraft(entry, 'instances-ended', {
      ...{ mode, segment, project, maxInstances, code: 'returned', severity: 'info' },
      reference: reference ?? referenceOf(entry.hash, project),
      instances: instances.map(({ id, name }) => ({ id, name, state: 'returned' })),
      ...(instanceCount !== undefined && { count: instanceCount }),
    }),
  )
}

function tenantDraft(
  { seq, at, host, incident }: Entry,
  topic: 'instances-affected' | 'instances-ended' | 'instance-crashed',
  what: Pick<Draft, 'mode' | 'code' | 'severity'> & {
    segment: string
    project: string
    reference: string
    instances: NoticedInstance[]
    count?: number
    maxInstances: number
  },
): Draft {
  const { mode, code, severity, segment, project, reference, instances, maxInstances } = what
  return {
    ...{ topic, audience: 'tenant', severity, mode, cause: seq, at, code, message: '' },
    ...{ host, segment, incident, project, reference },
    // The worst first: what is cut off is what went well.
    instances: instances.toSorted((a, b) => order(b) - order(a)).slice(0, maxInstances),
    instanceCount: what.count ?? instances.length,
    notBack: instances.filter((one) => order(one) > 0).length,
  }
}

/** Stopped ones lose nothing at the moment, but cannot be started either. */
function noticedHere({ id, name, vmState }: Instance): NoticedInstance {
  const atRest = vmState === 'stopped' || vmState.startsWith('shelved') || vmState === 'soft-delete'
  return { id, name: short(name), state: atRest ? 'at-rest' : 'affected' }
}

function noticedEnd({ plan, outcome }: InstanceRecovery, closing: Closing): NoticedInstance {
  const one = { id: plan.instanceId, name: short(plan.name) }
  if (outcome === null) return { ...one, state: unplanned(closing) }
  const { code, after } = outcome
  const stayed = plan.rule === afterReturnRule
  if (code === 'INSTANCE_GONE') return { ...one, state: 'gone', code }
  // Started by its owner it might run twice.
  if (code === inDoubtEarlier) return { ...one, state: 'stuck', code }
  if (stayed && outcome.outcome === 'left') return { ...one, state: 'off', code }
  const elsewhere = after?.host ?? plan.original.instance.host
  if (outcome.outcome !== 'recovered' && elsewhere !== null && elsewhere !== plan.original.instance.host)
    return { ...one, state: 'elsewhere', code, host: elsewhere }
  // Its host brings nothing back: there Nova makes an ERROR of it.
  const neverRan = plan.original.instance.launchedAt === null
  if (outcome.outcome === 'left' && neverRan && unbuilt.has(code)) return { ...one, state: 'unbuilt', code }
  if (outcome.outcome !== 'recovered') return { ...one, state: outcome.outcome, code }
  if (stayed && code !== 'MOVED_BY_OTHERS') return { ...one, state: 'restarted' }
  const runs = outcome.after === null ? plan.expected === 'running' : outcome.after.powerState === powerState.running
  const host = outcome.after?.host ?? null
  return { ...one, state: runs ? 'running' : 'stopped', ...(host !== null && { host }) }
}

type Closing = EntryData['incident.closed']['outcome']

/** Of an instance without an outcome of its own. */
function unplanned(closing: Closing): NoticedState {
  return closing === 'returned' ? 'returned' : 'untouched'
}

/** How much an owner has to worry. */
const worries: Record<NoticedState, number> = {
  ...{ running: 0, stopped: 0, gone: 0, returned: 0, restarted: 0, 'at-rest': 0 },
  ...{
    rebooted: 0,
    crashed: 1,
    crashing: 1,
    affected: 1,
    off: 1,
    untouched: 1,
    left: 1,
    unbuilt: 1,
    failed: 2,
    stuck: 2,
    elsewhere: 2,
  },
}

function order({ state }: NoticedInstance): number {
  return worries[state]
}

function worst(instances: readonly NoticedInstance[]): NoticeSeverity {
  const most = Math.max(0, ...instances.map(order))
  return most === 2 ? 'critical' : most === 1 ? 'warning' : 'info'
}

/**
 * Never cut in the middle of a character: a receiver that keeps text in UTF-8 fails on half of one, and its owner is never told.
 * On one line: a line of its own would tell of another instance.
 */
function short(name: string): string {
  const line = name.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  return line.length <= longestName ? line : `${line.slice(0, longestName - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

function byProject<T>(all: readonly T[], projectOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const group = groups.get(projectOf(one))
    if (group === undefined) groups.set(projectOf(one), [one])
    else group.push(one)
  }
  return groups
}
