import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstSight, suspicionAfter, take, type Pulse } from '../../src/monitor/heartbeat.ts'
import { deviationOf, learn, newRhythm, suspicionOf, upperTail, type Rhythm } from '../../src/monitor/suspicion.ts'
import { row } from './setup.ts'

const second = 1_000
const beat = 10 * second

/** Four even beats: 10 s, and no deviation. */
const even = [beat, beat, beat, beat]
/** What gaps, in intervals, teach of a host that is known to beat evenly. */
const taught = (gaps: number[]): Rhythm => gaps.reduce((rhythm, gap) => learn(rhythm, gap * beat, even), newRhythm)
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
const suspicion = (missed: number, rhythm = newRhythm, deviationMs = 2 * second): number =>
  suspicionOf({ silentMs: missed * beat, intervalMs: beat, deviationMs, rhythm })

/** Missed beats until the suspicion is 4. */
function enoughAfter(rhythm: Rhythm, deviationMs = 2 * second): number {
  for (let missed = 1; missed < 40; missed += 0.01) if (suspicion(missed, rhythm, deviationMs) >= 4) return missed
  return Infinity
}

describe('the tail of the normal distribution', () => {
  it.each([
    [0, 0.5],
    [1, 0.158655],
    [-1, 0.841345],
    [1.96, 0.0249979],
    [4, 3.16712e-5],
    [6, 9.8659e-10],
  ])('%f deviations', (deviations, chance) => {
    expect(upperTail(deviations) / chance).toBeCloseTo(1, 5)
  })
})

describe('what gaps teach', () => {
  it.each([
    ['even beats: 0.6 intervals late is a beat, for polling does that', even, 16_000, 0],
    ['even beats: a little later is a pause', even, 16_001, 1],
    // A deviation of 2,309.4 ms: three of them are more than 0.6 intervals.
    ['jitter: three deviations late is a beat', [8_000, 12_000, 8_000, 12_000], 16_928, 0],
    ['jitter: a little later is a pause', [8_000, 12_000, 8_000, 12_000], 16_929, 1],
    ['a beat of 5 s that polls of 4 s see', [4_000, 4_000, 4_000, 8_000], 8_000, 0],
    ['an earlier pause says nothing of what is usual', [...even, 20_001], 16_001, 1],
    ['twice the median does', [...even, 20_000], 16_001, 0],
    ['one gap before', [beat], 16_001, 1],
  ])('%s', (_name, before, gap, pauses) => {
    expect(learn(newRhythm, gap, before)).toMatchObject({ gaps: 1, pauses })
  })

  it('the excess of a pause, in intervals, squared', () => {
    expect(learn(newRhythm, 25_000, even)).toEqual({ gaps: 1, pauses: 1, excessSquared: 2.25 })
    expect(learn(newRhythm, 25_000, even, beat)).toEqual({ gaps: 1, pauses: 1, excessSquared: 2.25 })
    expect(learn(newRhythm, beat, even)).toEqual({ gaps: 1, pauses: 0, excessSquared: 0 })
  })

  it('each gap leaves 127 of 128 parts of what was known before it', () => {
    const known = { gaps: 128, pauses: 64, excessSquared: 256 }
    expect(learn(known, beat, even)).toEqual({ gaps: 128, pauses: 63.5, excessSquared: 254 })
    expect(learn(known, 4 * beat, even)).toEqual({ gaps: 128, pauses: 64.5, excessSquared: 263 })
  })

  it('a hang counts with five intervals, however long it was', () => {
    expect(taught([6]).excessSquared).toBe(25)
    expect(taught([60]).excessSquared).toBe(25)
    expect(taught([5.5]).excessSquared).toBe(20.25)
  })

  it('nothing is judged before four gaps say what is usual, nor a gap across a freeze', () => {
    let pulse: Pulse = firstSight(row('h', { updatedAt: '0' }), 0)
    let now = 0
    const next = (gap: number): void => void (pulse = take(pulse, row('h', { updatedAt: `s${now}` }), (now += gap)))
    for (const gap of [7, 2_000, 2_000, 2_000]) next(gap)
    expect([pulse.gaps.length, pulse.rhythm.gaps]).toEqual([3, 0])
    next(9_000)
    expect([pulse.gaps.length, pulse.rhythm.gaps]).toEqual([4, 0])
    next(6_000)
    expect(pulse.rhythm).toEqual({ gaps: 1, pauses: 1, excessSquared: 4 })
    pulse = { ...pulse, beatSinceRestart: false }
    next(6_000)
    expect(pulse.rhythm.gaps).toBe(1)
  })
})

describe('the deviation', () => {
  it('is never below what polling and whole seconds add: p²/6 and s²/12', () => {
    expect(deviationOf([beat, beat, beat], beat, 6 * second)).toBeCloseTo(Math.sqrt(36e6 / 6 + 1e6 / 12), 6)
  })

  it('is never below a twentieth of the interval', () => {
    expect(deviationOf([60_000, 60_000], 60_000, 0)).toBe(3_000)
  })

  it('is learnt from two gaps on, and pauses are no part of it', () => {
    expect(deviationOf([4_000], beat, 0)).toBe(500)
    expect(deviationOf([4_000, 16_000], beat, 0)).toBeCloseTo(Math.sqrt(72e6), 6)
    expect(deviationOf([4_000, 20_000], beat, 0)).toBeCloseTo(Math.sqrt(136e6), 6)
    expect(deviationOf([4_000, 16_000, 20_001], beat, 0)).toBeCloseTo(Math.sqrt(72e6), 6)
  })
})

describe('the suspicion', () => {
  it('is the chance of both ways to be silent, as a negative logarithm', () => {
    const rhythm = { gaps: 84, pauses: 1.97, excessSquared: 2.97 * 4 - 0.81 }
    // Two pauses in a hundred gaps, of 2 intervals; 30 s beyond the interval is 1.5 of their deviations and far from a beat.
    const deviation = Math.hypot(20_000, 1_000)
    expect(suspicion(4, rhythm, 1_000)).toBeCloseTo(-Math.log10(0.02 * 2 * upperTail(30_000 / deviation)), 9)
    // Half an interval beyond is half a deviation of its beats, and they are the rest.
    const chance = 0.98 * upperTail(0.5) + 0.02 * 2 * upperTail(5_000 / Math.hypot(20_000, 10_000))
    expect(suspicion(1.5, rhythm, 10_000)).toBeCloseTo(-Math.log10(chance), 9)
  })

  it('counts a host that pauses as surely living until it is late, for every pause is longer than the interval', () => {
    const rhythm = { gaps: 84, pauses: 1.97, excessSquared: 2.97 * 4 - 0.81 }
    expect(suspicion(0.5, rhythm, 10_000)).toBeCloseTo(-Math.log10(0.98 * upperTail(-0.5) + 0.02), 9)
  })

  it('of a host that is not late is next to nothing, and has a top', () => {
    expect(suspicion(0)).toBeCloseTo(0, 3)
    expect(suspicion(1)).toBeLessThan(0.31)
    expect(suspicion(1_000)).toBe(15)
  })

  it('never shrinks while the silence lasts', () => {
    const anyRhythm = fc.array(fc.double({ min: 0.1, max: 20, noNaN: true }), { maxLength: 60 }).map(taught)
    const silences = fc.tuple(fc.double({ min: 0, max: 50, noNaN: true }), fc.double({ min: 0, max: 50, noNaN: true }))
    fc.assert(
      fc.property(
        anyRhythm,
        silences,
        fc.double({ min: 100, max: 20_000, noNaN: true }),
        (rhythm, [a, b], deviation) => {
          const [shorter, longer] = a < b ? [a, b] : [b, a]
          expect(suspicion(longer, rhythm, deviation)).toBeGreaterThanOrEqual(
            suspicion(shorter, rhythm, deviation) - 1e-9,
          )
        },
      ),
    )
  })

  it('is enough within three beats of a host of which nothing is known yet', () => {
    expect(enoughAfter(newRhythm)).toBeGreaterThan(2.5)
    expect(enoughAfter(newRhythm)).toBeLessThan(3)
  })

  it('is enough before the bound of 2.5 beats once a host was seen to beat evenly', () => {
    expect(enoughAfter(taught(times(32, 1)))).toBeLessThan(2.5)
    // Also with 2 s beats that are polled every second.
    expect(enoughAfter(taught(times(32, 1)), 0.25 * beat)).toBeLessThan(2.5)
  })

  it('waits longer for a host that was seen to pause, the more often and the longer the more', () => {
    const once = enoughAfter(taught([...times(32, 1), 3, ...times(8, 1)]))
    const often = enoughAfter(taught([...times(24, 1), 3, 3, 3, 3, ...times(8, 1)]))
    const longer = enoughAfter(taught([...times(32, 1), 5, ...times(8, 1)]))
    expect(once).toBeGreaterThan(3)
    expect(often).toBeGreaterThan(once)
    expect(longer).toBeGreaterThan(once)
  })

  it('forgets a pause', () => {
    expect(enoughAfter(taught([...times(32, 1), 4, ...times(700, 1)]))).toBeLessThan(2.5)
  })

  it('waits longer for a host whose beats jitter widely', () => {
    expect(enoughAfter(taught(times(64, 1)), 0.6 * beat)).toBeGreaterThan(3)
  })
})

describe('the suspicion of a pulse', () => {
  const settings = { defaultIntervalMs: beat, pollIntervalMs: second, suspectAfterBeats: 1.5 }
  const pulse = firstSight(row('h'), 0)

  it('is asked only from the suspect mark on', () => {
    expect(suspicionAfter(pulse, 14_999, settings)).toBe(0)
    expect(suspicionAfter(pulse, 15_000, settings)).toBeGreaterThan(1)
  })

  it('is that of its interval, its deviation and its pauses', () => {
    const gaps = [4_000, 6_000, 4_000, 6_000]
    const known: Pulse = { ...pulse, gaps, medianGapMs: 4_000, rhythm: taught([1, 1, 3]) }
    const deviationMs = deviationOf(gaps, 5_000, second)
    expect(suspicionAfter(known, 11_000, settings)).toBe(
      suspicionOf({ silentMs: 11_000, intervalMs: 5_000, deviationMs, rhythm: known.rhythm }),
    )
  })
})
