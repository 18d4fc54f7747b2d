/**
 * What is on record of one instance that crashed: its reports, and its incident if there is one. It writes every entry of the crash except
 * those of the restart's steps. It decides nothing, and never asks the cloud: crash-run.ts does.
 */
import { onOurClock } from '../domain/clock.ts'
import type { IncidentEnd, IncidentId, NewEntry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Incident, InstanceRecovery, StepRecord } from '../domain/incident.ts'
import type { Instance, InstanceId } from '../domain/instance.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { WorkflowRecord } from '../domain/plan.ts'
import type { Report } from '../domain/report.ts'
import type { ReportEnd } from '../domain/report-words.ts'
import type { HostName } from '../domain/service.ts'
import {
  planOfCrash,
  type CrashDecision,
  type CrashFacts,
  type RestartStep,
  type RestartTurn,
} from '../engine/crash.ts'
import type { CrashParts } from './crash-parts.ts'
import {
  endedByHostRows,
  endingRows,
  observedRows,
  openingRows,
  isUnderWay,
  owesStop,
  settlingRows,
  shown,
  unansweredRestart,
  wasRestarted,
  type CrashSubject,
} from './crash-rows.ts'
import { incidentId } from './incident-id.ts'
import { pinOf } from './pinned-workflows.ts'

export type Restart = Extract<CrashDecision, { do: 'restart' }>
type Leave = Extract<CrashDecision, { do: 'leave' }>
type Nothing = Extract<CrashDecision, { do: 'nothing' }>

export class CrashCase {
  readonly host: HostName
  readonly instance: InstanceId
  readonly #parts: CrashParts
  /** They are settled when it ends. */
  readonly #reports = new Map<string, Report>()
  #heardAt = Infinity
  #lastHeardAt = -Infinity
  #incident: IncidentId | null = null
  #isOver = false

  constructor(parts: CrashParts, { host, instance }: Pick<CrashSubject, 'host' | 'instance'>) {
    this.#parts = parts
    this.host = host
    this.instance = instance
  }

  /** One more report of it, on record. */
  add(report: Report): void {
    this.#reports.set(report.uuid, report)
    this.#heard(report.receivedAt)
  }

  /** A monitor reports it just now, whether that goes on record or not. */
  reportedNow(): void {
    this.#lastHeardAt = this.#parts.context.clock.now()
  }

  has(uuid: string): boolean {
    return this.#reports.has(uuid)
  }

  /** Goes on with an incident that an earlier run opened. */
  resume(incident: Incident): void {
    this.#incident = incident.id
    // Its opening may come long after the last report: only where no report is known does it stand for one.
    if (this.#reports.size === 0) this.#heard(incident.openedAt)
    else this.#heardAt = Math.min(this.#heardAt, onOurClock(this.#parts.context.clock, incident.openedAt))
  }

  /** Its end is on record: what is reported from now on is for another run. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** When Lifeboat first heard of it, by our monotonic clock. */
  get heardAt(): number {
    return this.#heardAt
  }

  /** Null: none was opened. */
  get incident(): IncidentId | null {
    return this.#incident
  }

  open(): Incident | undefined {
    const incident = this.#incident === null ? undefined : this.#parts.store.inMemory(this.#incident)
    return incident?.closed === null ? incident : undefined
  }

  recovery(incident: Incident): InstanceRecovery {
    const recovery = incident.instances.get(this.instance)
    if (recovery === undefined) throw new LifeboatError('INVARIANT', `incident ${incident.id} has no plan`)
    return recovery
  }

  isUnderWay(incident: Incident): boolean {
    return isUnderWay(incident, this.instance)
  }

  owesStop(incident: Incident): boolean {
    return owesStop(this.recovery(incident))
  }

  /** The restart that was sent and has no answer yet. */
  unanswered(): StepRecord<RestartStep> | null {
    const incident = this.open()
    return incident === undefined ? null : unansweredRestart(incident, this.instance)
  }

  /** Nova shows that it took a restart that it had not answered. */
  wasTaken({ key, globalRequestId }: StepRecord, requestId: string | null): void {
    const { host, instance } = this
    const about = { incident: this.#incident ?? '', host, instance }
    const data = { requestId, ...(globalRequestId !== null && { globalRequestId }) }
    this.#append([{ kind: 'step.issued', ...about, step: key, data }])
  }

  /** Nova may still serve a restart until then, ISO by our wall clock: people are shown what is waited for. */
  waitsFor({ key, intendedAt }: StepRecord, until: string): void {
    const { host, instance } = this
    const about = { incident: this.#incident ?? '', host, instance }
    this.#append([{ kind: 'step.waiting', ...about, step: key, data: { sentAt: intendedAt, until } }])
  }

  /** When it crashed by the cloud's clock, ms since the epoch: the earliest that is known, since a sender's clock may be ahead. */
  crashedAt(): number {
    const heardAt = this.#onCloudClock(this.#heardAt)
    return Math.min(heardAt, ...this.#stamps())
  }

  /**
   * When its last report came, by the cloud's clock, ms since the epoch: the latest that is known, since ours may be behind Nova's, or have
   * been set forward since.
   */
  reportedAt(): number {
    return Math.max(this.#onCloudClock(this.#lastHeardAt), ...this.#stamps())
  }

  /** Ids of the restarts that Lifeboat has sent in its open incident. Null: Nova may have taken one whose id is not known. */
  requests(): string[] | null {
    const steps = [...(this.open()?.instances.get(this.instance)?.steps.values() ?? [])].filter(wasSent)
    const ids = steps.flatMap(({ requestId }) => requestId ?? [])
    return ids.length === steps.length ? ids : null
  }

  /** The open incident, opened and planned if there is none yet. */
  begin(facts: CrashFacts, decision: Leave | Restart, workflow: WorkflowRecord): Incident {
    const known = this.open() ?? this.#openedBefore()
    if (known !== undefined) return known
    const { store, monitor, mode, context } = this.#parts
    const { instance } = facts
    if (instance === null) throw new LifeboatError('INVARIANT', `nothing is known of ${this.instance}`)
    const id = incidentId(`${this.host}-${this.instance.slice(0, 8)}`, context.clock.wall(), (taken) =>
      store.has(taken),
    )
    const rules = { segment: monitor.segment(this.host).name, mode: mode(), workflowDigest: workflow.digest }
    const opening = openingRows(this.#subject(), id, planOfCrash(instance, decision, facts), rules)
    this.#append([...pinOf(workflow, context.journal), ...opening])
    this.#incident = id
    return store.get(id)
  }

  /** Enters the recipe that fits now; if one was tried before, in a round of its own. */
  enter(incident: Incident, decision: Restart): void {
    const { recipe, steps, plan } = this.recovery(incident)
    // Plans of older releases have the recipes `reboot` and `start`, and no workflow.
    const next = Object.hasOwn(plan.recipes, decision.recipe) ? decision.recipe : decision.step
    if (recipe === next && steps.size === 0) return
    const { host, instance } = this
    const data = { recipe: next, because: decision.message }
    this.#append([{ kind: 'recipe.entered', incident: incident.id, host, instance, data }])
  }

  /** Earlier crashes hold the restart. The same reason again is no news. */
  hold({ id, held }: Incident, { hold: code, message, restarts }: Extract<RestartTurn, { go: false }>): void {
    if (held?.code === code) return
    this.#append([{ kind: 'incident.held', incident: id, host: this.host, data: { code, message, restarts } }])
  }

  /** People must know of it: nothing else on record says that the guest is off. */
  tellOfWait(because: string): void {
    const { host, instance } = this
    const open = this.open()
    const message = `Instance ${instance} crashed on ${host} and has waited ten minutes (${because}). Lifeboat goes on looking, and restarts it once it may`
    const about = { host, instance, ...(open !== undefined && { incident: open.id }) }
    this.#append([{ kind: 'alarm.raised', ...about, data: { code: 'CRASH_WAITS', message } }])
  }

  /** Ends it, and its incident if there is one. */
  endWithNothing({ status, runs, code, message }: Nothing, instance: Instance | null): void {
    const incident = this.open()
    if (incident === undefined) return this.#end(settlingRows(this.#subject(), status, message))
    const after = shown(instance)
    if (!runs) return this.close({ outcome: 'left', code, message, after }, status)
    if (!wasRestarted(this.recovery(incident)))
      return this.close({ outcome: 'recovered', code, message, after }, status)
    const says = `restarted on ${this.host}. ${message}`
    this.close({ outcome: 'recovered', code: 'RESTARTED', message: says, after }, status)
  }

  /** Ends it and its incident. */
  close(outcome: Outcome, status: ReportEnd, end: IncidentEnd = 'done'): void {
    this.#end(endingRows(this.#subject(), outcome, status, end))
  }

  fail({ certainty, code }: LifeboatError, message: string): void {
    this.close({ outcome: certainty === 'unknown' ? 'stuck' : 'failed', code, message, after: null }, 'failed')
  }

  endAsObserved(step: Restart['step']): void {
    this.#end(observedRows(this.#subject(), step))
  }

  /** The host failed as well: its own incident recovers the instance. */
  endByHost(hostIncident: IncidentId): void {
    this.#end(endedByHostRows(this.#subject(), this.open(), hostIncident))
  }

  /** A crash has one incident, whichever run opened it: a second one would send a second restart. */
  #openedBefore(): Incident | undefined {
    const known = this.#parts.store
      .openCrashes()
      .find(({ host, crashed }) => host === this.host && crashed?.instance === this.instance)
    if (known !== undefined) this.resume(known)
    return known
  }

  #stamps(): number[] {
    const stamps = [...this.#reports.values()].map(({ generatedAt }) => Date.parse(generatedAt))
    return stamps.filter((stamp) => !Number.isNaN(stamp))
  }

  #heard(at: string): void {
    const heardAt = onOurClock(this.#parts.context.clock, at)
    this.#heardAt = Math.min(this.#heardAt, heardAt)
    this.#lastHeardAt = Math.max(this.#lastHeardAt, heardAt)
  }

  /** @param at by our monotonic clock; one that is still to come counts as now */
  #onCloudClock(at: number): number {
    const { monitor, context } = this.#parts
    return monitor.cloudNow() - Math.max(0, context.clock.now() - at)
  }

  #end(rows: NewEntry[]): void {
    this.#append(rows)
    this.#isOver = true
    if (this.#incident !== null) this.#parts.store.forgetClosed(this.#incident)
  }

  #subject(): CrashSubject {
    return { host: this.host, instance: this.instance, incident: this.#incident, reports: [...this.#reports.values()] }
  }

  #append(entries: NewEntry[]): void {
    this.#parts.context.journal.append(entries)
  }
}

/** Nova may have taken it. */
function wasSent({ request, status, error }: StepRecord): boolean {
  return request !== null && !(status === 'failed' && error?.certainty === 'not-applied')
}
