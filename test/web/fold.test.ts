/** What news change on the page of an incident before it is loaded again. */
import { expect, it } from 'vitest'
import type { Entry } from '../../src/domain/entry.ts'
import type { IncidentReview } from '../../src/domain/review.ts'
import { foldEntries } from '../../src/web/pages/incident/fold.ts'

it('the phase moves with the instances: none is recovered while the page says that it is still planned for', () => {
  const review = { id: 'i', lastSeq: 1, phase: 'surveying', watched: null, lines: [] } as unknown as IncidentReview
  const moved = { seq: 2, incident: 'i', instance: null, kind: 'incident.phase', data: { to: 'recovering' } }
  expect(foldEntries(review, [moved as unknown as Entry]).review.phase).toBe('recovering')
})
