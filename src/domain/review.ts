/**
 * What a reviewer reads and writes: the record of an incident as pages show it, the journal in pages, plans of live hosts,
 * notes and sign-off. Plain JSON beside `Operations`: api/ serves it, web/ and cli/ show it, review/ makes it from the journal.
 *
 * Times are ISO text of our wall clock. Fields are added, never taken away: people's scripts read them.
 */
import type { CountedGroup, HeldGroup } from './brake.ts'
import type { Entry, EntryKind, IncidentId, Via } from './entry.ts'
import type { ErrorRecord } from './errors.ts'
import type { Failure, StepRecord } from './incident.ts'
import type { IncidentComparison } from './incident-comparison.ts'
import type { InstanceId } from './instance.ts'
import type { NoticeFilter, ReceiverNotices } from './notice-listing.ts'
import type {
  DecidedInstance,
  HostReturnDetail,
  HostStatus,
  IncidentDetail,
  IncidentSummary,
  TryAgain,
} from './operations.ts'
import type { OutcomeKind } from './outcome.ts'
import type { HostPlan, InstancePlan, PlanSubject, StepKind } from './plan.ts'
import type { HostReadiness, Readiness } from './readiness.ts'
import type { Segment } from './segment.ts'
import type { HostName } from './service.ts'
import type { Stage } from './stages.ts'
import type { StepStatus } from './step-states.ts'
import type { ProbeReading, Verdict, VerdictKind } from './verdict.ts'

/** What someone may do, the least first; each may do what those before it may. */
export const roles = {
  reader: 'Sees everything, changes nothing',
  operator:
    'Gives the orders of daily work: notes, sign-off, pause, maintenance, return of a host, start of its instances, cancel',
  admin:
    'Gives the orders that lift a safeguard: override of the brake, recovery on an attestation, a second try, reload, log level',
} as const

export type Role = keyof typeof roles

/**
 * A write with a session's cookie carries this header (any value): a page of another site cannot set it (docs/api.md). Lower
 * case, as HTTP/2 has it.
 */
export const requestHeader = 'x-lifeboat-request'

/** Who asks. */
export interface Caller {
  /** As the journal names them. */
  name: string
  role: Role
  /** The operators' socket, or a Keystone token. */
  by: 'socket' | 'token'
}

/** What someone is told who begins to look. */
export interface Welcome extends Caller {
  /** What their token is for: `DOMAIN/NAME` of a project, or `system`. Null on the operators' socket. */
  scope: string | null
  /** Their roles there, as Keystone says. None on the operators' socket. */
  keystoneRoles: readonly string[]
  /** The newest journal entry then: what was read after it is current, and events follow from it with none missed. */
  lastSeq: number
  /** The cloud is simulated: a demo. */
  simulated?: true
}

/** One line of what happened, in the order in which it is on record. */
export interface TimelineEvent {
  /** The journal entry that says it. */
  seq: number
  at: string
  kind: EntryKind
  actor: string
  /** A sentence for people. */
  text: string
  /** `good`, `bad` and `wait` are coloured; all else is plain. */
  tone: 'plain' | 'good' | 'bad' | 'wait'
  instance: InstanceId | null
  requestId: string | null
}

/** What was known of the host's life before its incident, for plotting. */
export interface EvidenceSeries {
  /** The learnt heartbeat interval, ms; null without a verdict. */
  intervalMs: number | null
  /** Time between heartbeats as the monitor saw them, oldest first; the last may be the silence that is still open. */
  gaps: { at: string; gapMs: number; open: boolean }[]
  /** Each verdict of this host around the incident, with how silent it was. */
  silence: { at: string; verdict: VerdictKind; silentMs: number; suspicion: number | null }[]
  /** Every probe reading that is on record, oldest first. */
  readings: ProbeReading[]
}

/** A step with all that is known of it: what was found, what was sent, what came of it. */
export interface StepReview extends Omit<StepRecord, 'kind' | 'before' | 'request' | 'result'> {
  kind: string
  /** As the journal has it: people are shown whatever a release wrote. */
  before: unknown
  request: unknown
  result: unknown
  tookMs: number | null
}

/** One instance of an incident on one line: thousands of these fit in a page. */
export interface InstanceLine extends DecidedInstance {
  /** The state its owner left it in, e.g. `active`, `stopped`, `resized (stopped)`. */
  original: string
  wanted: string
  flagged: boolean
  /** The power state in which it is to end; null when it is not brought elsewhere. */
  expected: InstancePlan['expected']
  /** How it is brought elsewhere: the landing of its evacuation; null when it is not evacuated. */
  landing: 'stopped' | 'as-before' | null
  outcome: OutcomeKind | 'open'
  code: string | null
  outcomeMessage: string | null
  /** Where it is now, as read back; null while open or not known. */
  landedOn: HostName | null
  /** Nova's state of it there, as read back; null while open or not known. */
  endedAs: string | null
  startedAt: string | null
  endedAt: string | null
  /** Its steps as far as they are, oldest first; tries of one step that follow each other are one. */
  stages: Stage[]
  /** When it was last known to run, if it ran and this failure ended that: its host's last heartbeat, or the report of its crash. */
  downSince: string | null
  /** When Nova showed it running again; null: not yet, or nobody knows. */
  upAt: string | null
  /** The step under way. */
  current: { kind: StepKind; status: StepStatus; since: string; waitsUntil: string | null } | null
  debts: { code: string; message: string }[]
  notes: string[]
}

export interface InstanceReview extends InstanceLine {
  incident: IncidentId
  plan: InstancePlan
  steps: StepReview[]
  timeline: TimelineEvent[]
}

/** An instance that a search found, as its newest incident knows it. */
export interface FoundInstance {
  id: InstanceId
  name: string
  projectId: string
  /** The newest that it was in. */
  incident: IncidentId
  /** Where that found it. */
  host: HostName
  openedAt: string
  outcome: OutcomeKind | 'open'
  landedOn: HostName | null
  /** In how many incidents it was. */
  incidents: number
}

/** What a few letters may mean, the best match first in each list. */
export interface SearchResult {
  hosts: Pick<HostStatus, 'host' | 'segment' | 'verdict' | 'reason' | 'returning'>[]
  incidents: IncidentSummary[]
  instances: FoundInstance[]
  /** More was found than is listed. */
  more: boolean
  /** Hosts under an open incident whose instances are not on record yet, with those of them that fit, as far as Nova was asked. */
  unlisted: { host: HostName; incident: IncidentId; instances: { id: InstanceId; name: string }[] }[]
}

/** One incident of an instance: where it was, and what became of it. */
export interface InstanceStay extends InstanceLine {
  incident: IncidentId
  host: HostName
  segment: string
  mode: 'observe' | 'armed'
  /** What the incident is of. */
  failure: Failure
  openedAt: string
  /** ISO, the host's last heartbeat before it; null: nobody saw it beat. */
  lastBeatAt: string | null
}

/** All that the journal knows of one instance. */
export interface InstanceHistory {
  id: InstanceId
  name: string
  projectId: string
  /** One sentence: where it was, how long it was down, where it is now. */
  headline: string
  now: {
    /** Where it was seen last; null: nobody knows. */
    host: HostName | null
    /** Nova's state of it there; null: not read. */
    state: string | null
    /** When that was known. */
    at: string
    outcome: OutcomeKind | 'open'
    /** Why it is there and so. */
    code: string
    message: string
  }
  /** The newest first. */
  stays: InstanceStay[]
}

export interface ReviewNote {
  seq: number
  at: string
  by: string
  text: string
}

/** What a person must do about it, most urgent first. Empty: nothing. */
export interface Advice {
  code: string
  text: string
  /** The command that does it, where there is one. */
  command: string | null
  instances: InstanceId[]
}

/** One incident as its page shows it. */
export interface IncidentReview extends Omit<IncidentDetail, 'instanceList'> {
  /** In three sentences at the most: what died, how we know, how it ended. */
  headline: string
  /** Of the headline what does not move with the instances: what died, and how we know. */
  lead: string
  timeline: TimelineEvent[]
  evidence: EvidenceSeries
  hostSteps: StepReview[]
  lines: InstanceLine[]
  debts: { code: string; message: string; instance: InstanceId; name: string }[]
  advice: Advice[]
  /** How far the host is on its way back, when it still carries what this incident set; null: it does not. */
  hostReturn: HostReturnDetail | null
  /** What could be tried again; null: it is open, or nothing is left to try. */
  again: TryAgain | null
  notes: ReviewNote[]
  signOff: ReviewNote | null
  /** The newest entry that this page knows: events after it change it. */
  lastSeq: number
}

export interface JournalQuery {
  incident?: IncidentId
  host?: HostName
  /** Its UUID, or its name in its incidents. */
  instance?: string
  kinds?: EntryKind[]
  /** `daemon`, or `operator:NAME`. */
  actor?: string
  since?: string
  until?: string
  /** Sequence to go on from, not included: greater ones, or smaller ones with `newestFirst`. */
  after?: number
  newestFirst?: boolean
  /** 1 to 1,000; default 100. */
  limit?: number
}

export interface JournalPage {
  entries: (Entry & { sentence: string | null })[]
  /** `after` of the next page; null at the end. */
  next: number | null
  head: { seq: number; hash: string }
}

export interface ChainProof {
  entries: number
  head: string
  broken: { seq: number; problem: string } | null
  tookMs: number
}

export interface SegmentStatus {
  name: string
  hosts: HostName[]
  verdicts: Partial<Record<VerdictKind, number>>
  openIncidents: IncidentId[]
  rules: Segment
}

/** What an incident is exported as. */
export const reportFormats = {
  'post-mortem': 'One page for those who were not there',
  markdown: 'Everything, for people',
  json: 'The entries as JSON lines with their hashes',
} as const

export type ReportFormat = keyof typeof reportFormats

/** Long work: reading a host's instances takes Nova seconds. Asked for, then looked at until it is done. */
export interface PlanRun {
  id: string
  host: HostName
  failure: Failure
  /** As it was asked for; null: all of the host, or none. */
  instance: string | null
  state: 'running' | 'done' | 'failed'
  startedAt: string
  endedAt: string | null
  /** What is being read, for people. */
  progress: string
  plan: HostPlan | null
  error: ErrorRecord | null
}

export interface VerdictLine extends Verdict {
  seq: number
  from: VerdictKind
  incident: IncidentId | null
}

/** The run of a workflow for an incident, as a list shows it. */
export interface RecoveryLine {
  incident: IncidentSummary
  workflow: string
  /** ISO time at which the host was proven dead. */
  provenAt: string | null
  finishedAt: string | null
  /** Proof to the last outcome, ms. */
  tookMs: number | null
}

/** Reads throw NOT_FOUND for what is not there; acts throw USAGE when they make no sense now. */
export interface Review {
  segments(): SegmentStatus[]
  verdicts(filter: { host?: HostName; after?: number; limit?: number }): VerdictLine[]
  recoveries(filter: { open?: boolean; host?: HostName; limit?: number }): RecoveryLine[]
  /** Reads what `incident` will need without holding up the daemon: thousands of instances take a while. Never throws. */
  load(id: IncidentId): Promise<void>
  incident(id: IncidentId): IncidentReview
  instance(incident: IncidentId, instance: InstanceId): InstanceReview
  /** Two incidents side by side. Reads what `load` did not. */
  compare(first: IncidentId, second: IncidentId): IncidentComparison
  /** In which incidents an instance was, the newest first. */
  instanceHistory(instance: InstanceId): (InstanceLine & { incident: IncidentId; host: HostName; openedAt: string })[]
  /** Where an instance was in all incidents, how long it was down, and where it is now. NOT_FOUND: it was in none. */
  instanceRecord(instance: InstanceId): InstanceHistory
  /** The incidents with what is on their hosts, as `onHost`. */
  listed(incidents: readonly IncidentSummary[]): IncidentSummary[]
  /** The groups with what is on their hosts: counted while someone looks, null where Nova has not answered yet. */
  counted(groups: readonly HeldGroup[]): CountedGroup[]
  /** Hosts, incidents and instances by a part of their name, or the beginning of their id. */
  search(text: string, limit?: number): SearchResult
  /** What was sent to whom, by receiver, each with how it stands. */
  notices(filter: NoticeFilter): ReceiverNotices[]
  journal(query: JournalQuery): JournalPage
  verify(): Promise<ChainProof>
  /** Its pieces. The daemon's own work goes on between them. */
  report(incident: IncidentId, format: ReportFormat): AsyncIterable<string>
  startPlan(subject: PlanSubject): PlanRun
  /** The plan when it is made or failed, or as far as it is after `withinMs`. */
  finishedPlan(id: string, withinMs: number): Promise<PlanRun>
  plan(id: string): PlanRun
  /** Each host and the cloud: whether they could fail safely now. Hosts are judged in pieces. */
  readiness(): Promise<Readiness>
  hostReadiness(host: HostName): HostReadiness
  note(incident: IncidentId, order: { by: string; text: string; via?: Via }): ReviewNote
  /** Of a closed incident: someone has read it and answers for that. CONFLICT while it is open, and once someone does. */
  signOff(incident: IncidentId, order: { by: string; text: string; via?: Via }): ReviewNote
  /** Calls with each entry after `seq`, those on record first, until the returned function is called. */
  follow(seq: number, listen: (entry: Entry) => void): () => void
}
