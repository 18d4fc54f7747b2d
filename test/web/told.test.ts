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

it('instances that came back one after another are one line, and one that did not stands between two such lines', () => {
  const outcome = (seconds: number, tone: 'good' | 'bad'): TimelineEvent => ({
    ...attempt('', seconds),
    kind: 'outcome.recorded',
    text: `i-${seconds} ended`,
    tone,
    instance: `i-${seconds}`,
  })
  const ended = [1, 2, 4].map((at) => outcome(at, 'good'))
  const told = shortened([...ended, outcome(5, 'bad'), outcome(6, 'good')])
  expect(told.map(({ seq, text, instance }) => [seq, text, instance])).toEqual([
    [1, '3 instances recovered, the last 3 s after the first', null],
    [5, 'i-5 ended', 'i-5'],
    [6, 'i-6 ended', 'i-6'],
  ])
  expect(ended.map(({ text }) => text)).toEqual(['i-1 ended', 'i-2 ended', 'i-4 ended'])
})
