/**
 * Trouble that is the cloud's and not an instance's: a refused login, a forbidden call, an API that is away. It costs no
 * instance its recovery. The incident says what it waits for and tries again less and less often, at once after a reload; what is
 * not refused goes on meanwhile (docs/decisions/0020).
 */
import { isAborted, sleep } from '../domain/clock.ts'
import { ensureError, LifeboatError, type ErrorCode, type ErrorRecord } from '../domain/errors.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { InstancePlan, RecipeStep } from '../domain/plan.ts'
import { pauseAfter } from '../domain/back-off.ts'
import type { Act, Run } from './context.ts'
import { firstRefusalPauseMs, longestRefusalPauseMs, lookAgainMs, mayBeReplaced, type Holding } from './holding.ts'
import type { WatchListener } from './host-watch.ts'
import { silence } from './retry.ts'

/** What a person must correct: whichever instance is asked for next, it is refused alike. */
const refused: ReadonlySet<ErrorCode> = new Set(['AUTH_FAILED', 'AUTH_FORBIDDEN', 'CATALOG_MISSING'])

/** First and longest pause after an API was away. Longer notices late that it is back; shorter writes rows all through an outage. */
const firstSilencePauseMs = 1_000
const longestSilencePauseMs = 60_000

/** Silences in a row before people are told. Fewer: one overloaded worker is called an outage. More: an outage is told late. */
const silencesBeforeHold = 4

/**
 * Refusals in a row, with nothing taken in between, after which only one instance of a project tries at a time. Fewer: a proxy
 * that refuses every second call slows a recovery down. More: an outage costs a refused write, and two rows, for each of them.
 */
const refusalsThatShut = 5

/**
 * How long Nova may be silent to a read of what was begun, once a person cancelled. Shorter: a restart of the API leaves a lock of ours,
 * or an evacuation whose end nobody knows. Longer: the incident stays open as long, and a new one is refused.
 */
export const silentAfterCancelMs = 10 * 60_000

/** Whether a failure says nothing about the instance: the cloud did nothing, and would have done nothing for any other. */
export function isCloudTrouble({ code, certainty }: Pick<ErrorRecord, 'code' | 'certainty'>): boolean {
  return certainty === 'not-applied' && (refused.has(code) || silence.has(code))
}

/** What was refused in a row for one kind of write in one project: rules and roles may be a project's own. */
interface Door {
  refusals: number
  nextTryAt: number
  /** While it is shut, the one that tries. */
  trying: InstanceId | null
}

/** A write of one instance that may be refused. */
interface Attempt {
  plan: Pick<InstancePlan, 'instanceId' | 'projectId'>
  step: Pick<RecipeStep, 'do' | 'retry'>
  act: Act
}

interface Waiter {
  scene: Attempt
  notBefore: number
  resolve: () => void
  reject: (error: LifeboatError) => void
}

/** Where it is said that the incident waits, and that it goes on. */
export type Said = Pick<Holding, 'incident' | 'hold' | 'goOn'>

/** For one incident. */
export class CloudTrouble implements WatchListener {
  readonly #run: Run
  readonly #holding: Said
  readonly #doors = new Map<string, Door>()
  /** Instances that wait, with how often in a row each was refused. */
  readonly #troubled = new Map<InstanceId, { inARow: number; notBefore: number }>()
  readonly #waiters = new Set<Waiter>()
  #rules: object | undefined
  #watching = false
  /** What all evacuations are followed by cannot be read. */
  #isBlind = false

  constructor(run: Run, holding: Said) {
    this.#run = run
    this.#holding = holding
    this.#rules = run.rulesInForce?.()
  }

  /** An attempt failed for a reason that is not the instance's; `inARow`: how many times in a row. */
  refused(scene: Attempt, failure: ErrorRecord, inARow: number): void {
    const pauseMs = pauseFor(failure.code, inARow, scene.step.retry?.firstMs)
    this.#troubled.set(scene.plan.instanceId, { inARow, notBefore: this.#run.clock.now() + pauseMs })
    const door = this.#doors.get(doorOf(scene)) ?? { refusals: 0, nextTryAt: 0, trying: null }
    this.#doors.set(doorOf(scene), door)
    door.refusals += 1
    // Many at once are one hiccup. Who tried for all of them a while later, in vain, says that it lasts.
    const isForAll = door.trying === scene.plan.instanceId && this.#isShut(doorOf(scene))
    door.trying = null
    const sinceShut = Math.max(1, door.refusals - refusalsThatShut + 1)
    door.nextTryAt = this.#run.clock.now() + pauseFor(failure.code, sinceShut, scene.step.retry?.firstMs)
    this.#say(failure, isForAll ? silencesBeforeHold : inARow)
  }

  /** This instance tries no more for now: its step ended, or its write may still be served. Another one may try. */
  gaveUp(scene: Attempt): void {
    const door = this.#doors.get(doorOf(scene))
    if (door?.trying === scene.plan.instanceId) door.trying = null
    this.#forget(scene.plan.instanceId)
  }

  unread(error: LifeboatError, inARow: number): void {
    this.#isBlind = true
    if (inARow >= silencesBeforeHold) this.#say(error, inARow)
  }

  readAgain(): void {
    this.#isBlind = false
    this.#endHold()
  }

  /** Nova took a write of this kind, or refused it for a reason of the instance's own: nobody of the project need wait for it. */
  passed(scene: Attempt): void {
    this.#troubled.delete(scene.plan.instanceId)
    const key = doorOf(scene)
    const wasShut = this.#isShut(key)
    this.#doors.delete(key)
    if (wasShut) {
      for (const door of this.#doors.values()) door.nextTryAt = Math.min(door.nextTryAt, this.#run.clock.now())
      this.#letGo((waiter) => doorOf(waiter.scene) === key)
    }
    this.#endHold()
  }

  /** Resolves when the instance may try. Throws SHUTDOWN, and CANCELLED unless it only finishes what was begun. */
  pass(scene: Attempt): Promise<void> {
    const notBefore = this.#troubled.get(scene.plan.instanceId)?.notBefore ?? 0
    if (this.isOpen(scene) && this.#run.clock.now() >= notBefore) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiters.add({ scene, notBefore, resolve, reject })
      if (!this.#watching) void this.#watch()
    })
  }

  /** Whether `pass` still holds, for a step that waited for room after it. */
  isOpen(scene: Attempt): boolean {
    const key = doorOf(scene)
    return !this.#isShut(key) || this.#doors.get(key)?.trying === scene.plan.instanceId || this.#isCancelled()
  }

  /**
   * Reads until it succeeds or fails for the instance's own reasons: what may not be read says nothing about it. A person who
   * cancels ends that: at once where Nova refuses, where it is silent once that lasts.
   *
   * @param options `waited`: told of each pause, in which nothing could be seen; `only`: what Nova refuses is thrown at once
   */
  async reading<T>(
    { plan, signal }: { plan: Pick<InstancePlan, 'instanceId'>; signal: AbortSignal },
    read: () => Promise<T>,
    { waited, only }: { waited?: (ms: number) => void; only?: 'silence' } = {},
  ): Promise<T> {
    const { clock } = this.#run
    let since: number | null = null
    for (let inARow = 1; ; inARow++) {
      try {
        const value = await read()
        if (inARow > 1) this.#troubled.delete(plan.instanceId)
        this.#endHold()
        return value
      } catch (thrown) {
        const error = ensureError(thrown)
        since ??= clock.now()
        const isCancelled = this.#isCancelled()
        const isLeft = isCancelled && (!silence.has(error.code) || clock.now() - since >= silentAfterCancelMs)
        const isTrouble = isCloudTrouble(error) && (only !== 'silence' || silence.has(error.code))
        if (!isTrouble || isLeft || isAborted(signal)) {
          this.#forget(plan.instanceId)
          throw error
        }
        const from = clock.now()
        const pauseMs = pauseFor(error.code, inARow)
        this.#troubled.set(plan.instanceId, { inARow, notBefore: 0 })
        this.#say(error, inARow)
        const rules = this.#run.rulesInForce?.()
        while (clock.now() - from < pauseMs && this.#isCancelled() === isCancelled && !isAborted(signal)) {
          if (this.#run.rulesInForce?.() !== rules) break
          await sleep(clock, Math.min(lookAgainMs, pauseMs), signal)
        }
        waited?.(clock.now() - from)
      }
    }
  }

  async #watch(): Promise<void> {
    const { clock, signal } = this.#run
    this.#watching = true
    while (this.#waiters.size > 0) {
      await sleep(clock, lookAgainMs, signal)
      this.#end()
      const rules = this.#run.rulesInForce?.()
      if (rules !== this.#rules) {
        // Anyone who has other rules read has most likely corrected what was refused.
        this.#rules = rules
        this.#doors.clear()
        this.#letGo(() => true)
      }
      const now = clock.now()
      this.#letGo(({ scene, notBefore }) => now >= notBefore && this.isOpen(scene))
      this.#letOneTry(now)
    }
    this.#watching = false
  }

  /** Through each door that is shut, one: who was refused least often, so that no single one keeps all others waiting. */
  #letOneTry(now: number): void {
    const turn = ({ scene }: Waiter): number => this.#troubled.get(scene.plan.instanceId)?.inARow ?? 0
    for (const waiter of [...this.#waiters].toSorted((a, b) => turn(a) - turn(b))) {
      const key = doorOf(waiter.scene)
      const door = this.#doors.get(key)
      if (door === undefined || !this.#isShut(key) || door.trying !== null) continue
      if (now < Math.max(door.nextTryAt, waiter.notBefore)) continue
      door.trying = waiter.scene.plan.instanceId
      this.#letGo((other) => other === waiter)
    }
  }

  /** What ends everybody's wait. */
  #end(): void {
    const { cancelled } = this.#holding.incident
    for (const waiter of this.#waiters) {
      if (isAborted(this.#run.signal)) waiter.reject(new LifeboatError('SHUTDOWN', 'the daemon is stopping'))
      else if (cancelled === null) continue
      else if (waiter.scene.act !== 'begins') waiter.resolve()
      else waiter.reject(new LifeboatError('CANCELLED', `cancelled by ${cancelled.by}: ${cancelled.reason}`))
      this.#waiters.delete(waiter)
    }
  }

  #letGo(which: (waiter: Waiter) => boolean): void {
    for (const waiter of [...this.#waiters].filter(which)) {
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  #isShut(key: string): boolean {
    return (this.#doors.get(key)?.refusals ?? 0) >= refusalsThatShut
  }

  #isCancelled(): boolean {
    return this.#holding.incident.cancelled !== null
  }

  /** It has no trouble any more, one way or the other. */
  #forget(id: InstanceId): void {
    if (isAborted(this.#run.signal) || this.#isCancelled() || !this.#troubled.delete(id)) return
    this.#endHold('nothing waits for it any more')
  }

  #say(failure: Pick<ErrorRecord, 'code' | 'message'>, inARow: number): void {
    const silent = silence.has(failure.code)
    if ((silent && inARow < silencesBeforeHold) || !mayBeReplaced.has(this.#holding.incident.held?.code)) return
    const error = failure instanceof LifeboatError ? failure : undefined
    const message = `${failure.message}. Lifeboat tries again by itself; what is not refused goes on`
    this.#holding.hold(silent ? 'CLOUD_UNAVAILABLE' : 'NOVA_REFUSED', message, error)
  }

  #endHold(because?: string): void {
    const code = this.#holding.incident.held?.code
    if (this.#troubled.size > 0 || this.#isBlind) return
    if (code === 'NOVA_REFUSED' || code === 'CLOUD_UNAVAILABLE') this.#holding.goOn(because ?? `${code} is over`)
  }
}

function doorOf({ plan, step }: Attempt): string {
  return `${step.do} ${plan.projectId}`
}

function pauseFor(code: ErrorCode, inARow: number, firstSilenceMs = firstSilencePauseMs): number {
  return silence.has(code)
    ? pauseAfter(inARow, firstSilenceMs, longestSilencePauseMs)
    : pauseAfter(inARow, firstRefusalPauseMs, longestRefusalPauseMs)
}
