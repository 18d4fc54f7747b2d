/**
 * Answers that were asked for before the pages' script had been read (first.ts). Each is taken once, by the first who asks the
 * same; what nobody took soon is forgotten, and so is everything once the daemon does not know us.
 */
import { after } from '../browser-clock.ts'

/** Longer, and a page that is opened later by a link shows an answer from when this one was loaded. */
const freshMs = 5_000

/**
 * How long an answer may take. Without a limit a dead line that nobody reports (a laptop that slept) keeps a page waiting for
 * minutes with old news on it. Shorter gives up on a daemon that is only busy.
 */
export const readLimitMs = 30_000

/** How the pages read. */
export const reading = {
  headers: { accept: 'application/json' },
  credentials: 'same-origin',
  cache: 'no-store',
} as const

const early = new Map<string, Promise<Response>>()

export function askEarly(addresses: readonly string[]): void {
  const limit = new AbortController()
  after(readLimitMs, () => limit.abort())
  for (const address of addresses) {
    const answer = fetch(address, { ...reading, signal: limit.signal })
    // Whoever takes it sees that it failed; of what nobody takes nobody is told.
    answer.catch(() => undefined)
    early.set(address, answer)
  }
  after(freshMs, forgetEarly)
}

/** The answer to this question, or null: it was not asked early, or somebody has it. */
export function takeEarly(address: string): Promise<Response> | null {
  const answer = early.get(address) ?? null
  early.delete(address)
  return answer
}

export function forgetEarly(): void {
  early.clear()
}
