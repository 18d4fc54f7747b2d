/** How far the API's clock is from those that stamp heartbeats. */
import { describe, expect, it } from 'vitest'
import type { ServiceRecord } from '../../src/domain/service.ts'
import { ClockSkew } from '../../src/monitor/clock-skew.ts'

const noon = Date.parse('2030-01-01T12:00:00Z')
const at = (secondsAfterNoon: number): string => new Date(noon + secondsAfterNoon * 1000).toISOString().slice(0, 19)

/** Readings ten seconds apart, each of the stamps of rows in seconds after noon; gives what the last one says, in seconds. */
function skewAfter(...readings: { api: number | null; rows: (number | null)[] }[]): number | null {
  const clocks = new ClockSkew()
  const said = readings.map(({ api, rows }, index) => {
    const services = rows.map(
      (stamp, row) =>
        ({ binary: 'nova-compute', host: `h${row}`, updatedAt: stamp === null ? null : at(stamp) }) as ServiceRecord,
    )
    const serverTimeMs = api === null ? null : noon + api * 1000
    return clocks.take({ serverTimeMs, services, tookMs: 1, showsLostCells: true }, index * 10_000)
  })
  const last = said.at(-1) ?? null
  return last === null ? null : last.ms / 1000
}

describe('the skew', () => {
  it('is counted from the stamps of rows that have moved', () => {
    expect(skewAfter({ api: 0, rows: [-5, -500] }, { api: 10, rows: [8, -500] })).toBe(2)
  })

  it('is negative when the stamps are ahead of the API', () => {
    expect(skewAfter({ api: 0, rows: [0] }, { api: 10, rows: [73] })).toBe(-63)
  })

  it('is nothing before a row has moved', () => {
    expect(skewAfter({ api: 0, rows: [-500, 7_200] })).toBeNull()
    expect(skewAfter({ api: 0, rows: [-500, null] }, { api: 10, rows: [-500, null] })).toBeNull()
  })

  it('is nothing without the time of the API', () => {
    expect(skewAfter({ api: 0, rows: [0] }, { api: null, rows: [10] })).toBeNull()
  })

  it('stays what it was while no row moves', () => {
    expect(skewAfter({ api: 0, rows: [0] }, { api: 10, rows: [73] }, { api: 20, rows: [73] })).toBe(-63)
  })

  it('does not ask a row that nobody writes any more, however far in the future it is', () => {
    const before = { api: 0, rows: [7_200, 0, 0] }
    expect(skewAfter(before, { api: 10, rows: [7_200, 9, 9] })).toBe(1)
  })

  it('is what most of the clocks say', () => {
    expect(skewAfter({ api: 0, rows: [0, 0, 0] }, { api: 10, rows: [9, 9, 7_200] })).toBe(1)
    expect(skewAfter({ api: 0, rows: [0, 0, 0] }, { api: 10, rows: [9, 7_200, 7_200] })).toBe(-7_190)
  })

  it('forgets a clock that has said nothing for five minutes', () => {
    const still = Array.from({ length: 31 }, () => ({ api: 20, rows: [73] }))
    expect(skewAfter({ api: 0, rows: [0] }, { api: 10, rows: [73] }, ...still)).toBeNull()
  })
})
