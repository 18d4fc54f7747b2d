/**
 * The lease of the active daemon: renewed on a connection of its own, counted from the moment of sending, by our monotonic clock. Owns until when
 * anything may leave. It keeps time, not truth: a lease that is lost stops what leaves, and the chain stops what is written.
 */
import { sleep, type Clock } from '../../domain/clock.ts'
import { StoreTrouble, type SharedStore } from './store.ts'

/** Longer: a lease that is nearly over is noticed late; shorter: more commits in the cluster for nothing. */
const renewEveryMs = 1_000
/** After a renewal that failed: the lease has seconds left. */
const renewAgainMs = 200
/**
 * A permit rests on a success in the store whose answer is younger than this. Shorter: more renewals; longer: what leaves may rest on the word of
 * a database that has gone meanwhile. How long the answer took counts against the lease alone: where each takes a second, nothing would ever leave.
 */
const freshMs = 1_000

export interface LeaseParts {
  store: Pick<SharedStore, 'renew'>
  clock: Clock
  leaseMs: number
  epoch: number
  holder: string
  /** When the statement that took the tenure was sent. */
  takenAt: number
  /** The lease ran out, and its renewal is still tried. `problem`: what the last one failed with; empty: it was not answered yet. */
  lapsed: (problem: string) => void
  /** After each renewal. */
  renewed: () => void
  /** It was renewed after it had run out. */
  resumed: () => void
  /** The row is another daemon's. */
  lost: () => void
  signal: AbortSignal
}

export class Lease {
  readonly #parts: LeaseParts
  #until: number
  #renewedAt: number
  #confirmedAt: number
  #over = false
  #lapsed = false
  #problem = ''
  #cancelLapse: () => void = () => undefined
  #renewing: Promise<void> | null = null

  constructor(parts: LeaseParts) {
    this.#parts = parts
    this.#renewedAt = this.#confirmedAt = parts.takenAt
    this.#until = parts.takenAt + parts.leaseMs
    this.#awaitLapse()
  }

  /** Asked in the tick in which bytes leave. */
  held(): boolean {
    return !this.#over && this.#parts.clock.now() < this.#until
  }

  /** @returns ms; 0 when it is over */
  leftMs(): number {
    return this.#over ? 0 : Math.max(0, this.#until - this.#parts.clock.now())
  }

  isFresh(): boolean {
    return this.held() && this.#parts.clock.now() - this.#confirmedAt < freshMs
  }

  /** The store took an entry just now: no other daemon had begun. The lease is as long as before. */
  confirmed(): void {
    this.#confirmedAt = this.#parts.clock.now()
  }

  /** Renews again and again until `signal` aborts or the row is another's. */
  async keep(): Promise<void> {
    const { clock, signal } = this.#parts
    while (!signal.aborted && !this.#over) {
      const well = await this.renew()
      await sleep(clock, well ? renewEveryMs : renewAgainMs, signal)
    }
  }

  /** One renewal, shared by all who ask meanwhile. Gives whether it succeeded. */
  async renew(): Promise<boolean> {
    const before = this.#renewedAt
    this.#renewing ??= this.#renewOnce().finally(() => (this.#renewing = null))
    await this.#renewing
    return this.#renewedAt !== before
  }

  /** Nothing may leave from now on. */
  end(): void {
    this.#over = true
    this.#cancelLapse()
  }

  async #renewOnce(): Promise<void> {
    const { store, clock, epoch, holder, leaseMs, lost, renewed, resumed } = this.#parts
    const sentAt = clock.now()
    try {
      const ours = await store.renew(epoch, holder)
      if (this.#over) return
      if (!ours) {
        this.end()
        lost()
        return
      }
      this.#problem = ''
      this.#renewedAt = sentAt
      this.#until = sentAt + leaseMs
      this.confirmed()
      if (this.#lapsed && this.held()) {
        this.#lapsed = false
        resumed()
      }
      this.#awaitLapse()
      renewed()
    } catch (thrown) {
      // Told by who appends, and when the lease runs out; here only time passes.
      if (!(thrown instanceof StoreTrouble)) throw thrown
      this.#problem = thrown.message
    }
  }

  #awaitLapse(): void {
    const { clock, lapsed } = this.#parts
    this.#cancelLapse()
    if (this.#lapsed || this.#over) return
    this.#cancelLapse = clock.after(Math.max(0, this.#until - clock.now()), () => {
      if (this.#over) return
      // A timer of whole milliseconds ends up to one before the moment that it was set for.
      if (this.held()) return this.#awaitLapse()
      this.#lapsed = true
      lapsed(this.#problem)
    })
  }
}
