/** What a daemon says and does that is not active, up to its first entry: in memory and under a virtual clock. */
import { describe, expect, it } from 'vitest'
import { sharedRow } from '../../../src/journal/shared/rows.ts'
import { alarm, away, leaseMs, statesOf, troublesOf, type Controller, type Site } from './controllers.ts'
import { afterTaking, eachOnASite, rowsAfter } from './tenure-site.ts'

let site: Site
eachOnASite((own) => (site = own))

describe('a daemon that stands by', () => {
  it('says who is active and where, that it has no lease, and why it waits', async () => {
    const [, two] = await site.twoDaemons()
    expect(two.tenure.view()).toMatchObject({
      ...{ state: 'standby', name: 'ctl2', epoch: 1, active: { name: 'ctl1', address: 'https://ctl1' } },
      ...{ waits: 'ctl1 is active', leaseLeftMs: null, staged: 0, behind: 0 },
    })
  })

  it('names no active one once the tenure was given up', async () => {
    const [one, two] = await site.twoDaemons()
    two.novaAnswers(false)
    await site.clock.run(one.tenure.release())
    await site.clock.advance(1_000)
    expect(two.tenure.view()).toMatchObject({ state: 'standby', active: null })
  })

  it('says where the active one is, whichever of them it is', async () => {
    const [one, two] = await site.twoDaemons()
    site.kill(one)
    await site.untilActive(two)
    const again = site.start('ctl1')
    const three = site.start('ctl3')
    await site.clock.advance(5_000)
    const active = { name: 'ctl2', address: 'https://ctl2' }
    expect([again.tenure.view().active, three.tenure.view().active]).toEqual([active, active])
  })

  it('asks for no hand-over when it is blind itself: it has nothing to give', async () => {
    const [one, two] = await site.twoDaemons()
    two.novaAnswers(false)
    await site.clock.advance(60_000)
    expect([one.tenure.state, two.tenure.state]).toEqual(['active', 'standby'])
  })

  it('writes its row every two seconds, and every half second once the active one is silent for more than two', async () => {
    const [one, two] = await site.twoDaemons()
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
    const [one, two] = await site.twoDaemons()
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
    const data = { to: 'shared', holder: 'ctl7/00000000#1', by: 'ann', reason: 'so' } as const
    site.cluster.entries.push(...rowsAfter(one.copy.head(), { kind: 'journal.moved', data }))
    await site.untilActive(one)
  })

  it('takes what it read of Nova for good for thirty seconds, and no longer', async () => {
    const [one, two] = await site.twoDaemons()
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
    const [one, two] = await site.twoDaemons()
    await site.clock.run(two.release('SIGTERM'))
    expect([two.tenure.state, two.tenure.why]).toEqual(['ended', 'the daemon was stopped'])
    await site.clock.advance(leaseMs)
    expect(one.tenure.state).toBe('active')
    expect(site.cluster.entries).toHaveLength(1)
  })

  it('tells of a store that does not answer at each look, goes on with the next one, and tells that it is over', async () => {
    const [, two] = await site.twoDaemons()
    two.client.cut()
    await site.clock.advance(1_200)
    expect(troublesOf(two)).toEqual(['JOURNAL_UNAVAILABLE', 'JOURNAL_UNAVAILABLE'])
    two.client.join()
    await site.clock.advance(5_000)
    expect([troublesOf(two).slice(2), two.tenure.state]).toEqual([[null], 'standby'])
  })

  it('follows again while its copy is behind, says how far, and takes nothing over before it has all', async () => {
    const [one, two] = await site.twoDaemons()
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
    const [one, two] = await site.twoDaemons()
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

describe('between the row and the first entry', () => {
  /** A standby that takes the row, and whose first entry waits. */
  async function taking(): Promise<Controller> {
    const [one, two] = await site.twoDaemons()
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
    const [one, two] = await site.twoDaemons()
    const { look } = two.client
    afterTaking(two, () => (two.client.look = () => Promise.reject(away())))
    site.kill(one)
    await site.clock.until(() => two.tenure.state === 'taking')
    await site.clock.advance(1_200)
    expect([two.tenure.state, troublesOf(two)]).toEqual(['taking', Array(3).fill('JOURNAL_UNAVAILABLE')])
    two.client.look = look
    await site.untilActive(two)
  })

  it('a last entry of the predecessor may come first: its own follows that one', async () => {
    const [one, two] = await site.twoDaemons()
    const { insert } = two.client
    two.client.insert = (after, rows) => {
      two.client.insert = insert
      site.cluster.entries.push(...rowsAfter(two.copy.head(), alarm))
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
    const [one, two] = await site.twoDaemons()
    two.client.release = () => Promise.reject(away())
    afterTaking(two, () => (site.cluster.tenure = { ...site.cluster.tenure, cloud: 'green' }))
    site.kill(one)
    await site.clock.until(() => two.tenure.state === 'ended')
    await site.clock.advance(1_000)
    expect([two.problem, site.cluster.tenure.holder.startsWith('ctl2/')]).toEqual(['CONFIG_INVALID', true])
  })

  it("a person's order that moved the journal away ends it, and the row is free at once", async () => {
    const [one, two] = await site.twoDaemons()
    const data = { to: 'own', holder: 'ctl7/00000000#1', by: 'ann', reason: 'so' } as const
    afterTaking(two, () => {
      site.cluster.entries.push(...rowsAfter(two.copy.head(), { kind: 'journal.moved', data }))
    })
    site.kill(one)
    await site.clock.until(() => two.tenure.state === 'ended')
    await site.clock.advance(1_000)
    expect([two.problem, site.cluster.tenure.holder, site.tenures().length]).toEqual(['CONFIG_INVALID', '', 1])
    expect(two.tenure.why).toMatch(/ctl7's own journal/)
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
