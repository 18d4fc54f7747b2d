/** Until when the active daemon may send: counted from when each renewal was sent, by a clock that nobody sets. */
import { beforeEach, describe, expect, it } from 'vitest'
import { Lease } from '../../../src/journal/shared/lease.ts'
import { StoreTrouble } from '../../../src/journal/shared/store.ts'
import { VirtualClock } from '../../../src/simulator/virtual-clock.ts'

const leaseMs = 6_000
let clock: VirtualClock
let heard: string[]
let renewals: number
let answer: () => Promise<boolean>
let sentAt: number[]
let ending: AbortController
beforeEach(() => {
  clock = new VirtualClock()
  heard = []
  renewals = 0
  sentAt = []
  answer = () => Promise.resolve(true)
  ending = new AbortController()
})

function lease(takenAt = clock.now()): Lease {
  const tell = (what: string) => (): void => void heard.push(`${what} at ${clock.now()}`)
  return new Lease({
    ...{ clock, leaseMs, takenAt, epoch: 3, holder: 'ctl1', signal: ending.signal },
    store: {
      renew: (epoch, holder) => {
        expect([epoch, holder]).toEqual([3, 'ctl1'])
        sentAt.push(clock.now())
        return answer()
      },
    },
    lapsed: (problem) => heard.push(`lapsed at ${clock.now()}${problem === '' ? '' : `: ${problem}`}`),
    ...{ resumed: tell('resumed'), lost: tell('lost'), renewed: () => renewals++ },
  })
}

/** An answer that takes so long. */
function after<T>(ms: number, value: T): Promise<T> {
  return new Promise((resolve) => clock.after(ms, () => resolve(value)))
}

function troubled(): Promise<boolean> {
  return Promise.reject(new StoreTrouble('again', 'away', { maybeDone: true }))
}

describe('a lease', () => {
  it('begins when the statement that took the tenure was sent, not when it was answered', async () => {
    await clock.advance(2_000)
    const taken = lease(500)
    expect([taken.held(), taken.leftMs()]).toEqual([true, leaseMs - 1_500])
  })

  it('is over at its very end, and says so once', async () => {
    const taken = lease()
    await clock.advance(leaseMs - 1)
    expect([taken.held(), taken.leftMs(), heard]).toEqual([true, 1, []])
    await clock.advance(1)
    expect([taken.held(), taken.leftMs(), heard]).toEqual([false, 0, [`lapsed at ${leaseMs}`]])
    await clock.advance(leaseMs)
    expect([taken.leftMs(), heard]).toEqual([0, [`lapsed at ${leaseMs}`]])
  })

  it('says so too where a timer drops the fraction of a millisecond, and fires before the very end', async () => {
    const { after: exactly } = clock
    clock.after = (ms, fire) => exactly.call(clock, Math.max(1, Math.trunc(ms)), fire)
    const taken = lease(0.4)
    await clock.advance(leaseMs)
    expect([taken.held(), heard]).toEqual([true, []])
    await clock.advance(1)
    expect([taken.held(), heard]).toEqual([false, [`lapsed at ${leaseMs + 1}`]])
  })

  it('counts from when a renewal was sent, however late its answer is', async () => {
    const taken = lease()
    await clock.advance(1_000)
    answer = () => after(2_000, true)
    expect(await clock.run(taken.renew())).toBe(true)
    expect(taken.leftMs()).toBe(leaseMs - 2_000)
    await clock.advance(leaseMs - 2_000)
    expect(heard).toEqual([`lapsed at ${1_000 + leaseMs}`])
  })

  it('tells of each renewal that came through, and of no other', async () => {
    const taken = lease()
    await clock.run(taken.renew())
    answer = troubled
    await clock.run(taken.renew())
    answer = () => Promise.resolve(false)
    await clock.run(taken.renew())
    expect(renewals).toBe(1)
  })

  it('is fresh for a second after its last renewal', async () => {
    const taken = lease()
    await clock.advance(999)
    expect(taken.isFresh()).toBe(true)
    await clock.advance(1)
    expect(taken.isFresh()).toBe(false)
    await clock.run(taken.renew())
    expect(taken.isFresh()).toBe(true)
  })

  it('is fresh after a renewal whose answer took more than a second, and after an entry that the store took', async () => {
    const taken = lease()
    answer = () => after(1_200, true)
    await clock.run(taken.renew())
    expect(taken.isFresh()).toBe(true)
    await clock.advance(1_000)
    expect(taken.isFresh()).toBe(false)
    taken.confirmed()
    expect([taken.isFresh(), taken.leftMs()]).toEqual([true, leaseMs - 2_200])
  })

  it('is not fresh once it has ended, however young its renewal is', () => {
    const taken = lease()
    taken.end()
    expect([taken.isFresh(), taken.held(), taken.leftMs()]).toEqual([false, false, 0])
  })

  it('is renewed each second, and asked for five times as often while that fails', async () => {
    const taken = lease(-5)
    void taken.keep()
    await clock.advance(2_500)
    expect(sentAt).toEqual([0, 1_000, 2_000])
    answer = troubled
    await clock.advance(1_100)
    expect(sentAt.slice(3)).toEqual([3_000, 3_200, 3_400, 3_600])
    expect(heard).toEqual([])
  })

  it('is not asked for any more once the process stops', async () => {
    const taken = lease(-5)
    void taken.keep()
    await clock.advance(500)
    ending.abort()
    await clock.advance(5_000)
    expect(sentAt).toEqual([0])
  })

  it('is asked for in one statement by all who ask meanwhile', async () => {
    const taken = lease()
    await clock.advance(10)
    answer = () => after(300, true)
    expect(await clock.run(Promise.all([taken.renew(), taken.renew()]))).toEqual([true, true])
    expect(sentAt).toEqual([10])
    await clock.run(taken.renew())
    expect(sentAt).toEqual([10, 310])
  })

  it('is as it was after a renewal that failed', async () => {
    const taken = lease()
    await clock.advance(1_000)
    answer = troubled
    expect(await taken.renew()).toBe(false)
    expect([taken.leftMs(), heard]).toEqual([leaseMs - 1_000, []])
  })

  it('passes on what is no trouble of the store', async () => {
    const taken = lease()
    answer = () => Promise.reject(new TypeError('a mistake'))
    await expect(taken.renew()).rejects.toThrow('a mistake')
  })

  it('goes on after it was over, once a renewal succeeds, and can be over again', async () => {
    const taken = lease()
    await clock.advance(leaseMs + 1_000)
    expect(await taken.renew()).toBe(true)
    expect([taken.held(), heard]).toEqual([true, [`lapsed at ${leaseMs}`, `resumed at ${leaseMs + 1_000}`]])
    await taken.renew()
    expect(heard).toHaveLength(2)
    await clock.advance(leaseMs)
    expect(heard.slice(2)).toEqual([`lapsed at ${2 * leaseMs + 1_000}`])
  })

  it('does not go on with a renewal whose answer came after the lease that it gave', async () => {
    const taken = lease()
    answer = () => after(leaseMs + 500, true)
    await clock.run(taken.renew())
    await clock.advance(leaseMs)
    expect([taken.held(), heard]).toEqual([false, [`lapsed at ${leaseMs}`]])
  })

  it('ends when the row is of another daemon, and is neither renewed nor lapses after that', async () => {
    const taken = lease()
    answer = () => Promise.resolve(false)
    void taken.keep()
    await clock.advance(3 * leaseMs)
    expect([taken.held(), taken.leftMs(), sentAt, heard]).toEqual([false, 0, [0], ['lost at 0']])
  })

  it.each([true, false])('that has ended stays so, whatever a late answer says (%s)', async (ours) => {
    const taken = lease()
    answer = () => after(1_000, ours)
    const renewal = taken.renew()
    taken.end()
    await clock.run(renewal)
    await clock.advance(2 * leaseMs)
    expect([taken.held(), heard]).toEqual([false, []])
  })
})
