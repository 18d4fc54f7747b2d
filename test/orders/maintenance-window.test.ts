/** When a calendar window is open: a function of the wall time alone, in a zone whose clocks change. */
import { describe, expect, it, test } from 'vitest'
import { nextOpenings, openingAt, startsWithin } from '../../src/orders/maintenance-window.ts'

const hour = 3_600_000
const minute = 60_000

function opening(schedule: string, durationMs: number, at: string, timezone: string | null = 'UTC'): unknown {
  const found = openingAt({ schedule, durationMs, timezone }, Date.parse(at))
  return found && [new Date(found.from).toISOString().slice(0, 16), new Date(found.until).toISOString().slice(0, 16)]
}

describe('a window every Saturday from 2 to 6', () => {
  const at = (time: string): unknown => opening('0 2 * * 6', 4 * hour, time)
  const saturday = ['2026-01-03T02:00', '2026-01-03T06:00']

  it.each([
    ['the millisecond before it opens', '2026-01-03T01:59:59.999Z', null],
    ['its very beginning', '2026-01-03T02:00:00.000Z', saturday],
    ['the middle, found by a daemon that starts then', '2026-01-03T04:30:12.345Z', saturday],
    ['its last millisecond', '2026-01-03T05:59:59.999Z', saturday],
    ['its very end', '2026-01-03T06:00:00.000Z', null],
    ['another day', '2026-01-04T04:00:00Z', null],
    ['the next week', '2026-01-10T02:00:00Z', ['2026-01-10T02:00', '2026-01-10T06:00']],
  ])('%s', (_name, time, expected) => expect(at(time)).toEqual(expected))
})

test('a window over midnight is still open the day after', () => {
  expect(opening('30 22 * * 5', 4 * hour, '2026-01-03T02:29:00Z')).toEqual(['2026-01-02T22:30', '2026-01-03T02:30'])
  expect(opening('30 22 * * 5', 4 * hour, '2026-01-03T02:30:00Z')).toBeNull()
})

test('a window of the longest length is known on its last day', () => {
  const week = 7 * 24 * hour
  expect(opening('0 0 1 * *', week, '2026-03-07T23:59:59.999Z')).toEqual(['2026-03-01T00:00', '2026-03-08T00:00'])
  expect(opening('0 0 1 * *', week, '2026-03-08T00:00:00Z')).toBeNull()
})

test('of several openings a day the newest counts', () => {
  const at = (time: string): unknown => opening('0,30 8-9 * * *', 20 * minute, `2026-01-01T${time}Z`)
  expect(at('08:10:00')).toEqual(['2026-01-01T08:00', '2026-01-01T08:20'])
  expect(at('08:20:00')).toBeNull()
  expect(at('09:49:59')).toEqual(['2026-01-01T09:30', '2026-01-01T09:50'])
})

test('day of month and day of week must both fit', () => {
  expect(opening('0 2 10 * 6', hour, '2026-01-10T02:00:00Z')).not.toBeNull()
  expect(opening('0 2 10 * 6', hour, '2026-02-10T02:00:00Z')).toBeNull()
  expect(opening('0 2 10 * 6', hour, '2026-01-17T02:00:00Z')).toBeNull()
})

test('the last Friday of the month', () => {
  expect(opening('0 2 * * 5L', hour, '2026-01-30T02:30:00Z')).not.toBeNull()
  expect(opening('0 2 * * 5L', hour, '2026-01-23T02:30:00Z')).toBeNull()
})

describe('in Berlin', () => {
  const at = (schedule: string, durationMs: number, time: string): unknown =>
    opening(schedule, durationMs, time, 'Europe/Berlin')

  it('follows the local clock, in winter and in summer', () => {
    expect(at('0 2 * * *', hour, '2026-01-15T01:00:00Z')).toEqual(['2026-01-15T01:00', '2026-01-15T02:00'])
    expect(at('0 2 * * *', hour, '2026-07-15T00:00:00Z')).toEqual(['2026-07-15T00:00', '2026-07-15T01:00'])
    expect(at('0 2 * * *', hour, '2026-07-15T01:00:00Z')).toBeNull()
  })

  it('in the night of 29 March the clocks skip 02:00 to 03:00: a start in it comes an hour later, none is lost', () => {
    expect(at('30 2 * * *', hour, '2026-03-29T01:29:59Z')).toBeNull()
    expect(at('30 2 * * *', hour, '2026-03-29T01:30:00Z')).toEqual(['2026-03-29T01:30', '2026-03-29T02:30'])
    expect(at('30 3 * * *', hour, '2026-03-29T01:30:00Z')).toEqual(['2026-03-29T01:30', '2026-03-29T02:30'])
  })

  it('a window over the skipped hour lasts its real length', () => {
    expect(at('0 1 * * *', 4 * hour, '2026-03-29T03:59:59Z')).toEqual(['2026-03-29T00:00', '2026-03-29T04:00'])
    expect(at('0 1 * * *', 4 * hour, '2026-03-29T04:00:00Z')).toBeNull()
  })

  it('in the night of 25 October they repeat 02:00 to 03:00: a start in it happens once, the first time', () => {
    expect(at('30 2 * * *', 30 * minute, '2026-10-25T00:30:00Z')).toEqual(['2026-10-25T00:30', '2026-10-25T01:00'])
    expect(at('30 2 * * *', 30 * minute, '2026-10-25T01:30:00Z')).toBeNull()
    expect(at('0 3 * * *', 30 * minute, '2026-10-25T02:00:00Z')).toEqual(['2026-10-25T02:00', '2026-10-25T02:30'])
  })

  it('a schedule of every hour follows real time: no hour without it, none twice', () => {
    const starts = (from: string, hours: number): unknown[] =>
      Array.from({ length: hours }, (_, index) =>
        at('15 * * * *', 10 * minute, new Date(Date.parse(from) + index * hour).toISOString()),
      )
    expect(starts('2026-10-24T22:15:00Z', 6)).not.toContain(null)
    expect(starts('2026-03-28T22:15:00Z', 6)).not.toContain(null)
    expect(at('15 * * * *', 10 * minute, '2026-10-25T01:20:00Z')).toEqual(['2026-10-25T01:15', '2026-10-25T01:25'])
  })

  it('the day before and after the clocks change are days like any other', () => {
    for (const day of ['2026-03-28', '2026-10-26']) expect(at('0 12 * * *', hour, `${day}T11:00:00Z`)).not.toBeNull()
    for (const day of ['2026-03-30', '2026-10-24']) expect(at('0 12 * * *', hour, `${day}T10:00:00Z`)).not.toBeNull()
  })
})

test('a zone far from UTC: the local day decides', () => {
  // Saturday 02:00 in Kiritimati is Friday noon in UTC, and Sunday 23:00 in Pago Pago is Monday morning.
  expect(opening('0 2 * * 6', hour, '2026-01-02T12:30:00Z', 'Pacific/Kiritimati')).not.toBeNull()
  expect(opening('0 23 * * 0', hour, '2026-01-05T10:30:00Z', 'Pacific/Pago_Pago')).not.toBeNull()
})

test('without a zone the clock of this machine decides', () => {
  const noon = new Date(2026, 0, 15, 12, 0)
  expect(opening('0 12 * * *', hour, noon.toISOString(), null)).not.toBeNull()
  expect(opening('0 13 * * *', hour, noon.toISOString(), null)).toBeNull()
})

describe('the time between two openings', () => {
  it.each([
    ['0 2 * * *', 24 * hour, { periodMs: 24 * hour }],
    ['0 2 * * *', 24 * hour - 1, null],
    ['0 2,4 * * *', 2 * hour, { periodMs: 2 * hour }],
    ['0 2,4 * * *', 2 * hour - 1, null],
    ['0 23,1 * * *', 2 * hour, { periodMs: 2 * hour }],
    ['*/5 * * * *', 5 * minute, { periodMs: 5 * minute }],
    ['0 2 * * 6', 7 * 24 * hour, { periodMs: 7 * 24 * hour }],
    ['0 2 * * 6', 7 * 24 * hour - 1, null],
    ['0 2 31,1 * *', 24 * hour, { periodMs: 24 * hour }],
    ['0 2 28,1 2,3 *', 24 * hour, { periodMs: 24 * hour }],
    ['0 2 29,1 2,3 *', 24 * hour, { periodMs: 24 * hour }],
    ['0 2 L-30 2 *', hour, 'never'],
    ['0 2 29 2 *', hour, null],
    ['@daily', 24 * hour, { periodMs: 24 * hour }],
  ])('%s, asked for %d ms', (schedule, within, expected) => expect(startsWithin(schedule, within)).toEqual(expected))
})

describe('the next openings', () => {
  const next = (schedule: string, at: string, count = 2, timezone = 'Europe/Berlin'): string[] =>
    nextOpenings({ schedule, durationMs: hour, timezone }, Date.parse(at), count).map(({ from, until }) => {
      expect(until - from).toBe(hour)
      return new Date(from).toISOString().slice(0, 16)
    })

  it('follow the moment that is asked about, the soonest first', () => {
    expect(next('0 2 * * 6', '2026-01-03T00:59:59Z')).toEqual(['2026-01-03T01:00', '2026-01-10T01:00'])
    expect(next('0 2 * * 6', '2026-01-03T01:00:00Z')).toEqual(['2026-01-10T01:00', '2026-01-17T01:00'])
    expect(next('0,30 2 * * *', '2026-01-03T01:10:00Z', 3)).toEqual([
      '2026-01-03T01:30',
      '2026-01-04T01:00',
      '2026-01-04T01:30',
    ])
  })

  it('are those that open: also in the nights in which the clocks jump', () => {
    for (const [schedule, day] of [
      ['30 2 * * *', '2026-03-28T12:00:00Z'],
      ['30 2 * * *', '2026-10-24T12:00:00Z'],
    ] as const)
      for (const from of next(schedule, day, 3))
        expect(
          openingAt({ schedule, durationMs: hour, timezone: 'Europe/Berlin' }, Date.parse(`${from}:00Z`)),
        ).toMatchObject({ from: Date.parse(`${from}:00Z`) })
    expect(next('30 2 * * *', '2026-03-28T12:00:00Z')).toEqual(['2026-03-29T01:30', '2026-03-30T00:30'])
    expect(next('30 2 * * *', '2026-10-24T12:00:00Z')).toEqual(['2026-10-25T00:30', '2026-10-26T01:30'])
  })

  it('are years ahead for a leap day, and none where it comes on no such weekday for four years', () => {
    expect(next('0 2 29 2 *', '2026-01-01T00:00:00Z', 1, 'UTC')).toEqual(['2028-02-29T02:00'])
    expect(next('0 2 29 2 6', '2026-01-01T00:00:00Z')).toEqual([])
  })
})
