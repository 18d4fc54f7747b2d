/**
 * Runs one incident from wherever its journal stands to its end. There is one code path for a first run and for a run
 * picked up after a crash: look at the phase, do what it asks, advance.
 *
 * Never decides whether a host is dead or what an instance needs: the verdict and the plan come from elsewhere.
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import { advance, holdsWith, type HoldCode, type IncidentPhase } from '../domain/incident-phases.ts'
import type { Incident } from '../domain/incident.ts'
import type { ServicesReading } from '../domain/service.ts'
import { isNotListed } from '../domain/verdict.ts'
import { pauseAfter } from '../domain/back-off.ts'
import type { BoundRules } from './bound.ts'
import { CloudTrouble } from './cloud-trouble.ts'
import type { ExecutorContext, Run } from './context.ts'
import { Gate } from './gate.ts'
import { Holding, lookAgainMs, rarestLookMs } from './holding.ts'
import { outlastLocks } from './late-lock.ts'
import { failedAttempts, fenceHost, forceDown } from './host-steps.ts'
import { HostWatch, type HostWatchOptions } from './host-watch.ts'
import { closeIncident, closeObserved, leaveTheRest } from './incident-end.ts'
import { runInstance } from './instance-runner.ts'
import { retryRead } from './retry.ts'
import { PlanCheck } from './plan-check.ts'
import { recordPlans } from './plan-record.ts'
import { restOn } from './proof-age.ts'
import { ProofKeeper, sayIt, stillAnswers } from './proof-keeper.ts'
import { SecondFencing } from './second-fencing.ts'
import { recall, workedOnElsewhere } from './recall.ts'
import { readPresence, Removal, staysRemovedMs } from './removal.ts'
import { judgeRecheck } from './host-recheck.ts'
import { stillMs } from './service-liveness.ts'
import { noteLife } from './signs-of-life.ts'
import { Slots, type SharedQueue } from './slots.ts'
import type { Surroundings } from './surroundings.ts'
import { readAhead, requireCell, takeSurvey, type SurveyTaken } from './survey.ts'
import { allEnded, turn } from './turn.ts'
import { lacksWorkflow, waitForWorkflow } from './workflow-wait.ts'

/**
 * How old what was read ahead may be when the survey uses it for rows that have not changed since. Longer: groups and aggregates
 * that people changed meanwhile are missed. Shorter: fencing that takes its time makes the survey read all of it again.
 */
const aheadGoodForMs = 60_000

const lookHolds = holdsWith('ends-with-a-look')

/** A look at the host this recent needs no other. Longer might power off a host that came back in between. */
const lookGoodForMs = 1_000

/** How an incident ends where nothing is left to do. */
const noneListed = 'Nova lists no instance on it'
const serviceDeleted = 'its service was deleted from Nova meanwhile'

/** What was read ahead, and when (our monotonic clock) that was begun. */
interface Ahead {
  read: Surroundings
  at: number
}

export class IncidentRunner {
  readonly #run: Run
  readonly #gate: Gate
  readonly #queue: SharedQueue
  readonly #holding: Holding
  readonly #keeper: ProofKeeper
  readonly #plans: PlanCheck
  /** What the survey needs besides its listings, read while the host is being fenced. */
  #ahead: Promise<Ahead | null> | null = null
  #watch: HostWatch | null = null
  /** Before anything was begun: whether the host is in Nova at all. */
  readonly #removal: Removal
  /** What the last look bore out, and when. */
  #seen: { as: 'dead' | 'isolated'; at: number } = { as: 'dead', at: -Infinity }
  /** Until then a heartbeat that was seen may be of before a method acted. */
  #lookNotBefore = -Infinity

  constructor(context: ExecutorContext, id: string, queue: SharedQueue, signal: AbortSignal) {
    const { host } = context.permissions.incident(id)
    this.#plans = new PlanCheck({ ...context, id, host }, async () => (await this.#surveyNow()).taken.survey)
    const run: Run = {
      ...context,
      id,
      host,
      signal,
      proof: null,
      proofAskedAt: -Infinity,
      proofExpired: null,
      destinations: new Map(),
      plans: this.#plans,
    }
    this.#run = run
    this.#holding = new Holding(run)
    this.#removal = new Removal(run.host)
    this.#keeper = new ProofKeeper(run, this.#holding)
    const secondFencing = new SecondFencing(run, this.#holding, this.#keeper)
    this.#gate = new Gate(
      run,
      () => this.#keeper.restore(),
      () => secondFencing.attempt(),
    )
    this.#queue = queue
  }

  get #incident(): Incident {
    return this.#run.permissions.incident(this.#run.id)
  }

  async run(): Promise<void> {
    try {
      if (lacksWorkflow(this.#run)) await waitForWorkflow(this.#run, this.#holding)
      if (this.#incident.proof !== null) await this.#resume()
      while (this.#incident.phase !== 'closed') await this.#doPhase(this.#incident.phase)
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code !== 'CANCELLED') throw error
      // Cancelled while it waited, say for its proof to be renewed: what was begun still ends, and our locks go (L6, L9).
      if (this.#incident.phase === 'recovering') await this.#recover()
      leaveTheRest(this.#run, error.message)
      this.#close('cancelled', error.message)
    } finally {
      this.#keeper.end()
    }
  }

  /** What has landed is finished at once: its stop and its unlock need no proof, and whatever speaks against one may last for days. */
  async #resume(): Promise<void> {
    const pickedUp = this.#pickUp()
    if (this.#incident.phase !== 'recovering' || this.#incident.mode === 'observe') return pickedUp
    this.#gate.after(pickedUp)
    const [first, recovered] = await Promise.allSettled([pickedUp, this.#recover()])
    for (const ended of [first, recovered]) if (ended.status === 'rejected') throw ended.reason
  }

  /** An earlier run proved the host dead: the proof must hold now, and nothing may have come to life since. */
  async #pickUp(): Promise<void> {
    await this.#keeper.seeLifeBeforeRenewal()
    await this.#keeper.restore()
    // In `fencing` the host is looked at and fenced again anyway; afterwards the next write relies on the old proof.
    this.#keeper.keep()
    if (this.#incident.phase === 'fencing') return
    await this.#keeper.seeSilence()
    if (this.#incident.verdict?.kind === 'service-down') await this.#seeWitnessFallSilent(true)
  }

  async #doPhase(phase: Exclude<IncidentPhase, 'closed'>): Promise<void> {
    switch (phase) {
      case 'watching':
      case 'restarting':
        throw new LifeboatError('INVARIANT', `incident ${this.#run.id} is of a host that lives: no host is recovered`)
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
    // When a whole site returns, Nova has other work than surveys of hosts that need nothing. And an isolated host's guests run
    // on until it is fenced: what is surveyed before is not how they were left.
    if (!this.#isBack() && this.#incident.verdict?.kind !== 'service-down') this.#ahead ??= this.#readAhead()
    if ((await this.#look()) === null) return
    this.#holding.goOn('looked again')
    this.#to('fencing')
  }

  /** It beats again: what was seen a moment ago is not true any more. */
  #isBack(): boolean {
    const permission = this.#run.permissions.of(this.#incident)
    return permission.allowed && permission.hostIsBack !== undefined
  }

  /** Looks until the host is seen dead, or isolated where that is fenced. Null: it is back, and its incident is closed. */
  async #look(): Promise<'dead' | 'isolated' | null> {
    const { clock, signal, permissions, host } = this.#run
    if (!this.#isBack() && clock.now() - this.#seen.at <= lookGoodForMs) return this.#seen.as
    for (let looks = 1; ; looks++) {
      const { verdict, frozen } = await retryRead(clock, signal, () => permissions.lookAgain(host, signal))
      // No poll may have seen this row: a word from before a life that nobody watched must not prove the next death.
      if (frozen === null) noteLife(this.#run, verdict)
      const incident = this.#incident
      const judged = judgeRecheck({
        verdict,
        frozen,
        quiet: permissions.quiet(),
        phase: incident.phase,
        recordedStamp: incident.verdict?.evidence.updatedAt ?? null,
        stated: incident.attestation !== null,
        statedSince: incident.held?.code === 'MAINTENANCE' && incident.attestedSince,
        recoversDeclared: permissions.segment(incident).onDeclaredDown === 'recover',
        fencesIsolated: permissions.segment(incident).onServiceDown === 'fence',
      })
      if (judged.seen === 'returned') {
        this.#close('returned', `the host is back, and nothing was evacuated: ${judged.message}`)
        return null
      }
      if (judged.seen !== 'unclear') {
        this.#seen = { as: judged.seen, at: clock.now() }
        if (incident.held?.code === 'MAINTENANCE') this.#holding.goOn('nobody keeps it out, or it was stated dead')
        if (incident.held !== null && lookHolds.has(incident.held.code)) this.#holding.goOn('looked again')
        return judged.seen
      }
      const gone = frozen === null && isNotListed(verdict)
      const removal = gone ? await this.#lookForRemoval() : this.#removal.forget()
      // Nothing was begun in Nova yet, and nothing is there to be recovered.
      if (removal === 'removed') {
        this.#close('done', `${noneListed}; ${serviceDeleted}`)
        return null
      }
      if (judged.hold !== null && removal !== 'seems') this.#holding.hold(judged.hold, judged.message)
      await this.#holding.wait(pauseAfter(looks, lookAgainMs, rarestLookMs))
    }
  }

  /**
   * Until a method proves the host dead or a person states it. Nothing is evacuated before (law L1). Looks again before every
   * try: a pause, a brake or a restart may have lasted for hours, and a host that came back must not be powered off.
   */
  async #fence(): Promise<void> {
    for (;;) {
      await this.#gate.pass()
      const restMs = this.#lookNotBefore - this.#run.clock.now()
      if (restMs > 0) {
        await this.#holding.wait(restMs, () => !this.#gate.isOpen())
        continue
      }
      const seen = await this.#look()
      if (seen === null) return
      if (!this.#gate.isOpen()) continue
      if (seen === 'isolated') this.#ahead = null
      else this.#ahead ??= this.#readAhead()
      const stated = this.#incident.attestation
      const rules = this.#run.rulesInForce?.()
      try {
        const askedAt = this.#run.clock.now()
        restOn(this.#run, await fenceHost(this.#run, seen === 'dead'), askedAt)
        this.#keeper.keep()
        if (seen === 'isolated') await this.#seeWitnessFallSilent()
        if (this.#incident.proof === null) {
          this.#afterStop({ certainty: 'applied' })
          continue
        }
        this.#holding.goOn('the host is proven dead')
        return this.#to('isolating')
      } catch (thrown) {
        const error = ensureError(thrown)
        if (error.code === 'FENCE_STOPPED') {
          this.#afterStop(error)
          continue
        }
        const code: HoldCode | null =
          error.code === 'FENCING_MISSING' ? 'FENCING_MISSING' : error.code.startsWith('FENCE_') ? 'FENCE_FAILED' : null
        if (code === null) throw error
        const advice = `Nothing is evacuated without a proof. ${sayIt(this.#run.host)}`
        this.#holding.hold(code, `${error.message}. ${advice}`, error)
      }
      this.#ahead = null
      await this.#waitForFenceRetry(stated, rules)
    }
  }

  /**
   * The chain was stopped, or the host beat after it: it is looked at again. Where a method may have acted, a heartbeat from
   * before that act is no life: the host must beat after it, or be silent for long enough to be seen dead again.
   */
  #afterStop({ certainty }: Pick<LifeboatError, 'certainty'>): void {
    this.#run.proof = this.#ahead = null
    this.#seen = { as: 'dead', at: -Infinity }
    if (certainty !== 'not-applied') this.#lookNotBefore = this.#run.clock.now() + stillMs(this.#incident)
  }

  /**
   * A host that was seen alive when it was fenced must be seen to fall silent, by a look of its own that is later than the
   * proof: a witness that still finds it alive means more often that the wrong machine was powered off than that another one
   * answers in its place (docs/decisions/0008). It waits until the witness is silent or a person explains it.
   *
   * @param isPickedUp the proof is an earlier run's: the look is later than it at once, and a cancel must not forestall it
   */
  async #seeWitnessFallSilent(isPickedUp = false): Promise<void> {
    const { permissions, clock, host, signal } = this.#run
    for (let looks = isPickedUp ? 0 : 1; ; looks++) {
      if (looks > 0) await this.#holding.wait(pauseAfter(looks, lookAgainMs, rarestLookMs))
      const { verdict, frozen } = await retryRead(clock, signal, () => permissions.lookAgain(host, signal))
      const { proof, witnessExplained, held } = this.#incident
      if (proof === null || proof.proves === 'storage' || witnessExplained) return
      const witness = verdict.evidence.probes.some(({ answer }) => answer === 'alive')
      if (frozen === null && !witness && verdict.kind !== 'healthy' && verdict.kind !== 'contradiction') {
        if (held?.code === 'HOST_ALIVE' || held?.code === 'FROZEN')
          this.#holding.goOn('nothing finds the host alive any more')
        return
      }
      if (frozen !== null) this.#holding.hold('FROZEN', frozen)
      else this.#holding.hold('HOST_ALIVE', stillAnswers(host, verdict, proof.method))
    }
  }

  /**
   * Ever longer with each failure that is on record: a board that is dead for a week must not fill the journal. Anyone who states
   * that the host is dead or has other rules read ends the wait: they mended what failed.
   */
  async #waitForFenceRetry(stated: Incident['attestation'], rules: object | undefined): Promise<void> {
    const { fenceRetryMs, fenceRetryMaxMs } = this.#run.settings
    const pauseMs = pauseAfter(failedAttempts(this.#incident, 'fence'), fenceRetryMs, fenceRetryMaxMs)
    const answered = (): boolean => this.#incident.attestation !== stated || this.#run.rulesInForce?.() !== rules
    await this.#holding.wait(pauseMs, answered)
  }

  async #isolate(): Promise<void> {
    const failed = failedAttempts(this.#incident, 'force-down')
    await this.#holding.persist(failed, () => forceDown(this.#run, this.#gate))
    this.#to('surveying')
  }

  /**
   * Initial states and decisions go into the journal, all of them, before the first instance is touched (laws L2, L4). The instances and
   * their evacuations are listed now, after Nova took the host for down: from that moment others may evacuate what is here, too.
   */
  async #survey(): Promise<void> {
    const ahead = await this.#ahead
    this.#ahead = null
    const isRecent = ahead !== null && this.#run.clock.now() - ahead.at <= aheadGoodForMs
    const { taken, at } = await this.#surveyNow(isRecent ? ahead.read : null)
    const survey = await this.#persistently(() => recall(taken.survey, { ...this.#run, pause: () => turn(this.#run) }))
    const incident = this.#incident
    const segment = this.#run.permissions.segment(incident)
    const added = await recordPlans(this.#run, survey, segment)
    if (added > 0) await this.#holding.wait(0)
    // What a run before this one planned was perhaps planned by other rules.
    if (added === incident.instances.size) this.#plans.made(segment)
    this.#to('recovering')
    this.#watch ??= this.#newWatch({ cloudTimeMs: taken.cloudTimeMs, resumed: false })
    this.#watch.surveyed(taken.survey.instances, taken.survey.migrations, at)
  }

  async #recover(): Promise<void> {
    const incident = this.#incident
    if (incident.mode === 'observe') return closeObserved(this.#run)
    const watch = (this.#watch ??= this.#newWatch({ ...(await this.#cloudTime()), resumed: true }))
    await this.#run.permissions.setSilentAside()
    const { maxParallelPerHost, priority } = this.#run.permissions.segment(incident)
    const slots = new Slots(this.#queue, maxParallelPerHost, priority)
    const trouble = new CloudTrouble(this.#run, this.#holding)
    watch.tells(trouble)
    const open = [...incident.instances.values()].filter((recovery) => recovery.outcome === null)
    // In the order of the plan: the workflow's document says who goes first.
    const ended = await allEnded(open, (it) => runInstance(this.#run, watch, it, this.#gate, slots, trouble), this.#run)
    const broken = ended.find((result) => result.status === 'rejected')
    if (broken !== undefined) throw ensureError(broken.reason)
    await outlastLocks(this.#run, this.#holding, { watch, gate: this.#gate, slots, trouble })
    this.#to('sweeping')
  }

  /** Instances that were not in the survey: scheduled or finished in its very moment. Each needs its outcome too (law L9). */
  async #sweep(): Promise<void> {
    if (this.#incident.cancelled !== null)
      return this.#close('cancelled', `cancelled by ${this.#incident.cancelled.by}: ${this.#incident.cancelled.reason}`)
    const { clock, host } = this.#run
    const removal = new Removal(host)
    for (;;) {
      const { here, standing } = await this.#persistently(
        async () => {
          const seen = await readPresence(this.#run)
          return { ...seen, standing: removal.take(seen, clock.now()) }
        },
        (seen) => {
          if (seen.standing !== 'no') return
          // Down for the list and back for the reading after it: the list was empty for no reason of its own.
          requireCell(seen.before.services, host)
          requireCell(seen.reading.services, host)
        },
      )
      const unplanned = here.filter(({ id }) => !this.#incident.instances.has(id))
      const busy = workedOnElsewhere(this.#run, unplanned)
      if (busy.length > 0 && busy.length === unplanned.length) {
        this.#holding.hold('OTHER_INCIDENT', `another incident still works on ${busy.join(', ')}`)
        await this.#holding.wait(rarestLookMs)
        continue
      }
      if (this.#incident.held?.code === 'OTHER_INCIDENT') this.#holding.goOn('no other incident works on them any more')
      if (unplanned.length > 0) return this.#to('surveying')
      const lines = this.#incident.instances.size > 0 ? 'every instance has its outcome' : noneListed
      if (standing === 'no') return this.#close('done', lines)
      if (standing === 'removed') return this.#close('done', `${lines}; ${serviceDeleted}`)
      await this.#holding.wait(staysRemovedMs)
    }
  }

  /** Of a host whose nova-compute Nova no longer lists. What cannot be read speaks against it. */
  async #lookForRemoval(): Promise<ReturnType<Removal['take']>> {
    const { clock, observer, id, host } = this.#run
    try {
      return this.#removal.take(await readPresence(this.#run), clock.now())
    } catch (thrown) {
      const error = ensureError(thrown)
      observer.log?.('warn', 'removal.unread', { incident: id, host }, error)
      this.#removal.forget()
      return 'no'
    }
  }

  /** A read that is repeated while Nova is silent, and less and less often once it refuses or `check` throws. Either holds the incident. */
  #persistently<T>(read: () => Promise<T>, check: (value: T) => void = () => undefined): Promise<T> {
    return this.#holding.persist(0, async () => {
      const value = await this.#holding.read(read)
      check(value)
      return value
    })
  }

  /** Waits until the survey can be taken, and is whole. */
  #surveyNow(ahead: Surroundings | null = null): Promise<{ taken: SurveyTaken; at: number }> {
    return this.#persistently(
      () => this.#takeSurvey(ahead),
      ({ taken: { survey }, after }) => {
        requireCell(survey.services, this.#run.host)
        if (after !== null) requireCell(after.services, this.#run.host)
      },
    )
  }

  /**
   * The services are read beside the list, and once more after one that lacks what was there before. A cell that was lost for just the
   * time between is caught by the sweep.
   */
  async #takeSurvey(
    ahead: Surroundings | null,
  ): Promise<{ taken: SurveyTaken; at: number; after: ServicesReading | null }> {
    const { cloud, host, clock, signal, permissions } = this.#run
    const at = clock.now()
    const bound: BoundRules = {
      since: this.#incident.openedAt,
      isFenced: (other) => permissions.isFenced(other),
      isPlanned: (instance) => this.#incident.instances.has(instance),
    }
    const { verdict, revoked } = this.#incident
    // A host that lived after that was seen later: by its service record.
    const lastSeenAt = revoked === null ? (verdict?.evidence.updatedAt ?? null) : null
    const taken = await takeSurvey(cloud, host, () => clock.wall(), { signal, ahead, bound, lastSeenAt })
    const listed = new Set(taken.survey.instances.map(({ id }) => id))
    const isShort = listed.size === 0 || [...(ahead?.rows.keys() ?? [])].some((id) => !listed.has(id))
    return { taken, at, after: isShort ? await cloud.listServices({ signal }) : null }
  }

  /** A failure here is no failure: the survey then reads it all by itself. */
  async #readAhead(): Promise<Ahead | null> {
    const { cloud, host, clock, signal, observer, id } = this.#run
    const at = clock.now()
    try {
      return { read: await readAhead(cloud, host, { signal }), at }
    } catch (error) {
      observer.log?.('warn', 'survey.early_failed', { incident: id, host }, error)
      return null
    }
  }

  /** After a restart: changes since the incident began must be listed, whatever the time is now. */
  async #cloudTime(): Promise<Pick<HostWatchOptions, 'cloudTimeMs' | 'changedSinceMs'>> {
    const { clock, cloud, signal } = this.#run
    const openedAt = cloudTimeMs(this.#incident.openedAt)
    // What was begun ends also where Nova refuses this: nothing waits any more once a person cancelled.
    const isCancelled = this.#incident.cancelled !== null
    const reading = isCancelled ? null : await this.#persistently(() => cloud.listServices({ signal }))
    const now = reading?.serverTimeMs ?? clock.wall()
    return { cloudTimeMs: now, changedSinceMs: Math.min(now, openedAt) }
  }

  #newWatch(survey: Pick<HostWatchOptions, 'cloudTimeMs' | 'changedSinceMs' | 'resumed'>): HostWatch {
    const { cloud, clock, observer, host, signal, settings } = this.#run
    return new HostWatch({ cloud, clock, observer, host, signal, tickMs: settings.tickMs, ...survey })
  }

  #to(phase: IncidentPhase): void {
    const { journal, id, host } = this.#run
    journal.append([{ kind: 'incident.phase', incident: id, host, data: advance(this.#incident.phase, phase) }])
  }

  #close(outcome: Parameters<typeof closeIncident>[1], message: string): void {
    closeIncident(this.#run, outcome, message)
  }
}
