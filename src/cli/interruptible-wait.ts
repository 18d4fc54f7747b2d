/** Waiting that ends at once when someone interrupts. */
import { sleep } from '../domain/clock.ts'
import type { Session } from './session.ts'

export class InterruptibleWait {
  readonly #clock: Session['commands']['clock']
  readonly #over = new AbortController()
  readonly #offInterrupt: () => void

  /** Listens for anyone who interrupts, until it is closed. */
  constructor({ commands, terminal }: Session) {
    this.#clock = commands.clock
    this.#offInterrupt = terminal.onInterrupt(() => this.#over.abort())
  }

  get ended(): boolean {
    return this.#over.signal.aborted
  }

  /** False when it was ended, before or meanwhile. */
  async pause(ms: number): Promise<boolean> {
    await sleep(this.#clock, ms, this.#over.signal)
    return !this.ended
  }

  close(): void {
    this.#offInterrupt()
  }
}
