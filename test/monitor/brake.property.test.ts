/** What is true of the brake over any fleet, any limits and any history. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countScopes, mostAtOnce, type BrakeFacts, type BrakeHost } from '../../src/monitor/brake.ts'
import { holding, readBrake } from '../../src/monitor/brake-trips.ts'
import { limits, rules } from './brake-setup.ts'

describe('for any fleet', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j')
  const place = (host: string) => ({
    host,
    segment: host < 'f' ? 's' : 't',
    domains: 'adg'.includes(host) ? ['r1'] : 'bej'.includes(host) ? ['r2'] : [],
  })
  const fleet = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map(place)
  const some = fc.uniqueArray(name, { maxLength: 8 })
  const limit = fc.record({
    maxHosts: fc.integer({ min: 0, max: 6 }),
    maxShare: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  const anyRules = fc
    .record({
      s: limit,
      t: limit,
      cloud: limit,
      rack: limit,
      siteLossShare: fc.double({ min: 0.1, max: 1, noNaN: true }),
    })
    .map(({ s, t, cloud, rack, siteLossShare }) =>
      rules({
        ...cloud,
        siteLossShare,
        failureDomain: { key: 'rack', ...rack },
        segments: new Map([
          ['s', s],
          ['t', t],
        ]),
      }),
    )
  const factsOf = (waiting: string[], proven: string[], cooling: string[] = []): BrakeFacts => ({
    blind: false,
    fleet,
    down: [...new Set([...proven, ...waiting])].map((host) => ({ ...place(host), waits: !proven.includes(host) })),
    recovered: cooling.map((host) => ({ ...place(host), beganAt: 0, alive: false })),
  })

  it('never more hosts of a scope are begun than it allows, counting those under recovery and in their cool-down', () => {
    fc.assert(
      fc.property(anyRules, some, some, some, (given, waiting, proven, cooling) => {
        const facts = factsOf(waiting, proven, cooling)
        const reading = readBrake(new Map(), facts, { ...given, coolDownMs: 10 }, 5)
        const begun = facts.down.filter((host) => host.waits && holding(host, reading).length === 0)
        const counted = new Map(
          [...begun, ...facts.down.filter(({ waits }) => !waits), ...facts.recovered].map((one) => [one.host, one]),
        )
        for (const { segment, domains } of begun) {
          const inScope = (fits: (host: BrakeHost) => boolean) => [...counted.values()].filter(fits).length
          const size = (fits: (host: BrakeHost) => boolean) => fleet.filter(fits).length
          const check = (fits: (host: BrakeHost) => boolean, most: { maxHosts: number; maxShare: number }) =>
            expect(inScope(fits)).toBeLessThanOrEqual(mostAtOnce(most, size(fits)))
          check(() => true, given)
          check((host) => host.segment === segment, given.segments.get(segment) ?? limits(0, 0))
          for (const domain of domains)
            check((host) => host.domains.includes(domain), given.failureDomain ?? limits(9, 1))
        }
      }),
    )
  })

  it('one more host down never lets anybody through who was held', () => {
    fc.assert(
      fc.property(anyRules, some, some, name, (given, waiting, proven, more) => {
        const before = factsOf(waiting, proven)
        const after = factsOf([...waiting, more], proven)
        const now = readBrake(new Map(), before, given, 5)
        const then = readBrake(new Map(), after, given, 5)
        for (const host of before.down)
          if (holding(host, now).length > 0) expect(holding(host, then).length).toBeGreaterThan(0)
      }),
    )
  })

  it('over any history a tripped scope opens only within its limits, or with nobody waiting, after a full settling time without a change', () => {
    const moment = fc.record({ waiting: some, proven: some, afterMs: fc.integer({ min: 0, max: 80 }) })
    fc.assert(
      fc.property(anyRules, fc.array(moment, { maxLength: 12 }), (given, moments) => {
        let trips = new Map() as Parameters<typeof readBrake>[0]
        let now = 0
        const lastChange = new Map<string, { hosts: string; at: number }>()
        for (const { waiting, proven, afterMs } of moments) {
          now += afterMs
          const reading = readBrake(trips, factsOf(waiting, proven), { ...given, steadyMs: 100 }, now)
          for (const [scope, { hosts: down }] of reading.scopes) {
            const known = lastChange.get(scope)
            if (known?.hosts !== down.join()) lastChange.set(scope, { hosts: down.join(), at: now })
          }
          for (const { scope, over, waiting: held } of reading.released) {
            expect(over && held > 0).toBe(false)
            expect(now - (lastChange.get(scope)?.at ?? now)).toBeGreaterThanOrEqual(100)
          }
          for (const scope of trips.keys())
            expect(reading.trips.has(scope) || reading.released.some((one) => one.scope === scope)).toBe(true)
          trips = reading.trips
        }
      }),
    )
  })

  it('a scope counts each host once, and those it has in the order of their names', () => {
    fc.assert(
      fc.property(anyRules, some, some, some, (given, waiting, proven, cooling) => {
        for (const { hosts: down } of countScopes(factsOf(waiting, proven, cooling), given, new Map(), 0).values())
          expect(down).toEqual([...new Set(down)].sort())
      }),
    )
  })
})
