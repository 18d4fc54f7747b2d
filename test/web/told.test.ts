/** What the timeline of an incident folds into one line, and what it keeps apart. */
import { expect, it } from 'vitest'
import type { TimelineEvent } from '../../src/domain/review.ts'
import { shortened } from '../../src/web/pages/incident/told.ts'

/** A try that failed after so many seconds. */
function attempt(method: string, seconds: number): TimelineEvent {
  const at = new Date(seconds * 1_000).toISOString()
  const text = `Fencing by ${method}, failed: no answer within ${seconds} s`
  return {
    seq: seconds,
    at,
    kind: 'fence.attempt',
    actor: 'daemon',
    text,
    tone: 'bad',
    instance: null,
    requestId: null,
  }
}

it('tries of one fencing method are one line, and those of two methods are two, though a number tells them apart', () => {
  const told = shortened([attempt('pdu1', 1), attempt('pdu2', 2), attempt('pdu1', 31), attempt('pdu2', 32)])
  expect(told.map(({ seq, times }) => [seq, times])).toEqual([
    [1, 2],
    [2, 2],
  ])
})
