/**
 * What the log says while something is away that is tried again and again: at once what is wrong, each other trouble once, and from then on once a
 * minute with how often it failed; then that it is over. Owns what is repeated and what is not.
 */
import type { Clock } from '../domain/clock.ts'
import type { LifeboatError } from '../domain/errors.ts'

/** Shorter: an outage of an hour hides what else the log has to say. Longer: a log that is cut off says nothing of an outage that goes on. */
const sayAgainMs = 60_000

export interface OutageParts {
  clock: Clock
  /** @param failures since it went away, this one too; `awayMs`: since then */
  away: (problem: LifeboatError, seen: { failures: number; awayMs: number }) => void
  back: (seen: { failures: number; awayMs: number }) => void
}

export class Outage {
  readonly #parts: OutageParts
  #since: number | null = null
  #failures = 0
  #saidAt = 0
  /** Several nodes fail by turns, each in its own words. */
  readonly #said = new Set<string>()

  constructor(parts: OutageParts) {
    this.#parts = parts
  }

  failed(problem: LifeboatError): void {
    const now = this.#parts.clock.now()
    this.#since ??= now
    this.#failures += 1
    const isDue = now - this.#saidAt >= sayAgainMs
    if (!isDue && this.#said.has(problem.message)) return
    if (isDue) this.#said.clear()
    this.#said.add(problem.message)
    this.#saidAt = now
    this.#parts.away(problem, { failures: this.#failures, awayMs: now - this.#since })
  }

  /** Nothing is said where nothing was away. */
  over(): void {
    if (this.#since === null) return
    const awayMs = this.#parts.clock.now() - this.#since
    this.#parts.back({ failures: this.#failures, awayMs })
    this.#since = null
    this.#failures = 0
    this.#said.clear()
  }
}
