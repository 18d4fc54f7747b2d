/**
 * One attempt at one step, from wherever its rows stand: it prepares the write, sends it, reconciles it when its answer was lost, and
 * follows it to its end. A first attempt and one that a restart finds half done run the same code (laws L2, L3).
 */
import type { Accepted, MayLeave } from '../domain/cloud.ts'
import { sleep } from '../domain/clock.ts'
import type { NewEntry } from '../domain/entry.ts'
import { ensureError, errorRecord, type ErrorRecord, LifeboatError } from '../domain/errors.ts'
import { isOfInstance, type StepRecord } from '../domain/incident.ts'
import type { StepKind } from '../domain/plan.ts'
import { intention, type BeforeOf, type Noted } from '../domain/step-payloads.ts'
import type { Gate } from './gate.ts'
import type { StepDriver, StepScene } from './step-driver.ts'
import { neverTaken, noTrace, rethrowUnlessOfTheStep, unread } from './step-errors.ts'
import { followToItsEnd } from './step-follow.ts'
import { requestIdOf, stepRequestId } from './step-request-id.ts'

/** What lets writes through: an incident's gate. */
export type Passage = Pick<Gate, 'pass' | 'isOpen' | 'lastMoment'>

/**
 * Where an attempt stands: its step is `confirmed`; it failed, with this error on record; the gate shut before it began (`held`); or
 * its write may still be served, though Nova shows no trace of it (`late`).
 */
export type Attempted = 'confirmed' | 'held' | 'late' | ErrorRecord

/** The same, or that Nova has taken the write. */
type Moved = Attempted | 'taken'

/**
 * Refusals that claim that nothing was applied, and are not believed before Nova was read. A proxy that sends a write twice
 * answers with the refusal of the second: 409 for most, 400 for a resize that is being confirmed (docs/nova.md section 3).
 */
const mayHideAnAct: ReadonlySet<string> = new Set(['API_UNAVAILABLE', 'INSTANCE_BUSY', 'API_REFUSED'])

/**
 * A second evacuation starts the guest twice, and a reset of the state takes the evacuation after it out of its task (docs/nova.md
 * §2.5). A second reboot ends the guest that the first one has started. A lock is outlasted by the incident (late-lock.ts); the others
 * are refused, or do what was wanted.
 */
const harmsWhenLate: ReadonlySet<StepKind> = new Set(['evacuate', 'reset-state', 'reboot'])

/**
 * How often a write that may still be served is looked for. Longer follows it late; shorter lists the migrations of the host for each
 * of them the more often.
 */
const lookForLateMs = 10_000

export class Attempt {
  readonly #driver: StepDriver
  readonly #scene: StepScene
  readonly #gate: Passage
  readonly #number: number
  readonly #place: { incident: string; host: string; instance: string; step: string }
  /**
   * Until when the write may still be served, by the monotonic clock. Counted from this run also after a restart: the wall clock of
   * before may be wrong, and too early is a guest that runs twice.
   */
  #servedUntil: number | null = null
  #toldOfWait = false

  /** @param number from 1, within the step */
  constructor(driver: StepDriver, scene: StepScene, gate: Passage, number: number) {
    this.#driver = driver
    this.#scene = scene
    this.#gate = gate
    this.#number = number
    const { run, plan } = scene
    this.#place = { incident: run.id, host: run.host, instance: plan.instanceId, step: stepKey(scene, number) }
  }

  /** What the journal says of it; undefined before its first row. */
  get record(): StepRecord<StepKind> | undefined {
    const { recovery, step } = this.#scene
    const record = recovery.steps.get(this.#place.step)
    if (record === undefined || (isOfInstance(record) && record.kind === step.do)) return record
    throw new LifeboatError('INVARIANT', `step ${record.key} is on record as ${record.kind}, not as ${step.do}`)
  }

  /**
   * Goes on from where its rows stand, as far as it can. Throws SHUTDOWN and JOURNAL_UNAVAILABLE; every other error is on record.
   * @param leaveRoom called once what is left is to wait for another host's incident
   */
  async go(leaveRoom: () => void): Promise<Attempted> {
    const moved = await this.#untilTaken()
    return moved === 'taken' ? this.#follow(leaveRoom) : moved
  }

  /**
   * Confirms the step when there is nothing to send. Gives false when there is, and when that cannot be read: it is found out when
   * its turn comes.
   */
  async isDoneAlready(): Promise<boolean> {
    try {
      const prepared = await this.#driver.before(this.#scene)
      if (!('nothingToDo' in prepared)) return false
      this.#recordNothingToDo(prepared.nothingToDo)
      return true
    } catch (thrown) {
      rethrowUnlessOfTheStep(thrown)
      return false
    }
  }

  /** Waits before a late write is looked for again. The journal says it once a run: people are shown what is waited for. */
  async waitForLate(): Promise<void> {
    const { clock, journal, signal } = this.#scene.run
    const restMs = (this.#servedUntil ?? 0) - clock.now()
    if (!this.#toldOfWait) {
      const data = { sentAt: this.record?.intendedAt ?? '', until: new Date(clock.wall() + restMs).toISOString() }
      journal.append([{ kind: 'step.waiting', ...this.#place, data }])
    }
    this.#toldOfWait = true
    await sleep(clock, Math.min(lookForLateMs, restMs), signal)
  }

  async #untilTaken(): Promise<Moved> {
    const status = this.record?.status
    if (status === undefined) return this.#prepare()
    return status === 'intended' ? this.#reconcile() : 'taken'
  }

  /** Reads the state before the write, and sends the write when there is one to send. */
  async #prepare(): Promise<Moved> {
    const { run, act, trouble } = this.#scene
    if (!this.#isAllowed() || !trouble.isOpen(this.#scene)) return 'held'
    let prepared
    try {
      prepared = await this.#driver.before(this.#scene)
    } catch (thrown) {
      const error = errorRecord(rethrowUnlessOfTheStep(thrown))
      // Nothing was intended yet. Both rows at once: nothing must reconcile the first.
      run.journal.append([
        this.#intended({ before: null, request: null }),
        { kind: 'step.failed', ...this.#place, data: { error } },
      ])
      return error
    }
    if ('nothingToDo' in prepared) {
      this.#recordNothingToDo(prepared.nothingToDo)
      return 'confirmed'
    }
    const { before, request } = prepared
    if ('adopt' in prepared) {
      const issued: NewEntry = { kind: 'step.issued', ...this.#place, data: { requestId: null } }
      run.journal.append([this.#intended({ before, request }), issued])
      trouble.gaveUp(this.#scene)
      return 'taken'
    }
    // Reading may have taken minutes: what was allowed before it may be forbidden now.
    if (!this.#isAllowed()) return 'held'
    const mayLeave = this.#gate.lastMoment(act)
    const globalRequestId = stepRequestId(this.#place)
    run.journal.append([this.#intended({ before, request }, { globalRequestId })])
    return this.#send(mayLeave, globalRequestId)
  }

  /** @param mayLeave throws HELD_BACK when the write must not leave any more */
  async #send(mayLeave: MayLeave, globalRequestId: string): Promise<Moved> {
    const { run, trouble } = this.#scene
    try {
      const { requestId } = await this.#sendOnceOrTwice(mayLeave, globalRequestId)
      run.journal.append([{ kind: 'step.issued', ...this.#place, data: { requestId, ...requestIdOf(this.record) } }])
      trouble.passed(this.#scene)
      return 'taken'
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.certainty !== 'unknown' && !mayHideAnAct.has(error.code)) return this.#fail(error)
      if (error.code === 'JOURNAL_UNAVAILABLE') throw error
      return this.#reconcile(error)
    }
  }

  /**
   * Sends, and once more at once when a 503 says that nothing was applied and an earlier 503 of this step was found in Nova
   * to have told the truth. Without it a proxy that refuses every second call could refuse the same write for ever.
   */
  async #sendOnceOrTwice(mayLeave: MayLeave, globalRequestId: string): Promise<Accepted> {
    const send = (): Promise<Accepted> => {
      mayLeave()
      return this.#driver.send(this.#scene, { globalRequestId, mayLeave })
    }
    try {
      return await send()
    } catch (thrown) {
      const error = ensureError(thrown)
      const before = this.#scene.recovery.steps.get(stepKey(this.#scene, this.#number - 1))?.error
      if (!toldTheTruth(before) || !isRefusedUntouched(error)) throw error
      try {
        return await send()
      } catch (second) {
        const { code, certainty } = ensureError(second)
        // Refused for good, or forbidden by us meanwhile. The first one was sent: whether Nova took it is still to be read.
        throw certainty === 'not-applied' && !mayHideAnAct.has(code) ? error : second
      }
    }
  }

  /**
   * Reads in Nova whether the write was taken.
   * @param answer what it was answered with; absent when its answer was never heard
   */
  async #reconcile(answer?: LifeboatError): Promise<Moved> {
    const { run, trouble } = this.#scene
    let isBegun: boolean
    try {
      const record = this.#begun()
      const quietMs = this.#quietMs(answer)
      const found = await trouble.reading(this.#scene, () => this.#driver.reconcile(this.#scene, record, quietMs))
      if (found.applied) {
        const data = { requestId: found.requestId, ...requestIdOf(this.record) }
        run.journal.append([{ kind: 'step.issued', ...this.#place, data }])
        trouble.passed(this.#scene)
        return 'taken'
      }
      isBegun = found.requestId !== null
    } catch (thrown) {
      return this.#fail(unread(this.#scene, thrown, answer))
    }
    // Whatever a proxy answered to a second copy of it.
    if (isBegun) return this.#mayBeServed() ? 'late' : this.#fail(neverTaken())
    if (answer === undefined) return this.#mayBeServed() ? 'late' : this.#fail(neverTaken())
    if (answer.certainty !== 'unknown') return this.#fail(answer)
    return answer.details['served'] !== true && this.#mayBeServed() ? 'late' : this.#fail(noTrace(answer))
  }

  /** For how long Nova must show no trace of the write before it counts as not taken. */
  #quietMs(answer: LifeboatError | undefined): number {
    const { reconcileQuietMs, tickMs } = this.#scene.run.settings
    if (answer !== undefined) return answer.certainty === 'unknown' ? reconcileQuietMs : 2 * tickMs
    const looksAgain = this.#servedUntil !== null && this.#mayBeServed()
    return looksAgain ? 0 : reconcileQuietMs
  }

  /** Whether the write that is out may still be served, and would do harm to what is sent meanwhile. */
  #mayBeServed(): boolean {
    const { run, step } = this.#scene
    if (!harmsWhenLate.has(step.do)) return false
    this.#servedUntil ??= run.clock.now() + run.settings.longestRequestMs
    return run.clock.now() < this.#servedUntil
  }

  async #follow(leaveRoom: () => void): Promise<Attempted> {
    try {
      const result = await followToItsEnd(this.#driver, { ...this.#scene, leaveRoom }, this.#begun())
      const data = { result, ...requestIdOf(this.record) }
      this.#scene.run.journal.append([{ kind: 'step.confirmed', ...this.#place, data }])
      return 'confirmed'
    } catch (thrown) {
      return this.#fail(thrown)
    }
  }

  #isAllowed(): boolean {
    return this.#gate.isOpen(this.#scene.act) && this.#scene.run.plans.stands(this.#scene)
  }

  #begun(): StepRecord<StepKind> {
    if (this.record === undefined) throw new LifeboatError('INVARIANT', `step ${this.#place.step} has no rows`)
    return this.record
  }

  #fail(thrown: unknown): ErrorRecord {
    const error = errorRecord(rethrowUnlessOfTheStep(thrown))
    this.#scene.run.journal.append([
      { kind: 'step.failed', ...this.#place, data: { error, ...requestIdOf(this.record) } },
    ])
    return error
  }

  #recordNothingToDo(nothingToDo: BeforeOf<StepKind>): void {
    this.#scene.run.journal.append([
      this.#intended({ before: nothingToDo, request: null }),
      { kind: 'step.confirmed', ...this.#place, data: { result: { nothingToDo } } },
    ])
  }

  #intended(noted: Noted<StepKind>, sends: { globalRequestId?: string } = {}): NewEntry {
    const data = intention<StepKind>(this.#scene.step.do, this.#number, noted, sends)
    return { kind: 'step.intended', ...this.#place, data }
  }
}

/** A step's key: never used twice within an instance's recovery. */
export function stepKey({ recovery, step }: StepScene, attempt: number): string {
  return `${recovery.round}.${recovery.recipe ?? 'none'}.${step.id}.${attempt}`
}

/**
 * A 503 of the attempt before, of which Nova showed no trace. A lost answer has the same code and proves nothing: a proxy may refuse the next write
 * after passing it on.
 */
function toldTheTruth(before: ErrorRecord | null | undefined): boolean {
  return isRefusedUntouched(before) && before?.details['status'] === 503
}

function isRefusedUntouched(error: Pick<ErrorRecord, 'code' | 'certainty'> | null | undefined): boolean {
  return error?.code === 'API_UNAVAILABLE' && error.certainty === 'not-applied'
}
