/** How old what is known of the cloud may be when something is done on it. */
import { describe, expect, it } from 'vitest'
import { quietAfterStandstill, staleness } from '../../src/monitor/freshness.ts'

const old = 'what is known of the host may be untrue by now'

describe('what was read of Nova', () => {
  it.each([
    ['three polls ago', 30_000, 10_000, 0, 0, null],
    ['longer ago than three polls', 30_001, 10_000, 0, 0, `Nova was last read 30 s ago: ${old}`],
    ['with polls ten times a second, three seconds ago', 3_000, 100, 0, 0, null],
    ['with polls ten times a second, longer ago', 3_001, 100, 0, 0, `Nova was last read 3 s ago: ${old}`],
    ['with witnesses that may take five seconds', 16_000, 2_000, 5_000, 0, null],
    ['with such witnesses, longer ago', 16_001, 2_000, 5_000, 0, `Nova was last read 16 s ago: ${old}`],
    ['of a Nova that takes five seconds for each answer', 16_000, 2_000, 0, 5_000, null],
    ['of a slow Nova, but longer ago', 16_001, 2_000, 0, 5_000, `Nova was last read 16 s ago: ${old}`],
  ])('%s', (_when, ageMs, pollIntervalMs, probeLimitMs, usuallyMs, says) => {
    const reading = { askedAt: 1_000, usuallyMs }
    expect(staleness(reading, null, 1_000 + ageMs, { pollIntervalMs, probeLimitMs })).toBe(says)
  })

  it.each([
    [4_999, 'this process stood still for 4 s, and Nova was not read since'],
    [5_000, null],
  ])('asked at %d, when our process stood still until 5 000', (askedAt, says) => {
    const rules = { pollIntervalMs: 60_000, probeLimitMs: 0 }
    expect(staleness({ askedAt, usuallyMs: 0 }, { endedAt: 5_000, ms: 4_000 }, 6_000, rules)).toBe(says)
  })

  it.each<[string, number, number | null, string | null]>([
    ['long', 64_999, 30_000, 'this process stood still for 30 s'],
    ['long', 65_000, 30_000, null],
    ['too short to hide a fault', 5_000, 4_000, null],
    ['none', 5_000, null, null],
  ])('lets no living host be fenced for a while after our process stood still (%s, at %d)', (_what, now, ms, says) => {
    const lastOver = (over: number) => (ms === null || ms <= over ? null : { endedAt: 5_000, ms })
    const settings = { pollIntervalMs: 2_000, defaultIntervalMs: 10_000, quietAfterFreezeMs: 60_000 }
    const quiet = quietAfterStandstill(lastOver, now, settings)
    if (says === null) expect(quiet).toBeNull()
    else expect(quiet).toContain(says)
  })

  it('is nothing before the first answer', () => {
    expect(staleness(null, null, 0, { pollIntervalMs: 2_000, probeLimitMs: 0 })).toBe('Nova has not been read yet')
  })
})
