/** What daemons that share a journal do not have in common, or should not have: leases, clocks, directories that were copied; and a copy that cannot be written. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LifeboatError } from '../../../src/domain/errors.ts'
import { away, leaseMs, Site } from './controllers.ts'

let site: Site
beforeEach(() => {
  site = new Site()
})
afterEach(() => {
  expect(site.broken()).toEqual([])
  site.close()
})

describe('daemons with different leases', () => {
  it('wait for the lease of the one that is active, where their own is shorter', async () => {
    const one = site.start('ctl1', { leaseMs: 30_000 })
    await site.untilActive(one)
    const two = site.start('ctl2', { leaseMs: 3_000 })
    await site.clock.advance(5_000)
    site.kill(one)
    expect(await site.untilActive(two)).toBeGreaterThan(29_000)
  })

  it('wait for their own, where it is longer', async () => {
    const one = site.start('ctl1', { leaseMs: 3_000 })
    await site.untilActive(one)
    const two = site.start('ctl2')
    await site.clock.advance(5_000)
    site.kill(one)
    expect(await site.untilActive(two)).toBeGreaterThan(leaseMs - 1_000)
  })
})

describe("a daemon's directory that was copied to another machine", () => {
  it('makes no second active daemon while the first one renews', async () => {
    const [one] = await site.twoDaemons()
    const copied = site.startFromCopy('ctl1')
    await site.clock.advance(20_000)
    expect([one.tenure.state, copied.tenure.state]).toEqual(['active', 'standby'])
  })

  it('lets the copy take over once the first one has been silent for a lease, like any standby', async () => {
    const one = site.start('ctl1')
    await site.untilActive(one)
    const copied = site.startFromCopy('ctl1')
    await site.clock.advance(5_000)
    site.kill(one)
    expect(await site.untilActive(copied)).toBeGreaterThan(leaseMs - 1_000)
  })

  it('takes nothing from the first one that stands still for less than its lease, at its first start or a later one', async () => {
    const one = site.start('ctl1')
    await site.untilActive(one)
    site.keepActing(one)
    const directory = site.copyOf('ctl1')
    for (let starts = 0; starts < 3; starts++) {
      one.life.stall(4_500)
      const copied = site.start('ctl1', { directory })
      await site.clock.advance(10_000)
      expect([one.tenure.state, copied.tenure.state]).toEqual(['active', 'standby'])
      site.kill(copied)
    }
  })

  it('takes no take-over of the first one for its own whose answer was lost', async () => {
    const before = site.start('ctl1')
    await site.untilActive(before)
    site.kill(before)
    const directory = site.copyOf('ctl1')
    const both = [site.start('ctl1'), site.start('ctl1', { directory })]
    for (const each of both) site.keepActing(each)
    await site.clock.advance(leaseMs + 5_000)
    expect(both.map(({ tenure }) => tenure.state).toSorted()).toEqual(['active', 'standby'])
    expect(site.tenures()).toHaveLength(2)
  })
})

describe('a daemon that is stopped in the middle of a take-over', () => {
  it('frees the row before its first entry, so that nobody waits for a lease', async () => {
    const stopping = new AbortController()
    const two = site.start('ctl2', { stops: stopping.signal })
    two.client.insert = () => Promise.reject(away())
    await site.clock.until(() => two.tenure.state === 'taking')
    stopping.abort()
    await site.clock.run(two.release('SIGTERM'))
    expect([two.tenure.state, site.cluster.tenure.holder]).toEqual(['ended', ''])
  })

  it('frees it too when it has not heard that the row is its own', async () => {
    const stopping = new AbortController()
    const two = site.start('ctl2', { stops: stopping.signal })
    const { take } = two.client
    two.client.take = async (seen, next) => {
      await take(seen, next)
      throw away()
    }
    await site.clock.until(() => site.cluster.tenure.holder !== '')
    stopping.abort()
    await site.clock.run(two.release('SIGTERM'))
    expect([two.tenure.state, site.cluster.tenure.holder]).toEqual(['ended', ''])
  })
})

describe('clocks far apart', () => {
  it.each([7_200_000, -7_200_000])('change nothing in when a blind daemon hands over: %i ms', async (clockIsOffMs) => {
    const one = site.start('ctl1', { clockIsOffMs })
    await site.untilActive(one)
    const two = site.start('ctl2')
    await site.clock.advance(60_000)
    one.novaAnswers(false)
    await site.untilActive(two)
    site.start('ctl3')
    await site.clock.advance(60_000)
    two.novaAnswers(false)
    await site.clock.advance(400_000)
    expect(two.tenure.state).toBe('active')
    await site.clock.advance(200_000)
    expect(two.tenure.state).toBe('ended')
  })

  it('let a daemon that was started a moment ago hand over ten minutes later at the soonest', async () => {
    const [one, two] = await site.twoDaemons()
    await site.clock.run(one.release('an upgrade'))
    await site.untilActive(two)
    site.kill(two)
    const again = site.start('ctl2')
    await site.untilActive(again)
    site.start('ctl3')
    again.novaAnswers(false)
    await site.clock.advance(590_000)
    expect(again.tenure.state).toBe('active')
    await site.clock.advance(20_000)
    expect(again.tenure.state).toBe('ended')
  })
})

describe('a copy that cannot be written', () => {
  it('keeps no daemon from taking over: its first entry is read from memory, and copied once there is room', async () => {
    const [one, two] = await site.twoDaemons()
    const { takeIn } = two.copy
    two.copy.takeIn = () => {
      throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
    }
    const told: string[] = []
    two.journal.onAppend(({ kind }) => told.push(`${kind} appended`))
    two.journal.onDurable(({ kind }) => told.push(`${kind} durable`))
    site.kill(one)
    await site.untilActive(two)
    const began = { kind: 'tenure.began', seq: 2 }
    expect(two.journal.read({ newestFirst: true, limit: 1 })).toMatchObject([began])
    expect([told, two.copy.head().seq]).toEqual([['tenure.began appended', 'tenure.began durable'], 1])
    two.copy.takeIn = takeIn
    await site.clock.run(two.act())
    expect(two.copy.read({ after: 1 }).map(({ kind }) => kind)).toEqual(['tenure.began', 'alarm.raised'])
  })

  it('is written once there is room although nothing happens, also where as much waits for it as may', async () => {
    const one = site.start('ctl1')
    await site.untilActive(one)
    const { takeIn } = one.copy
    one.copy.takeIn = () => {
      throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
    }
    const thawed = { kind: 'monitor.thawed', data: { reason: 'FILLER', frozenForMs: 1 } } as const
    one.journal.append(Array.from({ length: 20_001 }, () => thawed))
    await site.clock.advance(5_000)
    expect(() => one.journal.append([thawed])).toThrow('20001 entries wait for it or for the disk of its copy')
    one.copy.takeIn = takeIn
    await site.clock.advance(1_000)
    one.journal.append([])
    expect(one.copy.head().seq).toBe(20_002)
    one.journal.append([thawed])
  })

  it('keeps no daemon from freeing its tenure as it stops', async () => {
    const [one, two] = await site.twoDaemons()
    one.copy.takeIn = () => {
      throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
    }
    const thawed = { kind: 'monitor.thawed', data: { reason: 'FILLER', frozenForMs: 1 } } as const
    one.journal.append(Array.from({ length: 20_001 }, () => thawed))
    await site.clock.advance(5_000)
    await expect(site.clock.run(one.release('stopped'))).rejects.toThrow('wait for it')
    expect(await site.untilActive(two)).toBeLessThan(3_000)
  })
})
