/** The exit of a daemon that shares its journal, which a test opens and closes. */
import { LifeboatError } from '../../src/domain/errors.ts'
import type { Exit } from '../../src/domain/tenure.ts'

export class Gate implements Exit {
  open = true
  readonly #listeners = new Set<() => void>()

  permit(): Promise<void> {
    return this.open ? Promise.resolve() : Promise.reject(new LifeboatError('NOT_ACTIVE', 'ctl2 is active'))
  }

  recorded(): Promise<void> {
    return Promise.resolve()
  }

  held(): boolean {
    return this.open
  }

  onLapse(listen: () => void): () => void {
    this.#listeners.add(listen)
    return () => this.#listeners.delete(listen)
  }

  /** Its lease is over. */
  lapse(): void {
    this.open = false
    for (const listen of this.#listeners) listen()
  }
}
