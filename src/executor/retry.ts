/**
 * Reading again where Nova did not answer: silence proves nothing (law L7). A hiccup is got over here, without a word. What lasts is handed
 * to the caller, who says so, keeps no room meanwhile and hears a person's cancel.
 */
import { pauseAfter } from '../domain/back-off.ts'
import { isAborted, sleep, type Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError, type ErrorCode } from '../domain/errors.ts'

/** Nova is away, or a proxy that is restarted answers in its place: nobody need correct anything, it comes back. */
export const silence: ReadonlySet<ErrorCode> = new Set([
  'API_UNAVAILABLE',
  'API_THROTTLED',
  'API_FAULT',
  'API_TIMEOUT',
  'CONNECTION_LOST',
  'API_MALFORMED',
])

/** Tries before the caller hears of it, in about two seconds. Fewer: a hiccup is told. More: what lasts holds up others, unsaid. */
const mostTries = 4

/** Pause after the first try; it doubles. Longer would notice the API's return late. */
const firstPauseMs = 250
const longestPauseMs = 5_000

/**
 * Reads, a few times where that fails in passing. Throws SHUTDOWN when `signal` aborts, and the last try's error: then nothing is known,
 * and nothing may be decided.
 */
export async function retryRead<T>(clock: Clock, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    if (isAborted(signal)) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping', { certainty: 'unknown' })
    try {
      return await read()
    } catch (thrown) {
      const error = ensureError(thrown)
      // A read that our own signal cut off comes back as CANCELLED; that word is a person's, and would leave the instance.
      if (!signal.aborted && (!silence.has(error.code) || failures >= mostTries)) throw error
      await sleep(clock, pauseAfter(failures, firstPauseMs, longestPauseMs), signal)
    }
  }
}

/** Waits one pause. Throws SHUTDOWN when `signal` aborts. */
export async function pause(clock: Clock, pauseMs: number, signal: AbortSignal): Promise<void> {
  await sleep(clock, pauseMs, signal)
  if (isAborted(signal)) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping', { certainty: 'unknown' })
}
