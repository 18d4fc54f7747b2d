/** What a start makes of the freeze that the journal ends in: one of the run before, or one of weeks ago that nobody unfroze. */
import { expect, it } from 'vitest'
import type { Entry } from '../../src/domain/entry.ts'
import { freezeBefore } from '../../src/control/freeze-record.ts'

const wall = Date.parse('2026-03-01T12:00:00.000Z')
const clock = { now: () => 5_000, wall: () => wall, after: () => () => undefined }

function begun(last: Pick<Entry, 'kind' | 'at' | 'data'> | null): ReturnType<typeof freezeBefore> {
  return freezeBefore({ read: () => (last === null ? [] : [last as Entry]) }, clock)
}

const frozen = { kind: 'monitor.frozen', data: { reason: 'MASS_SILENCE', message: 'the bus is dead' } } as const

it('says when it was seen, for it may be over by now', () => {
  expect(begun({ ...frozen, at: '2026-02-01T12:00:00.000Z' })).toEqual({
    reason: 'MASS_SILENCE',
    message: 'the bus is dead (seen at 2026-02-01T12:00:00.000Z, before the restart)',
    since: 5_000 - 28 * 86_400_000,
  })
})

it('is taken for begun now when its stamp is from the future', () => {
  expect(begun({ ...frozen, at: '2026-03-01T13:00:00.000Z' })?.since).toBe(5_000)
})

it('is none where the last one was unfrozen, or none ever was', () => {
  const thawed = { kind: 'monitor.thawed', data: { reason: 'MASS_SILENCE', frozenForMs: 1 } } as const
  expect(begun({ ...thawed, at: '2026-02-01T12:00:00.000Z' })).toBeNull()
  expect(begun(null)).toBeNull()
})
