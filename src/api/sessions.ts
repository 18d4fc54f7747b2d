/**
 * Sessions of the pages. A session is a random name for a token that stays here: the browser never has the token, and what the
 * token may do is asked of Keystone as if it had been shown. They end with the process: people log in again.
 */
import type { Clock } from '../domain/clock.ts'
import { keyOf, secretName } from './secret-names.ts'

/** Sessions at once; the oldest gives way. Far more people than have a cloud's recoveries to look after. */
const mostSessions = 1_000

interface Session {
  token: string
  begunAtMs: number
  tokenEndsAtMs: number
}

export class Sessions {
  readonly #clock: Clock
  readonly #lengthMs: () => number
  readonly #open = new Map<string, Session>()

  /** @param lengthMs how long one lasts, also one that was begun when it was longer */
  constructor(clock: Clock, lengthMs: () => number) {
    this.#clock = clock
    this.#lengthMs = lengthMs
  }

  /** The name of a new session, a secret. `leftMs`: what is left of the token's life. */
  begin(token: string, leftMs: number): { name: string; lengthMs: number } {
    const name = secretName()
    const begunAtMs = this.#clock.now()
    this.#forget()
    this.#open.set(keyOf(name), { token, begunAtMs, tokenEndsAtMs: begunAtMs + leftMs })
    return { name, lengthMs: Math.min(this.#lengthMs(), leftMs) }
  }

  /** The session's token, or null when it is over. */
  token(name: string): string | null {
    const session = this.#open.get(keyOf(name))
    if (session === undefined) return null
    if (!this.#isOver(session)) return session.token
    this.end(name)
    return null
  }

  end(name: string): void {
    this.#open.delete(keyOf(name))
  }

  #isOver({ begunAtMs, tokenEndsAtMs }: Session): boolean {
    return this.#clock.now() >= Math.min(begunAtMs + this.#lengthMs(), tokenEndsAtMs)
  }

  #forget(): void {
    for (const [key, session] of this.#open) if (this.#isOver(session)) this.#open.delete(key)
    for (const key of [...this.#open.keys()].slice(0, Math.max(0, this.#open.size - mostSessions + 1)))
      this.#open.delete(key)
  }
}
