/**
 * A host that came back in the middle of its own recovery and died again is fenced once more before anything else is sent: the
 * first proof says nothing about what happened since (law L1). While it lives it is left alone: powering off a host that
 * somebody may be repairing is no recovery, and a person can end the incident.
 */
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { HoldCode } from '../domain/incident-phases.ts'
import type { Verdict, VerdictKind } from '../domain/verdict.ts'
import type { Run } from './context.ts'
import { pauseAfter } from './back-off.ts'
import { lookAgainMs, rarestLookMs, type Holding } from './holding.ts'
import { failedAttempts, fenceHost, forceDown } from './host-steps.ts'
import { patiently } from './patience.ts'
import { sayIt, type ProofKeeper } from './proof-keeper.ts'

const dead = new Set<VerdictKind>(['host-down', 'declared-down', 'recovering'])

/**
 * Missed heartbeats before a host that lived once more is taken for dead. A daemon that was just started has not seen any beat:
 * fewer would power off a living host.
 */
const silentBeats = 3

export class ProofRenewal {
  readonly #run: Run
  readonly #holding: Holding
  readonly #keeper: Pick<ProofKeeper, 'keep'>
  #tryAgainAt = -Infinity
  #looks = 0
  #lookAgainAt = -Infinity

  constructor(run: Run, holding: Holding, keeper: Pick<ProofKeeper, 'keep'>) {
    this.#run = run
    this.#holding = holding
    this.#keeper = keeper
  }

  /** One try. False: the host lives, or could not be proven dead; why is on record. */
  async attempt(): Promise<boolean> {
    const { bridge, clock, host, id, settings, signal } = this.#run
    this.#run.proof = null
    if (clock.now() < this.#lookAgainAt) return false
    if (bridge.incident(id).statement === null && clock.now() < this.#tryAgainAt) return false
    const { verdict, frozen } = await patiently(clock, signal, () => bridge.lookAgain(host, signal))
    const isDead = frozen === null && isDeadAgain(verdict)
    this.#looks = isDead ? 0 : this.#looks + 1
    if (!isDead) this.#lookAgainAt = clock.now() + pauseAfter(this.#looks, lookAgainMs, rarestLookMs)
    if (frozen !== null) return this.#wait('FROZEN', frozen)
    if (!isDead) {
      const message = `${host} showed life after it was proven dead (${verdict.message}): nothing more is evacuated before it is silent and fenced again. To leave the rest where it is and let the host return: lifeboat incident cancel ${id}`
      return this.#wait('HOST_ALIVE', message)
    }
    // What came true during the look (a pause, a cancel, the brake) is said by the gate, which asked before it.
    if (signal.aborted || !bridge.permission(bridge.incident(id)).allowed) return false
    try {
      // No witness finds it alive any more: a person's word counts.
      this.#run.proof = await fenceHost(this.#run, true, verdict)
      this.#run.lapsed = null
      this.#keeper.keep()
      return await this.#isolateAnew()
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code !== 'FENCING_MISSING' && !error.code.startsWith('FENCE_')) throw error
      const failed = failedAttempts(bridge.incident(id), 'fence')
      this.#tryAgainAt = clock.now() + pauseAfter(failed, settings.fenceRetryMs, settings.fenceRetryMaxMs)
      const message = `${error.message}. It lived after its first proof, so nothing more is evacuated without a new one. ${sayIt(host)}`
      return this.#wait(error.code === 'FENCING_MISSING' ? 'FENCING_MISSING' : 'FENCE_FAILED', message, error)
    }
  }

  /** Somebody may have taken our flags back while it lived. Nova may refuse what it likes: that ends no instance. */
  async #isolateAnew(): Promise<boolean> {
    const failed = failedAttempts(this.#holding.incident, 'force-down')
    await this.#holding.persist(failed, () => forceDown(this.#run, { pass: () => this.#permitted() }))
    return true
  }

  /** As the gate's own pass, which is busy with this renewal: waiting for it here would never end. */
  async #permitted(): Promise<void> {
    for (;;) {
      const permission = this.#run.bridge.permission(this.#holding.incident)
      if (permission.allowed) return
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
