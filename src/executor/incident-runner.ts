/**
 * Runs one incident from wherever its journal stands to its end. There is one code path for a first run and for a run
 * picked up after a crash: look at the phase, do what it asks, advance.
 *
 * Never decides whether a host is dead or what an instance needs: the verdict and the plan come from elsewhere.
 */
import type PQueue from 'p-queue'
import { sleep } from '../domain/clock.ts'
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { NewEntry } from '../domain/entry.ts'
import { ensureError, errorRecord, LifeboatError } from '../domain/errors.ts'
import { advance, type HoldCode, type IncidentPhase } from '../domain/incident-phases.ts'
import type { Incident } from '../domain/incident.ts'
import type { Verdict, VerdictKind } from '../domain/verdict.ts'
import type { ExecutorContext, Run } from './context.ts'
import { Gate } from './gate.ts'
import { fenceHost, forceDown } from './host-steps.ts'
import { HostWatch } from './host-watch.ts'
import { runInstance } from './instance-runner.ts'
import { patiently } from './patience.ts'
import { ProofRenewal } from './proof-renewal.ts'
import { Exclusives, Slots } from './slots.ts'
import { takeSurvey, type SurveyTaken } from './survey.ts'

/**
 * How old a survey taken during fencing may be when it is used. Older ones miss what users did since; the sweep at the
 * end finds instances that came later, but an original is taken once.
 */
const surveyGoodForMs = 15_000

/** Plans recorded in one go. Many more would keep the whole daemon, its polls included, from doing anything else. */
const plansAtOnce = 100

/** How often an incident that waits looks again. */
const lookAgainMs = 500

/** A look at the host this recent needs no other. Longer might power off a host that came back in between. */
const lookGoodForMs = 1_000

const dead = new Set<VerdictKind>(['host-down', 'declared-down', 'recovering'])
const alive = new Set<VerdictKind>(['contradiction', 'service-down'])

/** Runs `id` until it is closed. Resolves early, with the incident still open, when the daemon stops. */
export async function runIncident(
  context: ExecutorContext,
  id: string,
  slots: PQueue,
  signal: AbortSignal,
): Promise<void> {
  const run: Run = { ...context, id, host: context.bridge.incident(id).host, signal, proof: null }
  const runner = new IncidentRunner(run, slots)
  try {
    await runner.run()
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code !== 'SHUTDOWN') throw error
  }
}

class IncidentRunner {
  readonly #run: Run
  readonly #gate: Gate
  readonly #queue: PQueue
  /** A survey begun while the host was being fenced. */
  #early: Promise<{ taken: SurveyTaken; at: number } | null> | null = null
  #watch: HostWatch | null = null
  /** When a look last bore out that the host is dead. */
  #seenDeadAt = -Infinity

  constructor(run: Run, queue: PQueue) {
    this.#run = run
    const renewal = new ProofRenewal(run, (code, message, error) => this.#hold(code, message, error))
    const renew = (): Promise<void> => this.#renewProof()
    this.#gate = new Gate(run, renew, () => renewal.attempt())
    this.#queue = queue
  }

  get #incident(): Incident {
    return this.#run.bridge.incident(this.#run.id)
  }

  async run(): Promise<void> {
    try {
      if (this.#incident.proof !== null) await this.#renewProof()
      while (this.#incident.phase !== 'closed') await this.#doPhase(this.#incident.phase)
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code !== 'CANCELLED') throw error
      // Cancelled while it waited, say for its proof to be renewed: what was begun still ends, and our locks go (L6, L9).
      if (this.#incident.phase === 'recovering') await this.#recover()
      this.#close('cancelled', error.message)
    }
  }

  async #doPhase(phase: Exclude<IncidentPhase, 'closed'>): Promise<void> {
    switch (phase) {
      case 'confirming':
        return this.#confirm()
      case 'fencing':
        return this.#fence()
      case 'isolating':
        return this.#isolate()
      case 'surveying':
        return this.#survey()
      case 'recovering':
        return this.#recover()
      case 'sweeping':
        return this.#sweep()
    }
  }

  /** One more look right before anything is done: a host that shows life ends its incident, or holds it. */
  async #confirm(): Promise<void> {
    if (this.#incident.mode === 'observe') return this.#to('surveying')
    await this.#gate.pass()
    // When a whole site returns, Nova has other work than surveys of hosts that need nothing.
    if (!this.#isBack()) this.#early ??= this.#surveyEarly()
    if (!(await this.#isSeenDead())) return
    this.#continue('looked again')
    this.#to('fencing')
  }

  /** It beats again: what was seen a moment ago is not true any more. */
  #isBack(): boolean {
    const permission = this.#run.bridge.permission(this.#incident)
    return permission.allowed && permission.hostIsBack !== undefined
  }

  /** Looks until the host is seen dead. False: it is back, and its incident is closed. */
  async #isSeenDead(): Promise<boolean> {
    if (!this.#isBack() && this.#run.clock.now() - this.#seenDeadAt <= lookGoodForMs) return true
    for (;;) {
      const { verdict, frozen } = await patiently(this.#run.clock, this.#run.signal, () =>
        this.#run.bridge.lookAgain(this.#run.host, this.#run.signal),
      )
      if (frozen === null && verdict.kind === 'healthy') {
        this.#close('returned', `the host is back, and nothing was evacuated: ${verdict.message}`)
        return false
      }
      if (frozen === null && this.#isStillDead(verdict)) break
      if (frozen !== null) this.#hold('FROZEN', frozen)
      else if (alive.has(verdict.kind)) this.#hold('HOST_ALIVE', verdict.message)
      else if (verdict.kind === 'maintenance') this.#hold('MAINTENANCE', verdict.message)
      await this.#wait(lookAgainMs)
    }
    this.#seenDeadAt = this.#run.clock.now()
    if (this.#incident.held?.code === 'MAINTENANCE') this.#continue('the host is no longer disabled by a person')
    return true
  }

  /**
   * Whether a fresh look bears out that the host is dead. After a restart the monitor has not watched long enough to say so
   * itself: then the heartbeat stamp of the recorded verdict, unmoved, says it. A person's statement weighs no more than a
   * stamp that moved after it: the host may have been repaired while the daemon was down.
   */
  #isStillDead(verdict: Verdict): boolean {
    if (dead.has(verdict.kind)) return true
    if (alive.has(verdict.kind)) return false
    const recorded = this.#incident.verdict?.evidence.updatedAt ?? null
    const witness = verdict.evidence.probes.some((reading) => reading.answer === 'alive')
    // Without a recorded stamp nothing speaks against what a person stated, or what was confirmed before.
    const { statement, phase } = this.#incident
    // Disabled by a person since, and silent: their PUT moved the stamp, so it says nothing. Only a person goes on from here.
    if (verdict.kind === 'maintenance') return statement !== null && !witness
    const unmoved =
      recorded === null ? statement !== null || phase === 'fencing' : recorded === verdict.evidence.updatedAt
    return unmoved && !witness
  }

  /**
   * Until a method proves the host dead or a person states it. Nothing is evacuated before (law L1). Looks again before every
   * try: a pause, a brake or a restart may have lasted for hours, and a host that came back must not be powered off.
   */
  async #fence(): Promise<void> {
    for (;;) {
      await this.#gate.pass()
      if (!(await this.#isSeenDead())) return
      if (!this.#gate.isOpen()) continue
      this.#early ??= this.#surveyEarly()
      try {
        this.#run.proof = await fenceHost(this.#run)
        this.#continue('the host is proven dead')
        return this.#to('isolating')
      } catch (thrown) {
        const error = ensureError(thrown)
        const code: HoldCode | null =
          error.code === 'FENCING_MISSING' ? 'FENCING_MISSING' : error.code.startsWith('FENCE_') ? 'FENCE_FAILED' : null
        if (code === null) throw error
        this.#hold(
          code,
          `${error.message}. Nothing is evacuated without a proof; a person can give it: lifeboat recover ${this.#run.host} --proof "…"`,
          error,
        )
      }
      this.#early = null
      await this.#waitForFenceRetry()
    }
  }

  async #isolate(): Promise<void> {
    await this.#gate.pass()
    await forceDown(this.#run, this.#gate)
    this.#to('surveying')
  }

  /** Originals and decisions go into the journal, all of them, before the first instance is touched (laws L2, L4). */
  async #survey(): Promise<void> {
    const early = await this.#early
    this.#early = null
    const fresh = early !== null && this.#run.clock.now() - early.at <= surveyGoodForMs
    const taken = fresh ? early.taken : await patiently(this.#run.clock, this.#run.signal, () => this.#takeSurvey())
    const incident = this.#incident
    const plan = this.#run.bridge
      .workflow(incident.workflowDigest)
      .plan(taken.survey, this.#run.bridge.segment(incident))
    const added = plan.instances.filter((instance) => !incident.instances.has(instance.instanceId))
    const base = { incident: this.#run.id, host: this.#run.host }
    for (let from = 0; from < added.length; from += plansAtOnce) {
      const some = added.slice(from, from + plansAtOnce)
      this.#run.journal.append(some.map((data) => ({ kind: 'plan.made', ...base, instance: data.instanceId, data })))
      // A crash in between is harmless: nothing was touched yet, and what is planned already keeps its original.
      await this.#wait(0)
    }
    this.#to('recovering')
    this.#watch ??= this.#newWatch(taken.cloudTimeMs)
    for (const instance of taken.survey.instances) this.#watch.saw(instance)
  }

  async #recover(): Promise<void> {
    const incident = this.#incident
    if (incident.mode === 'observe') return this.#closeObserved()
    const watch = (this.#watch ??= this.#newWatch(await this.#cloudTime()))
    const { maxParallelPerHost, priority } = this.#run.bridge.segment(incident)
    const slots = new Slots(this.#queue, maxParallelPerHost, priority)
    const exclusives = new Exclusives()
    const open = [...incident.instances.values()].filter((recovery) => recovery.outcome === null)
    // In the order of the plan: the workflow's document says who goes first.
    const work = open.map((recovery) =>
      exclusives.run(recovery.plan.exclusive, () => runInstance(this.#run, watch, recovery, this.#gate, slots)),
    )
    const ended = await Promise.allSettled(work)
    const broken = ended.find((result) => result.status === 'rejected')
    if (broken !== undefined) throw ensureError(broken.reason)
    this.#to('sweeping')
  }

  /** Instances that were not in the survey: scheduled or finished in its very moment. Each needs its line too (law L9). */
  async #sweep(): Promise<void> {
    if (this.#incident.cancelled !== null)
      return this.#close('cancelled', `cancelled by ${this.#incident.cancelled.by}: ${this.#incident.cancelled.reason}`)
    const here = await patiently(this.#run.clock, this.#run.signal, () =>
      this.#run.cloud.listInstances(this.#run.host, { signal: this.#run.signal }),
    )
    if (here.some((instance) => !this.#incident.instances.has(instance.id))) return this.#to('surveying')
    this.#close('done', 'every instance has its line')
  }

  /** After a restart and after a long hold: what was proven then must be true now. Waits until it is, or a person states it. */
  async #renewProof(): Promise<void> {
    for (;;) {
      const { proof, statement } = this.#incident
      if (proof === null) return
      try {
        this.#run.proof = await this.#run.fencer.restore(proof, this.#run.signal)
        return this.#continue('the proof still holds')
      } catch (thrown) {
        const error = ensureError(thrown)
        if (error.code === 'SHUTDOWN') throw error
        this.#hold(
          error.code === 'HOST_ALIVE' ? 'HOST_ALIVE' : 'FENCE_FAILED',
          `the proof of death could not be renewed: ${error.message}`,
          error,
        )
        if (statement !== null) {
          this.#run.proof = this.#run.fencer.statement(this.#run.host, statement.by, statement.statement)
          return
        }
        await this.#waitForFenceRetry()
      }
    }
  }

  async #waitForFenceRetry(): Promise<void> {
    const until = this.#run.clock.now() + this.#run.settings.fenceRetryMs
    while (this.#run.clock.now() < until && this.#incident.statement === null) await this.#wait(lookAgainMs)
  }

  async #wait(pauseMs: number): Promise<void> {
    await sleep(this.#run.clock, pauseMs, this.#run.signal)
    if (this.#run.signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
    const { cancelled } = this.#incident
    if (cancelled !== null) throw new LifeboatError('CANCELLED', `cancelled by ${cancelled.by}: ${cancelled.reason}`)
  }

  #takeSurvey(): Promise<SurveyTaken> {
    return takeSurvey(this.#run.cloud, this.#run.host, () => this.#run.clock.wall(), { signal: this.#run.signal })
  }

  /** A failure here is no failure: the survey is then taken in its own phase. */
  async #surveyEarly(): Promise<{ taken: SurveyTaken; at: number } | null> {
    const at = this.#run.clock.now()
    try {
      return { taken: await this.#takeSurvey(), at }
    } catch (error) {
      this.#run.observer.log?.('warn', 'survey.early_failed', { incident: this.#run.id, host: this.#run.host }, error)
      return null
    }
  }

  async #cloudTime(): Promise<number> {
    const reading = await patiently(this.#run.clock, this.#run.signal, () =>
      this.#run.cloud.listServices({ signal: this.#run.signal }),
    )
    // After a restart: changes since the incident began must be listed, whatever the time is now.
    return Math.min(reading.serverTimeMs ?? this.#run.clock.wall(), cloudTimeMs(this.#incident.openedAt))
  }

  #newWatch(cloudTime: number): HostWatch {
    const { cloud, clock, observer, host, signal, settings } = this.#run
    return new HostWatch({ cloud, clock, observer, host, signal, tickMs: settings.tickMs, cloudTimeMs: cloudTime })
  }

  #to(phase: IncidentPhase): void {
    this.#append({ kind: 'incident.phase', data: advance(this.#incident.phase, phase) })
  }

  #hold(code: HoldCode, message: string, error?: LifeboatError): void {
    if (this.#incident.held?.code === code) return
    this.#append({ kind: 'incident.held', data: { code, message, ...(error && { error: errorRecord(error) }) } })
  }

  #continue(because: string): void {
    if (this.#incident.held !== null) this.#append({ kind: 'incident.continued', data: { because } })
  }

  #closeObserved(): void {
    const { instances } = this.#incident
    const would = [...instances.values()].filter((recovery) => recovery.plan.decision === 'recover').length
    this.#close(
      'observed',
      `observed only, nothing was sent: ${would} of ${instances.size} instances would have been recovered`,
    )
  }

  #close(outcome: 'done' | 'returned' | 'cancelled' | 'observed', message: string): void {
    const counts: Record<string, number> = {}
    for (const { outcome: ended } of this.#incident.instances.values()) {
      const name = ended?.outcome ?? 'none'
      counts[name] = (counts[name] ?? 0) + 1
    }
    this.#append({ kind: 'incident.closed', data: { outcome, message, counts } })
  }

  #append(
    entry: Pick<
      Extract<NewEntry, { kind: 'incident.phase' | 'incident.held' | 'incident.continued' | 'incident.closed' }>,
      'kind' | 'data'
    >,
  ): void {
    this.#run.journal.append([{ ...entry, incident: this.#run.id, host: this.#run.host } as NewEntry])
  }
}
