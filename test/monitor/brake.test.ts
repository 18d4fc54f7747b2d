/** What counts in which scope of the brake, and what a scope over its limits holds. */
import { describe, expect, it } from 'vitest'
import { countScopes, mostAtOnce, type BrakeFacts } from '../../src/monitor/brake.ts'
import { holding } from '../../src/monitor/brake-trips.ts'
import { Brake, hosts, limits, rules } from './brake-setup.ts'

describe('the numbers', () => {
  it.each([
    [3, 0.2, 10, 2],
    [3, 0.2, 9, 1],
    [3, 0.2, 3, 1],
    [3, 0, 100, 1],
    [3, 0.5, 100, 3],
    [100, 0.29, 100, 29],
    [0, 1, 10, 0],
    [3, 1, 0, 1],
  ])('at most %i hosts, share %f, of %i: %i', (maxHosts, maxShare, fleet, most) => {
    expect(mostAtOnce({ maxHosts, maxShare }, fleet)).toBe(most)
  })
})

describe('limits', () => {
  it('let through what is exactly at the limit', () => {
    const brake = new Brake().down('s1', 's2')
    expect([brake.held('s1'), brake.held('s2')]).toEqual([[], []])
  })

  it('hold all of them, not the rest, when one more failed', () => {
    const brake = new Brake().down('s1', 's2', 's3')
    for (const host of ['s1', 's2', 's3']) expect(brake.held(host)).toEqual(['segment:s'])
  })

  it('count hosts under recovery', () => {
    expect(new Brake().proven('s1').down('s2').held('s2')).toEqual([])
    expect(new Brake().proven('s1', 's2').down('s3').held('s3')).toEqual(['segment:s'])
  })

  it('count a host once, whatever is known of it', () => {
    const brake = new Brake().down('s1', 's2', 's1')
    brake.recovered('s1', 0)
    expect(brake.look().scopes.get('segment:s')).toMatchObject({ hosts: ['s1', 's2'], cooling: 0, waiting: 2 })
  })

  it('hold one segment and let another go on', () => {
    const brake = new Brake().down('s1', 's2', 's3', 't1')
    expect(brake.held('s1')).toEqual(['segment:s'])
    expect(brake.held('t1')).toEqual([])
  })

  it('hold every segment when the cloud is over its own', () => {
    const brake = new Brake({ maxHosts: 2 }).down('s1', 't1', 't2')
    expect(brake.held('s1')).toEqual(['cloud'])
    expect(brake.held('t1')).toEqual(['cloud'])
  })

  it('hold a segment that has none: nobody said that it may be recovered', () => {
    const brake = new Brake({ segments: new Map() }).down('s1')
    expect(brake.held('s1')).toEqual(['segment:s'])
    expect(brake.look().scopes.get('segment:s')).toMatchObject({ allowed: 0, fleet: 10 })
  })

  it('count one host as allowed in a segment of which Nova lists nobody any more', () => {
    const brake = new Brake({ segments: new Map([['gone', limits(1, 1)]]) })
    brake.facts.down = hosts('gone', 'g1', 'g2').map((host) => ({ ...host, waits: true }))
    expect(brake.held('g1')).toEqual(['segment:gone'])
    expect(brake.look().scopes.get('segment:gone')).toMatchObject({ fleet: 0, allowed: 1, over: true })
  })
})

describe('failure domains', () => {
  const racks = { failureDomain: { key: 'rack', ...limits(2, 0.5) } }

  it('hold the hosts of one rack when more of it are down than may be, though segment and cloud have room', () => {
    const brake = new Brake({ ...racks, segments: roomy() }).rack('r1', 's1', 's2', 's3', 's4', 's5', 's6')
    expect(brake.down('s1', 's2').held('s1')).toEqual([])
    brake.down('s3')
    expect(brake.held('s1')).toEqual(['domain:r1'])
    expect(brake.message('domain:r1')).toBe(
      '3 of 6 hosts of rack r1 are down (limit 2): that looks like a failure of rack r1 itself, its power or its switch',
    )
  })

  it('cross segments: a rack with hosts of two is one rack', () => {
    const brake = new Brake({ ...racks, segments: roomy() }).rack('r1', 's1', 's2', 't1', 't2', 't3')
    brake.down('s1', 't1', 't2')
    for (const host of ['s1', 't1', 't2']) expect(brake.held(host)).toEqual(['domain:r1'])
  })

  it('let a dead host of another rack go on', () => {
    const brake = new Brake({ ...racks, segments: roomy() }).rack('r1', 's1', 's2', 's3', 's4').rack('r2', 's5', 's6')
    expect(brake.down('s1', 's2', 's3', 's5').held('s5')).toEqual([])
  })

  it('count a host that aggregates put into two racks in both', () => {
    const brake = new Brake({ ...racks, segments: roomy() }).rack('r1', 's1', 's2').rack('r2', 's1', 's3')
    expect(brake.down('s1', 's2').held('s1')).toEqual(['domain:r1'])
    expect(brake.held('s3')).toEqual([])
    expect(brake.down('s3').held('s1')).toEqual(['domain:r1', 'domain:r2'])
  })

  it('are said where a segment or the cloud is over its limit and all of its dead hosts are in one', () => {
    const brake = new Brake({ failureDomain: { key: 'rack', ...limits(9, 1) } }).rack('r1', 's1', 's2', 's3')
    brake.down('s1', 's2', 's3')
    expect(brake.message('segment:s')).toBe(
      '3 of 10 hosts of segment s are down (limit 2): all of them in rack r1, which looks like a failure of its power or its switch',
    )
    expect(brake.down('s4').message('segment:s')).toBe('4 of 10 hosts of segment s are down (limit 2)')
  })

  it('are no matter of one dead host: nothing is shared', () => {
    const brake = new Brake({ failureDomain: { key: 'rack', ...limits(9, 1) } }).rack('r1', 's1', 's2')
    expect(brake.down('s1').look().scopes.get('segment:s')).toMatchObject({ sharedDomain: null })
    expect(brake.down('s2').look().scopes.get('segment:s')).toMatchObject({ sharedDomain: 'r1' })
  })

  it('are told apart from segments and the cloud, which is there with no host at all', () => {
    const none: BrakeFacts = { blind: false, fleet: [], down: [], recovered: [] }
    const kinds = (facts: BrakeFacts): [string, string][] =>
      [...countScopes(facts, rules(), new Map(), 0)].map(([scope, { kind }]) => [scope, kind])
    expect(kinds(none)).toEqual([['cloud', 'cloud']])
    const [host] = hosts('s', 's1')
    expect(kinds({ ...none, fleet: [{ ...host!, domains: ['r1'] }] })).toEqual([
      ['cloud', 'cloud'],
      ['segment:s', 'segment'],
      ['domain:r1', 'domain'],
    ])
  })

  it('hold nobody where nothing was counted', () => {
    expect(holding(hosts('elsewhere', 'x')[0]!, new Brake().look()).map(({ scope }) => scope)).toEqual([])
  })

  it('name every scope that is over, the cloud first', () => {
    const brake = new Brake({ ...racks, maxHosts: 2 }).rack('r1', 's1', 's2', 's3')
    expect(brake.down('s1', 's2', 's3').held('s1')).toEqual(['cloud', 'segment:s', 'domain:r1'])
  })
})

describe('the loss of a site', () => {
  const loose = { maxHosts: 100, maxShare: 1, siteLossShare: 0.5, segments: new Map([['s', limits(100, 1)]]) }

  it.each([
    [10, 5, false, 5],
    [10, 6, true, 5],
    [4, 2, false, 2],
    [4, 3, true, 2],
    [3, 2, true, 1],
    [2, 1, false, 1],
    [2, 2, true, 1],
    [1, 1, false, 1],
  ])('of %i hosts %i down: %s, whatever the limits allow', (fleet, down, lost, allowed) => {
    const names = Array.from({ length: fleet }, (_, n) => `s${n + 1}`)
    const brake = new Brake(loose, hosts('s', ...names)).down(...names.slice(0, down))
    expect(brake.look().scopes.get('cloud')).toMatchObject({ siteLost: lost, over: lost, allowed })
    expect(brake.held('s1')).toEqual(lost ? ['cloud'] : [])
  })

  it('is switched off with a share of 1', () => {
    const all = ['s1', 's2', 's3', 's4']
    expect(new Brake({ ...loose, siteLossShare: 1 }, hosts('s', ...all)).down(...all).held('s1')).toEqual([])
  })

  it('is said', () => {
    const brake = new Brake(loose, hosts('s', 's1', 's2', 's3')).down('s1', 's2')
    expect(brake.message('cloud')).toBe(
      '2 of 3 hosts of the cloud are down (limit 1): that looks like the loss of the power or the network of the whole site',
    )
  })

  it('is no matter of a segment', () => {
    expect(new Brake({ ...loose, maxHosts: 1 }).down('s1', 's2', 's3', 's4', 's5', 's6').held('s1')).toEqual(['cloud'])
  })
})

describe('the cool-down', () => {
  it('counts a host until exactly its time has passed since its recovery began', () => {
    const brake = new Brake({ coolDownMs: 1_000 }).recovered('s1', 5_000).recovered('s2', 5_000).down('s3')
    brake.now = 5_999
    expect(brake.held('s3')).toEqual(['segment:s'])
    expect(brake.message('segment:s')).toBe(
      '3 of 10 hosts of segment s are down (limit 2; 2 of them recovered, but still counted)',
    )
    const later = new Brake({ coolDownMs: 1_000 }).recovered('s1', 5_000).recovered('s2', 5_000).down('s3')
    later.now = 6_000
    expect(later.held('s3')).toEqual([])
  })

  it('counts also a host that beats again', () => {
    const brake = new Brake({ coolDownMs: 1_000 }).recovered('s1', 0, true).recovered('s2', 0, true).down('s3')
    expect(brake.held('s3')).toEqual(['segment:s'])
  })

  it('of 0 counts nobody', () => {
    const brake = new Brake({ coolDownMs: 0 }).recovered('s1', 0).recovered('s2', 0).down('s3')
    expect(brake.held('s3')).toEqual([])
  })

  it('is said, and one host alone is said in the singular', () => {
    const brake = new Brake({ coolDownMs: 1_000 }).recovered('s1', 0)
    expect(brake.message('segment:s')).toBe(
      '1 of 10 hosts of segment s is down (limit 2; 1 of them recovered, but still counted)',
    )
  })

  it('does not end by time alone in a scope that is tripped', () => {
    const brake = new Brake({ coolDownMs: 1_000, steadyMs: 100 }).recovered('s1', 0).recovered('s2', 0).down('s3')
    brake.now = 999
    expect(brake.look().tripped).toHaveLength(1)
    brake.now = 1_000_000
    expect(brake.look().released).toEqual([])
    expect(brake.held('s3')).toEqual(['segment:s'])
  })

  it('ends in a tripped scope for a host that beats again, which then opens once it has settled', () => {
    const brake = new Brake({ coolDownMs: 1_000, steadyMs: 100 }).recovered('s1', 0).recovered('s2', 0).down('s3')
    brake.look()
    brake.now = 2_000
    brake.recovered('s1', 0, true)
    expect(brake.held('s3')).toEqual(['segment:s'])
    brake.now = 2_100
    expect(brake.held('s3')).toEqual([])
  })

  it('keeps a host that was let through after the trip counted, so that it makes no room for another', () => {
    for (const coolDownMs of [0, 50]) {
      const brake = new Brake({ coolDownMs, steadyMs: 100 }).down('s1', 's2', 's3')
      brake.look()
      brake.facts.down = brake.facts.down.filter(({ host }) => host !== 's1')
      brake.recovered('s1', 0)
      brake.now = 1_000_000
      brake.look()
      brake.now += 100
      expect(brake.held('s2')).toEqual(['segment:s'])
    }
  })

  it('does not call back a host whose cool-down was over when the scope tripped', () => {
    const brake = new Brake({ coolDownMs: 1_000, steadyMs: 100 }).recovered('s9', -1_000).down('s1', 's2', 's3')
    expect(brake.look().scopes.get('segment:s')?.hosts).toEqual(['s1', 's2', 's3'])
    brake.now = 10
    expect(brake.look().scopes.get('segment:s')?.hosts).toEqual(['s1', 's2', 's3'])
  })

  it('keeps the one whose cool-down ended right after the trip', () => {
    const brake = new Brake({ coolDownMs: 1_000 }).recovered('s9', -999).down('s1', 's2', 's3')
    brake.look()
    brake.now = 10
    expect(brake.look().scopes.get('segment:s')?.hosts).toEqual(['s1', 's2', 's3', 's9'])
  })
})

function roomy(): Map<string, { maxHosts: number; maxShare: number }> {
  return new Map([
    ['s', limits(9, 1)],
    ['t', limits(9, 1)],
  ])
}
