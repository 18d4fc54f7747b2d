import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brakeDecision, mostAtOnce, type BrakeHost, type BrakeQuestion } from '../../src/monitor/brake.ts'

const hosts = (segment: string, ...names: string[]): BrakeHost[] => names.map((host) => ({ host, segment }))
const question = (change: Partial<BrakeQuestion>): BrakeQuestion => ({
  candidates: [],
  openHosts: [],
  fleet: new Map([['s', 10]]),
  limits: { segments: new Map([['s', { maxHosts: 3, maxShare: 0.2 }]]), cloud: { maxHosts: 5, maxShare: 1 } },
  overrides: new Set(),
  ...change,
})
const allowed = (change: Partial<BrakeQuestion>) => brakeDecision(question(change)).map((one) => one.allowed)

describe('the numbers', () => {
  it.each([
    [3, 0.2, 10, 2],
    [3, 0.2, 9, 1],
    [3, 0.2, 3, 1],
    [3, 0, 100, 1],
    [3, 0.5, 100, 3],
    [100, 0.29, 100, 29],
    [0, 1, 10, 0],
  ])('at most %i hosts, share %f, of %i: %i', (maxHosts, maxShare, fleet, most) => {
    expect(mostAtOnce({ maxHosts, maxShare }, fleet)).toBe(most)
  })
})

describe('the brake', () => {
  it('lets through what is exactly at the limit', () => {
    expect(allowed({ candidates: hosts('s', 'a', 'b') })).toEqual([true, true])
  })
  it('holds all of them, not the rest, when one more failed', () => {
    expect(allowed({ candidates: hosts('s', 'a', 'b', 'c') })).toEqual([false, false, false])
  })
  it('counts hosts under recovery', () => {
    expect(allowed({ candidates: hosts('s', 'b'), openHosts: hosts('s', 'a') })).toEqual([true])
    expect(allowed({ candidates: hosts('s', 'c'), openHosts: hosts('s', 'a', 'b') })).toEqual([false])
  })
  it('counts a host once that is candidate and open', () => {
    expect(allowed({ candidates: hosts('s', 'a', 'b'), openHosts: hosts('s', 'a', 'b') })).toEqual([true, true])
  })
  it('holds one segment and lets another go on', () => {
    const segments = new Map(['s', 't'].map((name) => [name, { maxHosts: 1, maxShare: 1 }]))
    const fleet = new Map([
      ['s', 10],
      ['t', 10],
    ])
    const candidates = [...hosts('s', 'a', 'b'), ...hosts('t', 'c')]
    expect(allowed({ candidates, fleet, limits: { segments, cloud: { maxHosts: 5, maxShare: 1 } } })).toEqual([
      false,
      false,
      true,
    ])
  })
  it('holds all segments when the cloud is over its limit', () => {
    const limits = { segments: new Map([['s', { maxHosts: 9, maxShare: 1 }]]), cloud: { maxHosts: 1, maxShare: 1 } }
    expect(allowed({ candidates: hosts('s', 'a', 'b'), limits })).toEqual([false, false])
  })
  it('lets the one host through that a person named, and says the numbers', () => {
    const answers = brakeDecision(question({ candidates: hosts('s', 'a', 'b', 'c'), overrides: new Set(['b']) }))
    expect(answers.map((one) => one.allowed)).toEqual([false, true, false])
    expect(answers[0]?.reason).toContain('3 of 10 hosts of segment s are down, 2 may be')
  })
  it('holds a segment that has no limits', () => {
    expect(allowed({ candidates: hosts('nobody knows', 'a') })).toEqual([false])
  })

  it('never lets more than the limits through', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j')
    const some = fc
      .uniqueArray(name, { maxLength: 8 })
      .map((names) => names.map((host) => ({ host, segment: host < 'f' ? 's' : 't' })))
    const limit = fc.record({
      maxHosts: fc.integer({ min: 0, max: 6 }),
      maxShare: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(some, some, limit, limit, limit, (candidates, openHosts, s, t, cloud) => {
        const segments = new Map([
          ['s', s],
          ['t', t],
        ])
        const fleet = new Map([
          ['s', 5],
          ['t', 5],
        ])
        const passed = brakeDecision(question({ candidates, openHosts, fleet, limits: { segments, cloud } })).filter(
          (one) => one.allowed,
        )
        const together = [...new Map([...openHosts, ...passed].map((one) => [one.host, one.segment])).values()]
        for (const segment of new Set(passed.map((one) => one.segment))) {
          const most = mostAtOnce(segment === 's' ? s : t, 5)
          expect(together.filter((one) => one === segment).length).toBeLessThanOrEqual(most)
        }
        if (passed.length > 0) expect(together.length).toBeLessThanOrEqual(mostAtOnce(cloud, 10))
      }),
    )
  })
})
