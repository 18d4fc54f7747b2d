import { expect, it } from 'vitest'
import { between, later, span } from '../../../src/domain/text/span.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

it.each([
  [0, '0 s'],
  [0.4, '0 s'],
  [-0.4, '0 s'],
  [850, '850 ms'],
  [999.6, '1 s'],
  [4_200, '4.2 s'],
  [5_000, '5 s'],
  [9_960, '10 s'],
  [10_400, '10 s'],
  [59_400, '59 s'],
  [59_500, '1 min'],
  [4 * minute + 5_000, '4 min 5 s'],
  [10 * minute, '10 min'],
  [hour - 500, '1 h'],
  [2 * hour + 7 * minute, '2 h 7 min'],
  [2 * hour + 59_000, '2 h'],
  [day, '1 d'],
  [3 * day + 4 * hour, '3 d 4 h'],
  [3 * day + 59 * minute, '3 d'],
  [-3_000, '-3 s'],
  [Number.NaN, 'unknown'],
  [Infinity, 'unknown'],
])('%d ms are %s', (ms, text) => {
  expect(span(ms)).toBe(text)
})

it('between two times is by the wall clock, also where that was set back', () => {
  expect(between('2026-01-02T03:04:05.000Z', '2026-01-02T03:08:10.000Z')).toBe('4 min 5 s')
  expect(between('2026-01-02T03:04:05.000Z', '2026-01-02T03:04:02.000Z')).toBe('-3 s')
  expect(between('never', '2026-01-02T03:04:05.000Z')).toBe('unknown')
})

it('on a timeline it has one sign', () => {
  expect(later('2026-01-02T03:04:05.000Z', '2026-01-02T03:08:10.000Z')).toBe('+4 min 5 s')
  expect(later('2026-01-02T03:04:05.000Z', '2026-01-02T03:04:02.000Z')).toBe('-3 s')
})
