/**
 * Journal entries: the only truth. Everything else (tables, pages, what a restarted daemon knows) is derived from them.
 * An entry never changes once written; a new release may add kinds and optional fields, never take one away.
 */
import type { ScopeId } from './brake.ts'
import type { Certainty, ErrorRecord } from './errors.ts'
import type { FenceAttempt, ProofRecord } from './fencing.ts'
import type { Leftover, ReturnState } from './host-return.ts'
import type { SegmentFields, SegmentHostFields } from './failover-words.ts'
import type { HoldCode, IncidentPhase } from './incident-phases.ts'
import type { InstanceId } from './instance.ts'
import type { Notice, NoticeDeadLettered, NoticeFailed, NoticeSent } from './notice.ts'
import type { Outcome } from './outcome.ts'
import type { InstancePlan, ProcessRuling } from './plan.ts'
import type { FlagsFound, HostName, ServiceChange } from './service.ts'
import type { ReportClass, ReportEnd } from './report-words.ts'
import type { SetAsideState } from './set-aside.ts'
import type { SilenceOnRecord } from './silence.ts'
import type { StaleOrderEnd, WaitsAt } from './stale-order.ts'
import type { AnyStepKind, ResultOf, StepIntention } from './step-payloads.ts'
import type { LateReason, Scope } from './order.ts'
import type { Evidence, RowSeen, Verdict, VerdictKind } from './verdict.ts'

export type IncidentId = string

/** How an incident ends, each with what it means. The last two are of processes and instances alone: older releases would take them for a host's. */
export const incidentEnds = {
  done: 'Every instance has its outcome',
  returned: 'What had failed is back by itself',
  cancelled: 'A person ended it',
  observed: 'Lifeboat only observed: it sent nothing',
  'host-failed': 'The host died as well: its own incident goes on',
  'left-to-people': 'A person decides: Lifeboat does nothing more about it',
} as const

export type IncidentEnd = keyof typeof incidentEnds

/** How a person who acted was known, where a cloud vouched for them. Missing: by the operators' socket, on their own word. */
export interface Via {
  /** A token of theirs, or the session that a page was given for one. */
  by: 'token' | 'session'
  userId: string
  /** `DOMAIN/NAME` of the project, or `system`. */
  scope: string
}

/** Where a journal is written: by several daemons together, or by one with a file of its own. */
export type JournalPlace = 'shared' | 'own'

export interface EntryData {
  'daemon.started': { version: string; mode: 'observe' | 'armed'; pid: number }
  'daemon.stopped': { reason: string }
  /** This daemon acts from here on, with a shared journal: `from` acted before (empty: nobody), and was silent for so long. */
  'tenure.began': {
    epoch: number
    holder: string
    from: string
    why: string
    silentMs: number
    /** How long it may act after its last renewal. */
    leaseMs?: number
    version: string
    format: number
    config: string
  }
  /** It gave the tenure up in order: nothing of it follows. */
  'tenure.ended': { epoch: number; holder: string; why: string }
  /** Where the journal goes on: in the shared store, or in the copy that `holder` names, which is a daemon's own from here on. */
  'journal.moved': { to: JournalPlace; holder: string; by: string; reason: string }
  /** A reload was asked for by `by` (a person, or SIGHUP). `changed` and `waiting` are names of options, never values. */
  'config.reloaded': { by: string; reason: string; changed: string[]; waiting: string[]; files: string[]; via?: Via }
  /** It was refused, and what held before holds on. */
  'config.refused': { by: string; reason: string; code: string; message: string; problems: string[]; via?: Via }
  /** The daemon was armed, or only observes from now on. */
  'mode.changed': { from: 'observe' | 'armed'; to: 'observe' | 'armed'; by: string; reason: string; via?: Via }
  'workflow.pinned': { name: string; revision: number; digest: string; source: string }

  'monitor.frozen': { reason: string; message: string }
  /** The verdicts are unfrozen; `thawed` is the stored name. */
  'monitor.thawed': { reason: string; frozenForMs: number }
  /** A daemon that is started again and again: what the next run must know of hosts that are silent now. */
  'silence.noted': SilenceOnRecord
  /** A scope holds every recovery that has not begun. `scope`: `cloud`, `segment:NAME` or `domain:NAME`. */
  'brake.tripped': {
    scope: ScopeId
    down: number
    allowed: number
    fleet: number
    hosts: HostName[]
    message: string
  }
  'brake.released': {
    scope: ScopeId
    down: number
    allowed: number
    fleet: number
    message: string
    trippedForMs: number
  }
  /** `planned`: maintenance covered the host. Missing where none did, and in older journals. */
  'verdict.changed': Verdict & { from: VerdictKind; planned?: true }
  /** `order`: key of the order (pause, maintenance) that it is about. */
  'alarm.raised': { code: string; message: string; evidence?: Evidence; order?: string }

  'incident.opened': {
    verdict: Verdict | null
    segment: string
    failure: 'host'
    mode: 'observe' | 'armed'
    openedBy: string
    workflowDigest: string
  }
  /**
   * A process of a host is down while the host lives: opens an incident of that process, whose guests are left alone. A kind of its own,
   * so that an older release, which knows of hosts alone, takes it for none of its incidents.
   */
  'process.failed': {
    /** The binary, as Nova names it. */
    process: string
    verdict: Verdict
    segment: string
    mode: 'observe' | 'armed'
    openedBy: string
    /** What the workflow said; older releases had none. */
    ruling?: ProcessRuling
    workflowDigest?: string
  }
  /**
   * A guest crashed while its host lives: opens an incident of that instance alone. A kind of its own for the same reason. `report`: the
   * one that told of it.
   */
  'instance.failed': {
    name: string
    projectId: string
    /** What the hypervisor said, in libvirt's words. */
    event: string
    segment: string
    mode: 'observe' | 'armed'
    openedBy: string
    report: string
    /** Of the document that decides. Older releases had none. */
    workflowDigest?: string
  }
  /** Its host is in another segment now, and the rules of that one hold: a reload, another zone or aggregate, a restart. */
  'incident.segment-changed': { from: string; to: string }
  'incident.phase': { from: IncidentPhase; to: IncidentPhase }
  'incident.held': {
    code: HoldCode
    message: string
    error?: ErrorRecord
    /** Of a guest that crashed: how often Lifeboat restarted it within the time that its segment counts. */
    restarts?: number
  }
  'incident.continued': { because: string }
  'incident.closed': {
    outcome: IncidentEnd
    message: string
    counts: Record<string, number>
    /**
     * The host came back by itself: which of its instances are off is looked at from now on, and said by `instances.watched`. `once-back`: a person
     * cancelled the incident, and it is looked at when the host is back.
     */
    watched?: true | 'once-back'
  }
  /**
   * What became of the instances of a host that came back by itself. `watching`: more of them may turn out to be off; `known`: Nova
   * had the time to show every one. `off`: those that ran before and do not now; `started`: by Lifeboat, since the entry before.
   */
  'instances.watched': {
    to: 'watching' | 'known'
    instances: number
    off: number
    started: number
    message: string
    /** When the host was back, which was away when its incident was closed, or went away again. ISO; null: it has gone away. */
    backAt?: string | null
  }

  'fence.attempt': FenceAttempt
  'proof.recorded': { proof: ProofRecord }
  /** Our own writes on the service, to be undone by us alone (law L6). `before` is how we found it. */
  'service.marked': {
    serviceId: string
    before: FlagsFound
    reason: string
    updatedAt: string | null
  }

  /**
   * A silent host is kept from becoming the destination of an incident's evacuations, by a disable of ours: `incident` is theirs, not
   * the host's own. On record before and after each write; `certainty`: of the write that it is about. `reason`: our text on the service.
   */
  'service.set-aside': {
    to: SetAsideState
    serviceId: string
    reason: string
    because: string
    certainty: Certainty
    globalRequestId?: string
    /** With `over`: someone else disabled it meanwhile. What shows up late of ours then covers their disable, and is never taken back. */
    theirs?: true
  }

  /**
   * The host showed life after it was proven dead: the proof is revoked, and what people said of its death before counts no more.
   * `proof.voided` is the stored name. `unproven`: there was no proof yet, only a person's attestation or their override of the brake.
   */
  'proof.voided': { code: string; message: string; updatedAt: string | null; unproven?: true }
  /** How far a host is on its way back, after its incident. */
  'return.changed': { from: ReturnState; to: ReturnState; code: string; message: string; leftovers?: Leftover[] }
  /** What we had set on the service is taken back, or gone: `change` is what we wrote ourselves. Nothing on it is ours any more. */
  'service.restored': { serviceId: string; change: ServiceChange; updatedAt: string | null }

  'plan.made': InstancePlan
  'step.intended': StepIntention
  /** `requestId` is Nova's own, under which it files the instance action. */
  'step.issued': { requestId: string | null; globalRequestId?: string }
  /**
   * Nova shows no trace of the write that was sent at that time, and may still serve it until then: nothing is sent again before. Times
   * by our wall clock, for people; a restart counts from the beginning and says so with another row.
   */
  'step.waiting': { sentAt: string; until: string }
  /** Its kind is in the `step.intended` row of the same step. */
  'step.confirmed': { result: ResultOf<AnyStepKind>; globalRequestId?: string }
  'step.failed': { error: ErrorRecord; globalRequestId?: string }
  /** The recovery of one instance goes on with another recipe. */
  'recipe.entered': { recipe: string; because: string }
  'outcome.recorded': Outcome
  /** `waitsAt`: it is an order that still waits in a dead host's queue. */
  'debt.recorded': { code: string; message: string; waitsAt?: WaitsAt }
  /**
   * The order with that record is over: taken, or not there any more. `keepsOut`: a guest may run on the entry's host although Nova has the
   * instance elsewhere, so that host stays out of service. Older releases said nothing of it, and returned the host.
   */
  'debt.settled': { code: string; migration: string; end: StaleOrderEnd; message: string; keepsOut?: true }

  /** A reviewer's words about an incident, at any time; they change nothing of it. */
  'review.noted': { by: string; text: string; via?: Via }
  /** A person has read what happened and answers for that. The last one counts. */
  'review.signed-off': { by: string; text: string; via?: Via }

  /**
   * `unixUser`: who the operating system says it was, where the person gave a name of their own. `row`: its host's, as it was known then. Older releases
   * left it out where Nova showed no row; one wrote only the stamp (`seenAt`), and those before that neither.
   */
  'operator.statement': {
    by: string
    statement: string
    unixUser?: string
    row?: RowSeen
    seenAt?: string | null
    via?: Via
  }
  /** `until` null: until the next reload or start. */
  'operator.log-level': {
    by: string
    level: 'debug' | 'info' | 'warn' | 'error'
    until: string | null
    via?: Via
  }
  /** A person had another of the daemons that share the journal take over. */
  'operator.hand-over': { by: string; reason: string; via?: Via }
  /** `row`: as in `operator.statement`. */
  'operator.override': { by: string; reason: string; row?: RowSeen; via?: Via }
  'operator.cancelled': { by: string; reason: string; via?: Via }
  /** A person has tried again what an earlier incident of the host did not bring back; this incident does it. */
  'operator.again': { by: string; reason: string; of: IncidentId; via?: Via }
  /** A person has the instances started that are off since their host came back by itself. */
  'operator.start': { by: string; reason: string; via?: Via }
  /** A person lets a host back, or keeps it out until someone lets it back. */
  'operator.return': { by: string; reason: string; keepOut: boolean; via?: Via }
  /** Without a scope the whole cloud. `source`: the calendar window that ordered it; missing: a person. */
  'operator.paused': {
    by: string
    reason: string
    until: string | null
    scope?: Scope
    source?: string
    via?: Via
  }
  /** With `source` (null: a person's) only that order ends, without one all of this scope. */
  'operator.resumed': { by: string; reason: string; scope?: Scope; source?: string | null; via?: Via }
  /**
   * `through`: the API by which a person ordered it, where that also takes it back. `plan`: the entry that planned it; `late`: why it is on
   * record only now.
   */
  'operator.maintenance': {
    scope: Scope
    by: string
    reason: string
    until: string | null
    source?: string
    through?: 'masakari'
    plan?: number
    late?: { from: string; because: LateReason }
    via?: Via
  }
  /**
   * Without a `source` it ends everybody's orders of the scope. `through`, with the source null: it ends the order of that API's field alone, or
   * (null) a person's other order alone; without it, as in older releases, both.
   */
  'operator.maintenance-ended': {
    scope: Scope
    by: string
    reason: string
    source?: string | null
    through?: 'masakari' | null
    plan?: number
    via?: Via
  }
  /** Its number in the journal is the plan's. It replaces an earlier plan of the same scope and the same beginning. */
  'operator.maintenance-planned': {
    scope: Scope
    by: string
    reason: string
    from: string
    until: string | null
    via?: Via
  }
  /** It does not begin: a person withdrew it, or its whole time passed unrecorded. */
  'operator.maintenance-withdrawn': { plan: number; scope: Scope; by: string; reason: string; via?: Via }

  /** A failover segment was made (`before` null), changed or deleted (`after` null) through Masakari's API. */
  'segment.written': {
    number: number
    uuid: string
    before: SegmentFields | null
    after: SegmentFields | null
    by: string
    via?: Via
  }
  /** So was a host in one. `segment`: as it was named then. */
  'segment.host.written': {
    number: number
    uuid: string
    segment: { uuid: string; name: string }
    before: SegmentHostFields | null
    after: SegmentHostFields | null
    by: string
    via?: Via
  }

  /** Another program reported a failure (domain/report.ts): on record before it was answered. */
  'report.received': {
    number: number
    uuid: string
    about: ReportClass
    payload: Readonly<Record<string, string>>
    generatedAt: string
    by: string
    via?: Via
    /** The name that the sender has for the host, if it is not Nova's. */
    sentAs?: string
  }
  /** What came of it. `of`: the incident that it belongs to. */
  'report.settled': { uuid: string; status: ReportEnd; message: string; of: IncidentId | null }

  /** What people outside are told; `notice.queued` has everything, the others point to it by its id. */
  'notice.queued': Notice
  'notice.sent': NoticeSent
  'notice.failed': NoticeFailed
  'notice.dead-lettered': NoticeDeadLettered
}

export type EntryKind = keyof EntryData

/** What a writer gives. `step` is the step's key within the instance (or host) part of the incident. */
export type NewEntry = {
  [K in EntryKind]: {
    kind: K
    data: EntryData[K]
    /** `daemon`, `operator:NAME`, or `signal:NAME`. Default: daemon. */
    actor?: string
    incident?: IncidentId
    host?: HostName
    instance?: InstanceId
    step?: string
  }
}[EntryKind]

/** What is read back. */
export type Entry = {
  [K in EntryKind]: {
    seq: number
    /** ISO, our wall clock. For people; order is `seq`. */
    at: string
    actor: string
    incident: IncidentId | null
    host: HostName | null
    instance: InstanceId | null
    step: string | null
    kind: K
    data: EntryData[K]
    prevHash: string
    hash: string
  }
}[EntryKind]
