/**
 * The error taxonomy. Every failure that crosses a module boundary is a LifeboatError.
 *
 * The property that matters for a recovery is `certainty`: after a failed call, did the cloud act or not? `unknown` is
 * reconciled by reading the cloud back, never by sending again (docs/nova.md fact 11).
 */

/** not-applied: the cloud did nothing. applied: it acted, and the result is bad. unknown: only reading back can tell. */
export type Certainty = 'not-applied' | 'applied' | 'unknown'

/** never: trying again cannot help. backoff: try again with growing pauses. after: try again once something else has changed. */
export type Retry = 'never' | 'backoff' | 'after'

/** Each code once, with the sentence that docs and people read. */
export const errorCodes = {
  CONFIG_INVALID: 'The configuration file is not valid; nothing was started',
  WORKFLOW_INVALID: 'A recovery workflow is not valid; nothing was started',
  USAGE: 'The command line is not valid',
  AUTH_FAILED: 'Keystone refused the credentials, or a token was refused twice',
  AUTH_FORBIDDEN: 'The credentials are valid but lack the role for this call',
  CATALOG_MISSING: 'The service catalogue has no such service in this region and interface',
  MICROVERSION_UNSUPPORTED: 'The cloud does not support the microversion that this call needs',
  API_UNAVAILABLE: 'The service could not be reached or said that it is not available',
  API_THROTTLED: 'The service asked us to slow down',
  API_FAULT: 'The service failed internally (500, 502, 504); after a write, nobody knows whether it acted',
  API_TIMEOUT: 'No answer within the time limit; after a write, nobody knows whether the service acted',
  CONNECTION_LOST: 'The connection broke before the answer; after a write, nobody knows whether the service acted',
  API_MALFORMED: 'The answer is not what this API documents',
  API_REFUSED: 'The service refused the request as invalid',
  HOST_STILL_UP: 'Nova still considers the host up and refuses to evacuate from it',
  INSTANCE_BUSY: 'The instance is in a state that does not allow this call',
  INSTANCE_GONE: 'The instance no longer exists',
  NOT_FOUND: 'No such resource',
  NO_VALID_HOST: 'The scheduler found no destination, or could not reach Placement (Nova reports both the same way)',
  EVACUATION_FAILED: 'The destination could not take the instance',
  EVACUATION_STALLED: 'The evacuation did not finish within its time limit',
  EVACUATION_LOST: 'Nova accepted the evacuation and then forgot it',
  GUEST_ON_DESTINATION: 'The evacuation failed after its guest had started on the destination, where it may still run',
  DESTINATION_DIED: 'The destination died during the evacuation',
  HELD_BACK: 'Not sent: at the last moment it was no longer allowed, or its permission was too old',
  STATE_MISMATCH: 'The instance did not reach the requested state',
  STEP_TIMEOUT: 'The step did not finish within its time limit',
  FENCE_FAILED: 'The host could not be fenced',
  FENCE_UNVERIFIED: 'The fence was accepted, but the host was not seen to go off',
  FENCE_STOPPED: 'Fencing was stopped: the host showed life, or Lifeboat is no longer allowed to act',
  FENCING_MISSING: 'No fencing method is configured for this host',
  PROOF_INVALID: 'The proof of death is missing, is for another host, or is not genuine',
  INCIDENT_OPEN: 'The host has an open incident, which must end first',
  NOTHING_TO_TRY: 'The incident left no instance to try again',
  HOST_ALIVE: 'The host showed life when Lifeboat checked again',
  BRAKE_HELD: 'Too many hosts failed at once: the brake holds recoveries',
  MONITOR_FROZEN: 'The control plane cannot be trusted: all verdicts are frozen',
  PAUSED: 'A person paused recoveries',
  OBSERVING: 'The daemon is in observe mode: it sends nothing',
  RULES_CHANGED:
    "The segment's rules or the owner's policy changed meanwhile, and now the instance is not to be evacuated",
  CANCELLED: 'A person cancelled this',
  SHUTDOWN: 'The daemon is stopping',
  NOT_ACTIVE: 'Another daemon is active: this one reads and sends nothing',
  JOURNAL_UNAVAILABLE: 'The journal cannot be written, and Lifeboat does nothing that it cannot record',
  JOURNAL_CORRUPT: 'The journal does not verify',
  REPORT_REPEATED: 'The same failure was reported before',
  CONFLICT: 'It conflicts with what is so now: it was done already, it is over, or what it needs is taken or in use',
  REPORT_UNWANTED: 'The host is in maintenance: reports about it are refused',
  INVARIANT: 'Internal error: an invariant was violated (please report)',
} as const

export type ErrorCode = keyof typeof errorCodes

export interface ErrorOptions {
  certainty?: Certainty
  retry?: Retry
  cause?: unknown
  /** Facts for the log and the journal. Never secrets. */
  details?: Record<string, unknown>
}

export class LifeboatError extends Error {
  readonly code: ErrorCode
  readonly certainty: Certainty
  readonly retry: Retry
  readonly details: Record<string, unknown>

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'LifeboatError'
    this.code = code
    this.certainty = options.certainty ?? 'not-applied'
    this.retry = options.retry ?? 'never'
    this.details = options.details ?? {}
  }
}

/** What is wrong in a file that was refused, each as `file:line:col: message`; none where an error is about something else. */
export function problemsOf({ details }: LifeboatError): string[] {
  const { problems } = details
  return Array.isArray(problems) ? problems.map(String) : []
}

/** What the journal keeps of an error: the same fields as plain data, with the messages of the whole chain. */
export interface ErrorRecord {
  code: ErrorCode
  message: string
  certainty: Certainty
  retry: Retry
  chain: string[]
  details: Record<string, unknown>
}

/** Turns anything thrown into the family. A stranger is a bug of ours, and what it did is unknown. */
export function ensureError(thrown: unknown): LifeboatError {
  if (thrown instanceof LifeboatError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new LifeboatError('INVARIANT', message, { certainty: 'unknown', cause: thrown })
}

export function errorRecord(thrown: unknown): ErrorRecord {
  const error = ensureError(thrown)
  const chain: string[] = []
  for (let at: unknown = error.cause; at instanceof Error && chain.length < 8; at = at.cause) chain.push(at.message)
  return {
    code: error.code,
    message: error.message,
    certainty: error.certainty,
    retry: error.retry,
    chain,
    details: error.details,
  }
}
