import { LifeboatError } from '../../src/domain/errors.ts'
import type { Review } from '../../src/domain/review.ts'
import { aReadiness } from './a-readiness.ts'

/** A review of a daemon to which nothing happened; keeps what it was asked for, in `asked`. */
export function fakeReview(asked: unknown[][] = [], replace: Partial<Review> = {}): Review {
  const missing = (what: string) => (): never => {
    throw new LifeboatError('NOT_FOUND', `There is no ${what}`)
  }
  return {
    segments: () => [],
    verdicts: (filter) => {
      asked.push(['verdicts', filter])
      return []
    },
    recoveries: () => [],
    load: async () => undefined,
    incident: missing('incident'),
    compare: (first, second) => ({ first, second, open: [], facts: [] }),
    instance: missing('instance'),
    instanceHistory: () => [],
    instanceRecord: missing('instance'),
    listed: (incidents) => [...incidents],
    counted: () => [],
    search: (text) => {
      asked.push(['search', text])
      return { hosts: [], incidents: [], instances: [], more: false, unlisted: [] }
    },
    notices: (filter) => {
      asked.push(['notices', filter])
      return []
    },
    journal: (query) => {
      asked.push(['journal', query])
      return { entries: [], next: null, head: { seq: 0, hash: '' } }
    },
    verify: async () => ({ entries: 0, head: '', broken: null, tookMs: 0 }),
    report: missing('incident'),
    startPlan: missing('host'),
    finishedPlan: missing('plan'),
    plan: missing('plan'),
    readiness: () => Promise.resolve(aReadiness),
    hostReadiness: missing('host'),
    note: (id, order) => {
      asked.push(['note', id, order])
      return { seq: 1, at: '2026-01-02T03:04:05.000Z', by: order.by, text: order.text }
    },
    signOff: (id, order) => {
      asked.push(['signOff', id, order])
      return { seq: 1, at: '2026-01-02T03:04:05.000Z', by: order.by, text: order.text }
    },
    follow: () => () => undefined,
    ...replace,
  }
}
