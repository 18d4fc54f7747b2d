/** Fields for moments: what a browser may hold in one, and which real time that is. */
import { describe, expect, it } from 'vitest'
import { inputOf, isoOf, latestPick } from '../../src/web/words/picked-time.ts'

describe('what a field holds', () => {
  it.each([
    ['2026-11-23T02:00', '2026-11-23T02:00:00.000Z'],
    [latestPick, '9999-12-31T23:59:00.000Z'],
    ['', null],
    ['202611-11-23T02:00', null],
    ['+202611-11-23T02:00', null],
    ['2026-11-31T25:00', null],
  ])('%j is %j', (text, iso) => {
    expect(isoOf(text, 'utc')).toBe(iso)
  })

  it('in the browser’s zone is the same moment, and comes back as it was', () => {
    const iso = isoOf('2026-11-23T02:00', 'local') ?? ''
    expect(inputOf(Date.parse(iso), 'local')).toBe('2026-11-23T02:00')
  })
})

it.each(['utc', 'local'] as const)('no time goes beyond what can be picked (%s)', (zone) => {
  expect(inputOf(Date.parse('9999-12-31T23:00Z') + 86_400_000 * 2, zone)).toBe(latestPick)
})
