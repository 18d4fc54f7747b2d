/**
 * Watches over a fencing chain while it runs, which may take minutes: what allowed it to begin must still be true before
 * each of its acts. A chain is cut off where its host shows life or a person says stop; what else forbids acting (the brake,
 * a freeze) keeps the next act from being done and leaves the readings of the last one alone.
 */
import { isAborted, sleep } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import { holdsWith, type HoldCode } from '../domain/incident-phases.ts'
import type { Run } from './context.ts'

/** How often the chain is looked after. Longer: a method that hangs may still act for as long after a person said stop. */
const lookEveryMs = 500

const cutsOff = holdsWith('cuts-fencing')

export class FenceWatch {
  readonly #run: Run
  readonly #methods: readonly string[]
  readonly #seenAlive: boolean
  readonly #cut = new AbortController()
  readonly #over = new AbortController()

  /**
   * @param methods those of the chain
   * @param seenAlive the host was found alive when the chain began, and is fenced because it is cut off
   */
  constructor(run: Run, methods: readonly string[], seenAlive: boolean) {
    this.#run = run
    this.#methods = methods
    this.#seenAlive = seenAlive
    if (run.signal.aborted) this.#follow()
    else run.signal.addEventListener('abort', this.#follow, { once: true })
    void this.#watch()
  }

  /** Aborts when the daemon stops, and with a FENCE_STOPPED as its reason when the chain must not go on. */
  get signal(): AbortSignal {
    return this.#cut.signal
  }

  /** Throws FENCE_STOPPED when nothing more may be done to the host. Once it has, it always does. */
  readonly mayGoOn = (): void => {
    this.#look(() => true)
    const { signal } = this.#cut
    if (signal.reason instanceof LifeboatError) throw signal.reason
    if (signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
  }

  /** The chain has ended. */
  end(): void {
    this.#run.signal.removeEventListener('abort', this.#follow)
    this.#over.abort()
  }

  readonly #follow = (): void => this.#cut.abort()

  async #watch(): Promise<void> {
    const { clock } = this.#run
    for (;;) {
      await sleep(clock, lookEveryMs, this.#over.signal)
      if (isAborted(this.#over.signal) || isAborted(this.#cut.signal)) return
      this.#look((code) => code === null || cutsOff.has(code))
    }
  }

  #look(stops: (code: HoldCode | null) => boolean): void {
    try {
      const forbidden = this.#forbidden()
      if (forbidden === null || !stops(forbidden.code)) return
      this.#cut.abort(new LifeboatError('FENCE_STOPPED', forbidden.message, { retry: 'after' }))
    } catch (thrown) {
      // The brake could not put on record what it found: nothing is done without a record.
      this.#cut.abort(ensureError(thrown))
    }
  }

  /** Why the chain must not go on; null as a code where no hold stands behind it. */
  #forbidden(): { code: HoldCode | null; message: string } | null {
    const { permissions, id, host } = this.#run
    const permission = permissions.of(permissions.incident(id))
    if (!permission.allowed)
      return 'cancelled' in permission
        ? { code: null, message: permission.cancelled }
        : { code: permission.hold, message: permission.message }
    if (permission.hostIsBack !== undefined) return { code: null, message: permission.hostIsBack }
    const witness = permissions.verdict(host)?.evidence.probes.find(({ answer }) => answer === 'alive')
    if (witness !== undefined && !this.#seenAlive)
      return { code: 'HOST_ALIVE', message: `${witness.probe} found the host alive (${witness.detail})` }
    const quiet = this.#seenAlive ? permissions.quiet() : null
    if (quiet !== null) return { code: 'FROZEN', message: quiet }
    const { name, fencing } = permissions.segment(permissions.incident(id))
    const gone = this.#methods.find((method) => !fencing.includes(method))
    return gone === undefined
      ? null
      : { code: 'FENCING_MISSING', message: `segment ${name} no longer lists the method ${gone}` }
  }
}
