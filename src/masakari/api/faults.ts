/** Errors in the shape of Masakari's API: one object, named after the fault. */
import type { ErrorCode } from '../../domain/errors.ts'

const faults: Readonly<Record<number, string>> = {
  ...{ 400: 'badRequest', 403: 'forbidden', 404: 'itemNotFound', 405: 'badMethod', 409: 'conflictingRequest' },
  ...{ 413: 'overLimit', 415: 'badMediaType', 429: 'overLimit', 501: 'notImplemented', 503: 'serviceUnavailable' },
}

/** The status that answers each of our errors. Codes not listed are our own failures: 500. */
export const statusOf: Partial<Record<ErrorCode, number>> = {
  USAGE: 400,
  AUTH_FAILED: 401,
  AUTH_FORBIDDEN: 403,
  NOT_FOUND: 404,
  INSTANCE_GONE: 404,
  REPORT_REPEATED: 409,
  REPORT_UNWANTED: 409,
  CONFLICT: 409,
  INCIDENT_OPEN: 409,
  API_THROTTLED: 429,
  MICROVERSION_UNSUPPORTED: 406,
  API_UNAVAILABLE: 503,
  // Monitors send it again, and the address then leads to the daemon that is active.
  NOT_ACTIVE: 503,
  JOURNAL_UNAVAILABLE: 503,
  SHUTDOWN: 503,
}

/** The content type of a refusal. Only that of 401, which Masakari leaves to a filter of tokens, and of unknown routes is plain JSON. */
export const faultType = 'application/json; charset=UTF-8'

/** The body of a refusal. */
export function faultBody(status: number, message: string): object {
  if (status === 401) return { error: { code: 401, title: 'Unauthorized', message } }
  return { [faults[status] ?? 'masakariFault']: { code: status, message } }
}

/** The answer to an unknown path below `/v1`. Its shape differs from every other refusal. */
export const noSuchRoute = { message: 'The resource could not be found.', code: '404 Not Found', title: 'Not Found' }
