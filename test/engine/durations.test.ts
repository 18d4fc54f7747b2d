import { describe, expect, it } from 'vitest'
import { durationMs } from '../../src/engine/durations.ts'

describe('a duration', () => {
  it.each([
    ['1ms', 1],
    ['500ms', 500],
    ['30s', 30_000],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['9999999s', 9_999_999_000],
  ])('%s is %d ms', (text, ms) => {
    expect(durationMs(text)).toBe(ms)
  })

  it.each([
    '',
    '0s',
    '05s',
    '-1s',
    '1',
    's',
    '1.5s',
    '1 s',
    ' 1s',
    'x1s',
    '1sx',
    '1s ',
    '1d',
    '1S',
    '10000000s',
    '1m30s',
  ])('"%s" is none', (text) => {
    expect(durationMs(text)).toBeNull()
  })
})
