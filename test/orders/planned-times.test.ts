/** From what a person writes to the beginning and the end of a planned maintenance. */
import { describe, expect, it } from 'vitest'
import { localText } from '../../src/domain/local-time.ts'
import { plannedTimes } from '../../src/orders/planned-times.ts'

const berlin = 'Europe/Berlin'
const now = Date.parse('2026-11-20T12:00:00Z')
const hour = 3_600_000

function fromOf(from: string): string {
  return plannedTimes({ from, until: null }, now, berlin).from
}

function refusalOf(from: string, more: { until?: string; forMs?: number; nowMs?: number } = {}): unknown {
  const { until = null, nowMs = now, forMs } = more
  try {
    return plannedTimes({ from, until, forMs }, nowMs, berlin)
  } catch (thrown) {
    return thrown
  }
}

describe('the beginning', () => {
  it.each([
    ['2026-11-23 02:00', 'local time of the machine'],
    ['2026-11-23T02:00', 'the same, as a browser writes it'],
    ['2026-11-23 02:00:00', 'with seconds'],
    ['2026-11-23T02:00+01:00', 'with an offset'],
    ['2026-11-23T02:00 +0100', 'with an offset, as RFC 822 writes it'],
    ['2026-11-23T01:00Z', 'UTC'],
    ['2026-11-23T01:00:00.000Z', 'UTC, as programs write it'],
    ['2026-11-22T20:00-05:00', 'with the offset of another place'],
  ])('%s is read: %s', (text) => {
    expect(fromOf(text)).toBe('2026-11-23T01:00:00.000Z')
  })

  it('in summer time has the offset of summer', () => {
    expect(fromOf('2027-07-01 02:00')).toBe('2027-07-01T00:00:00.000Z')
  })

  it.each([
    'tomorrow',
    '02:00',
    '2026-11-23',
    '23.11.2026 02:00',
    '2026-02-30 02:00',
    '2026-11-23 24:30',
    '2026-11-23 02:00.5',
    '2026-11-23T02:00+25:00',
    '2026-11-23 02:00 CET',
  ])('%s is refused, with what is allowed', (text) => {
    expect(refusalOf(text)).toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(
        /; allowed are local time of the daemon's machine \(Europe\/Berlin\), "2026-11-23 02:00", and a time with its offset, /,
      ),
    })
  })

  it('that the clocks skip is refused', () => {
    expect(refusalOf('2027-03-28 02:30')).toMatchObject({
      message: expect.stringMatching(/^The clocks of Europe\/Berlin skip 2027-03-28 02:30; allowed /),
    })
  })

  it('that the clocks show twice is refused, with the two that it may be', () => {
    expect(refusalOf('2027-10-31 02:30', { nowMs: Date.parse('2027-10-01') })).toMatchObject({
      message:
        'The clocks of Europe/Berlin show 2027-10-31 02:30 twice: write 2027-10-31T02:30+02:00 or 2027-10-31T02:30+01:00',
    })
  })

  it('in the past, and now, is refused in both zones', () => {
    expect(refusalOf('2026-11-20 13:00')).toMatchObject({
      code: 'USAGE',
      message:
        'It would begin in the past (2026-11-20 13:00 Europe/Berlin, 2026-11-20T12:00:00.000Z); give a time later than now (2026-11-20 13:00 Europe/Berlin)',
    })
  })

  it('more than a year ahead is refused: a slip of the year would never be noticed', () => {
    expect(refusalOf('2062-11-23 02:00')).toMatchObject({ message: expect.stringContaining('more than a year ahead') })
  })
})

describe('the end', () => {
  it('counts from the beginning', () => {
    const times = plannedTimes({ from: '2026-11-23 02:00', until: null, forMs: 4 * hour }, now, berlin)
    expect(times.until).toBe('2026-11-23T05:00:00.000Z')
  })

  it('before the beginning is refused', () => {
    expect(refusalOf('2026-11-23 02:00', { until: '2026-11-23T01:00:00+00:00' })).toMatchObject({
      message: expect.stringContaining('It would end before it begins'),
    })
  })
})

it('a local time is said with its zone, and with seconds only where it has some', () => {
  expect(localText('2026-11-23T01:00:00.000Z', berlin)).toBe('2026-11-23 02:00 Europe/Berlin')
  expect(localText('2026-07-23T01:00:05.000Z', berlin)).toBe('2026-07-23 03:00:05 Europe/Berlin')
})
