/**
 * What was set up, to be taken down in reverse order: by a normal stop and by a start that failed half way alike, so that
 * nothing half-starts.
 */
import type { Clock } from '../domain/clock.ts'
import { ensureError } from '../domain/errors.ts'

interface Release {
  name: string
  release: () => Promise<void> | void
}

export class Teardown {
  readonly #releases: Release[] = []
  readonly #clock: Clock
  #running: Promise<string[]> | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Registers how to take down what was just set up. */
  add(name: string, release: Release['release']): void {
    this.#releases.push({ name, release })
  }

  /** Takes everything down once, whoever asks and however often. Gives what went wrong, by name; never throws. */
  run(limitMs: number): Promise<string[]> {
    this.#running ??= this.#takeDown(limitMs)
    return this.#running
  }

  async #takeDown(limitMs: number): Promise<string[]> {
    const problems: string[] = []
    const endsAt = this.#clock.now() + limitMs
    for (const { name, release } of this.#releases.toReversed()) {
      const left = Math.max(endsAt - this.#clock.now(), 100)
      const problem = await this.#release(release, left)
      if (problem !== null) problems.push(`${name}: ${problem}`)
    }
    return problems
  }

  #release(release: Release['release'], limitMs: number): Promise<string | null> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(limitMs, () => resolve('did not stop in time'))
      const end = (problem: string | null): void => {
        cancel()
        resolve(problem)
      }
      Promise.resolve()
        .then(release)
        .then(
          () => end(null),
          (thrown: unknown) => end(ensureError(thrown).message),
        )
    })
  }
}
