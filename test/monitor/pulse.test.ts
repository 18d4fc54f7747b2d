/** The pulse of one service row, field by field: what a row teaches, and what a write of ours takes back. */
import { describe, expect, it } from 'vitest'
import {
  firstSight,
  intervalOf,
  movedUnseen,
  ownWrite,
  restart,
  take,
  type Pulse,
} from '../../src/monitor/heartbeat.ts'
import { medianOf } from '../../src/monitor/suspicion.ts'
import { row } from './setup.ts'

const at = (stamp: string | null, change = {}) => row('h', { updatedAt: stamp, ...change })
const settings = { defaultIntervalMs: 10_000, pollIntervalMs: 500 }

/** Seen at 0, beat once at 2 s. */
const seen = (): Pulse => take(firstSight(at('1'), 0), at('2'), 2_000)

const withGaps = (...gaps: number[]): Pulse => ({ ...seen(), gaps, medianGapMs: medianOf(gaps) })

describe('the first sighting', () => {
  it('arms the timer and concludes nothing', () => {
    expect(firstSight(at('1', { status: 'disabled', forcedDown: true, disabledReason: 'r' }), 7)).toEqual({
      stamp: '1',
      shown: [],
      status: 'disabled',
      forcedDown: true,
      disabledReason: 'r',
      firstSeenAt: 7,
      readSince: 7,
      watched: { first: '1', lives: 0 },
      lastBeatAt: 7,
      everBeat: false,
      silentSince: 7,
      beatSinceRestart: true,
      gaps: [],
      forcedWhileWatching: false,
      beatsSinceForced: 0,
      ownStamps: [],
      ownMovesExpected: 0,
      ownDisableUnseen: false,
      beforeBeat: null,
      disabledBeforeForced: false,
      medianGapMs: 0,
      rhythm: { excessSquared: 0, gaps: 0, pauses: 0 },
    })
  })
})

describe('a beat', () => {
  it('is a stamp that moved', () => {
    expect(seen()).toMatchObject({ stamp: '2', lastBeatAt: 2_000, silentSince: 2_000, everBeat: true, firstSeenAt: 0 })
    expect(take(seen(), at('2'), 4_000)).toMatchObject({ lastBeatAt: 2_000, stamp: '2' })
    expect(take(seen(), at(null), 4_000)).toMatchObject({ lastBeatAt: 2_000, stamp: null })
  })

  it('is not there when nothing is new, and then nothing is copied: most polls see most hosts so', () => {
    const pulse = seen()
    expect(take(pulse, at('2'), 4_000)).toBe(pulse)
  })

  it('is no stamp that showed before: two database nodes answer in turn, and one of them is stuck', () => {
    const beats = (stamps: string[]): number[] => {
      let pulse = firstSight(at(stamps[0] ?? null), 0)
      return stamps.flatMap((stamp, poll) => {
        const before = pulse.lastBeatAt
        pulse = take(pulse, at(stamp), poll)
        return pulse.lastBeatAt === before ? [] : [poll]
      })
    }
    expect(beats(['9', '0', '9', '0', '9', '0', '9'])).toEqual([1])
    expect(beats(['9', '0', '10', '0', '11', '0', '12', '0', '13', '0', '14'])).toEqual([1, 2, 4, 6, 8, 10])
    expect(beats(['9', '8', '7', '9', '8', '7', '9'])).toEqual([1, 2])
  })

  it('teaches its gap, except the first, one across a freeze and one that is too long', () => {
    expect(seen().gaps).toEqual([])
    const second = take(seen(), at('3'), 4_500)
    expect(second.gaps).toEqual([2_500])
    const thawed = take(restart(second, 5_000), at('4'), 9_000)
    expect(thawed).toMatchObject({ gaps: [2_500], beatSinceRestart: true, lastBeatAt: 9_000 })
    expect(take(thawed, at('5'), 309_000).gaps).toEqual([2_500, 300_000])
    expect(take(thawed, at('5'), 309_001).gaps).toEqual([2_500])
  })

  it('of the last sixteen is remembered', () => {
    const full = withGaps(...Array.from({ length: 16 }, (_, index) => index + 1))
    expect(take(full, at('3'), 3_000).gaps).toEqual([...Array.from({ length: 15 }, (_, index) => index + 2), 1_000])
  })

  it('is no beat when the row was written: forced or not, status, reason', () => {
    const forced = take(seen(), at('3', { forcedDown: true }), 4_000)
    expect(forced).toMatchObject({ lastBeatAt: 2_000, forcedDown: true, stamp: '3' })
    expect(take(forced, at('4', { forcedDown: false }), 6_000)).toMatchObject({ lastBeatAt: 2_000, forcedDown: false })
    expect(take(seen(), at('3', { status: 'disabled' }), 4_000)).toMatchObject({
      lastBeatAt: 2_000,
      status: 'disabled',
    })
    expect(take(seen(), at('3', { disabledReason: 'r' }), 4_000)).toMatchObject({
      lastBeatAt: 2_000,
      disabledReason: 'r',
    })
    // No reason, said one way or the other.
    expect(take(seen(), at('3', { disabledReason: '' }), 4_000).lastBeatAt).toBe(4_000)
    const reasoned = take(seen(), at('3', { disabledReason: '' }), 4_000)
    expect(take(reasoned, at('4', { disabledReason: null }), 6_000).lastBeatAt).toBe(6_000)
  })
})

describe('beats of a host that was forced down', () => {
  it('are counted from the moment it was, and only while it is', () => {
    const forced = take(seen(), at('3', { forcedDown: true }), 4_000)
    expect(forced).toMatchObject({ forcedWhileWatching: true, beatsSinceForced: 0 })
    const once = take(forced, at('4', { forcedDown: true }), 6_000)
    const twice = take(once, at('5', { forcedDown: true }), 8_000)
    expect([once.beatsSinceForced, twice.beatsSinceForced]).toEqual([1, 2])
    const freed = take(twice, at('6'), 10_000)
    expect(freed).toMatchObject({ forcedWhileWatching: false, beatsSinceForced: 0 })
    expect(take(freed, at('7'), 12_000).beatsSinceForced).toBe(0)
    expect(take(freed, at('7', { forcedDown: true }), 12_000)).toMatchObject({
      forcedWhileWatching: true,
      beatsSinceForced: 0,
    })
  })

  it('count also where it was forced before we started', () => {
    const before = firstSight(at('1', { forcedDown: true }), 0)
    expect(take(before, at('2', { forcedDown: true }), 2_000)).toMatchObject({
      forcedWhileWatching: false,
      beatsSinceForced: 1,
    })
  })
})

describe('a write of ours', () => {
  it('whose stamp we know is never a beat, however late it shows', () => {
    const told = ownWrite(ownWrite(seen(), '3'), '4')
    expect(told.ownStamps).toEqual(['3', '4'])
    expect(take(told, at('3'), 4_000).lastBeatAt).toBe(2_000)
    expect(take(take(told, at('3'), 4_000), at('4'), 6_000).lastBeatAt).toBe(2_000)
    expect(take(told, at('5'), 4_000).lastBeatAt).toBe(4_000)
  })

  it('is remembered among the last eight', () => {
    let told = seen()
    for (let count = 1; count <= 9; count++) told = ownWrite(told, `s${count}`)
    expect(told.ownStamps).toEqual(['s2', 's3', 's4', 's5', 's6', 's7', 's8', 's9'])
  })

  it('whose stamp we do not know takes the next move, one for each', () => {
    const told = ownWrite(ownWrite(seen(), null), null)
    expect(told.ownMovesExpected).toBe(2)
    const first = take(told, at('3'), 4_000)
    const second = take(first, at('4'), 6_000)
    expect([first.ownMovesExpected, second.ownMovesExpected]).toEqual([1, 0])
    expect(second.lastBeatAt).toBe(2_000)
    expect(take(second, at('5'), 8_000)).toMatchObject({ lastBeatAt: 8_000, ownMovesExpected: 0 })
  })

  it('that a poll took for a beat is taken back whole, once', () => {
    const fooled = take(seen(), at('3'), 4_000)
    const taken = ownWrite(fooled, '3')
    expect(taken).toMatchObject({ lastBeatAt: 2_000, gaps: [], stamp: '3', ownStamps: ['3'], beforeBeat: null })
    // Another stamp than the one that is there takes nothing back.
    expect(ownWrite(fooled, '4')).toMatchObject({ lastBeatAt: 4_000, ownStamps: ['4'] })
    // Nothing beat since: nothing to take back.
    expect(ownWrite(firstSight(at('3'), 0), '3')).toMatchObject({ stamp: '3', ownStamps: ['3'], lastBeatAt: 0 })
  })

  it('takes back no more than the last beat', () => {
    const third = take(take(seen(), at('3'), 4_000), at('4'), 6_000)
    expect(third.beforeBeat).toMatchObject({ lastBeatAt: 4_000, beforeBeat: null })
    expect(ownWrite(third, '4')).toMatchObject({ lastBeatAt: 4_000, gaps: [2_000] })
  })
})

describe('the end of a freeze', () => {
  it('counts silence again, and takes no earlier beat back', () => {
    expect(restart(take(seen(), at('3'), 4_000), 9_000)).toMatchObject({
      silentSince: 9_000,
      lastBeatAt: 4_000,
      beatSinceRestart: false,
      beforeBeat: null,
    })
  })
})

describe('the learnt interval', () => {
  const learnt = (pollIntervalMs: number, ...gaps: number[]) =>
    intervalOf(withGaps(...gaps), { ...settings, pollIntervalMs })

  it('needs four gaps', () => {
    expect(learnt(500, 2_000, 2_000, 2_000)).toBe(10_000)
    expect(learnt(500, 2_000, 2_000, 2_000, 2_000)).toBe(2_000)
  })

  it('is the mean of those within twice the median and a poll', () => {
    // Median 2 s, so up to 4.5 s counts.
    expect(learnt(500, 2_000, 1_000, 4_500, 2_500)).toBe(2_500)
    expect(learnt(500, 2_000, 1_000, 4_501, 2_500)).toBeCloseTo(1_833.3, 1)
    expect(learnt(501, 2_000, 1_000, 4_501, 2_499)).toBe(2_500)
  })

  it('takes the lower of two middle gaps for the median, in whatever order they came', () => {
    // By the lower one, 1 s, the two long ones are pauses.
    expect(learnt(0, 9_000, 1_000, 9_000, 1_000)).toBe(1_000)
    expect(learnt(0, 10_000, 9_000, 1_000, 9_000, 9_500)).toBe(7_700)
  })

  it('is within a second and five minutes', () => {
    expect(learnt(0, 10, 10, 10, 10)).toBe(1_000)
    expect(learnt(0, 400_000, 400_000, 400_000, 400_000)).toBe(300_000)
  })
})

describe('a gap under forced_down', () => {
  it('teaches nothing: a host that died and came back is no host whose heartbeats pause', () => {
    const forced = take(withGaps(2_000, 2_000), at('2', { forcedDown: true }), 4_000)
    const back = take(forced, at('3', { forcedDown: true }), 30_000)
    expect(back).toMatchObject({ lastBeatAt: 30_000, gaps: [2_000, 2_000] })
    const cleared = take(back, at('4'), 31_000)
    expect(cleared.gaps).toEqual([2_000, 2_000])
    expect(take(take(cleared, at('5'), 32_000), at('6'), 34_000).gaps).toEqual([2_000, 2_000, 2_000, 2_000])
  })
})

describe('the beat that is seen together with a flag', () => {
  it('teaches nothing when the host was forced down before, or is so now', () => {
    const forcedNow = take(withGaps(2_000), at('3', { forcedDown: true }), 9_000)
    expect(take(forcedNow, at('4', { forcedDown: true }), 20_000).gaps).toEqual([2_000])
  })
})

describe('a row read after a hole in the readings', () => {
  const disabled = { status: 'disabled' } as const
  const gone = (pulse: Pulse): Pulse => ({ ...restart(pulse, 60_000), readSince: 60_000 })
  const read = (before: Pulse, stamp: string, now = 60_000): Pulse =>
    movedUnseen(before, take(before, at(stamp, disabled), now), now)
  const { lives } = seen().watched

  it('may hide a life where it was written, though a flag explains the last write', () => {
    expect(read(gone(seen()), '3').watched.lives).toBe(lives + 1)
  })

  it('hides none where it shows what was read before, or what Lifeboat itself wrote, to the second', () => {
    expect(read(gone(seen()), '2').watched.lives).toBe(lives)
    const [ours, listed] = ['2026-01-01T00:00:03.700000', '2026-01-01T00:00:03.000000']
    expect(read(ownWrite(gone(seen()), ours), listed).watched.lives).toBe(lives)
  })

  it.each(['1', '2'])('may hide one behind a database node that shows an older row first: %s', (older) => {
    const behind = movedUnseen(gone(seen()), take(gone(seen()), at(older), 60_000), 60_000)
    expect(behind.watched.lives).toBe(lives)
    expect(read(behind, '3', 65_000).watched.lives).toBe(lives + 1)
    expect(read(behind, '3', 95_000).watched.lives).toBe(lives)
  })

  it('is followed by one in which Lifeboat writes: its text is no life, though a poll sees it before its answer', () => {
    const after = { ...disabled, disabledReason: 'lifeboat: incident i-1' }
    const seenBy = (before: Pulse, now: number): number =>
      movedUnseen(before, take(before, at('3', after), now), now).watched.lives
    expect(seenBy(read(gone(seen()), '2'), 65_000)).toBe(lives)
    expect(seenBy(gone(seen()), 60_000)).toBe(lives + 1)
  })

  it('may hide one before the first sighting as well, which such a node may have answered', () => {
    expect(read(firstSight(at('1'), 0), '3', 5_000).watched.lives).toBe(1)
    expect(read(firstSight(at('1'), 0), '3', 35_000).watched.lives).toBe(0)
  })
})
