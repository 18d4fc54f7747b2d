/** Durations as people write them, in every file alike. */
import { describe, expect, it } from 'vitest'
import { duration } from '../../src/formats/duration-schema.ts'
import { formatDuration, parseDuration } from '../../src/formats/duration.ts'

const hour = 3_600_000

describe('a duration', () => {
  it.each([
    ['1ms', 1],
    ['500ms', 500],
    ['30s', 30_000],
    ['90s', 90_000],
    ['1.5s', 1_500],
    ['1.25s', 1_250],
    ['15m', 900_000],
    ['1m30s', 90_000],
    ['2h', 2 * hour],
    ['1h30m', 1.5 * hour],
    ['1h5ms', hour + 5],
    ['2d', 48 * hour],
    ['1d2h3m4s5ms', 26 * hour + 184_005],
    ['05s', 5_000],
    ['0s', 0],
    [' 1s ', 1_000],
    ['9999999h', 9_999_999 * hour],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '1', 's', '-1s', '1 s', 'x1s', '1sx', '1S', '1.5m', '.5s', '30m1h', '1s1s', '1y', '99999999999999999d'])(
    '"%s" is none',
    (text) => {
      expect(parseDuration(text)).toBeNull()
    },
  )

  it.each([
    [0, '0s'],
    [-5, '0s'],
    [250, '250ms'],
    [90_000, '1m30s'],
    [1.5 * hour, '1h30m'],
    [48 * hour, '2d'],
  ])('%d ms is written %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })
})

describe('a file', () => {
  const said = (given: unknown): string[] => {
    const { error } = duration('1s', '1h').safeParse(given)
    return error?.issues.map(({ message }) => message) ?? []
  }

  it('may have one within its bounds', () => {
    expect(duration('1s', '1h').parse('59m60s')).toBe(hour)
  })

  it.each([60, 'soon', '1h 30m', null])('is told how a duration is written: not %j', (given) => {
    expect(said(given)).toEqual(['must be a duration (a number with a unit: 250ms, 30s, 5m, 1h30m, 2d)'])
  })

  it.each(['999ms', '1h1ms', '99999999999999999d'])('is told the bounds: not %s', (given) => {
    expect(said(given)).toEqual(['is out of range (1s to 1h)'])
  })
})
