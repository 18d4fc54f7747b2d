/**
 * What is known of an incident, folded from its journal entries. A restarted daemon knows exactly this, and so does a
 * running one: there is no other state to go wrong.
 */
import type { Entry, EntryData, IncidentId } from './entry.ts'
import type { ErrorCode, ErrorRecord } from './errors.ts'
import { fenceProgress, type FenceProgress } from './fence-progress.ts'
import type { ProofRecord } from './fencing.ts'
import type { Leftover } from './host-return.ts'
import type { HoldCode, IncidentPhase } from './incident-phases.ts'
import type { InstanceId } from './instance.ts'
import type { Outcome } from './outcome.ts'
import { isStepKind, type InstancePlan, type ProcessRuling, type StepKind } from './plan.ts'
import { backAndUnknown } from './text/back-and-unknown.ts'
import { heldBecause } from './text/held-because.ts'
import type { AnyStepKind, BeforeOf, RequestOf, ResultOf, StepIntention } from './step-payloads.ts'
import { stepAfter, type StepStatus } from './step-states.ts'
import { omitUndefined } from './omit-undefined.ts'
import type { RowSeen, Verdict } from './verdict.ts'

interface StepRows<K extends AnyStepKind> {
  key: string
  kind: K
  attempt: number
  status: StepStatus
  /** Null where the state could not be read; the attempt failed then. */
  before: BeforeOf<K> | null
  /** Null where nothing was to be sent. */
  request: RequestOf<K> | null
  /** Nova's. */
  requestId: string | null
  /** Ours, as its writes carried it: Nova's log has it too. Null in rows of older releases and where nothing was to be sent. */
  globalRequestId: string | null
  /** Null before it is confirmed. */
  result: ResultOf<K> | null
  error: ErrorRecord | null
  intendedAt: string
  endedAt: string | null
  /** Its answer was lost, and Nova may still serve it until then, ISO; null: that is not waited for. */
  waitsUntil: string | null
}

/** What the rows of one step say; its kind tells what it found, sent and read. */
export type StepRecord<K extends AnyStepKind = AnyStepKind> = { [P in K]: StepRows<P> }[K]

/**
 * Errors after which Nova has taken nothing: the order was not sent, or was refused before Nova changed anything (docs/nova.md §2.1). A refusal
 * behind which a proxy may hide an act is not among them.
 */
const errorsOfNothing: ReadonlySet<ErrorCode> = new Set([
  'HELD_BACK',
  'AUTH_FAILED',
  'AUTH_FORBIDDEN',
  'CATALOG_MISSING',
])

/** Nova has taken nothing of it. */
export function tookNothing({ error }: Pick<StepRecord, 'error'>): boolean {
  return error?.certainty === 'not-applied' && errorsOfNothing.has(error.code)
}

/** Nothing of it was sent. */
export function wasHeldBack({ error }: Pick<StepRecord, 'error'>): boolean {
  return error?.code === 'HELD_BACK'
}

/** Ids of what we ordered for an instance, as far as Nova told them. */
export function requestsOf({ steps }: Pick<InstanceRecovery, 'steps'>): ReadonlySet<string | null> {
  return new Set([...steps.values()].map(({ requestId }) => requestId))
}

/** Whether it is a step of an instance, and not of a host. */
export function isOfInstance(record: StepRecord): record is StepRecord<StepKind> {
  return isStepKind(record.kind)
}

export interface InstanceRecovery {
  plan: InstancePlan
  /** The recipe in force: the plan's, or the one it was routed to. */
  recipe: string | null
  /** How many times the recipe was entered again; part of step keys, so that a step's key is never used twice. */
  round: number
  steps: Map<string, StepRecord>
  outcome: Outcome | null
  /** What is left for a person to clean up and is still there; stored as `debt.recorded`, until `debt.settled`. */
  leftovers: EntryData['debt.recorded'][]
}

/** A proof of death, after which the host showed life. Times are ISO text. */
export interface RevokedProof extends Pick<ProofRecord, 'method' | 'strength' | 'provenAt'> {
  /** What was seen of it: a verdict's reason, POWER_ON, or DISK_IN_USE. */
  code: string
  message: string
  at: string
}

/** What a fencing method said, and a disk that was in use then. Times are ISO text. */
export interface DiskInUse {
  /** The first proof of the method after which a disk of the host was in use. */
  provenAt: string
  /** When a destination was refused that disk first. */
  at: string
  /** How many proofs of the method were followed by such a refusal. */
  times: number
}

export interface Incident {
  id: IncidentId
  host: string
  /** The process of the host that failed, by its binary. Null: something else did. */
  process: string | null
  /** The instance whose guest crashed on its living host. Null: something else failed. */
  crashed: { instance: InstanceId; name: string; event: string } | null
  /** Of its host, as last on record. */
  segment: string
  /** The segment when it was opened. */
  openedIn: string
  mode: 'observe' | 'armed'
  openedAt: string
  openedBy: string
  /** Of the document that decides; empty: it began under an older release, which had none for its kind of failure. */
  workflowDigest: string
  verdict: Verdict | null
  phase: IncidentPhase
  held: { code: HoldCode; message: string; since: string } | null
  proof: ProofRecord | null
  /** The proof that stood before, and why it does not any more. What was evacuated under it stays evacuated. */
  revoked: RevokedProof | null
  /** By fencing method: what speaks against its word. A person's word is answered by another one, and is not here. */
  disksInUse: Map<string, DiskInUse>
  /** A person's attestation that the host is dead; stored as `operator.statement`. */
  attestation: { by: string; statement: string; unixUser?: string } | null
  /**
   * When a person last attested the death or, failing that, first let it past the brake, ISO, and the row that was known then: whole, its stamp alone, or
   * nothing, in entries of older releases. Null: nobody did, or life has overtaken it.
   */
  word: { at: string; row?: RowSeen; seenAt?: string | null } | null
  /** The attestation was given since the last hold or proof: it answers what the hold asked. */
  attestedSince: boolean
  /** The attestation answered a hold for signs of life, since the last proof: the witness that finds the host alive is explained. */
  witnessExplained: boolean
  /** The attestation on which the proof rests, whatever was attested after it; null: it rests on none. */
  provenOn: Incident['attestation']
  /** Null before the first attempt. */
  fencing: FenceProgress | null
  /** A person let this one past the brake. */
  override: { by: string; reason: string } | null
  cancelled: { by: string; reason: string } | null
  ourFlags: EntryData['service.marked'] | null
  /** Its host came back by itself: what is known of its instances since. Null: it did not, or nobody looked (older releases). */
  watched: WatchedInstances | null
  /** What we had set on its host is taken back. `here`: who was left there then; null: that could not be read. */
  hostBack: { at: string; here: InstanceId[] | null } | null
  /** What the workflow said of the process that failed; null: of another failure, or begun under a release that had no such workflow. */
  ruling: ProcessRuling | null
  /** Someone else changed the service that a process's incident had disabled, and how; null: nobody did. */
  changedByOthers: string | null
  /** A person had those started that were off. */
  startOrder: { by: string; reason: string } | null
  hostSteps: Map<string, StepRecord>
  instances: Map<InstanceId, InstanceRecovery>
  closed: (EntryData['incident.closed'] & { at: string }) | null
  lastSeq: number
}

/** What an incident is of: the host itself, a process on it, or one instance there. */
export type Failure = 'host' | 'process' | 'instance'

export function failureOf({ process, crashed }: Pick<Incident, 'process' | 'crashed'>): Failure {
  if (process !== null) return 'process'
  return crashed === null ? 'host' : 'instance'
}

/** What became of the instances of a host that came back by itself, as it was said last. */
export interface WatchedInstances {
  to: 'watching' | 'known'
  /** Those that ran before and do not now. */
  off: number
  message: string
  at: string
}

/** Folds all entries of any number of incidents, oldest first. */
export function foldIncidents(entries: Iterable<Entry>): Map<IncidentId, Incident> {
  const incidents = new Map<IncidentId, Incident>()
  for (const entry of entries) applyEntry(incidents, entry)
  return incidents
}

/** Adds one entry to what is known. Entries that belong to no incident change nothing. */
export function applyEntry(incidents: Map<IncidentId, Incident>, entry: Entry): void {
  if (entry.incident === null) return
  if (entry.kind === 'incident.opened') {
    incidents.set(entry.incident, openIncident(entry.incident, entry.host ?? '', entry.data, entry))
    return
  }
  if (entry.kind === 'process.failed') {
    const { workflowDigest = '', ruling = null } = entry.data
    const data = { ...entry.data, workflowDigest }
    const opened = openIncident(entry.incident, entry.host ?? '', data, entry)
    incidents.set(entry.incident, { ...opened, process: entry.data.process, ruling, phase: 'watching' })
    return
  }
  if (entry.kind === 'instance.failed') {
    const { name, event, workflowDigest = '' } = entry.data
    const data = { ...entry.data, verdict: null, workflowDigest }
    const opened = openIncident(entry.incident, entry.host ?? '', data, entry)
    const crashed = { instance: entry.instance ?? '', name, event }
    incidents.set(entry.incident, { ...opened, crashed, phase: 'restarting' })
    return
  }
  const incident = incidents.get(entry.incident)
  if (incident === undefined) return
  incident.lastSeq = entry.seq
  // A person's word lets one restart through, not every one after it.
  if (incident.crashed !== null && entry.kind === 'step.issued') incident.override = null
  if (entry.instance === null) applyToHost(incident, entry)
  else applyToInstance(incident.instances, entry.instance, entry)
}

function openIncident(
  id: IncidentId,
  host: string,
  data: Omit<EntryData['incident.opened'], 'failure'>,
  entry: Entry,
): Incident {
  return {
    id,
    host,
    process: null,
    crashed: null,
    segment: data.segment,
    openedIn: data.segment,
    mode: data.mode,
    openedAt: entry.at,
    openedBy: data.openedBy,
    workflowDigest: data.workflowDigest,
    verdict: data.verdict,
    phase: 'confirming',
    held: null,
    proof: null,
    revoked: null,
    disksInUse: new Map(),
    watched: null,
    hostBack: null,
    ruling: null,
    changedByOthers: null,
    startOrder: null,
    attestation: null,
    word: null,
    attestedSince: false,
    witnessExplained: false,
    provenOn: null,
    fencing: null,
    override: null,
    cancelled: null,
    ourFlags: null,
    hostSteps: new Map(),
    instances: new Map(),
    closed: null,
    lastSeq: entry.seq,
  }
}

function applyToHost(incident: Incident, entry: Entry): void {
  switch (entry.kind) {
    case 'incident.segment-changed':
      incident.segment = entry.data.to
      break
    case 'incident.phase':
      incident.phase = entry.data.to
      break
    case 'incident.held':
      incident.held = { code: entry.data.code, message: heldBecause(entry.data.message), since: entry.at }
      incident.attestedSince = false
      break
    case 'incident.continued':
      incident.held = null
      break
    case 'incident.closed':
      incident.closed = { ...entry.data, at: entry.at }
      incident.phase = 'closed'
      incident.held = null
      if (entry.data.watched === true) incident.watched = notKnownYet(entry)
      break
    case 'proof.recorded':
      incident.proof = entry.data.proof
      incident.provenOn = entry.data.proof.strength === 'statement' ? incident.attestation : null
      incident.attestedSince = incident.witnessExplained = false
      break
    case 'fence.attempt':
      incident.fencing = fenceProgress(incident.fencing, entry.data)
      break
    case 'proof.voided':
      if (incident.proof !== null) {
        const { method, strength, provenAt } = incident.proof
        const { code, message } = entry.data
        incident.revoked = { method, strength, provenAt, code, message, at: entry.at }
        if (code === 'DISK_IN_USE' && strength !== 'statement') {
          const { times, ...first } = incident.disksInUse.get(method) ?? { provenAt, at: entry.at, times: 0 }
          incident.disksInUse.set(method, { ...first, times: times + 1 })
        }
      }
      incident.proof = null
      incident.provenOn = null
      incident.attestation = incident.word = null
      // What a person said of the first death says nothing about the next one.
      incident.attestedSince = incident.witnessExplained = false
      incident.override = null
      break
    case 'service.marked':
      incident.ourFlags = entry.data
      break
    case 'operator.statement': {
      const { row, seenAt, ...attestation } = entry.data
      incident.attestation = attestation
      incident.word = { at: entry.at, ...omitUndefined({ row, seenAt }) }
      incident.attestedSince = true
      if (incident.held?.code === 'HOST_ALIVE') incident.witnessExplained = true
      break
    }
    case 'operator.override':
      const { row, ...override } = entry.data
      incident.override = override
      incident.word ??= { at: entry.at, ...omitUndefined({ row }) }
      break
    case 'operator.cancelled':
      incident.cancelled = entry.data
      break
    case 'instances.watched': {
      const { to, off, message } = entry.data
      incident.watched = { to, off, message, at: entry.at }
      break
    }
    case 'return.changed':
      if (entry.data.to === 'back') incident.hostBack = { at: entry.at, here: leftThere(entry.data.leftovers ?? []) }
      break
    case 'service.set-aside':
      // That of a host's incident is about other hosts, and an order that Nova refused changed nothing.
      if (incident.process !== null && incident.closed === null) {
        const { to, certainty, because } = entry.data
        if (to === 'over' && certainty === 'applied') incident.changedByOthers = because
      }
      break
    case 'operator.start':
      incident.startOrder = entry.data
      break
    default:
      applyToSteps(incident.hostSteps, entry)
  }
}

/** Of releases and returns that named nobody an empty list says that nobody was left. */
function leftThere(leftovers: readonly Leftover[]): InstanceId[] | null {
  if (leftovers.some(({ code }) => code === 'LEFTOVERS_UNREAD')) return null
  return leftovers.flatMap(({ code, instance }) =>
    code.startsWith('INSTANCE_') && instance !== null ? [instance] : [],
  )
}

function notKnownYet({ host, at }: Entry): WatchedInstances {
  return { to: 'watching', off: 0, message: backAndUnknown(host ?? ''), at }
}

/** One instance of one incident, from the entries about it alone. Null: they have no plan of it. */
export function foldInstance(id: InstanceId, entries: Iterable<Entry>): InstanceRecovery | null {
  const instances: Incident['instances'] = new Map()
  for (const entry of entries) applyToInstance(instances, id, entry)
  return instances.get(id) ?? null
}

function applyToInstance(instances: Incident['instances'], instanceId: InstanceId, entry: Entry): void {
  const recovery = instances.get(instanceId)
  if (entry.kind === 'plan.made') {
    // Planned again before it was touched: its recovery sees the new plan.
    instances.set(instanceId, Object.assign(recovery ?? {}, planned(entry.data)))
    return
  }
  if (recovery === undefined) return
  switch (entry.kind) {
    case 'recipe.entered':
      recovery.recipe = entry.data.recipe
      recovery.round += 1
      break
    case 'outcome.recorded':
      recovery.outcome = entry.data
      break
    case 'debt.recorded':
      recovery.leftovers.push(entry.data)
      break
    case 'debt.settled': {
      const { migration } = entry.data
      recovery.leftovers = recovery.leftovers.filter(({ waitsAt }) => waitsAt?.migration !== migration)
      break
    }
    default:
      applyToSteps(recovery.steps, entry)
  }
}

function planned(plan: InstancePlan): InstanceRecovery {
  return { plan, recipe: plan.recipe, round: 0, steps: new Map(), outcome: null, leftovers: [] }
}

function applyToSteps(steps: Map<string, StepRecord>, entry: Entry): void {
  if (entry.step === null) return
  if (entry.kind === 'step.intended') {
    steps.set(entry.step, begun<AnyStepKind>(entry.step, entry.data, entry.at))
    return
  }
  const step = steps.get(entry.step)
  if (step === undefined) return
  if (entry.kind === 'step.waiting') {
    step.waitsUntil = entry.data.until
    return
  }
  if (entry.kind === 'step.issued') {
    step.waitsUntil = null
    step.status = stepAfter(step.status, 'issued')
    step.requestId = entry.data.requestId
  } else if (entry.kind === 'step.confirmed') {
    confirm(step, entry.data.result)
    step.endedAt = entry.at
    step.waitsUntil = null
  } else if (entry.kind === 'step.failed') {
    step.status = stepAfter(step.status, 'failed')
    step.error = entry.data.error
    step.endedAt = entry.at
    step.waitsUntil = null
  }
}

function begun<K extends AnyStepKind>(key: string, row: StepIntention<K>, at: string): StepRecord<K> {
  return {
    key,
    kind: row.kind,
    attempt: row.attempt,
    status: 'intended',
    before: row.before,
    request: row.request,
    requestId: null,
    globalRequestId: row.globalRequestId ?? null,
    result: null,
    error: null,
    intendedAt: at,
    endedAt: null,
    waitsUntil: null,
  }
}

/** The row of a result does not name its step's kind: it is the kind that the row before it was written for. */
function confirm<K extends AnyStepKind>(step: StepRecord<K>, result: ResultOf<K>): void {
  step.status = stepAfter(step.status, 'confirmed')
  step.result = result
}
