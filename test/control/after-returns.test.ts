/** What is off since its host came back: what forbids its start, and what ends the look at it. */
import { expect, test } from 'vitest'
import { AfterReturns, type AfterReturnsParts } from '../../src/control/after-returns.ts'
import type { Entry } from '../../src/domain/entry.ts'
import type { PollReport } from '../../src/monitor/report.ts'

/** Whether it begins to start what a person ordered, where Nova was last asked so long ago. */
function startsAfter(readAgoMs: number): boolean {
  let begins = false
  const record = {
    host: 'cmp01',
    incident: 'inc-1',
    backAt: new Date(0).toISOString(),
    supersededBy: null,
    order: {},
  }
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
      ...{ observer: {}, settings: {} },
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

test('a host that fails again ends the look at it at once: its next incident may end before Nova has answered', () => {
  const seen: { signal?: AbortSignal; append?: (entry: Entry) => void } = {}
  const returns = new AfterReturns({
    context: {
      clock: { now: () => 0, wall: () => 0, after: () => () => undefined },
      journal: { onAppend: (listener: (entry: Entry) => void) => (seen.append = listener) },
      cloud: {
        listInstances: (_host: string, { signal }: { signal: AbortSignal }) => {
          seen.signal = signal
          return new Promise(() => undefined)
        },
        listServices: () => new Promise(() => undefined),
      },
      ...{ observer: {}, settings: {} },
    },
    monitor: {
      ...{ verdict: () => ({ kind: 'healthy', segment: 'all' }), segment: () => ({ policy: {}, return: {} }) },
      cloudNow: () => 0,
    },
    store: {
      watchedReturns: () => [
        {
          host: 'cmp01',
          incident: 'inc-1',
          backAt: '2030-01-01T00:00:00Z',
          supersededBy: null,
          order: null,
        },
      ],
      get: () => ({ verdict: null, openedAt: '2030-01-01T00:00:00Z', cancelled: 'by someone', instances: new Map() }),
    },
    ...{ signal: new AbortController().signal },
  } as unknown as AfterReturnsParts)
  returns.consider({ ok: true } as unknown as PollReport)
  expect(seen.signal?.aborted).toBe(false)
  const opened = (host: string, mode: string) =>
    seen.append?.({ kind: 'incident.opened', incident: 'inc-2', host, data: { mode } } as Entry)
  opened('cmp02', 'armed')
  // One that only observes starts nothing anywhere: the instances stay where they are.
  opened('cmp01', 'observe')
  expect(seen.signal?.aborted).toBe(false)
  opened('cmp01', 'armed')
  expect(seen.signal?.aborted).toBe(true)
})
