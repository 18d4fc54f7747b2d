/**
 * One life of a daemon on the stage: its view of the clock and of the network, which both end with it. A daemon that is
 * killed does nothing more, however much it was in the middle of; nothing in it is told.
 */
import type { Clock } from '../../domain/clock.ts'
import type { Wire } from '../../domain/wire.ts'

export class Life implements Clock {
  readonly #clock: Clock
  #ended = false
  /** Until when the process does not run at all, on the clock's monotonic time. */
  #stalledUntil = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  wall(): number {
    return this.#clock.wall()
  }

  after(delayMs: number, fire: () => void): () => void {
    let cancel = this.#clock.after(delayMs, () => {
      if (this.#ended) return
      const late = this.#stalledUntil - this.#clock.now()
      if (late > 0) cancel = this.after(late, fire)
      else fire()
    })
    return () => cancel()
  }

  /** The process stands still, as when it is swapped out or its machine is suspended. */
  stall(ms: number): void {
    this.#stalledUntil = this.#clock.now() + ms
  }

  /** Asked anew each time: a life may end during any await. */
  #isOver(): boolean {
    return this.#ended
  }

  /** SIGKILL. */
  end(): void {
    this.#ended = true
  }

  /** The network as this life sees it: after its end no answer comes, and what it sends reaches nobody. */
  wire(wire: Wire): Wire {
    return async (request) => {
      if (this.#isOver()) return never()
      const answer = await wire(request)
      return this.#isOver() ? never() : answer
    }
  }
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined)
}
