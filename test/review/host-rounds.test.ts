/** One thing of each host, read again and again at a pace that a large cloud bears. */
import { expect, it } from 'vitest'
import { sleep } from '../../src/domain/clock.ts'
import { HostRounds } from '../../src/review/host-rounds.ts'
import { VirtualClock } from '../../src/simulator/index.ts'

const secondMs = 1_000
function rounds({ hosts = ['c1', 'c2', 'c3'], tookMs = 100, barred = new Set<string>(), atOnce = 1 } = {}) {
  const clock = new VirtualClock(0)
  const asked: string[] = []
  let underWay = 0
  let most = 0
  let works = true
  const own = new HostRounds<number>({
    clock,
    hosts: () => hosts,
    mayRead: (host) => !barred.has(host),
    read: async (host, signal) => {
      asked.push(host)
      most = Math.max(most, ++underWay)
      await sleep(clock, tookMs, signal)
      underWay -= 1
      if (!works) throw new Error('Nova is away')
      return asked.length
    },
    pace: { everyMs: 60_000, retryMs: 10_000, atOnce, pauseMs: () => secondMs },
  })
  void own.run(new AbortController().signal)
  return { clock, own, asked, barred, hosts, most: () => most, fail: (now: boolean) => (works = !now) }
}

it('each host is read once before any is read again, the one that waited for longest first', async () => {
  const { clock, asked } = rounds()
  await clock.advance(64 * secondMs)
  expect(asked).toEqual(['c1', 'c2', 'c3', 'c1', 'c2', 'c3'].slice(0, asked.length))
  expect(asked.length).toBeGreaterThan(3)
})

it('five thousand hosts are no storm: so many at once, and pauses between', async () => {
  const hosts = Array.from({ length: 5_000 }, (_, index) => `c${index}`)
  const { clock, asked, most } = rounds({ hosts, atOnce: 4 })
  await clock.advance(100 * secondMs)
  expect(most()).toBe(4)
  expect(asked.length).toBeLessThanOrEqual(4 * 100)
  expect(new Set(asked).size).toBe(asked.length)
})

it('a host that must be left alone is passed over until it may be read', async () => {
  const barred = new Set(['c1'])
  const { clock, asked } = rounds({ barred })
  await clock.advance(10 * secondMs)
  expect(asked).toEqual(['c2', 'c3'])
  barred.clear()
  await clock.advance(2 * secondMs)
  expect(asked).toEqual(['c2', 'c3', 'c1'])
})

it('what is cut off is not taken in, and is read again', async () => {
  const { clock, own, asked, barred } = rounds({ hosts: ['c1'], tookMs: 5_000 })
  await clock.advance(secondMs)
  barred.add('c1')
  own.cutOff('c1')
  await clock.advance(30 * secondMs)
  expect(own.of('c1')).toEqual({ value: null, failure: null })
  barred.clear()
  await clock.advance(30 * secondMs)
  expect(asked).toEqual(['c1', 'c1'])
  expect(own.of('c1').value).toBe(2)
})

it('a reading that failed leaves the one before, says why, and is tried again soon', async () => {
  const { clock, own, asked, fail } = rounds({ hosts: ['c1'] })
  await clock.advance(secondMs)
  fail(true)
  await clock.advance(65 * secondMs)
  expect(own.of('c1')).toMatchObject({ value: 1, failure: { message: 'Nova is away' } })
  fail(false)
  await clock.advance(12 * secondMs)
  expect(own.of('c1')).toMatchObject({ value: asked.length, failure: null })
})

it('a host that is listed no longer is forgotten', async () => {
  const { clock, own, hosts } = rounds()
  await clock.advance(10 * secondMs)
  hosts.shift()
  await clock.advance(2 * secondMs)
  expect(own.of('c1').value).toBeNull()
  expect(own.of('c2').value).not.toBeNull()
})
