/** Reading on while Nova does not answer: silence proves nothing (law L7), so a read that failed is simply read again. */
import { pauseAfter } from '../domain/back-off.ts'
import { isAborted, sleep, type Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError, type ErrorCode } from '../domain/errors.ts'

const passing = new Set<ErrorCode>([
  'API_UNAVAILABLE',
  'API_FAULT',
  'API_TIMEOUT',
  'API_THROTTLED',
  'CONNECTION_LOST',
  'API_MALFORMED',
])

/** First and longest pause between two tries. Longer would notice the API's return late. */
const firstPauseMs = 250
const longestPauseMs = 5_000

/**
 * Reads until it succeeds or fails for good. Throws SHUTDOWN when `signal` aborts, and every error that reading again
 * cannot cure. Only for reads.
 */
export async function retryRead<T>(clock: Clock, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    if (isAborted(signal)) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping', { certainty: 'unknown' })
    try {
      return await read()
    } catch (thrown) {
      const error = ensureError(thrown)
      // A read that our own signal cut off comes back as CANCELLED; that word is a person's, and would leave the instance.
      if (!passing.has(error.code) && !signal.aborted) throw error
      await sleep(clock, pauseAfter(failures, firstPauseMs, longestPauseMs), signal)
    }
  }
}

/** Waits one pause. Throws SHUTDOWN when `signal` aborts. */
export async function pause(clock: Clock, pauseMs: number, signal: AbortSignal): Promise<void> {
  await sleep(clock, pauseMs, signal)
  if (isAborted(signal)) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping', { certainty: 'unknown' })
}
