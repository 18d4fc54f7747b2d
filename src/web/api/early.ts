/**
 * Answers that were asked for before the pages' script had been read (first.ts). Each is taken once, by the first who asks the
 * same; what nobody took soon is forgotten, and so is everything once the daemon does not know us.
 */
import { after } from '../browser-clock.ts'
import { readLimitMs, requestOf } from './request.ts'

/** Longer, and a page that is opened later by a link shows an answer from when this one was loaded. */
const freshMs = 5_000

/** What a page asks first. With a body it is a POST, and one that changes nothing: an answer that is lost is asked for again. */
export interface FirstQuestion {
  path: string
  body?: unknown
}

const early = new Map<string, Promise<Response>>()

export function askEarly(questions: readonly FirstQuestion[]): void {
  const limit = new AbortController()
  after(readLimitMs, () => limit.abort())
  for (const { path, body } of questions) {
    const method = body === undefined ? 'GET' : 'POST'
    const answer = fetch(path, { ...requestOf(method, body), signal: limit.signal })
    // Whoever takes it sees that it failed; of what nobody takes nobody is told.
    answer.catch(() => undefined)
    early.set(keyOf(method, path, body), answer)
  }
  after(freshMs, forgetEarly)
}

/** The answer to this question, or null: it was not asked early, or somebody has it. */
export function takeEarly(method: string, path: string, body: unknown): Promise<Response> | null {
  const key = keyOf(method, path, body)
  const answer = early.get(key) ?? null
  early.delete(key)
  return answer
}

function keyOf(method: string, path: string, body: unknown): string {
  return [method, path, JSON.stringify(body)].join(' ')
}

export function forgetEarly(): void {
  early.clear()
}
