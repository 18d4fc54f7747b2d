/** The errors of a step's attempt, and which of them are not the step's at all. Pure. */
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { StepRecord } from '../domain/incident.ts'
import type { Overdue, StepScene } from './step-driver.ts'
import { span } from '../domain/text/span.ts'

/** Gives the error; throws it when it says nothing about the step: the daemon stops, or the journal cannot be written. */
export function rethrowUnlessOfTheStep(thrown: unknown): LifeboatError {
  const error = ensureError(thrown)
  if (isOfTheDaemon(error)) throw error
  return error
}

/**
 * A read that fails for good while a write is reconciled or followed says nothing about the write: nobody knows whether it was
 * taken, whatever the read's own certainty is (law L3). What the read learnt for sure stays as it is.
 * @param answer what the write was answered with, if it was answered
 */
export function unread({ step }: StepScene, thrown: unknown, answer?: LifeboatError): LifeboatError {
  const error = ensureError(thrown)
  const learnt = error.certainty !== 'not-applied' || error.code === 'INSTANCE_GONE'
  if (learnt || isOfTheDaemon(error)) return error
  const sent = answer === undefined ? '' : `; it was answered with: ${answer.message}`
  return new LifeboatError(
    error.code,
    `nobody knows what became of ${step.do}: Nova cannot be asked (${error.message})${sent}`,
    { certainty: 'unknown', retry: 'never', cause: answer ?? error, details: error.details },
  )
}

/** The step's time is over. */
export function tooLate({ step }: StepScene, overdue?: Overdue): LifeboatError {
  const where = typeof overdue?.where === 'string' ? `: ${overdue.where}` : ''
  const message = `${step.do} did not end within ${span(step.deadlineMs)}${where}`
  return new LifeboatError(step.do === 'evacuate' ? 'EVACUATION_STALLED' : 'STEP_TIMEOUT', message, {
    certainty: 'unknown',
    details: overdue?.details ?? {},
  })
}

/** The answer of the write was lost, and Nova did not take it. */
export function noTrace(error: LifeboatError): LifeboatError {
  return new LifeboatError('API_UNAVAILABLE', `no answer, and Nova shows no trace of the request (${error.message})`, {
    retry: 'backoff',
    cause: error,
    details: error.details['served'] === true ? {} : unserved,
  })
}

/** The answer of the write was never heard, and Nova did not take it yet. */
export function neverTaken(): LifeboatError {
  return new LifeboatError('API_UNAVAILABLE', 'Nova shows no trace of the write', {
    retry: 'backoff',
    details: unserved,
  })
}

const unserved = { unserved: true } as const

/** Whether the write of a failed attempt may still be served by a front end that let go of its client. Lost answers alone. */
export function mayStillBeServed({ error }: Pick<StepRecord, 'error'>): boolean {
  return error?.details['unserved'] === true
}

function isOfTheDaemon({ code }: LifeboatError): boolean {
  return code === 'SHUTDOWN' || code === 'JOURNAL_UNAVAILABLE'
}
