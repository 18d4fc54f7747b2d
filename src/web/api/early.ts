/**
 * Answers that were asked for before the pages' script had been read (first.ts). Each is taken once, by the first who asks the
 * same; what nobody took soon is forgotten, and so is everything once the daemon does not know us.
 */
import { after } from '../browser-clock.ts'

/** Longer, and a page that is opened later by a link shows an answer from when this one was loaded. */
const freshMs = 5_000

interface Early {
  lifeboatEarly?: Map<string, Promise<Response>>
}

/** As for any answer: without a limit a dead line keeps the page waiting. */
const limitMs = 30_000

/** How the pages read. */
export const reading = {
  headers: { accept: 'application/json' },
  credentials: 'same-origin',
  cache: 'no-store',
} as const

export function askEarly(addresses: readonly string[]): void {
  const limit = new AbortController()
  after(limitMs, () => limit.abort())
  const asked = new Map(addresses.map((address) => [address, fetch(address, { ...reading, signal: limit.signal })]))
  // Whoever takes it sees that it failed; of what nobody takes nobody is told.
  for (const answer of asked.values()) answer.catch(() => undefined)
  ;(window as Early).lifeboatEarly = asked
  after(freshMs, forgetEarly)
}

/** The answer to this question, or null: it was not asked early, or somebody has it. */
export function takeEarly(address: string): Promise<Response> | null {
  const asked = (window as Early).lifeboatEarly
  const answer = asked?.get(address) ?? null
  asked?.delete(address)
  return answer
}

export function forgetEarly(): void {
  delete (window as Early).lifeboatEarly
}
