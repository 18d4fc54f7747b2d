/**
 * What a person can ask of a running daemon, as plain JSON. api/ serves it, cli/ shows it, operations/ implements it.
 *
 * Times are ISO text of our wall clock. Every act names a person and a reason: both end in the journal (law L10).
 */
import type { NoticeTest, NoticeTestResult, ReceiverHealth } from './notice.ts'
import type { BrakeScope, GroupOverride, HeldGroup, HostCount } from './brake.ts'
import type { IncidentEnd, IncidentId, Via } from './entry.ts'
import type { ErrorCode } from './errors.ts'
import type { FenceAttempt, ProofRecord } from './fencing.ts'
import type { OurFlags, Leftover, ReturnRules, ReturnState } from './host-return.ts'
import type { Incident, RevokedProof, WatchedInstances } from './incident.ts'
import type { InstanceId } from './instance.ts'
import type { Outcome, OutcomeKind } from './outcome.ts'
import type { InstancePlan, StepKind } from './plan.ts'
import type { MaintenanceView } from './maintenance-view.ts'
import type { Scope, Order, PlannedOrder } from './order.ts'
import type { TenureView } from './tenure.ts'
import type { StepStatus } from './step-states.ts'
import type { ProbeReading, Verdict, VerdictKind } from './verdict.ts'
import type { VerdictReason } from './verdict-reasons.ts'

export interface PauseState {
  by: string
  reason: string
  since: string
  /** Null: until a person resumes. */
  until: string | null
}

/** How the configuration in force came to be, and what became of the last attempt to change it. */
export interface ConfigurationState {
  /** None: all is at its default. */
  files: string[]
  /** When what is in force was read. */
  loadedAt: string
  /** A person, SIGHUP, or `start`. */
  loadedBy: string
  /** Options on disk that differ from what the daemon started with and wait for its next start. */
  waiting: string[]
  /** The last reload, when it was refused; null when what was read last is in force. */
  refused: { at: string; by: string; code: string; message: string; problems: string[] } | null
}

/** What a reload did. */
export interface ReloadReport {
  /** Options that hold from now on, by name. Never values. */
  changed: string[]
  /** Options that changed and wait for the next start. */
  waiting: string[]
  /** Set when the reload armed or disarmed the daemon. */
  mode: { from: 'observe' | 'armed'; to: 'observe' | 'armed' } | null
  files: string[]
  warnings: string[]
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogLevelState {
  level: LogLevel
  /** What the configuration says. */
  configured: LogLevel
  /** When it goes back to that by itself; null when it does not, or there is nothing to go back to. */
  until: string | null
}

/** Unreviewed incidents: over, with instances that did not come back, and signed off by nobody. The API calls them `unsettled`. */
export interface UnreviewedCounts {
  incidents: number
  /** Instances of theirs that were left where they died. */
  left: number
  /** Those that were to come back: failed or stuck. */
  lost: number
}

export interface DaemonStatus {
  version: string
  mode: 'observe' | 'armed'
  pid: number
  startedAt: string
  /** Name in clouds.yaml, or null when the environment names the cloud. */
  cloud: string | null
  /** Null before the first complete poll. */
  lastPoll: { at: string; ok: boolean; tookMs: number; error: string | null } | null
  /** Why all verdicts are frozen, or null. `thawsAt`: from when on they move again; null while the fault lasts. */
  frozen: { reason: string; message: string; since: string; thawsAt: string | null } | null
  /** The runs before this one died again and again; null once this one has lasted. */
  restartLoop: { died: number; message: string } | null
  /** The pause of the whole cloud. */
  paused: PauseState | null
  /** Every pause and maintenance in force, oldest first. */
  /** The orders in force; the field keeps the name that it was released with. */
  standingOrders: Order[]
  /** The scopes of the brake that hold recoveries, each with its numbers. */
  brake: BrakeScope[]
  /** How each receiver of notices stands, in the order of the configuration. */
  receivers: ReceiverHealth[]
  /** How many hosts have each verdict; verdicts without hosts may be missing. */
  hosts: Partial<Record<VerdictKind, number>>
  incidents: { open: number; held: number; unsettled: UnreviewedCounts }
  journal: { path: string; entries: number; head: string }
  workflow: { name: string; revision: number; digest: string }
  /** Where this daemon stands among those that share its journal; null when the journal is its own. */
  tenure: TenureView | null
  configuration: ConfigurationState
  logLevel: LogLevelState
}

export interface HostStatus {
  host: string
  segment: string
  zone: string | null
  verdict: VerdictKind
  reason: VerdictReason
  message: string
  /** Nova's words. */
  status: string
  state: string | null
  forcedDown: boolean
  /** Since our clock last saw the heartbeat move. */
  silentMs: number
  /** Of a silent host that was seen to beat: since then. Unlike silentMs, a freeze does not restart it. */
  sinceBeatMs?: number
  /** The learnt heartbeat interval. */
  intervalMs: number
  missedBeats: number
  probes: ProbeReading[]
  /** The open incident of this host. */
  incident: IncidentId | null
  /** Pauses and maintenance that cover it. */
  /** The orders in force; the field keeps the name that it was released with. */
  standingOrders: Order[]
  /** How far it is on its way back, when it carries what a closed incident of ours set. */
  returning: ReturnState | null
  /** Our disable that keeps it out of scheduling while it is silent: for which incident's evacuations, and why. */
  setAside: {
    incident: IncidentId
    because: string
    since: string
    /** Who keeps it out, however well it is; null: it is enabled by itself. */
    keptOut: { by: string; reason: string } | null
  } | null
  at: string
}

/** How a host returns, as far as the journal tells. */
export interface HostReturnDetail {
  state: ReturnState
  code: string | null
  message: string
  since: string | null
  leftovers: readonly Leftover[]
  order: { by: string; reason: string; keepOut: boolean; at: string } | null
}

export interface HostDetail extends HostStatus {
  /** The heartbeat stamp that was seen last, cloud time. */
  updatedAt: string | null
  disabledReason: string | null
  /** What we set on its service and have not taken back. */
  mark: OurFlags | null
  /** Null when nothing of ours was ever set there. */
  return: HostReturnDetail | null
  returnRules: ReturnRules
  /** The newest first. */
  incidents: IncidentSummary[]
}

export interface IncidentSummary extends Pick<
  Incident,
  'id' | 'host' | 'process' | 'crashed' | 'segment' | 'mode' | 'openedAt' | 'openedBy' | 'phase' | 'held'
> {
  /** How far fencing has come, as a sentence; null before it began and once the host is proven dead. */
  fencing: string | null
  /** How it ended, or null while it is open. */
  ended: { outcome: IncidentEnd; message: string; at: string } | null
  instances: number
  /** How many instances ended how; `open` are those without an outcome yet. */
  outcomes: Partial<Record<OutcomeKind | 'open', number>>
  /**
   * Only in answers of the daemon, of an open incident whose instances Lifeboat has not listed yet: what Nova shows on its host; null: not
   * counted yet.
   */
  onHost?: HostCount | null
  /** Only in lists: who has read it and answers for it; null: nobody yet. */
  signedOff?: { by: string; at: string } | null
}

export interface StepSummary {
  key: string
  kind: StepKind
  attempt: number
  status: StepStatus
  requestId: string | null
  intendedAt: string
  endedAt: string | null
  /** Its answer was lost: Nova may still serve it until then, and nothing is sent again before. Null: that is not waited for. */
  waitsUntil: string | null
  error: { code: string; message: string } | null
}

/** An instance of a failed host, and what was decided about it. */
export interface DecidedInstance {
  id: InstanceId
  name: string
  projectId: string
  decision: InstancePlan['decision']
  /** The workflow's rule and reason code. */
  rule: string
  reason: string
  message: string
}

export interface InstanceSummary extends DecidedInstance {
  original: {
    vmState: string
    powerState: number
    taskState: string | null
    wanted: string
    wantedBecause: string
    flagged: boolean
    locked: boolean
  }
  recipe: string | null
  steps: StepSummary[]
  outcome: Outcome | null
  /** ISO time of the outcome; null while there is none. */
  endedAt: string | null
  notes: string[]
  debts: { code: string; message: string }[]
}

export interface IncidentDetail extends IncidentSummary {
  verdict: Verdict | null
  proof: ProofRecord | null
  /** A proof that holds no longer: the host showed life after it, and what was evacuated by then stays evacuated. */
  voided: RevokedProof | null
  /** Weaker than a proof that a machine read: shown wherever the incident is shown. */
  statement: { by: string; statement: string; unixUser?: string } | null
  override: { by: string; reason: string } | null
  cancelled: { by: string; reason: string } | null
  /** Its host came back by itself: what is known of its instances since. Null: it did not, or nobody looked. */
  watched: WatchedInstances | null
  fenceAttempts: (FenceAttempt & { at: string })[]
  instanceList: InstanceSummary[]
}

export interface IncidentFilter {
  open?: boolean
  /** Only those that `DaemonStatus.incidents.unsettled` counts. */
  unsettled?: boolean
  host?: string
  /** Only those that this instance was in, by its UUID. */
  instance?: string
  /** The newest first; default 100. */
  limit?: number
}

export interface RecoverOrder {
  host: string
  /** The name of a person: root says nothing about who looked at the host. */
  by: string
  /** How that person knows. */
  proof: string
  /** Who the operating system says it was. */
  unixUser?: string
  via?: Via
}

export interface RecoverAnswer {
  incident: IncidentId
  /** Why the brake holds it all the same: the word is on record, and nothing is done before the brake opens or lets it past. */
  held: string | null
}

/** What a new incident would do about the instances that an incident which is over did not bring back. */
export interface TryAgain {
  /** Those that it would bring back, if they are still on the host. */
  instances: InstanceId[]
  /** Those that may be running elsewhere: they are not touched before something settles that. */
  unsure: InstanceId[]
  /** The host cannot be fenced again as it was: a person must state that it is dead. */
  needsStatement: boolean
  /** The incident of the host that came after this one. */
  later: IncidentId | null
  /** Why it cannot be ordered now; null: it can. */
  refused: { code: ErrorCode; message: string } | null
}

export interface TryAgainOrder {
  by: string
  /** Empty only with a proof, which then says why. */
  reason: string
  /** How that person knows that the host is dead; null: it is fenced again. */
  proof: string | null
  via?: Via
}

export interface TryAgainAnswer extends RecoverAnswer {
  instances: { id: InstanceId; name: string }[]
  unsure: { id: InstanceId; name: string }[]
}

export interface HandOverOrder {
  by: string
  reason: string
  via?: Via
}

export interface HandOverAnswer {
  /** Names of the daemons that stand by: one of them takes over. */
  standbys: string[]
}

/** Each act throws LifeboatError: NOT_FOUND for an unknown host or incident, CONFLICT when it makes no sense now. */
export interface Operations {
  status(): DaemonStatus
  hosts(): HostStatus[]
  host(name: string): HostDetail
  /** Lets a host that we took out back, or keeps it out until someone lets it back. */
  returnHost(order: {
    host: string
    by: string
    reason: string
    keepOut: boolean
    via?: Via
  }): Promise<HostReturnDetail>
  incidents(filter: IncidentFilter): IncidentSummary[]
  incident(id: IncidentId): IncidentDetail
  /** Recovers a host on a person's word. Answers as soon as the incident is in the journal, not when it is over. */
  recover(order: RecoverOrder): Promise<RecoverAnswer>
  /**
   * Opens a new incident on the host of one that is over, for what that did not bring back. NOTHING_TO_TRY, INCIDENT_OPEN, HOST_ALIVE
   * and OBSERVING when it makes no sense now; PROOF_INVALID where a person must state that the host is dead.
   */
  tryAgain(id: IncidentId, order: TryAgainOrder): Promise<TryAgainAnswer>
  /** Of the whole cloud when no scope is given, also for `resume`. */
  pause(order: {
    by: string
    reason: string
    until: string | null
    scope?: Scope | undefined
    via?: Via
  }): Promise<PauseState>
  resume(order: { by: string; reason: string; scope?: Scope | undefined; via?: Via }): Promise<void>
  startMaintenance(order: { by: string; reason: string; until: string | null; scope: Scope; via?: Via }): Promise<Order>
  /** What is in force, what is planned, when the calendar's windows open next, and what stands against it. */
  maintenance(): MaintenanceView
  /**
   * @param order.from as a person writes it: local time of the daemon's machine, or with an offset. `forMs`: the length instead of an end.
   * USAGE for a time that cannot be read, or that has passed.
   */
  planMaintenance(order: {
    by: string
    reason: string
    from: string
    until: string | null
    forMs?: number
    scope: Scope
    via?: Via
  }): Promise<PlannedOrder>
  /** By the plan's number. CONFLICT once it has begun. */
  withdrawMaintenance(order: { plan: number; by: string; reason: string; via?: Via }): Promise<void>
  /** Ends every maintenance of exactly this scope, a calendar window's present opening too. */
  endMaintenance(order: { by: string; reason: string; scope: Scope; via?: Via }): Promise<void>
  /**
   * Lets one incident past the brake that holds it. CONFLICT when the brake does not hold it: a leave given in advance would
   * let its host through a mass failure that nobody has seen yet.
   */
  override(id: IncidentId, order: { by: string; reason: string; via?: Via }): Promise<void>
  /** What the brake holds, as one thing for each failure. */
  heldGroups(): HeldGroup[]
  /** Lets those of a group past the brake that the person saw, each with an entry of its own. CONFLICT when it holds none of them. */
  overrideGroup(order: {
    by: string
    reason: string
    scope: string
    incidents: IncidentId[]
    via?: Via
  }): Promise<GroupOverride>
  /**
   * Reads the configuration again and puts it in force, or throws and leaves everything as it is: CONFIG_INVALID (also for
   * new credentials that Keystone refuses) or WORKFLOW_INVALID, with `details.problems`; JOURNAL_UNAVAILABLE.
   */
  reload(order: { by: string; reason: string; via?: Via }): Promise<ReloadReport>
  /**
   * Where a journal is shared: stops this daemon in order, so that another one takes over. Answers as soon as it is recorded, not when that one
   * is active. USAGE where no journal is shared, NOT_ACTIVE on a standby, CONFLICT when none stands by.
   */
  handOver(order: HandOverOrder): Promise<HandOverAnswer>
  /** Sends a test to a receiver of notices, and says what became of it. NOT_FOUND for one that is not configured; USAGE. */
  testReceiver(test: NoticeTest): Promise<NoticeTestResult>
  logLevel(): LogLevelState
  /** Until the time given, or with null until the next reload or start. */
  setLogLevel(order: { by: string; level: LogLevel; until: string | null; via?: Via }): Promise<LogLevelState>
  /**
   * Starts the instances that are off since the incident's host came back by itself; those that turn out to be off later, too. Those
   * that failed are tried again. CONFLICT where there is none, or it was ordered before.
   */
  startInstances(id: IncidentId, order: { by: string; reason: string; via?: Via }): Promise<void>
  /** Ends an incident after the writes in flight are reconciled. */
  cancel(id: IncidentId, order: { by: string; reason: string; via?: Via }): Promise<void>
}
