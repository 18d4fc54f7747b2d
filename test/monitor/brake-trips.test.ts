/** When a scope of the brake trips and when it opens again. */
import { describe, expect, it } from 'vitest'
import { Brake } from './brake-setup.ts'

describe('a tripped scope', () => {
  it('trips once, with its numbers, when something waits in it', () => {
    const brake = new Brake().down('s1', 's2', 's3')
    expect(brake.look().tripped).toMatchObject([{ scope: 'segment:s', hosts: ['s1', 's2', 's3'], trip: { since: 0 } }])
    brake.now = 5
    expect(brake.look()).toMatchObject({ tripped: [], released: [] })
    expect(brake.look().scopes.get('segment:s')?.trip).toMatchObject({ since: 0, changedAt: 0 })
  })

  it('does not trip for hosts that nothing would be done to, yet holds the next one', () => {
    const brake = new Brake().proven('s1', 's2', 's3')
    expect(brake.look().tripped).toEqual([])
    brake.down('s4')
    expect(brake.look().tripped).toHaveLength(1)
  })

  it('stays shut within its limits until the same hosts have been down for the settling time, to the millisecond', () => {
    const brake = new Brake({ steadyMs: 1_000 }).down('s1', 's2', 's3')
    brake.now = 500
    brake.look()
    brake.now = 10_000
    brake.back('s3')
    expect(brake.held('s1')).toEqual(['segment:s'])
    expect(brake.message('segment:s')).toBe(
      '2 of 10 hosts of segment s are down (limit 2); more were before, and hosts may still be coming back: the brake opens once nothing has changed for 1 s',
    )
    brake.now = 10_999
    expect(brake.held('s1')).toEqual(['segment:s'])
    brake.now = 11_000
    const { released } = brake.look()
    expect(released).toMatchObject([{ scope: 'segment:s', trippedForMs: 10_500, trip: null }])
    expect(released[0]?.message).toBe(
      '2 of 10 hosts of segment s are down (limit 2): within the limit, and nothing has changed for 1 s',
    )
    expect(brake.held('s1')).toEqual([])
  })

  it('begins to count the steady time again when another host comes back, or fails', () => {
    const brake = new Brake({ steadyMs: 1_000 }).down('s1', 's2', 's3')
    brake.look()
    brake.now = 10_000
    brake.back('s3')
    brake.look()
    brake.now = 10_900
    brake.back('s2')
    brake.look()
    brake.now = 11_800
    brake.down('s4')
    brake.look()
    brake.now = 12_799
    expect(brake.held('s1')).toEqual(['segment:s'])
    brake.now = 12_800
    expect(brake.held('s1')).toEqual([])
  })

  it('begins to count the steady time again when one more is down, also one that waits for nothing', () => {
    const brake = new Brake({ steadyMs: 1_000 }).down('s1', 's2', 's3')
    brake.look()
    brake.now = 10_000
    brake.back('s3')
    brake.back('s2')
    brake.look()
    brake.now = 10_900
    brake.proven('s2')
    brake.look()
    brake.now = 11_899
    expect(brake.held('s1')).toEqual(['segment:s'])
    brake.now = 11_900
    expect(brake.held('s1')).toEqual([])
  })

  it('names its hosts in order, whatever the order in which they fell', () => {
    const brake = new Brake().down('s3', 's1', 's2')
    expect(brake.look().tripped).toMatchObject([{ hosts: ['s1', 's2', 's3'] }])
  })

  it('begins to count the steady time again when one comes back as another fails', () => {
    const brake = new Brake({ steadyMs: 1_000 }).down('s1', 's2', 's3')
    brake.look()
    brake.back('s3')
    brake.now = 10_000
    brake.look()
    brake.now = 10_999
    brake.back('s2').down('s4')
    brake.look()
    brake.now = 11_998
    expect(brake.held('s1')).toEqual(['segment:s'])
  })

  it('over its limits stays shut for ever while anybody waits', () => {
    const brake = new Brake({ steadyMs: 1_000 }).down('s1', 's2', 's3')
    brake.look()
    brake.now = 1e9
    expect(brake.look().released).toEqual([])
  })

  it('with nobody to hold any more is over once it was steady', () => {
    const brake = new Brake({ steadyMs: 1_000 }).down('s1', 's2', 's3')
    brake.look()
    brake.facts.down = brake.facts.down.map((host) => ({ ...host, waits: false }))
    brake.now = 5_000
    expect(brake.look().released).toEqual([])
    brake.now = 5_999
    expect(brake.look().released).toEqual([])
    brake.now = 6_000
    const { released } = brake.look()
    expect(released[0]?.message).toBe(
      '3 of 10 hosts of segment s are down (limit 2): no recovery waits any more, and nothing has changed for 1 s',
    )
  })

  it('opens at once with a settling time of 0 when it is within its limits', () => {
    const brake = new Brake({ steadyMs: 0 }).down('s1', 's2', 's3')
    brake.look()
    expect(brake.back('s3').held('s1')).toEqual([])
  })

  it('is known by its journal alone after a restart, whatever its hosts are', () => {
    const brake = new Brake({ steadyMs: 1_000 })
    brake.trips = new Map([['segment:s', { since: -500, changedAt: 0, hosts: [], waiting: 0 }]])
    brake.down('s1')
    expect(brake.held('s1')).toEqual(['segment:s'])
    brake.now = 1_000
    expect(brake.held('s1')).toEqual([])
  })

  it('of a scope that is gone opens once it has settled', () => {
    const brake = new Brake({ steadyMs: 1_000 })
    brake.trips = new Map([['domain:r1', { since: 0, changedAt: 0, hosts: [], waiting: 0 }]])
    brake.now = 1_000
    expect(brake.look().released).toMatchObject([{ scope: 'domain:r1', hosts: [], fleet: 0, title: 'domain r1' }])
  })

  it('neither trips nor opens while the control plane is not believed; what is over holds all the same', () => {
    const brake = new Brake({ steadyMs: 1_000 }).down('s1', 's2', 's3')
    brake.facts.blind = true
    expect(brake.look().tripped).toEqual([])
    expect(brake.held('s1')).toEqual(['segment:s'])
    brake.facts.blind = false
    brake.look()
    brake.back('s3')
    brake.now = 500
    brake.look()
    brake.facts.blind = true
    brake.now = 5_000
    expect(brake.look().released).toEqual([])
    brake.facts.blind = false
    brake.now = 5_999
    expect(brake.held('s1')).toEqual(['segment:s'])
    brake.now = 6_000
    expect(brake.held('s1')).toEqual([])
  })
})

describe('room for silent hosts', () => {
  it('is as much as the limits leave beside those that are down, or none for any of them', () => {
    expect(new Brake().proven('s1').roomFor('s2')).toEqual(['s2'])
    expect(new Brake().proven('s1').down('s2').roomFor('s2', 's3')).toEqual([])
    // The other segment has room of its own.
    expect(new Brake().proven('s1').down('s2').roomFor('s2', 's3', 't1')).toEqual(['t1'])
  })

  it('is none in a scope that is tripped, and none while the control plane is not believed', () => {
    const brake = new Brake({ steadyMs: 1_000 })
    brake.trips = new Map([['segment:s', { since: 0, changedAt: 0, hosts: [], waiting: 1 }]])
    expect(brake.roomFor('s1', 't1')).toEqual(['t1'])
    brake.facts.blind = true
    expect(brake.roomFor('t1')).toEqual([])
  })
})
