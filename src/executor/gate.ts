/**
 * The gate that every write of an incident passes, but for what proves the host dead (fence-watch.ts, second-fencing.ts). While
 * control/permissions.ts forbids acting (a person's stop, law L10, or a reason of the daemon), or the proof of death does not hold, the
 * incident is held here with its reason on record. It goes on by itself when the reason is gone.
 */
import { sleep } from '../domain/clock.ts'
import type { MayLeave } from '../domain/cloud.ts'
import { ensureError, errorRecord, LifeboatError } from '../domain/errors.ts'
import { holdsWith, type HoldCode, type IncidentPhase } from '../domain/incident-phases.ts'
import type { Act, Permission, Run } from './context.ts'
import { callHolds } from './holding.ts'
import { lastMoment } from './last-moment.ts'
import { isUnread } from './proof-age.ts'

/** Phases in which every write rests on a proof of death. Before them there is none yet. */
const proven: ReadonlySet<IncidentPhase> = new Set(['isolating', 'surveying', 'recovering', 'sweeping'])

/** How often a held incident looks whether it may go on. Longer delays a recovery after its pause ends by as much. */
const lookAgainMs = 500

/**
 * After a wait longer than this the proof of death is renewed before the next write. Longer: a host that a person powered on
 * meanwhile, during maintenance say, is evacuated while its guests may run. Shorter: a BMC is read after every short hold.
 */
const proofGoodForMs = 5_000

/**
 * How long a start waits for the next reading of Nova after the process stood still, even if a person has cancelled. Shorter: a guest that we left
 * off stays off. Longer: the cancelled incident ends later.
 */
const readAgainWithinMs = 15_000

/** The incident names the orders that hold it now, also when they change while it waits. */
const ordered = holdsWith('ordered')

/** What the proof's keeper says while it cannot make the proof true. */
const saidByTheKeeper: ReadonlySet<HoldCode | undefined> = new Set<HoldCode>(['FENCE_FAILED', 'HOST_ALIVE'])

/** A restart that finds one of these says itself that the incident goes on: nobody waits who would. */
const gateHolds = holdsWith('ends-at-the-gate')

export class Gate {
  readonly #run: Run
  readonly #restoreProof: () => Promise<void>
  readonly #fenceAgain: () => Promise<boolean>
  #waiting: Promise<void> | null = null
  #restoring: Promise<void> | null = null
  /** What an earlier run left is still being made sure of, or could not be. */
  #pickingUp = false
  /** What broke that, but for a cancel: nothing passes any more. */
  #broken: LifeboatError | null = null
  /** When something was last let through: a process that stood still since then waited as well. */
  #openAt: number

  /**
   * @param restoreProof resolves when the host is known to be dead still; waits as long as it is not.
   * @param fenceAgain tries once to prove the host dead again after its proof was revoked; says on record why it cannot
   */
  constructor(run: Run, restoreProof: () => Promise<void>, fenceAgain: () => Promise<boolean>) {
    this.#fenceAgain = fenceAgain
    this.#openAt = run.clock.now()
    this.#run = run
    this.#restoreProof = restoreProof
  }

  /**
   * Nothing begins before `first` is over. Anyone who called waits for it, too: only a cancel and the end of the daemon are told to
   * those who wait here, for whatever else breaks it says nothing about them.
   */
  after(first: Promise<void>): void {
    this.#pickingUp = true
    const waiting = first
      .catch((thrown: unknown) => {
        const error = ensureError(thrown)
        if (error.code === 'CANCELLED') throw error
        this.#broken = new LifeboatError('SHUTDOWN', 'the run broke', { certainty: 'unknown', cause: error })
        throw this.#broken
      })
      .then(() => {
        // Only a proof that holds lets a start pass: a cancel may come while the host's board says On.
        this.#pickingUp = false
        return this.#wait()
      })
      .finally(() => (this.#waiting = null))
    waiting.catch(() => undefined)
    this.#waiting = waiting
  }

  /**
   * Resolves when the next write may be sent. Throws SHUTDOWN; CANCELLED to what has not begun; HOST_ALIVE to what was begun and
   * cancelled, where a guest must not be started any more.
   */
  pass(act: Act = 'begins'): Promise<void> {
    if (act !== 'begins') return this.#passBegun(act)
    this.#stopIfEnded()
    const incident = this.#run.permissions.incident(this.#run.id)
    if (this.#waiting === null && this.#isProven() && this.#permission().allowed) {
      if (incident.held !== null && gateHolds.has(incident.held.code))
        this.#continue(whyItGoesOn(incident.held.code, incident.override?.by))
      this.#openAt = this.#run.clock.now()
      return Promise.resolve()
    }
    this.#waiting ??= this.#wait().finally(() => (this.#waiting = null))
    return this.#waiting
  }

  /** Whether `pass` would resolve at once. */
  isOpen(act: Act = 'begins'): boolean {
    const { permissions, id, signal } = this.#run
    const incident = permissions.incident(id)
    if (act !== 'begins') return !signal.aborted && this.#against(act) === null
    if (signal.aborted || this.#waiting !== null || incident.cancelled !== null) return false
    const open = this.#permission().allowed && this.#isProven()
    if (open) this.#openAt = this.#run.clock.now()
    return open
  }

  /** For a write that is allowed now and about to be put on record: asked again right before it leaves. */
  lastMoment(act: Act = 'begins'): MayLeave {
    return lastMoment(this.#run.clock, () => this.isOpen(act))
  }

  /** What is begun is finished: it waits for less, and once cancelled it waits for nothing. */
  async #passBegun(act: Exclude<Act, 'begins'>): Promise<void> {
    const { permissions, id, host, clock, signal } = this.#run
    for (;;) {
      if (this.#broken !== null && act !== 'closes') throw this.#broken
      if (signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
      if (act === 'finishes' && this.#mayRestore(act)) await this.#restoreForAStart()
      const against = this.#against(act)
      if (against === null) return
      if (permissions.incident(id).cancelled !== null && !this.#isNovaReadAgain(act))
        throw new LifeboatError('HOST_ALIVE', `not started, because its guest may run on ${host} as well: ${against}`)
      // Whatever holds it is said on record there, and the host is proven dead again where it must be.
      this.#waiting ??= this.#wait().finally(() => (this.#waiting = null))
      this.#waiting.catch(() => undefined)
      await sleep(clock, lookAgainMs, signal)
    }
  }

  /** Whether a start waits for nothing but the next reading of Nova after the process stood still. */
  #isNovaReadAgain(act: Act): boolean {
    const { permissions, id, clock } = this.#run
    const permission = permissions.of(permissions.incident(id), act)
    const isFrozen = !permission.allowed && 'hold' in permission && permission.hold === 'FROZEN'
    return isFrozen && clock.now() - permissions.stoodStillUntil() < readAgainWithinMs
  }

  /** Why what was begun may not go on now, or null. */
  #against(act: Exclude<Act, 'begins'>): string | null {
    const { permissions, id, proofExpired } = this.#run
    const permission = permissions.of(permissions.incident(id), act)
    if (!permission.allowed) return 'cancelled' in permission ? permission.cancelled : permission.message
    if (act === 'closes') return null
    const isHeldForLife = permissions.incident(id).held?.code === 'HOST_ALIVE'
    if (this.#pickingUp)
      return this.#isGivenUp() && !isHeldForLife
        ? 'the proof of death may have expired while no daemon ran, and is not renewed after a cancel'
        : 'the proof of death has not been checked again yet'
    if (this.#lacksProof()) return 'the host showed life after it was proven dead'
    if (isUnread(this.#run)) return 'this process stood still, and the proof of death could not be confirmed since'
    return proofExpired === null ? null : `the proof of death expired and could not be renewed: ${proofExpired.message}`
  }

  /** After a cancel no program renews what expires: the host may live. */
  #isGivenUp(): boolean {
    const { permissions, fencer, id } = this.#run
    const { cancelled, proof } = permissions.incident(id)
    return cancelled !== null && proof !== null && fencer.renewEveryMs(proof.method) !== null
  }

  /** The host showed life after it was proven dead. */
  #lacksProof(): boolean {
    const { phase, proof } = this.#run.permissions.incident(this.#run.id)
    return proof === null && proven.has(phase)
  }

  #isProven(): boolean {
    return !this.#lacksProof() && !isUnread(this.#run)
  }

  /**
   * Whether the unread proof is all that holds up a start: then it is read here, for neither a pause nor a cancel may hold up a start. After a
   * cancel no program is run for that: it would take the storage of a host that a person has just let live.
   */
  #mayRestore(act: Act): boolean {
    const { permissions, id } = this.#run
    const incident = permissions.incident(id)
    return !this.#isGivenUp() && !this.#pickingUp && isUnread(this.#run) && permissions.of(incident, act).allowed
  }

  /** A cancel ends the wait for a board that does not answer. It is asked once more then, and #against says why nothing is started. */
  async #restoreForAStart(): Promise<void> {
    const { permissions, id } = this.#run
    const wasCancelled = permissions.incident(id).cancelled !== null
    try {
      await this.#restore()
    } catch (thrown) {
      if (ensureError(thrown).code !== 'CANCELLED') throw thrown
      if (!wasCancelled && this.#mayRestore('finishes')) return this.#restoreForAStart()
    }
  }

  #restore(): Promise<void> {
    this.#restoring ??= this.#restoreProof().finally(() => (this.#restoring = null))
    return this.#restoring
  }

  async #wait(): Promise<void> {
    const { permissions, journal, id, host, clock, signal } = this.#run
    let provenAt = this.#openAt
    for (;;) {
      this.#stopIfEnded()
      const incident = permissions.incident(id)
      const permission = this.#permission()
      if (permission.allowed && this.#lacksProof()) {
        // What came true meanwhile (a pause, a cancel) is asked again before anything is let through.
        if (!(await this.#fenceAgain())) await sleep(clock, lookAgainMs, signal)
        continue
      }
      if (permission.allowed) {
        if (isUnread(this.#run) || (incident.proof !== null && clock.now() - provenAt > proofGoodForMs)) {
          await this.#restore()
          provenAt = this.#openAt = clock.now()
          continue
        }
        if (incident.held !== null && !callHolds.has(incident.held.code))
          this.#continue(permission.hostIsBack ?? whyItGoesOn(incident.held.code, incident.override?.by))
        return
      }
      if ('cancelled' in permission) throw new LifeboatError('CANCELLED', permission.cancelled)
      const { hold: code, message, error } = permission
      // What a start waits for has been said. Another row would hide it, and take a person's word for answered.
      const isSaid = this.#restoring !== null && saidByTheKeeper.has(incident.held?.code)
      const isNews = incident.held?.code !== code || (ordered.has(code) && incident.held.message !== message)
      if (isNews && !isSaid) {
        journal.append([
          { kind: 'incident.held', incident: id, host, data: { code, message, ...(error && { error }) } },
        ])
      }
      await sleep(clock, lookAgainMs, signal)
    }
  }

  #continue(because: string): void {
    const { journal, id, host } = this.#run
    journal.append([{ kind: 'incident.continued', incident: id, host, data: { because } }])
  }

  #permission(): Permission {
    const { permissions, id, proofExpired } = this.#run
    // Revoked is more than expired: the host is proven dead again from the beginning.
    if (proofExpired === null || this.#lacksProof()) return permissions.of(permissions.incident(id))
    const why = proofExpired.code === 'HOST_ALIVE' ? 'does not hold' : 'expired and could not be renewed'
    const message = `the proof of death ${why}: ${proofExpired.message}`
    return { allowed: false, hold: 'FENCE_FAILED', message, error: errorRecord(proofExpired) }
  }

  #stopIfEnded(): void {
    if (this.#broken !== null) throw this.#broken
    if (this.#run.signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
    const cancelled = this.#run.permissions.incident(this.#run.id).cancelled
    if (cancelled !== null) throw new LifeboatError('CANCELLED', `cancelled by ${cancelled.by}: ${cancelled.reason}`)
  }
}

function whyItGoesOn(held: HoldCode, overriddenBy: string | undefined): string {
  return held === 'BRAKE' && overriddenBy !== undefined ? `${overriddenBy} let it past the brake` : `${held} is over`
}
