/**
 * The request id that the writes of one step carry to OpenStack (X-OpenStack-Request-ID). Services log it as the global
 * request id in every line that they write for that request, compute hosts included, and pass it on to the services they
 * ask in turn: one id finds the whole step, also when its answer was lost and Nova's own id was never learnt.
 *
 * Made from the step's place in the journal, not drawn: it is the same in every run and needs no state of its own. It names
 * nothing in Nova: the instance action is filed under Nova's own id, which the `step.issued` row holds.
 */
import { createHash } from 'node:crypto'
import type { StepRecord } from '../domain/incident.ts'

export interface StepPlace {
  incident?: string | undefined
  host: string
  instance?: string
  step: string
}

/** `req-` and a UUID in lower case: anything else is ignored by oslo.middleware without a word. */
export function stepRequestId({ incident = '', host, instance = '', step }: StepPlace): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([incident, host, instance, step]))
    .digest('hex')
  // Version 8 (made by a rule of one's own) and the standard variant.
  const variant = ((parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16)
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ]
  return `req-${groups.join('-')}`
}

/** The id on record, for the rows that follow: none where the step's own write was never to be sent. */
export function requestIdOf(step: StepRecord | undefined): { globalRequestId?: string } {
  const id = step?.globalRequestId ?? null
  return id === null ? {} : { globalRequestId: id }
}
