import { describe, expect, it } from 'vitest'
import { firstSight, intervalOf, ownDisable, ownWrite, take, type Pulse } from '../../src/monitor/heartbeat.ts'
import { ourDisabledReason, type ServiceRecord } from '../../src/domain/service.ts'
import { Fleet, row } from './setup.ts'

const settings = { defaultIntervalMs: 10_000, pollIntervalMs: 500 }
const at = (stamp: string, change = {}) => row('h', { updatedAt: stamp, ...change })

function beats(gaps: number[]): Pulse {
  let now = 0
  let pulse = firstSight(at('0'), now)
  for (const [index, gap] of [0, ...gaps].entries()) pulse = take(pulse, at(`s${index}`), (now += gap))
  return pulse
}

describe('the learnt interval', () => {
  it('is the default until enough gaps were seen', () => {
    expect(intervalOf(beats([2_000, 2_000, 2_000]), settings)).toBe(10_000)
    expect(intervalOf(beats([2_000, 2_000, 2_000, 2_000]), settings)).toBe(2_000)
  })

  it('is not fooled by polling that sees a 5 s beat at 4, 4, 4 and 8 s', () => {
    const polled = beats([4_000, 4_000, 4_000, 8_000, 4_000, 4_000, 4_000, 8_000])
    expect(intervalOf(polled, { ...settings, pollIntervalMs: 4_000 })).toBe(5_000)
  })

  it('leaves a pause out', () => {
    expect(intervalOf(beats([2_000, 2_000, 60_000, 2_000, 2_000]), settings)).toBe(2_000)
  })

  it('is never below one second', () => {
    expect(intervalOf(beats([10, 10, 10, 10, 10]), settings)).toBe(1_000)
  })

  it.each([0, 400, 1_000])('comes within a quarter of the truth with %i ms of jitter', async (jitterMs) => {
    const fleet = new Fleet(['a', 'b'], { settings: { defaultIntervalMs: 10_000 } })
    fleet.jitterMs = jitterMs
    await fleet.run(60_000)
    const { intervalMs } = fleet.monitor.verdict('a')!.evidence
    expect(intervalMs).toBeGreaterThan(1_500)
    expect(intervalMs).toBeLessThan(2_500)
    expect(fleet.history('a')).toEqual(['healthy'])
  })
})

describe('a poll that sees nothing new', () => {
  it('gives the very same pulse', () => {
    const pulse = beats([2_000, 2_000])
    expect(take(pulse, at(pulse.stamp ?? ''), 99_000)).toBe(pulse)
    expect(take(pulse, at(pulse.stamp ?? '', { disabledReason: '' }), 99_000)).toBe(pulse)
  })
})

describe('what is no heartbeat', () => {
  const seen = take(firstSight(at('1'), 0), at('2'), 2_000)

  it('a PUT of ours, told before the poll that sees it', () => {
    expect(take(ownWrite(seen, '3'), at('3'), 9_000)).toMatchObject({ lastBeatAt: 2_000, stamp: '3' })
  })

  it('a PUT of ours, told only after a poll took it for a beat', () => {
    const fooled = take(seen, at('3'), 9_000)
    expect(fooled.lastBeatAt).toBe(9_000)
    expect(ownWrite(fooled, '3')).toMatchObject({ lastBeatAt: 2_000, silentSince: 2_000, stamp: '3' })
  })

  it('but a beat that was read before a PUT of the same second left stays one', () => {
    const beaten = take(seen, at('3'), 9_000)
    expect(ownWrite(beaten, '3', 9_000)).toMatchObject({ lastBeatAt: 9_000, stamp: '3' })
    expect(ownWrite(beaten, '3', 8_999)).toMatchObject({ lastBeatAt: 2_000, stamp: '3' })
  })

  it('someone who enables what we disabled, before any poll has shown our disable', () => {
    const told = ownDisable(seen)
    const enabled = take(told, at('3'), 9_000)
    expect(enabled).toMatchObject({ lastBeatAt: 2_000, stamp: '3' })
    expect(take(enabled, at('4'), 11_000).lastBeatAt).toBe(11_000)
    const shown = take(told, at('3', { status: 'disabled', disabledReason: 'ours' }), 9_000)
    expect(take(shown, at('4', { status: 'disabled', disabledReason: 'ours' }), 11_000).lastBeatAt).toBe(11_000)
  })

  it('a PUT of ours without a stamp: the next move, and only that', () => {
    const first = take(ownWrite(seen, null), at('3'), 9_000)
    expect(first.lastBeatAt).toBe(2_000)
    expect(take(first, at('4'), 11_000).lastBeatAt).toBe(11_000)
  })

  it.each([{ forcedDown: true }, { status: 'disabled' }, { disabledReason: 'maintenance' }])(
    'the write of %o',
    (change) => {
      expect(take(seen, at('3', change), 9_000).lastBeatAt).toBe(2_000)
    },
  )

  it('but a move after the PUT that forced it down is one', () => {
    const put = take(seen, at('3', { forcedDown: true }), 9_000)
    expect(put).toMatchObject({ forcedWhileWatching: true, beatsSinceForced: 0 })
    expect(take(put, at('4', { forcedDown: true }), 11_000)).toMatchObject({ beatsSinceForced: 1, lastBeatAt: 11_000 })
  })
})

describe('a service that was disabled before it was forced down', () => {
  const at = (change: Partial<ServiceRecord>): ServiceRecord => row('h', change)
  const pulse = (...changes: Partial<ServiceRecord>[]): Pulse =>
    changes.reduce((now, change, index) => take(now, at(change), index), firstSight(at({}), 0))
  const off = { status: 'disabled' as const }

  it.each([
    ['disabled, then forced down', [off, { ...off, forcedDown: true }], true],
    ['both at once', [{ ...off, forcedDown: true }], true],
    ['forced down, then disabled', [{ forcedDown: true }, { ...off, forcedDown: true }], false],
    [
      'disabled by us, then forced down',
      [{ ...off, disabledReason: ourDisabledReason('i') }, { forcedDown: true }],
      false,
    ],
    ['and stays so', [off, { ...off, forcedDown: true }, { ...off, forcedDown: true }], true],
    ['until it is taken back', [off, { ...off, forcedDown: true }, off], false],
  ])('%s', (_name, changes, planned) => expect(pulse(...changes).disabledBeforeForced).toBe(planned))
})
