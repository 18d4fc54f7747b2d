/** Things kept for minutes under a secret name that one browser has in a cookie. They end with the process. */
import type { Clock } from '../domain/clock.ts'
import { keyOf, secretName } from './secret-names.ts'

/** Kept at once; the oldest gives way. Fewer, and a flood of them pushes out what a person waits for. */
const mostKept = 1_000

export class BrieflyKept<T> {
  readonly #clock: Clock
  readonly #kept = new Map<string, { value: T; endsAtMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Its name, a secret. */
  keep(value: T, lengthMs: number): string {
    const name = secretName()
    const now = this.#clock.now()
    for (const [key, { endsAtMs }] of this.#kept) if (now >= endsAtMs) this.#kept.delete(key)
    for (const oldest of [...this.#kept.keys()].slice(0, Math.max(0, this.#kept.size - mostKept + 1)))
      this.#kept.delete(oldest)
    this.#kept.set(keyOf(name), { value, endsAtMs: now + lengthMs })
    return name
  }

  /** Null: there is none of that name, or it is over. */
  look(name: string): T | null {
    const found = this.#kept.get(keyOf(name))
    return found === undefined || this.#clock.now() >= found.endsAtMs ? null : found.value
  }

  /** As `look`, for the last time. */
  take(name: string): T | null {
    const value = this.look(name)
    this.#kept.delete(keyOf(name))
    return value
  }
}
