/**
 * One instance that was reported crashed, from the report to its end. The run looks at it again and again until its workflow decides
 * what to do. It opens an incident only if there is something to do or to tell. All that it knows is in the journal or in Nova, so after a
 * restart of the daemon a new run begins with a look.
 */
import { pauseAfter } from '../domain/back-off.ts'
import { isAborted, sleep } from '../domain/clock.ts'
import { ensureError, type LifeboatError } from '../domain/errors.ts'
import { holdsForAPerson, holdsWith } from '../domain/incident-phases.ts'
import type { Incident } from '../domain/incident.ts'
import { pauseBeforeRestart } from '../domain/instance-failure.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { Judgement, Report } from '../domain/report.ts'
import type { HostName } from '../domain/service.ts'
import { isBeating } from '../domain/verdict.ts'
import { restartTurn, type CrashDecision, type CrashFacts, type CrashWorkflow } from '../engine/crash.ts'
import { Holding } from '../executor/holding.ts'
import { runOnLivingHost } from '../executor/living-host.ts'
import { silence } from '../executor/retry.ts'
import { lookForRestart, obeyOwner, rebootToCheck, restartGuest, type Restarted } from '../executor/restart-guest.ts'
import { CrashCase, type Restart } from './crash-case.ts'
import { lookAtCrashed } from './crash-look.ts'
import type { CrashParts } from './crash-parts.ts'
import { shown, type CrashSubject } from './crash-rows.ts'
import { restartScene } from './crash-scene.ts'

/**
 * A dying host reports its guests one by one. Shorter: Lifeboat reboots some while the host is dying; longer: every restart is later.
 */
const settleMs = 3_000

/** Reports that go on put a look off for no longer than this. Shorter: a host that dies slowly has guests rebooted; longer: the guest stays off. */
const longestSettleMs = 10_000

/** First and longest pause between two looks while Nova is between two states. Longer: a guest stays off; shorter: more requests. */
const firstLookAgainMs = 1_000
const rarestLookMs = 10_000

/**
 * How long an instance waits for a rule of its workflow, or for a Nova that can be read, until people are told. Longer: a guest is off and nobody
 * knows; shorter: a slow snapshot alarms people.
 */
const toldOfWaitAfterMs = 600_000

/** How often a held instance is read, since its owner may start it. Longer: an incident that is over stays open. */
const heldLookMs = 30_000

/** How often a run that waits for people or for its host checks what the daemon knows. Costs no request. */
const askAgainMs = 500

/** How often a restart without an answer is looked for once its host is dead. Longer: the guest stays off; shorter: more requests. */
const lookForLateMs = 10_000

/** How often Nova may refuse a restart, or the instance may change before it is sent, until the instance ends as failed. */
const changesAtMost = 20

/** They end when a person overrides them; but for RESTARTS_SPENT, with time as well. */
const longHolds = holdsWith('of-a-crash')

export class CrashRun {
  readonly host: HostName
  readonly instance: InstanceId
  readonly #parts: CrashParts
  readonly #case: CrashCase
  /** By our monotonic clock. */
  #reportedAt: number
  /** The first report since the last turn, by our monotonic clock; null: none came since. */
  #settlesSince: number | null
  #said = 'Lifeboat is looking at it'
  /** While a restart is under way. */
  #acting: AbortController | null = null
  /** The reboot whose owner was found not to have stopped it meanwhile. */
  #checked: string | null = null
  #looks = 0
  /** Since when each look has only said to wait, by our monotonic clock. */
  #wait: { since: number; isTold: boolean } | null = null
  #changes = 0
  /** A restart without an answer: until when Nova may serve it, by our monotonic clock, and whether the journal says so. */
  #late: { key: string; until: number; isTold: boolean } | null = null
  /** Of one that is held: when it is looked at again. */
  #heldLookAt = -Infinity

  constructor(parts: CrashParts, subject: Pick<CrashSubject, 'host' | 'instance'>) {
    this.#parts = parts
    this.host = subject.host
    this.instance = subject.instance
    this.#case = new CrashCase(parts, subject)
    this.#reportedAt = this.#settlesSince = parts.context.clock.now()
  }

  /** One more report of it, on record. */
  add(report: Report): void {
    this.#case.add(report)
  }

  /** A monitor reported it just now, whether that is on record or not: what the run saw before no longer counts. */
  reportedNow(): void {
    this.#reportedAt = this.#parts.context.clock.now()
    this.#case.reportedNow()
    this.#settlesSince ??= this.#reportedAt
    this.#looks = 0
    this.#heldLookAt = -Infinity
  }

  /** Goes on with an incident that an earlier run opened. */
  resume(incident: Incident): void {
    this.#case.resume(incident)
    this.#settlesSince = null
  }

  /** Nothing more is sent: its instances belong to the incident of the host. */
  hostFailed(): void {
    this.#acting?.abort()
  }

  /** Its end is on record: what is reported from now on is for another run. */
  get isOver(): boolean {
    return this.#case.isOver
  }

  has(uuid: string): boolean {
    return this.#case.has(uuid)
  }

  /** How its reports stand. */
  get standing(): Judgement {
    const held = this.#case.open()?.held ?? null
    const isAsked = held === null ? this.#wait?.isTold === true : holdsForAPerson.has(held.code)
    return {
      status: isAsked ? 'error' : 'running',
      message: held?.message ?? this.#said,
      incident: this.#case.incident,
    }
  }

  /** Resolves at its end, or when the daemon stops. Throws JOURNAL_UNAVAILABLE: then nothing was done that is not on record. */
  async run(): Promise<void> {
    const { context, signal } = this.#parts
    for (;;) {
      const settleFor = this.#settlesUntil() - context.clock.now()
      if (settleFor <= 0) this.#settlesSince = null
      const pauseMs = settleFor > 0 ? settleFor : await this.#turn()
      if (pauseMs === null || isAborted(signal)) return
      await sleep(context.clock, pauseMs, signal)
      if (isAborted(signal)) return
    }
  }

  /** By our monotonic clock. */
  #settlesUntil(): number {
    if (this.#settlesSince === null) return -Infinity
    return Math.min(this.#reportedAt + settleMs, this.#settlesSince + longestSettleMs)
  }

  /** One turn. Gives the pause until the next one, null at its end. */
  async #turn(): Promise<number | null> {
    const lateMs = await this.#outlastRestart()
    if (lateMs !== null) return lateMs
    if (this.#endIfTaken()) return null
    const waits = this.#whyNotNow()
    if (waits !== null && this.#endIfRecovered()) return null
    const incident = this.#case.open()
    if (incident !== undefined) this.#recordFreeze(incident)
    if (waits !== null) {
      if (this.#parts.monitor.frozen() === null) this.#tellOfWait(waits)
      return this.#say(waits, askAgainMs)
    }
    if (incident !== undefined && (this.#case.isUnderWay(incident) || this.#isUnchecked(incident)))
      return this.#restart(incident)
    if (incident !== undefined && this.#isHeldStill(incident)) return askAgainMs
    const workflow = this.#workflow()
    if (workflow === null) return askAgainMs
    const beganAt = this.#parts.context.clock.now()
    let facts: CrashFacts
    try {
      facts = await this.#look(workflow)
    } catch (thrown) {
      this.#looks += 1
      const message = `Nova cannot be read: ${ensureError(thrown).message}`
      this.#tellOfWait(message)
      return this.#say(message, pauseAfter(this.#looks, firstLookAgainMs, heldLookMs))
    }
    // It crashed once more while Nova was read, or a reload brought another workflow, for which other things may have to be read.
    if (this.#reportedAt > beganAt || this.#workflow() !== workflow) return 0
    // Reading took time: its host may have failed meanwhile, or a person ended it.
    return this.#endIfTaken() ? null : this.#follow(workflow.decide(facts, this.#rules()), facts, workflow)
  }

  /** The one that decides. Null: the one with which its incident began cannot be read, and a person must decide. */
  #workflow(): CrashWorkflow | null {
    const incident = this.#case.open()
    const digest = incident?.workflowDigest ?? ''
    try {
      const workflow = this.#parts.workflow(digest === '' ? null : digest)
      if (incident?.held?.code === 'WORKFLOW_UNREADABLE') this.#holding(incident).goOn('its workflow can be read again')
      return workflow
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code !== 'WORKFLOW_INVALID' || incident === undefined) throw error
      this.#holding(incident).hold('WORKFLOW_UNREADABLE', error.message, error)
      return null
    }
  }

  async #follow(decision: CrashDecision, facts: CrashFacts, workflow: CrashWorkflow): Promise<number | null> {
    if (decision.do !== 'wait') this.#wait = null
    switch (decision.do) {
      case 'wait':
        this.#looks += 1
        this.#tellOfWait(decision.rule === '' ? decision.message : `rule ${decision.rule}: ${decision.message}`)
        return this.#say(decision.message, pauseAfter(this.#looks - 4, firstLookAgainMs, rarestLookMs))
      case 'nothing':
        this.#case.endWithNothing(decision, facts.instance)
        return null
      case 'leave': {
        this.#case.begin(facts, decision, workflow)
        const { code, message } = decision
        this.#case.close({ outcome: 'left', code, message, after: shown(facts.instance) }, 'ignored')
        return null
      }
      case 'restart':
        return this.#restartAs(decision, facts, workflow)
    }
  }

  /** Most waits end within seconds. One that does not, by a rule that always waits, is known to nobody: the guest is off, and no incident is open. */
  #tellOfWait(because: string): void {
    const { clock } = this.#parts.context
    this.#wait ??= { since: clock.now(), isTold: false }
    if (this.#wait.isTold || clock.now() - this.#wait.since < toldOfWaitAfterMs) return
    this.#case.tellOfWait(because)
    this.#wait.isTold = true
  }

  async #restartAs(decision: Restart, facts: CrashFacts, workflow: CrashWorkflow): Promise<number | null> {
    const incident = this.#case.begin(facts, decision, workflow)
    if (incident.mode === 'observe') {
      this.#case.endAsObserved(decision.step)
      return null
    }
    const heldMs = this.#hold(incident)
    if (heldMs !== null) return heldMs
    this.#case.enter(incident, decision)
    return this.#restart(incident)
  }

  /**
   * While verdicts are frozen nothing is looked at or sent, and an open incident says so as that of a host does. What a person must decide
   * stays on record instead: a freeze does not answer it.
   */
  #recordFreeze(incident: Incident): void {
    const { context, monitor } = this.#parts
    const { held } = incident
    const permission = context.permissions.of(incident)
    if (held?.code === 'FROZEN' && permission.allowed) return this.#holding(incident).goOn('nothing holds it any more')
    if (monitor.frozen() === null || permission.allowed || !('hold' in permission)) return
    if (held === null || !holdsForAPerson.has(held.code))
      this.#holding(incident).hold(permission.hold, permission.message)
  }

  #holding({ id }: Incident): Holding {
    return new Holding(runOnLivingHost(this.#parts.context, id, this.host, this.#parts.signal))
  }

  /** Puts on record why the restart waits, and gives the pause until it is asked again. Null: it may be sent. */
  #hold(incident: Incident): number | null {
    const { context, record, monitor } = this.#parts
    const { clock, permissions } = context
    const rules = monitor.segment(this.host).restart
    const crashes = { crashesOnHost: record.crashesOn(this.host), crashedAt: this.#reportedAt }
    const known = { restarts: record.restarts(this.instance, rules), ...crashes, released: incident.override !== null }
    const turn = restartTurn(known, rules, pauseBeforeRestart, clock.now())
    const holding = this.#holding(incident)
    // A person looks into it, and keeps it off meanwhile: time that passes is no answer.
    if (incident.held?.code === 'RESTARTS_SPENT' && incident.override === null) {
      this.#heldLookAt = clock.now() + heldLookMs
      return askAgainMs
    }
    if (!turn.go) {
      this.#case.hold(incident, turn)
      this.#heldLookAt = turn.until ?? clock.now() + heldLookMs
      return askAgainMs
    }
    const permission = permissions.of(incident)
    if (permission.allowed) {
      holding.goOn('nothing holds it any more')
      return null
    }
    if ('hold' in permission) holding.hold(permission.hold, permission.message)
    this.#heldLookAt = clock.now() + heldLookMs
    return askAgainMs
  }

  /** Whether nothing changed that the daemon itself knows of; then the run reads Nova only at `#heldLookAt`. */
  #isHeldStill(incident: Incident): boolean {
    const { held, override } = incident
    const { clock, permissions } = this.#parts.context
    if (held === null || clock.now() >= this.#heldLookAt) return false
    return longHolds.has(held.code) ? override === null : !permissions.of(incident).allowed
  }

  /** A reboot has ended, and whether its owner's stop crossed it is not known: the daemon was killed in between. */
  #isUnchecked(incident: Incident): boolean {
    const reboot = rebootToCheck(this.#case.recovery(incident))
    return reboot !== null && reboot !== this.#checked
  }

  /** The reboot came to its end, and its owner's stop is still to be looked for or given again. */
  #owesItsOwner(incident: Incident): boolean {
    return this.#case.owesStop(incident) || (!this.#case.isUnderWay(incident) && this.#isUnchecked(incident))
  }

  async #restart(incident: Incident): Promise<number | null> {
    const abort = new AbortController()
    this.#acting = abort
    const signal = AbortSignal.any([abort.signal, this.#parts.signal])
    const mayAct = (): boolean => this.#whyNotNow() === null
    const scene = restartScene(this.#parts, { incident, recovery: this.#case.recovery(incident), signal, mayAct })
    try {
      const restarted: Restarted = this.#owesItsOwner(incident) ? { is: 'sent' } : await restartGuest(scene)
      this.#looks = 0
      if ('error' in restarted) return this.#afterFailure(restarted.is, restarted.error)
      const stopped = restarted.is === 'nothing' ? null : await obeyOwner(scene)
      this.#checked = rebootToCheck(this.#case.recovery(incident))
      // The next look tells how the restart ended.
      if (stopped === null) return 0
      const message = 'its owner stopped it just as Lifeboat restarted it, so Lifeboat stopped it again'
      this.#case.close({ outcome: 'left', code: 'STOPPED_BY_OWNER', message, after: shown(stopped) }, 'finished')
      return null
    } catch (thrown) {
      const error = ensureError(thrown)
      // What shuts the gate passes: Nova is read again, or its host beats again. The owner's word is owed until then.
      if (error.code === 'SHUTDOWN' || error.code === 'HELD_BACK') return askAgainMs
      const owesStop = this.#case.owesStop(incident)
      // Whether it owes one cannot be read: that is asked again, also after a cancel.
      if (!owesStop && silence.has(error.code)) return askAgainMs
      if (error.code === 'JOURNAL_UNAVAILABLE' || !owesStop) throw error
      const message = `its owner stopped it just as Lifeboat restarted it, and Lifeboat could not stop it again: ${error.message}`
      this.#case.fail(error, message)
      return null
    } finally {
      this.#acting = null
      // What still reads in the background has nothing to say of a crash that is over.
      abort.abort()
    }
  }

  #afterFailure(is: 'changed' | 'failed', error: LifeboatError): number | null {
    const { code, message } = error
    if (code === 'HELD_BACK') return askAgainMs
    this.#changes += 1
    if (is === 'changed' && this.#changes < changesAtMost)
      return pauseAfter(this.#changes, firstLookAgainMs, rarestLookMs)
    this.#case.fail(error, message)
    return null
  }

  #look(workflow: CrashWorkflow): Promise<CrashFacts> {
    const { context, hypervisors, record, monitor, signal } = this.#parts
    const { clock, cloud } = context
    const { host, instance } = this
    return lookAtCrashed({
      ...{ cloud, hypervisors, host, instance, signal, workflow, rules: this.#rules() },
      ...{ crashedAt: this.#case.crashedAt(), reportedAt: this.#case.reportedAt() },
      ...{ sinceMs: clock.now() - this.#reportedAt, requests: this.#requests() },
      evacuatedFrom: this.#evacuatedFrom(),
      cancelled: record.cancelled(instance, host, monitor.cloudNow()),
    })
  }

  /** Of our own orders. Null: Nova may have taken one whose id is not known. */
  #requests(): string[] | null {
    const own = this.#case.requests()
    const all = this.#parts.record.requests(this.instance, this.#reportedAt, this.#case.incident)
    return own === null || all === null ? null : [...own, ...all]
  }

  #evacuatedFrom(): HostName[] {
    const open = this.#parts.store.open().filter(({ host, mode }) => host !== this.host && mode === 'armed')
    const isToCome = ({ instances }: Incident): boolean => {
      const recovery = instances.get(this.instance)
      return recovery !== undefined && recovery.outcome === null && recovery.plan.decision === 'recover'
    }
    return open.filter(isToCome).map(({ host }) => host)
  }

  #rules() {
    const { monitor, ownerPolicy } = this.#parts
    const { name, restart, policy } = monitor.segment(this.host)
    return { segment: name, restart, policy, owner: ownerPolicy() }
  }

  /** Why the run may neither act nor look now. Null: it may. */
  #whyNotNow(): string | null {
    const { monitor, store } = this.#parts
    const frozen = monitor.frozen()
    if (frozen !== null) return `The control plane is in doubt: ${frozen.message}`
    const verdict = monitor.verdict(this.host)
    if (verdict === undefined) return 'Nova has not been read yet'
    if (!isBeating(verdict)) return `Lifeboat is looking at its host: ${verdict.message}`
    const hostIncident = store.openOn(this.host)
    return hostIncident === undefined ? null : `Its host has an open incident, ${hostIncident.id}`
  }

  /** The host failed as well, or a person took over. */
  #endIfTaken(): boolean {
    const incident = this.#case.open()
    const hostIncident = this.#parts.store.openOn(this.host)
    // Before its host is proven dead, the incident of the host may end with nothing done, and this guest would stay off.
    if (hostIncident !== undefined && (hostIncident.proof !== null || hostIncident.mode === 'observe'))
      this.#case.endByHost(hostIncident.id)
    else if (incident === undefined || incident.cancelled === null || this.#owesItsOwner(incident)) return false
    else {
      const message = `cancelled by ${incident.cancelled.by}: ${incident.cancelled.reason}`
      this.#case.close({ outcome: 'left', code: 'CANCELLED', message, after: null }, 'failed', 'left-to-people')
    }
    return true
  }

  /**
   * Its host is proven dead, or a person cancelled, and nobody knows whether Nova took the restart. Taken in the middle of an evacuation it would
   * wait in the dead host's queue with its task set on the instance that has landed elsewhere, and start the guest a second time when that host
   * is back. So the host's incident leaves the instance to this one until Nova shows the restart, or nothing can serve it any more.
   *
   * @returns the pause until the next look, null when nothing is to be outlasted
   */
  async #outlastRestart(): Promise<number | null> {
    const step = this.#case.unanswered()
    const incident = this.#case.open()
    if (step === null || incident === undefined) return null
    const { context, store, signal } = this.#parts
    const { clock, settings, observer } = context
    // From this run's first sight of it on: after a restart only the wall clock knows when it was sent, and that may be wrong.
    if (this.#late?.key !== step.key)
      this.#late = { key: step.key, until: clock.now() + settings.longestRequestMs, isTold: false }
    const late = this.#late
    const isDead = (store.openOn(this.host)?.proof ?? null) !== null
    // A person's cancel does not call it back: once this incident is over, the one of its host knows nothing of it.
    if (!isDead && incident.cancelled === null) return null
    const recovery = this.#case.recovery(incident)
    const scene = restartScene(this.#parts, { incident, recovery, signal, mayAct: () => false })
    try {
      const { applied, requestId } = await lookForRestart(scene, step)
      if (applied) this.#case.wasTaken(step, requestId)
      if (applied) return null
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code === 'JOURNAL_UNAVAILABLE') throw error
      observer.log?.('warn', 'late_restart.unread', { incident: incident.id, host: this.host }, error)
    }
    const restMs = late.until - clock.now()
    if (restMs <= 0) return null
    if (!late.isTold) this.#case.waitsFor(step, new Date(clock.wall() + restMs).toISOString())
    late.isTold = true
    const why = isDead ? 'Nova may still serve its restart, and its host is dead' : 'Nova may still serve its restart'
    return this.#say(why, Math.min(lookForLateMs, restMs))
  }

  /** Its host is away, and the incident that recovered its instances was over before this run could see it. */
  #endIfRecovered(): boolean {
    const { monitor, record } = this.#parts
    const verdict = monitor.verdict(this.host)
    if (verdict === undefined || isBeating(verdict)) return false
    const hostIncident = record.recoveredHost(this.host, this.#case.heardAt)
    if (hostIncident !== null) this.#case.endByHost(hostIncident)
    return hostIncident !== null
  }

  #say(message: string, pauseMs: number): number {
    this.#said = message
    return pauseMs
  }
}
