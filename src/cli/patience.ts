/** Waiting that ends at once when somebody interrupts. */
import { sleep, type Clock } from '../domain/clock.ts'

export class Patience {
  readonly #clock: Clock
  readonly #over = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get ended(): boolean {
    return this.#over.signal.aborted
  }

  end(): void {
    this.#over.abort()
  }

  /** False when it was ended, before or meanwhile. */
  async pause(ms: number): Promise<boolean> {
    await sleep(this.#clock, ms, this.#over.signal)
    return !this.ended
  }
}
