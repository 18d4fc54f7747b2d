/** Hosts that stand still over several runs: what is carried from one run to the next, what is not, and when it counts. */
import { describe, expect, it } from 'vitest'
import {
  follow,
  othersStandStill,
  recordOf,
  stillSince,
  takeOver,
  type HostSeen,
  type StandingStill,
} from '../../src/monitor/standing-still.ts'

const holeMs = 20_000
const limits = { confirmAfterBeats: 2.5, defaultIntervalMs: 10_000, pollIntervalMs: 2_000 }

function late(host: string, stamp = 'old', since = 0): HostSeen {
  return { host, stamp, since, late: true, mayTestify: false }
}

function well(host: string, stamp: string): HostSeen {
  return { host, stamp, since: 0, late: false, mayTestify: true }
}

/** Readings in a row, each as seconds and what it shows. */
function after(...readings: [number, HostSeen[]][]): StandingStill | null {
  return readings.reduce<StandingStill | null>((known, [at, seen]) => follow(known, seen, at * 1_000, holeMs), null)
}

describe('the silence of a host', () => {
  it('counts from its first reading, once others were seen to beat since', () => {
    const known = after([5, [late('a', 'old', 5_000), well('b', '1')]], [9, [late('a'), well('b', '2')]])
    expect(known && stillSince(known, 'a')).toBe(5_000)
  })

  it.each([
    ['as long as no other has beaten', [late('a'), well('b', '1')]],
    ['when fewer than half of the others have', [late('a'), well('b', '2'), well('c', '1'), well('d', '1')]],
  ])('does not count %s', (_when, second) => {
    const first = [late('a'), ...second.slice(1).map(({ host }) => well(host, '1'))]
    const known = after([5, first], [9, second])
    expect(known && stillSince(known, 'a')).toBeNull()
  })

  it('does not count where there is no other host', () => {
    const known = after([5, [late('a')]], [9, [late('a')]])
    expect(known && stillSince(known, 'a')).toBeNull()
    expect(othersStandStill(known, 900_000, limits)).toBeNull()
  })

  it('does not count by beats from before it began', () => {
    const known = after(
      [5, [late('x'), well('b', '1')]],
      [9, [late('x'), late('a', 'old', 9_500), well('b', '2')]],
      [11, [late('x'), late('a', 'old', 9_500), well('b', '2')]],
    )
    expect(known && stillSince(known, 'a')).toBeNull()
  })

  it('is forgotten when its stamp moves, and when it is not listed', () => {
    expect(after([5, [late('a'), well('b', '1')]], [9, [well('a', 'new'), well('b', '2')]])).toBeNull()
    expect(after([5, [late('a'), well('b', '1')]], [9, [well('b', '2')]])).toBeNull()
  })

  it('begins again when a stamp that has moved is late again', () => {
    const known = after([5, [late('a', 'old', 0), well('b', '1')]], [9, [late('a', 'new', 7_000), well('b', '2')]])
    expect(known?.hosts.get('a')).toEqual({ stamp: 'new', since: 7_000 })
  })

  it('begins again after a hole between two readings', () => {
    const first: [number, HostSeen[]] = [0, [late('a', 'old', 0), well('b', '1')]]
    expect(after(first, [20, [late('a', 'old', 20_000), well('b', '2')]])?.hosts.get('a')?.since).toBe(0)
    expect(after(first, [20.001, [late('a', 'old', 20_001), well('b', '2')]])?.hosts.get('a')?.since).toBe(20_001)
  })
})

describe('when the others stand still too', () => {
  it('is a fault after the time that a dead broker needs to show, and not before', () => {
    const known = after(
      [0, [late('a'), well('b', '1'), well('c', '1')]],
      [18, [late('a'), late('b', '1'), late('c', '1')]],
    )
    expect(othersStandStill(known, 29_000, limits)).toBeNull()
    expect(othersStandStill(known, 29_001, limits)?.reason).toBe('MASS_SILENCE')
  })

  it('is none when half of them have beaten since', () => {
    const known = after(
      [0, [late('a'), well('b', '1'), well('c', '1')]],
      [18, [late('a'), well('b', '2'), late('c', '1')]],
    )
    expect(othersStandStill(known, 40_000, limits)).toBeNull()
  })

  it('is asked of some hosts of a large cloud, spread over it', () => {
    const many = Array.from({ length: 160 }, (_, n) => well(`h${n}`, '1'))
    const others = [...(after([0, [late('a'), ...many]])?.others.keys() ?? [])]
    expect(others).toHaveLength(16)
    expect(others.slice(0, 3)).toEqual(['h0', 'h10', 'h20'])
  })
})

describe('what the run before left', () => {
  const wall = Date.parse('2026-03-01T12:00:00.000Z')
  const iso = (ms: number): string => new Date(wall + ms).toISOString()
  const record = {
    hosts: [{ host: 'a', stamp: 'old', silentMs: 30_000 }],
    others: [{ host: 'b', stamp: '1' }],
    othersForMs: 4_000,
    othersBeat: true,
    cloudTime: iso(0),
    at: iso(0),
  }
  const over = (ours: number, theirs: number): StandingStill | null =>
    takeOver(record, { now: 1_000, wall: wall + ours, serverTimeMs: wall + theirs }, holeMs)

  it('goes on, with the time in which no daemon ran', () => {
    expect(over(5_000, 5_000)).toEqual({
      hosts: new Map([['a', { stamp: 'old', since: 1_000 - 35_000 }]]),
      others: new Map([['b', '1']]),
      othersSince: 1_000 - 9_000,
      othersBeat: true,
      readAt: 1_000 - 5_000,
    })
  })

  it.each([
    ['our clock was set forward a little', 18_000, 5_000, 35_000],
    ["the API's clock was", 5_000, 18_000, 35_000],
    ['our clock was set back', -7_200_000, 5_000, 30_000],
    ["the API's clock was set back", 5_000, -7_200_000, 30_000],
  ])('counts no more than the lesser clock says: %s', (_what, ours, theirs, silentMs) => {
    expect(over(ours, theirs)?.hosts.get('a')?.since).toBe(1_000 - silentMs)
  })

  it.each([
    ['by both clocks', 20_001, 20_001],
    ['by ours, which may have been set', 7_200_000, 5_000],
    ["by the API's", 5_000, 20_001],
  ])('is nothing after a time in which the control plane may have been away: %s', (_what, ours, theirs) => {
    expect(over(ours, theirs)).toBeNull()
  })

  it('is the same that was put on record', () => {
    const known = over(5_000, 5_000)
    expect(known && recordOf(known, 1_000, wall + 5_000)).toEqual({
      ...{ hosts: [{ host: 'a', stamp: 'old', silentMs: 35_000 }], others: record.others },
      ...{ othersForMs: 9_000, othersBeat: true, cloudTime: iso(5_000) },
    })
  })
})
