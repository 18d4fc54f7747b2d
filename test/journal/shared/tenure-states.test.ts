/** What an active daemon says of its part in the shared journal, and what it lets out: in memory and under a virtual clock. */
import { describe, expect, it } from 'vitest'
import { sleep } from '../../../src/domain/clock.ts'
import { alarm, away, leaseMs, statesOf, troublesOf, type Site } from './controllers.ts'
import { eachOnASite, rowsAfter } from './tenure-site.ts'

let site: Site
eachOnASite((own) => (site = own))

describe('a daemon that has not looked yet', () => {
  it('follows, knows of no active one, and says nothing of why it waits', () => {
    expect(site.start('ctl1').tenure.view()).toEqual({
      ...{ state: 'following', name: 'ctl1', epoch: 0, active: null, waits: null, leaseLeftMs: null },
      ...{ staged: 0, behind: 0, daemons: [], namesake: null },
    })
  })

  it('neither appends nor lets anything out, and is not over', async () => {
    const { tenure } = site.start('ctl1')
    expect([tenure.mayAppend, tenure.held(), tenure.staged, tenure.why, tenure.ended.aborted]).toEqual([
      ...[false, false, 0, '', false],
    ])
    await expect(tenure.permit()).rejects.toMatchObject({ code: 'NOT_ACTIVE', details: { active: null } })
    await tenure.recorded()
  })
})

describe('an active daemon', () => {
  it('says its epoch, what is left of its lease, and who shares the journal with it', async () => {
    const [one] = await site.twoDaemons()
    const view = one.tenure.view()
    expect(view).toMatchObject({
      ...{ state: 'active', name: 'ctl1', epoch: 1, active: { name: 'ctl1', address: 'https://ctl1' }, waits: null },
      ...{
        staged: 0,
        behind: 0,
        daemons: [
          { name: 'ctl1', present: true },
          { name: 'ctl2', present: true },
        ],
      },
    })
    expect(view.leaseLeftMs).toBeGreaterThan(leaseMs - 1_100)
    expect(view.leaseLeftMs).toBeLessThanOrEqual(leaseMs)
    expect(one.tenure.why).toBe('')
  })

  it('shows of each daemon how far its copy came', async () => {
    const [one] = await site.twoDaemons()
    for (let n = 0; n < 3; n++) await site.clock.run(one.act())
    await site.clock.advance(5_000)
    expect(one.tenure.view().daemons.map(({ copiedSeq }) => copiedSeq)).toEqual([4, 4])
  })

  it('may not send once its lease is over, also before the timer that says so', async () => {
    const [one] = await site.twoDaemons()
    one.life.stall(20_000)
    await site.clock.advance(leaseMs + 100)
    expect([one.tenure.state, one.tenure.held()]).toEqual(['active', false])
  })

  it('ends at its next entry when that of another stands in its place, though the row is still its own', async () => {
    const [one, two] = await site.twoDaemons()
    site.cluster.entries.push(...rowsAfter(two.copy.head(), alarm))
    one.journal.append([alarm])
    await site.clock.advance(500)
    expect([one.tenure.state, one.tenure.why]).toEqual(['ended', 'another daemon wrote entry 2'])
  })

  it('tells once of a store that takes none of its entries, and once that it takes them again', async () => {
    const [one] = await site.twoDaemons()
    const { insert } = one.client
    one.client.insert = () => Promise.reject(away())
    one.journal.append([alarm])
    await site.clock.advance(3_000)
    one.client.insert = insert
    await site.clock.advance(2_000)
    expect(troublesOf(one)).toEqual(['JOURNAL_UNAVAILABLE', null])
  })

  it('says as its lease runs out what keeps it from being renewed', async () => {
    const [one] = await site.twoDaemons()
    one.client.renew = () => Promise.reject(away())
    await site.clock.until(() => one.tenure.state === 'suspended')
    expect(one.events.at(-1)).toMatchObject({ why: 'its last renewal is older than the lease: away' })
  })

  it('counts what it appended and the store has not confirmed', async () => {
    const [one] = await site.twoDaemons()
    one.journal.append([alarm, alarm])
    expect([one.tenure.staged, one.tenure.view().staged, one.tenure.newest.seq]).toEqual([2, 2, 3])
    await site.clock.advance(0)
    expect([one.tenure.staged, one.tenure.view().staged, one.tenure.newest.seq]).toEqual([0, 0, 3])
  })

  it('is on record with whom it follows, how long that one was silent, and what it runs with', async () => {
    const [one, two] = await site.twoDaemons()
    site.kill(one)
    await site.untilActive(two)
    const [first, second] = two.copy.read({ kinds: ['tenure.began'] })
    expect(first?.data).toMatchObject({ epoch: 1, from: '', version: '1', format: 1, config: 'd'.repeat(64) })
    const { holder } = (first?.data ?? {}) as { holder?: string }
    expect(second?.data).toMatchObject({ epoch: 2, from: holder, why: 'ctl1 did not renew its lease' })
    const { silentMs } = (second?.data ?? {}) as { silentMs?: number }
    expect(silentMs).toBeGreaterThanOrEqual(leaseMs + 300)
    expect(silentMs).toBeLessThanOrEqual(leaseMs + 300 + 500)
    expect(site.cluster.tenure).toMatchObject({ epoch: 2, format: 1 })
  })

  it('went through each state in order, and told each once', async () => {
    const [one, two] = await site.twoDaemons()
    expect([statesOf(one), statesOf(two)]).toEqual([['standby', 'taking', 'active'], ['standby']])
    await site.clock.run(one.release('SIGTERM'))
    one.tenure.end('once more')
    expect(statesOf(one)).toEqual(['standby', 'taking', 'active', 'ended'])
    expect(one.tenure.why).toBe('it gave the tenure up')
  })

  it('is not ended by the signal that ended its waiting', async () => {
    const stopping = new AbortController()
    const one = site.start('ctl1', { stops: stopping.signal })
    await site.untilActive(one)
    await site.clock.advance(0)
    stopping.abort()
    expect(one.tenure.state).toBe('active')
  })
})

describe('what waits to leave', () => {
  it('leaves once all before it is confirmed, and not sooner', async () => {
    const [one] = await site.twoDaemons()
    site.cluster.stall()
    one.journal.append([alarm])
    const left = { permit: false, recorded: false }
    void one.tenure.permit().then(() => (left.permit = true))
    void one.tenure.recorded().then(() => (left.recorded = true))
    await site.clock.advance(2_000)
    expect(left).toEqual({ permit: false, recorded: false })
    site.cluster.flow()
    await site.clock.advance(5_000)
    expect(left).toEqual({ permit: true, recorded: true })
  })

  it('leaves on a renewal that is younger than a second, and asks for one first when there is none', async () => {
    const [one] = await site.twoDaemons()
    const { renew } = one.client
    let renewals = 0
    one.client.renew = (epoch, holder) => {
      renewals++
      return renew(epoch, holder)
    }
    await site.clock.until(() => renewals === 1)
    await site.clock.run(one.tenure.permit())
    expect(renewals).toBe(1)
    one.client.renew = () => Promise.reject(away())
    await site.clock.advance(2_000)
    expect(one.tenure.held()).toBe(true)
    one.client.renew = (epoch, holder) => {
      renewals++
      return renew(epoch, holder)
    }
    const askedAt = site.clock.now()
    await site.clock.run(one.tenure.permit())
    expect([renewals, site.clock.now() - askedAt]).toEqual([2, 0])
  })

  it('leaves though each commit takes more than a second, while others append on and on', async () => {
    const [one] = await site.twoDaemons()
    const { renew, insert } = one.client
    const slow = async <T>(work: Promise<T>): Promise<T> => {
      await sleep(site.clock, 1_200)
      return work
    }
    one.client.renew = (epoch, holder) => slow(renew(epoch, holder))
    one.client.insert = (head, rows) => slow(insert(head, rows))
    await site.clock.advance(5_000)
    const others = new AbortController()
    const append = async (): Promise<void> => {
      for (; !others.signal.aborted; await sleep(site.clock, 100)) one.journal.append([alarm])
    }
    void append()
    const askedAt = site.clock.now()
    await site.clock.run(one.tenure.permit())
    others.abort()
    expect(site.clock.now() - askedAt).toBeLessThanOrEqual(2 * 1_200)
  })

  it('is kept back when its own time is over, and what it rests on is confirmed all the same', async () => {
    const [one] = await site.twoDaemons()
    site.cluster.stall()
    one.journal.append([alarm])
    const limit = new AbortController()
    const waiting = [one.tenure.permit(limit.signal), one.tenure.recorded(limit.signal)]
    const ends = Promise.allSettled(waiting)
    limit.abort()
    const keptBack = { status: 'rejected', reason: { code: 'HELD_BACK' } }
    expect(await ends).toMatchObject([keptBack, keptBack])
    await expect(one.tenure.permit(limit.signal)).rejects.toMatchObject({ code: 'HELD_BACK' })
    site.cluster.flow()
    await site.clock.advance(4_000)
    expect(one.tenure.staged).toBe(0)
  })

  it('is kept back when its own time is over while no renewal comes through', async () => {
    const [one] = await site.twoDaemons()
    one.client.renew = () => Promise.reject(away())
    await site.clock.advance(1_500)
    const limit = new AbortController()
    site.clock.after(500, () => limit.abort())
    await expect(site.clock.run(one.tenure.permit(limit.signal))).rejects.toMatchObject({ code: 'HELD_BACK' })
  })

  it('is refused at the end of the tenure, and asks where to go', async () => {
    const [one] = await site.twoDaemons()
    site.cluster.stall()
    one.journal.append([alarm])
    const ends = Promise.allSettled([one.tenure.permit(), one.tenure.recorded()])
    one.tenure.end('so')
    const refused = { status: 'rejected', reason: { code: 'NOT_ACTIVE' } }
    expect(await ends).toMatchObject([refused, refused])
    await expect(site.clock.run(one.tenure.permit())).rejects.toMatchObject({ code: 'NOT_ACTIVE' })
    expect(one.tenure.held()).toBe(false)
    expect(() => one.journal.append([alarm])).toThrow(expect.objectContaining({ code: 'NOT_ACTIVE' }))
  })

  it('is told of the end of the lease and of the tenure, unless it does not listen any more', async () => {
    const [one] = await site.twoDaemons()
    const heard: string[] = []
    const leave = one.tenure.onLapse(() => heard.push('left'))
    one.tenure.onLapse(() => heard.push('listens'))
    leave()
    one.client.cut()
    await site.clock.until(() => one.tenure.state === 'suspended')
    expect([heard, one.tenure.held(), one.tenure.mayAppend]).toEqual([['listens'], false, true])
    one.tenure.end('so')
    expect(heard).toEqual(['listens', 'listens'])
  })
})

describe('a tenure that is given up', () => {
  it('is free, with all that was appended before it', async () => {
    const [one] = await site.twoDaemons()
    one.journal.append([alarm])
    await site.clock.run(one.tenure.release())
    expect([site.cluster.tenure.holder, site.cluster.entries.length]).toEqual(['', 2])
  })

  it('ends after ten seconds without the store, and is then left to its lease', async () => {
    const [one, two] = await site.twoDaemons()
    site.kill(two)
    one.client.cut()
    one.journal.append([alarm])
    const began = site.clock.now()
    await site.clock.run(one.tenure.release())
    expect([site.clock.now() - began, one.tenure.state]).toEqual([10_000, 'ended'])
    expect(site.cluster.tenure.holder).not.toBe('')
  })

  it('ends too when the store does not take the word that frees it', async () => {
    const [one] = await site.twoDaemons()
    one.client.release = () => Promise.reject(away())
    await site.clock.run(one.tenure.release())
    expect([one.tenure.state, one.tenure.why]).toEqual(['ended', 'it gave the tenure up'])
    expect(site.cluster.tenure.holder).not.toBe('')
  })
})

describe('entries that the store lost', () => {
  it('are told with their number by the active daemon, too', async () => {
    const [one, two] = await site.twoDaemons()
    for (let n = 0; n < 4; n++) await site.clock.run(one.act())
    site.kill(two)
    site.cluster.lose(3)
    await site.clock.run(one.act())
    expect(one.events.filter(({ kind }) => kind === 'put-back')).toEqual([{ kind: 'put-back', entries: 3 }])
  })

  it('are put back within two seconds by an active daemon that records nothing and is alone', async () => {
    const [one, two] = await site.twoDaemons()
    for (let n = 0; n < 4; n++) await site.clock.run(one.act())
    site.kill(two)
    const before = [...site.cluster.entries]
    site.cluster.lose(3)
    await site.clock.advance(2_000)
    expect(site.cluster.entries).toEqual(before)
    expect(one.events.filter(({ kind }) => kind === 'put-back')).toEqual([{ kind: 'put-back', entries: 3 }])
  })

  it('cost the active daemon nothing when the store is away as it looks for them', async () => {
    const [one] = await site.twoDaemons()
    one.client.look = () => Promise.reject(away())
    await site.clock.advance(3_000)
    expect([one.tenure.state, troublesOf(one)]).toEqual(['active', []])
  })

  it('are told with their number', async () => {
    const [one, two] = await site.twoDaemons()
    for (let n = 0; n < 4; n++) await site.clock.run(one.act())
    await site.clock.advance(1_000)
    site.kill(one)
    site.cluster.lose(3)
    await site.untilActive(two)
    expect(two.events.filter(({ kind }) => kind === 'put-back')).toEqual([{ kind: 'put-back', entries: 3 }])
  })
})
