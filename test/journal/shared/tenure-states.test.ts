/** What a daemon says of its part in the shared journal, and what it lets out, state by state: in memory and under a virtual clock. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { linkedRows, prepareEntry } from '../../../src/journal/journal.ts'
import { sharedRow } from '../../../src/journal/shared/rows.ts'
import { StoreTrouble } from '../../../src/journal/shared/store.ts'
import { leaseMs, Site, type Controller } from './controllers.ts'

let site: Site
beforeEach(() => {
  site = new Site()
})
afterEach(() => {
  expect(site.broken()).toEqual([])
  site.close()
})

const alarm = { kind: 'alarm.raised', data: { code: 'N', message: 'm' } } as const

/** The first is active, the second stands by. */
async function twoDaemons(): Promise<[Controller, Controller]> {
  const one = site.start('ctl1')
  await site.untilActive(one)
  const two = site.start('ctl2')
  await site.clock.until(() => two.tenure.state === 'standby')
  await site.clock.advance(3_000)
  return [one, two]
}

/** The states that a daemon went through, as it told them. */
const statesOf = ({ events }: Controller): string[] =>
  events.flatMap((event) => (event.kind === 'state' ? [event.state] : []))

/** The codes of the troubles that it told; null: it was over. */
const troublesOf = ({ events }: Controller): (string | null)[] =>
  events.flatMap((event) => (event.kind === 'trouble' ? [event.problem?.code ?? null] : []))

const away = (): StoreTrouble => new StoreTrouble('again', 'away', { maybeDone: false })

describe('a daemon that has not looked yet', () => {
  it('follows, knows of no active one, and says nothing of why it waits', () => {
    expect(site.start('ctl1').tenure.view()).toEqual({
      ...{ state: 'following', name: 'ctl1', epoch: 0, active: null, waits: null, leaseLeftMs: null },
      ...{ staged: 0, behind: 0, daemons: [] },
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
    const [one] = await twoDaemons()
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
    const [one] = await twoDaemons()
    for (let n = 0; n < 3; n++) await site.clock.run(one.act())
    await site.clock.advance(5_000)
    expect(one.tenure.view().daemons.map(({ copiedSeq }) => copiedSeq)).toEqual([4, 4])
  })

  it('may not send once its lease is over, also before the timer that says so', async () => {
    const [one] = await twoDaemons()
    one.life.stall(20_000)
    await site.clock.advance(leaseMs + 100)
    expect([one.tenure.state, one.tenure.held()]).toEqual(['active', false])
  })

  it('ends at its next entry when that of another stands in its place, though the row is still its own', async () => {
    const [one, two] = await twoDaemons()
    const [foreign] = linkedRows([prepareEntry(alarm)], two.copy.head(), '2026-01-01T00:00:00.000Z')
    if (foreign === undefined) throw new Error('one entry makes one row')
    site.cluster.entries.push(sharedRow(foreign))
    one.journal.append([alarm])
    await site.clock.advance(500)
    expect([one.tenure.state, one.tenure.why]).toEqual(['ended', 'another daemon wrote entry 2'])
  })

  it('tells once of a store that takes none of its entries, and once that it takes them again', async () => {
    const [one] = await twoDaemons()
    const { insert } = one.client
    one.client.insert = () => Promise.reject(away())
    one.journal.append([alarm])
    await site.clock.advance(3_000)
    one.client.insert = insert
    await site.clock.advance(2_000)
    expect(troublesOf(one)).toEqual(['JOURNAL_UNAVAILABLE', null])
  })

  it('counts what it appended and the store has not confirmed', async () => {
    const [one] = await twoDaemons()
    one.journal.append([alarm, alarm])
    expect([one.tenure.staged, one.tenure.view().staged, one.tenure.newest.seq]).toEqual([2, 2, 3])
    await site.clock.advance(0)
    expect([one.tenure.staged, one.tenure.view().staged, one.tenure.newest.seq]).toEqual([0, 0, 3])
  })

  it('is on record with whom it follows, how long that one was silent, and what it runs with', async () => {
    const [one, two] = await twoDaemons()
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
    const [one, two] = await twoDaemons()
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

describe('a daemon that stands by', () => {
  it('says who is active and where, that it has no lease, and why it waits', async () => {
    const [, two] = await twoDaemons()
    expect(two.tenure.view()).toMatchObject({
      ...{ state: 'standby', name: 'ctl2', epoch: 1, active: { name: 'ctl1', address: 'https://ctl1' } },
      ...{ waits: 'ctl1 is active', leaseLeftMs: null, staged: 0, behind: 0 },
    })
  })

  it('names no active one once the tenure was given up', async () => {
    const [one, two] = await twoDaemons()
    two.novaAnswers(false)
    await site.clock.run(one.tenure.release())
    await site.clock.advance(1_000)
    expect(two.tenure.view()).toMatchObject({ state: 'standby', active: null })
  })

  it('says where the active one is, whichever of them it is', async () => {
    const [one, two] = await twoDaemons()
    site.kill(one)
    await site.untilActive(two)
    const again = site.start('ctl1')
    const three = site.start('ctl3')
    await site.clock.advance(5_000)
    const active = { name: 'ctl2', address: 'https://ctl2' }
    expect([again.tenure.view().active, three.tenure.view().active]).toEqual([active, active])
  })

  it('asks for no hand-over when it is blind itself: it has nothing to give', async () => {
    const [one, two] = await twoDaemons()
    two.novaAnswers(false)
    await site.clock.advance(60_000)
    expect([one.tenure.state, two.tenure.state]).toEqual(['active', 'standby'])
  })

  it('writes its row every two seconds, and every half second once the active one is silent for more than two', async () => {
    const [one, two] = await twoDaemons()
    const { report } = two.client
    const at: number[] = []
    two.client.report = (row) => {
      at.push(site.clock.now())
      return report(row)
    }
    await site.clock.advance(8_000)
    expect(at).toHaveLength(4)
    const aliveUntil = site.clock.now()
    site.kill(one)
    await site.clock.advance(6_000)
    const pauses = at.slice(4).map((each, index) => each - (at[index + 3] ?? 0))
    expect(pauses.filter((ms) => ms > 500).length).toBeLessThanOrEqual(2)
    expect(pauses.slice(-5)).toEqual([500, 500, 500, 500, 500])
    expect((at.find((each, index) => each - (at[index - 1] ?? 0) === 500) ?? 0) - aliveUntil).toBeGreaterThan(1_000)
  })

  it('waits a whole lease from any change of the row, be it the epoch alone', async () => {
    const [one, two] = await twoDaemons()
    site.kill(one)
    await site.clock.advance(5_000)
    site.cluster.tenure = { ...site.cluster.tenure, epoch: 5 }
    expect(await site.untilActive(two)).toBeGreaterThan(leaseMs)
  })

  it('tells once that a journal is still being moved, and takes nothing over before it is all there', async () => {
    const own = site.record('ctl7', 3)
    const rows = own.map(sharedRow)
    site.cluster.entries = rows
    const one = site.start('ctl1')
    await site.clock.advance(10_000)
    expect([one.tenure.state, troublesOf(one)]).toEqual(['standby', ['JOURNAL_UNAVAILABLE']])
    expect(one.tenure.view().waits).toMatch(/is being moved/)
    const moved = { to: 'shared', holder: 'ctl7/00000000#1', by: 'ann', reason: 'so' } as const
    const last = linkedRows(
      [prepareEntry({ kind: 'journal.moved', data: moved })],
      one.copy.head(),
      one.copy.read()[0]?.at ?? '',
    )
    site.cluster.entries.push(...last.map(sharedRow))
    await site.untilActive(one)
  })

  it('takes what it read of Nova for good for thirty seconds, and no longer', async () => {
    const [one, two] = await twoDaemons()
    two.novaAnsweredAgo(30_000)
    await site.clock.run(one.tenure.release())
    await site.clock.advance(2_000)
    expect(two.tenure.state).toBe('standby')
    two.novaAnsweredAgo(29_999)
    await site.clock.advance(600)
    expect(two.tenure.state).toBe('active')
  })

  it('ends when its process is stopped, and says so', async () => {
    const stopping = new AbortController()
    const one = site.start('ctl1')
    await site.untilActive(one)
    const two = site.start('ctl2', { stops: stopping.signal })
    await site.clock.until(() => two.tenure.state === 'standby')
    stopping.abort()
    expect([two.tenure.state, two.tenure.why, two.tenure.ended.aborted]).toEqual([
      ...['ended', 'the daemon was stopped', true],
    ])
  })

  it('only ends when it is to give up what it does not have', async () => {
    const [one, two] = await twoDaemons()
    await site.clock.run(two.release('SIGTERM'))
    expect([two.tenure.state, two.tenure.why]).toEqual(['ended', 'the daemon was stopped'])
    await site.clock.advance(leaseMs)
    expect(one.tenure.state).toBe('active')
    expect(site.cluster.entries).toHaveLength(1)
  })

  it('tells of a store that does not answer at each look, and goes on with the next one', async () => {
    const [, two] = await twoDaemons()
    two.client.cut()
    await site.clock.advance(1_200)
    expect(troublesOf(two)).toEqual(['JOURNAL_UNAVAILABLE', 'JOURNAL_UNAVAILABLE'])
    two.client.join()
    await site.clock.advance(5_000)
    expect([troublesOf(two).length, two.tenure.state]).toEqual([2, 'standby'])
  })

  it('follows again while its copy is behind, says how far, and takes nothing over before it has all', async () => {
    const [one, two] = await twoDaemons()
    const { look } = two.client
    // Its node shows that there are more, and does not give them.
    two.client.look = async (seq, limit) => ({ ...(await look(seq, limit)), rows: [] })
    for (let n = 0; n < 3; n++) await site.clock.run(one.act())
    await site.clock.advance(1_000)
    expect(two.tenure.view()).toMatchObject({ state: 'following', behind: 3, waits: 'the copy is not complete' })
    site.kill(one)
    await site.clock.advance(20_000)
    expect(two.tenure.state).toBe('following')
    two.client.look = look
    await site.untilActive(two)
    expect(two.copy.head().seq).toBe(5)
  })

  it.each([499, 500, 501, 1_000])('has a whole copy of %i entries after one look', async (entries) => {
    const one = site.start('ctl1')
    await site.untilActive(one)
    one.journal.append(Array.from({ length: entries - 1 }, () => alarm))
    await site.clock.advance(1_000)
    const two = site.start('ctl2')
    await site.clock.advance(100)
    expect([two.tenure.state, two.copy.head().seq]).toEqual(['standby', entries])
  })

  it('never gives an epoch twice, also after the store lost the row that has it', async () => {
    const [one, two] = await twoDaemons()
    await site.clock.advance(1_000)
    site.kill(one)
    await site.untilActive(two)
    const three = site.start('ctl3')
    await site.clock.advance(5_000)
    site.kill(two)
    site.cluster.tenure = { ...site.cluster.tenure, epoch: 0, beat: 0, holder: '' }
    await site.untilActive(three)
    expect(three.tenure.view().epoch).toBe(3)
  })
})

describe('what waits to leave', () => {
  it('leaves once all before it is confirmed, and not sooner', async () => {
    const [one] = await twoDaemons()
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
    const [one] = await twoDaemons()
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

  it('is kept back when its own time is over, and what it rests on is confirmed all the same', async () => {
    const [one] = await twoDaemons()
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
    const [one] = await twoDaemons()
    one.client.renew = () => Promise.reject(away())
    await site.clock.advance(1_500)
    const limit = new AbortController()
    site.clock.after(500, () => limit.abort())
    await expect(site.clock.run(one.tenure.permit(limit.signal))).rejects.toMatchObject({ code: 'HELD_BACK' })
  })

  it('is refused at the end of the tenure, and asks where to go', async () => {
    const [one] = await twoDaemons()
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
    const [one] = await twoDaemons()
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
    const [one] = await twoDaemons()
    one.journal.append([alarm])
    await site.clock.run(one.tenure.release())
    expect([site.cluster.tenure.holder, site.cluster.entries.length]).toEqual(['', 2])
  })

  it('ends after ten seconds without the store, and is then left to its lease', async () => {
    const [one, two] = await twoDaemons()
    site.kill(two)
    one.client.cut()
    one.journal.append([alarm])
    const began = site.clock.now()
    await site.clock.run(one.tenure.release())
    expect([site.clock.now() - began, one.tenure.state]).toEqual([10_000, 'ended'])
    expect(site.cluster.tenure.holder).not.toBe('')
  })

  it('ends too when the store does not take the word that frees it', async () => {
    const [one] = await twoDaemons()
    one.client.release = () => Promise.reject(away())
    await site.clock.run(one.tenure.release())
    expect([one.tenure.state, one.tenure.why]).toEqual(['ended', 'it gave the tenure up'])
    expect(site.cluster.tenure.holder).not.toBe('')
  })
})

describe('between the row and the first entry', () => {
  /** A standby that takes the row, and whose first entry waits. */
  async function taking(): Promise<Controller> {
    const [one, two] = await twoDaemons()
    const { insert } = two.client
    two.client.insert = () => Promise.reject(away())
    site.kill(one)
    await site.clock.until(() => two.tenure.state === 'taking')
    two.client.insert = insert
    return two
  }

  it('no daemon is active: it neither appends nor sends', async () => {
    const two = await taking()
    expect([two.tenure.mayAppend, two.tenure.held()]).toEqual([false, false])
    await expect(two.tenure.permit()).rejects.toMatchObject({ code: 'NOT_ACTIVE' })
    await site.untilActive(two)
    expect(two.tenure.held()).toBe(true)
  })

  it('another one that takes the row sends it back to standing by, and its first entry is never written', async () => {
    const two = await taking()
    const { insert } = two.client
    two.client.insert = () => Promise.reject(away())
    site.cluster.tenure = { ...site.cluster.tenure, epoch: 9, holder: 'ctl9/00000000#1' }
    await site.clock.until(() => two.tenure.state === 'standby', 5_000)
    two.client.insert = insert
    await site.clock.advance(3_000)
    expect(two.tenure.view().active).toEqual({ name: 'ctl9', address: '' })
    expect([two.tenure.state, site.tenures().length]).toEqual(['standby', 1])
    expect(statesOf(two)).toEqual(['standby', 'taking', 'standby'])
  })

  it('a store that is away is waited out', async () => {
    const [one, two] = await twoDaemons()
    const { look } = two.client
    const { take } = two.client
    two.client.take = async (seen, next) => {
      two.client.look = () => Promise.reject(away())
      return take(seen, next)
    }
    site.kill(one)
    await site.clock.until(() => two.tenure.state === 'taking')
    await site.clock.advance(1_200)
    expect([two.tenure.state, troublesOf(two)]).toEqual(['taking', Array(3).fill('JOURNAL_UNAVAILABLE')])
    two.client.look = look
    await site.untilActive(two)
  })

  it('a last entry of the predecessor may come first: its own follows that one', async () => {
    const [one, two] = await twoDaemons()
    const { insert } = two.client
    two.client.insert = (after, rows) => {
      two.client.insert = insert
      const late = linkedRows([prepareEntry(alarm)], two.copy.head(), '2026-01-01T00:00:00.000Z')
      site.cluster.entries.push(...late.map(sharedRow))
      return insert(after, rows)
    }
    site.kill(one)
    await site.untilActive(two)
    expect(two.copy.read().map(({ kind }) => kind)).toEqual(['tenure.began', 'alarm.raised', 'tenure.began'])
  })

  it('a lease that runs out and is renewed makes no daemon active', async () => {
    const two = await taking()
    const { insert, renew } = two.client
    two.client.insert = () => Promise.reject(away())
    two.client.renew = () => Promise.reject(away())
    await site.clock.advance(leaseMs + 1_000)
    two.client.renew = renew
    await site.clock.advance(2_000)
    expect([two.tenure.state, two.tenure.mayAppend]).toEqual(['taking', false])
    two.client.insert = insert
    await site.untilActive(two)
  })

  it('the row is left to its lease where the store does not take the word that frees it', async () => {
    const [one, two] = await twoDaemons()
    const { take } = two.client
    two.client.release = () => Promise.reject(away())
    two.client.take = async (seen, next) => {
      const took = await take(seen, next)
      site.cluster.tenure = { ...site.cluster.tenure, cloud: 'green' }
      return took
    }
    site.kill(one)
    await site.clock.until(() => two.tenure.state === 'ended')
    await site.clock.advance(1_000)
    expect([two.problem, site.cluster.tenure.holder.startsWith('ctl2/')]).toEqual(['CONFIG_INVALID', true])
  })

  it("a person's order that moved the journal away ends it, and the row is free at once", async () => {
    const [one, two] = await twoDaemons()
    const { take } = two.client
    two.client.take = async (seen, next) => {
      const took = await take(seen, next)
      const data = { to: 'own', holder: 'ctl7/00000000#1', by: 'ann', reason: 'so' } as const
      const rows = linkedRows(
        [prepareEntry({ kind: 'journal.moved', data })],
        two.copy.head(),
        '2026-01-01T00:00:00.000Z',
      )
      site.cluster.entries.push(...rows.map(sharedRow))
      return took
    }
    site.kill(one)
    await site.clock.until(() => two.tenure.state === 'ended')
    await site.clock.advance(1_000)
    expect([two.problem, site.cluster.tenure.holder, site.tenures().length]).toEqual(['CONFIG_INVALID', '', 1])
    expect(two.tenure.why).toMatch(/own journal of ctl7/)
  })
})

describe('entries that the store lost', () => {
  it('are told with their number by the active daemon, too', async () => {
    const [one, two] = await twoDaemons()
    for (let n = 0; n < 4; n++) await site.clock.run(one.act())
    site.kill(two)
    site.cluster.lose(3)
    await site.clock.run(one.act())
    expect(one.events.filter(({ kind }) => kind === 'put-back')).toEqual([{ kind: 'put-back', entries: 3 }])
  })

  it('are put back within two seconds by an active daemon that records nothing and is alone', async () => {
    const [one, two] = await twoDaemons()
    for (let n = 0; n < 4; n++) await site.clock.run(one.act())
    site.kill(two)
    const before = [...site.cluster.entries]
    site.cluster.lose(3)
    await site.clock.advance(2_000)
    expect(site.cluster.entries).toEqual(before)
    expect(one.events.filter(({ kind }) => kind === 'put-back')).toEqual([{ kind: 'put-back', entries: 3 }])
  })

  it('cost the active daemon nothing when the store is away as it looks for them', async () => {
    const [one] = await twoDaemons()
    one.client.look = () => Promise.reject(away())
    await site.clock.advance(3_000)
    expect([one.tenure.state, troublesOf(one)]).toEqual(['active', []])
  })

  it('are told with their number', async () => {
    const [one, two] = await twoDaemons()
    for (let n = 0; n < 4; n++) await site.clock.run(one.act())
    await site.clock.advance(1_000)
    site.kill(one)
    site.cluster.lose(3)
    await site.untilActive(two)
    expect(two.events.filter(({ kind }) => kind === 'put-back')).toEqual([{ kind: 'put-back', entries: 3 }])
  })
})

describe('a journal of its own', () => {
  it.each([1, 3, 5])('of 3 entries beside a shared one of %i others stays where it is', async (entries) => {
    site.record('ctl1', 3)
    const two = site.start('ctl2')
    await site.untilActive(two)
    for (let n = 1; n < entries; n++) await site.clock.run(two.act())
    const one = site.start('ctl1')
    await site.clock.advance(2_000)
    expect([one.problem, one.copy.head().seq, site.cluster.entries.length]).toEqual(['JOURNAL_UNAVAILABLE', 3, entries])
    expect(one.tenure.why).toMatch(/3 entries.*lifeboat journal move --to shared/)
  })

  it('is not the shared one because a daemon starts with it: the daemon ends, and names the order', async () => {
    site.record('ctl1', 3)
    const one = site.start('ctl1')
    await site.clock.advance(2_000)
    expect([one.problem, one.tenure.state, site.cluster.entries.length]).toEqual(['JOURNAL_UNAVAILABLE', 'ended', 0])
    expect(one.tenure.why).toMatch(/3 entries.*lifeboat journal move --to shared/)
  })
})
