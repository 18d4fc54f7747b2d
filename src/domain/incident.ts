/**
 * What is known of an incident, folded from its journal entries. A restarted daemon knows exactly this, and so does a
 * running one: there is no other state to go wrong.
 */
import type { Entry, EntryData, IncidentId } from './entry.ts'
import type { ErrorRecord } from './errors.ts'
import { fenceProgress, type FenceProgress } from './fence-progress.ts'
import type { ProofRecord } from './fencing.ts'
import type { ReturnStepKind } from './host-return.ts'
import type { HoldCode, IncidentPhase } from './incident-phases.ts'
import type { InstanceId } from './instance.ts'
import type { Outcome } from './outcome.ts'
import type { HostStepKind, InstancePlan, StepKind } from './plan.ts'
import { stepAfter, type StepStatus } from './step-states.ts'
import type { Verdict } from './verdict.ts'

export interface StepRecord {
  key: string
  kind: StepKind | HostStepKind | ReturnStepKind
  attempt: number
  status: StepStatus
  before: unknown
  request: unknown
  /** Nova's. */
  requestId: string | null
  /** Ours, as its writes carried it: Nova's log has it too. Null in rows of older releases and where nothing was to be sent. */
  globalRequestId: string | null
  result: unknown
  error: ErrorRecord | null
  intendedAt: string
  endedAt: string | null
}

export interface InstanceRecovery {
  plan: InstancePlan
  /** The recipe in force: the plan's, or the one it was routed to. */
  recipe: string | null
  /** How many times the recipe was entered anew; part of step keys, so that a step's key is never used twice. */
  round: number
  steps: Map<string, StepRecord>
  outcome: Outcome | null
  debts: { code: string; message: string }[]
}

/** A proof of death, after which the host showed life. Times are ISO text. */
export interface VoidedProof extends Pick<ProofRecord, 'method' | 'strength' | 'provenAt'> {
  message: string
  at: string
}

export interface Incident {
  id: IncidentId
  host: string
  segment: string
  mode: 'observe' | 'armed'
  openedAt: string
  openedBy: string
  workflowDigest: string
  verdict: Verdict | null
  phase: IncidentPhase
  held: { code: HoldCode; message: string; since: string } | null
  proof: ProofRecord | null
  /** The proof that stood before, and why it does not any more. What was evacuated under it stays evacuated. */
  voided: VoidedProof | null
  /** A person's statement that the host is dead. */
  statement: { by: string; statement: string; unixUser?: string } | null
  /** The statement was made since the last hold or proof: it answers what the hold asked. */
  restated: boolean
  /** Null before the first attempt. */
  fencing: FenceProgress | null
  /** A person let this one past the brake. */
  override: { by: string; reason: string } | null
  cancelled: { by: string; reason: string } | null
  marked: EntryData['service.marked'] | null
  hostSteps: Map<string, StepRecord>
  instances: Map<InstanceId, InstanceRecovery>
  closed: (EntryData['incident.closed'] & { at: string }) | null
  lastSeq: number
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
  const incident = incidents.get(entry.incident)
  if (incident === undefined) return
  incident.lastSeq = entry.seq
  if (entry.instance === null) applyToHost(incident, entry)
  else applyToInstance(incident, entry.instance, entry)
}

function openIncident(id: IncidentId, host: string, data: EntryData['incident.opened'], entry: Entry): Incident {
  return {
    id,
    host,
    segment: data.segment,
    mode: data.mode,
    openedAt: entry.at,
    openedBy: data.openedBy,
    workflowDigest: data.workflowDigest,
    verdict: data.verdict,
    phase: 'confirming',
    held: null,
    proof: null,
    voided: null,
    statement: null,
    restated: false,
    fencing: null,
    override: null,
    cancelled: null,
    marked: null,
    hostSteps: new Map(),
    instances: new Map(),
    closed: null,
    lastSeq: entry.seq,
  }
}

function applyToHost(incident: Incident, entry: Entry): void {
  switch (entry.kind) {
    case 'incident.phase':
      incident.phase = entry.data.to
      break
    case 'incident.held':
      incident.held = { code: entry.data.code, message: entry.data.message, since: entry.at }
      incident.restated = false
      break
    case 'incident.continued':
      incident.held = null
      break
    case 'incident.closed':
      incident.closed = { ...entry.data, at: entry.at }
      incident.phase = 'closed'
      incident.held = null
      break
    case 'proof.recorded':
      incident.proof = entry.data.proof
      incident.restated = false
      break
    case 'fence.attempt':
      incident.fencing = fenceProgress(incident.fencing, entry.data)
      break
    case 'proof.voided':
      if (incident.proof !== null) {
        const { method, strength, provenAt } = incident.proof
        incident.voided = { method, strength, provenAt, message: entry.data.message, at: entry.at }
      }
      incident.proof = null
      incident.statement = null
      // What a person said of the first death says nothing about the next one.
      incident.restated = false
      incident.override = null
      break
    case 'service.marked':
      incident.marked ??= entry.data
      break
    case 'operator.statement':
      incident.statement = entry.data
      incident.restated = true
      break
    case 'operator.override':
      incident.override = entry.data
      break
    case 'operator.cancelled':
      incident.cancelled = entry.data
      break
    default:
      applyToSteps(incident.hostSteps, entry)
  }
}

function applyToInstance(incident: Incident, instanceId: InstanceId, entry: Entry): void {
  if (entry.kind === 'plan.made') {
    incident.instances.set(instanceId, {
      plan: entry.data,
      recipe: entry.data.recipe,
      round: 0,
      steps: new Map(),
      outcome: null,
      debts: [],
    })
    return
  }
  const recovery = incident.instances.get(instanceId)
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
      recovery.debts.push(entry.data)
      break
    default:
      applyToSteps(recovery.steps, entry)
  }
}

function applyToSteps(steps: Map<string, StepRecord>, entry: Entry): void {
  if (entry.step === null) return
  if (entry.kind === 'step.intended') {
    steps.set(entry.step, {
      key: entry.step,
      kind: entry.data.kind,
      attempt: entry.data.attempt,
      status: 'intended',
      before: entry.data.before,
      request: entry.data.request,
      requestId: null,
      globalRequestId: entry.data.globalRequestId ?? null,
      result: null,
      error: null,
      intendedAt: entry.at,
      endedAt: null,
    })
    return
  }
  const step = steps.get(entry.step)
  if (step === undefined) return
  if (entry.kind === 'step.issued') {
    step.status = stepAfter(step.status, 'issued')
    step.requestId = entry.data.requestId
  } else if (entry.kind === 'step.confirmed') {
    step.status = stepAfter(step.status, 'confirmed')
    step.result = entry.data.result
    step.endedAt = entry.at
  } else if (entry.kind === 'step.failed') {
    step.status = stepAfter(step.status, 'failed')
    step.error = entry.data.error
    step.endedAt = entry.at
  }
}
