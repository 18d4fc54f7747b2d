/**
 * Whether the process stood still: stopped, swapped out, suspended with its machine, or waiting for
 * its disk. It goes on in the middle of what it was about to do, and what it knows is from before; a host that was dead then
 * may live. Owns a timer that is late when the process was.
 */
import { sleep, type Clock } from '../domain/clock.ts'

/** How often the timer ticks. */
const tickMs = 1_000

/**
 * A tick this late was a standstill. Larger: what was true that long ago is acted on. Smaller: a machine that is busy for a moment reads
 * Nova once more before it goes on.
 */
const standstillMs = 3_000

export class Standstill {
  readonly #clock: Clock
  /** Null: nobody watched yet. */
  #seenAt: number | null = null
  #last: { endedAt: number; ms: number } | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The last one that was noticed, on our monotonic clock. What was asked before its end is from before it. */
  last(): { endedAt: number; ms: number } | null {
    if (this.#seenAt !== null) this.#look(this.#seenAt)
    return this.#last
  }

  /**
   * Watches until `signal` aborts: whatever writes next (a recovery, a return, a restart of a guest) asks for the last one. Called again, it counts
   * what lay between: a standby that takes over builds its daemon there, and may stand still while it does.
   */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#look(this.#seenAt ?? this.#clock.now())
      await sleep(this.#clock, tickMs, signal)
    }
  }

  #look(seenAt: number): void {
    const now = this.#clock.now()
    const ms = now - seenAt
    if (ms > standstillMs) this.#last = { endedAt: now, ms }
    this.#seenAt = now
  }
}
