/**
 * What a request without an answer means: nothing sent, cancelled, too late, too large, or broken on the way.
 *
 * The library's error object carries the request with its token and body, so only its code and message go on.
 */
import { LifeboatError } from '../domain/errors.ts'
import type { Certainty } from '../domain/errors.ts'
import type { ApiCall } from './call-table.ts'
import type { Guard } from './http-exchange.ts'

export interface Broken {
  call: ApiCall
  /** Whether the connection stood, so that the service may have read the request. */
  sent: boolean
  guard: Guard
  /** host:port, for people. */
  target: string
}

export function brokenConnection(thrown: unknown, broken: Broken): LifeboatError {
  const { call, sent, guard, target } = broken
  const certainty: Certainty = call.write && sent ? 'unknown' : 'not-applied'
  const cause = bare(thrown)
  const what = `${call.method} ${call.route} at ${target}`
  const details = { service: call.service, target }
  const retry = certainty === 'unknown' ? 'never' : 'backoff'
  if (guard.signal.aborted) {
    return guard.expired()
      ? new LifeboatError('API_TIMEOUT', `${what}: no answer within the time limit`, {
          certainty,
          retry,
          cause,
          details,
        })
      : new LifeboatError('CANCELLED', `${what}: cancelled`, { certainty, retry: 'never', details })
  }
  if (cause.message.includes('maxContentLength')) {
    return new LifeboatError('API_MALFORMED', `${what}: the answer is larger than allowed`, {
      certainty,
      cause,
      details,
    })
  }
  if (!sent) return new LifeboatError('API_UNAVAILABLE', `${what}: not reached`, { retry, cause, details })
  return new LifeboatError('CONNECTION_LOST', `${what}: the connection broke before the answer`, {
    certainty,
    retry,
    cause,
    details,
  })
}

/** A new error with the old one's words and nothing hanging on it. */
function bare(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error('no reason given')
  const code = (thrown as { code?: unknown }).code
  const text = thrown.message === '' ? thrown.name : thrown.message
  return new Error(typeof code === 'string' && !text.includes(code) ? `${code}: ${text}` : text)
}
