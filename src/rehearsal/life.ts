/**
 * One life of a daemon on the stage: its view of the clock and of the network, which both end with it. A daemon that is
 * killed does nothing more, however much it was in the middle of; nothing in it is told. One that stands still does
 * nothing either, and goes on where it was: what came for it meanwhile waits.
 */
import type { Clock } from '../domain/clock.ts'
import type { Wire } from '../domain/wire.ts'

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
      const late = this.#late()
      if (late > 0) cancel = this.after(late, fire)
      else fire()
    })
    return () => cancel()
  }

  /** The process stands still, as when it is stopped, swapped out or its machine is suspended. */
  stall(ms: number): void {
    this.#stalledUntil = this.#clock.now() + ms
  }

  /** Asked again each time: a life may end during any await. */
  #isOver(): boolean {
    return this.#ended
  }

  #late(): number {
    return this.#stalledUntil - this.#clock.now()
  }

  /** SIGKILL. */
  end(): void {
    this.#ended = true
  }

  /** The network as this life sees it: after its end no answer comes, and what it sends reaches nobody. */
  wire(wire: Wire): Wire {
    return async (request) => {
      if (this.#late() > 0) await this.#awake()
      if (this.#isOver()) return never()
      const answer = await wire(request)
      if (this.#late() > 0) await this.#awake()
      return this.#isOver() ? never() : answer
    }
  }

  /** What others do for this life (programs, probes) is heard of once it runs. */
  async heard<T>(work: Promise<T>): Promise<T> {
    const done = await work
    if (this.#late() > 0) await this.#awake()
    return this.#isOver() ? never() : done
  }

  async #awake(): Promise<void> {
    while (!this.#isOver() && this.#late() > 0) {
      const late = this.#late()
      await new Promise<void>((resolve) => this.#clock.after(late, resolve))
    }
  }
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined)
}
