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

/** So many are remembered: one that hid a fault is asked for until nova-compute had time to beat again, whatever came after it. */
const rememberedAtMost = 100

/** By our monotonic clock. */
export interface Still {
  endedAt: number
  ms: number
}

export class Standstill {
  readonly #clock: Clock
  /** Null: nobody watched yet. */
  #seenAt: number | null = null
  /** Oldest first. */
  readonly #all: Still[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The last one that was noticed. What was asked before its end is from before it. */
  last(): Still | null {
    return this.lastOver(0)
  }

  /** The last one that took longer. */
  lastOver(ms: number): Still | null {
    if (this.#seenAt !== null) this.#look(this.#seenAt)
    return this.#all.findLast((still) => still.ms > ms) ?? null
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
    this.#seenAt = now
    if (ms <= standstillMs) return
    // Hardly anything is read between two that come so close: together they hide what one of them would not.
    const before = this.#all.at(-1)
    const began = before !== undefined && seenAt - before.endedAt <= standstillMs ? before.endedAt - before.ms : seenAt
    this.#all.push({ endedAt: now, ms: now - began })
    if (this.#all.length > rememberedAtMost) this.#all.shift()
  }
}
