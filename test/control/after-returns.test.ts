/** Starting what is off since its host came back: what forbids it. */
import { expect, test } from 'vitest'
import { AfterReturns, type AfterReturnsParts } from '../../src/control/after-returns.ts'
import type { PollReport } from '../../src/monitor/report.ts'

/** Whether it begins to start what a person ordered, where Nova was last asked so long ago. */
function startsAfter(readAgoMs: number): boolean {
  let begins = false
  const record = { host: 'cmp01', incident: 'inc-1', backAt: new Date(0).toISOString(), supersededBy: null, order: {} }
  const instances = {
    values: () => {
      begins = true
      return []
    },
  }
  const returns = new AfterReturns({
    context: {
      clock: { now: () => readAgoMs, wall: () => readAgoMs, after: () => () => undefined },
      journal: { onAppend: () => undefined },
      cloud: { listInstances: () => new Promise(() => undefined) },
      observer: {},
    },
    monitor: {
      ...{ verdict: () => ({ kind: 'healthy', segment: 'all' }), segment: () => ({ policy: {} }), frozen: () => null },
      lastRead: () => ({ askedAt: 0, usuallyMs: 0 }),
    },
    store: {
      watchedReturns: () => [record],
      openOn: () => undefined,
      get: () => ({ verdict: null, openedAt: record.backAt, cancelled: null, instances }),
    },
    orders: { covering: () => [] },
    ...{ mode: () => 'armed', signal: new AbortController().signal },
    ...{ reading: () => ({ pollIntervalMs: 1_000, probeLimitMs: 500 }), standstill: { last: () => null } },
  } as unknown as AfterReturnsParts)
  returns.consider({ ok: true } as unknown as PollReport)
  return begins
}

test('no instance is started on what was read of Nova too long ago: its host may be dead by now', () => {
  expect([startsAfter(1_000), startsAfter(60_000)]).toEqual([true, false])
})
