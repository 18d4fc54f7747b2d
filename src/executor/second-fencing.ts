/**
 * A host that came back in the middle of its own recovery and died again is fenced once more before anything else is sent: the
 * first proof says nothing about what happened since (law L1). While it lives it is left alone: powering off a host that
 * someone may be repairing is no recovery, and a person can end the incident.
 */
import { Moments } from '../domain/clock.ts'
import type { MayLeave } from '../domain/cloud.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { HoldCode } from '../domain/incident-phases.ts'
import type { Verdict, VerdictKind } from '../domain/verdict.ts'
import { believedMethods, type BelievedMethods } from './believed-methods.ts'
import type { Run } from './context.ts'
import { pauseAfter } from '../domain/back-off.ts'
import { lookAgainMs, rarestLookMs, type Holding } from './holding.ts'
import { failedAttempts, fenceHost, forceDown } from './host-steps.ts'
import { lastMoment } from './last-moment.ts'
import { isUnread, restOn } from './proof-age.ts'
import { retryRead } from './retry.ts'
import { sayIt, type ProofKeeper } from './proof-keeper.ts'
import { stillMs } from './service-liveness.ts'
import { noteLife } from './signs-of-life.ts'

const dead = new Set<VerdictKind>(['host-down', 'declared-down', 'recovering'])

/**
 * Missed heartbeats before a host that lived once more is taken for dead. A daemon that was just started has not seen any beat:
 * fewer would power off a living host.
 */
const silentBeats = 3

/**
 * How long a host that someone powered on is left to come up. Shorter: it is powered off while it boots, under the hands of the person who
 * repairs it. Longer: one that does not come up waits for as long.
 */
const bootMs = 10 * 60_000

export class SecondFencing {
  readonly #run: Run
  readonly #holding: Holding
  readonly #keeper: Pick<ProofKeeper, 'keep' | 'restore'>
  readonly #moments: Moments
  #tryAgainAt = -Infinity
  #looks = 0
  #lookAgainAt = -Infinity

  constructor(run: Run, holding: Holding, keeper: Pick<ProofKeeper, 'keep' | 'restore'>) {
    this.#run = run
    this.#holding = holding
    this.#moments = new Moments(run.clock)
    this.#keeper = keeper
  }

  /** One try. False: the host lives, or could not be proven dead; why is on record. */
  async attempt(): Promise<boolean> {
    const { permissions, clock, host, id, settings, signal } = this.#run
    this.#run.proof = null
    // Before the wall clock may be set: from now on its stamp is a moment of our own clock.
    const isBooting = this.#isBooting()
    if (clock.now() < this.#lookAgainAt) return false
    const isStated = permissions.incident(id).attestation !== null
    if (!isStated && clock.now() < this.#tryAgainAt) return false
    const believed = this.#believed()
    if (!isStated && believed.methods.length === 0 && believed.doubt !== null)
      return this.#wait('FENCE_FAILED', `${believed.doubt}. Nothing more is evacuated until then. ${sayIt(host)}`)
    const { verdict, frozen } = await retryRead(clock, signal, () => permissions.lookAgain(host, signal))
    const isDead = frozen === null && isDeadAgain(verdict)
    this.#looks = isDead ? 0 : this.#looks + 1
    if (!isDead) this.#lookAgainAt = clock.now() + pauseAfter(this.#looks, lookAgainMs, rarestLookMs)
    if (frozen !== null) return this.#wait('FROZEN', frozen)
    noteLife(this.#run, verdict)
    if (!isDead) {
      const message = `${host} showed life after it was proven dead (${verdict.message}): nothing more is evacuated until it is silent and has been fenced again. To leave the rest where it is and let the host return: lifeboat incident cancel ${id}`
      return this.#wait('HOST_ALIVE', message)
    }
    if (isBooting) {
      const message = `${host} was powered on after it was proven dead: it has ten minutes to come up, and is fenced again if it shows no life. To go on at once, power it off and say so: ${sayIt(host)}`
      return this.#wait('HOST_ALIVE', message)
    }
    // What came true during the look (a pause, a cancel, the brake) is said by the gate, which asked before it.
    if (signal.aborted || !permissions.of(permissions.incident(id)).allowed) return false
    try {
      // No witness finds it alive any more: a person's word counts.
      const askedAt = clock.now()
      restOn(this.#run, await fenceHost(this.#run, true, verdict), askedAt)
      this.#keeper.keep()
      return await this.#isolateAnew()
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code === 'FENCE_STOPPED') {
        // What a method may have done shows once a living host must have beaten.
        if (error.certainty !== 'not-applied') this.#lookAgainAt = clock.now() + stillMs(permissions.incident(id))
        return false
      }
      if (error.code !== 'FENCING_MISSING' && !error.code.startsWith('FENCE_')) throw error
      const failed = failedAttempts(permissions.incident(id), 'fence')
      this.#tryAgainAt = clock.now() + pauseAfter(failed, settings.fenceRetryMs, settings.fenceRetryMaxMs)
      const doubt = believed.doubt === null ? '' : `; ${believed.doubt}`
      const message = `${error.message}${doubt}. It lived after its first proof, so nothing more is evacuated without a new one. ${sayIt(host)}`
      return this.#wait(error.code === 'FENCING_MISSING' ? 'FENCING_MISSING' : 'FENCE_FAILED', message, error)
    }
  }

  #believed(): BelievedMethods {
    const { permissions, id, clock } = this.#run
    const incident = permissions.incident(id)
    return believedMethods(incident, permissions.segment(incident).fencing, clock.wall())
  }

  /** A person's word says that it is off again. The wall clock may be set while it boots. */
  #isBooting(): boolean {
    const { revoked, attestation } = this.#holding.incident
    if (revoked?.code !== 'POWER_ON' || attestation !== null) return false
    return this.#run.clock.now() - this.#moments.of(revoked.at) < bootMs
  }

  /** Someone may have taken our flags back while it lived. Nova may refuse what it likes: that ends no instance. */
  async #isolateAnew(): Promise<boolean> {
    const failed = failedAttempts(this.#holding.incident, 'force-down')
    await this.#holding.persist(failed, () => forceDown(this.#run, this.#ownGate))
    return true
  }

  /** As the gate itself, which is busy with this: waiting for it here would never end. */
  readonly #ownGate = {
    pass: (): Promise<void> => this.#permitted(),
    isOpen: (): boolean =>
      this.#holding.incident.proof !== null &&
      this.#run.permissions.of(this.#holding.incident).allowed &&
      !isUnread(this.#run),
    lastMoment: (): MayLeave => lastMoment(this.#run.clock, () => this.#ownGate.isOpen()),
  }

  async #permitted(): Promise<void> {
    for (;;) {
      if (this.#holding.incident.proof === null)
        throw new LifeboatError('FENCE_STOPPED', `${this.#run.host} showed life after it was fenced again`, {
          retry: 'after',
        })
      const permission = this.#run.permissions.of(this.#holding.incident)
      if (permission.allowed && !isUnread(this.#run)) return
      if (permission.allowed) {
        await this.#keeper.restore()
        continue
      }
      if ('cancelled' in permission) throw new LifeboatError('CANCELLED', permission.cancelled)
      this.#holding.hold(permission.hold, permission.message)
      await this.#holding.wait(lookAgainMs)
    }
  }

  #wait(code: HoldCode, message: string, error?: LifeboatError): false {
    this.#holding.hold(code, message, error)
    return false
  }
}

function isDeadAgain({ kind, evidence }: Verdict): boolean {
  const witnessed = evidence.probes.some(({ answer }) => answer === 'alive')
  return dead.has(kind) && evidence.missedBeats >= silentBeats && !witnessed
}
