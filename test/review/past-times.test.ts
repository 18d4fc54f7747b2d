/** How long the next recovery may take, by those on record. */
import { expect, it } from 'vitest'
import type { IncidentLine } from '../../src/journal/listing.ts'
import { pastTimes } from '../../src/review/past-times.ts'

const began = Date.UTC(2026, 0, 2)
const iso = (afterMs: number): string => new Date(began + afterMs).toISOString()

/** Proven after so long, and each of its ten instances back after so long again. */
function line(id: string, provenMs: number, instanceMs: number, more: Partial<IncidentLine> = {}) {
  proofs.set(id, iso(provenMs))
  return {
    ...{ id, segment: 'az1', mode: 'armed' as const, process: null, crashed: null, outcome: 'done' },
    ...{ openedAt: iso(0), lastLineAt: iso(provenMs + 10 * instanceMs) },
    instances: { recovered: 10, left: 0, failed: 0, stuck: 0, open: 0 },
    ...more,
  }
}

const proofs = new Map<string, string>()
const of = (lines: ReturnType<typeof line>[], segment = 'az1') =>
  pastTimes(lines, (id) => proofs.get(id) ?? null)(segment)

it('it is the median, so that one that waited for a person says nothing', () => {
  expect(of([line('a', 1_000, 100), line('b', 9_000_000, 200), line('c', 3_000, 300)])).toEqual({
    ...{ incidents: 3, provenMs: 3_000, instanceMs: 200 },
  })
})

it('a segment goes by its own, and without any by those of the cloud', () => {
  const lines = [line('a', 1_000, 100), line('b', 5_000, 500, { segment: 'edge' })]
  expect(of(lines, 'edge')).toMatchObject({ incidents: 1, provenMs: 5_000 })
  expect(of(lines, 'lab')).toMatchObject({ incidents: 2, provenMs: 3_000 })
})

it('what was observed, cancelled, never proven or is not of a host does not count', () => {
  const lines = [
    line('a', 1, 1, { mode: 'observe' }),
    line('b', 1, 1, { outcome: 'cancelled' }),
    line('c', 1, 1, { process: 'nova-compute' }),
    line('d', 1, 1, { crashed: { instance: 'i', name: 'n', event: 'e' } }),
    line('e', 1, 1, { instances: { recovered: 0, left: 1, failed: 0, stuck: 0, open: 0 } }),
    line('f', 1, 1),
  ]
  proofs.delete('f')
  expect(of(lines)).toBeNull()
})
