/** Who of several daemons acts, on a shared journal in memory and under a virtual clock. */
import { describe, expect, it } from 'vitest'
import type { NewEntry } from '../../../src/domain/entry.ts'
import { sentenceOf } from '../../../src/domain/text/entry-sentence.ts'
import { StoreTrouble } from '../../../src/journal/shared/store.ts'
import { leaseMs, type Site } from './controllers.ts'
import { eachOnASite, rowsAfter } from './tenure-site.ts'

let site: Site
eachOnASite((own) => (site = own))

describe('standing by', () => {
  it('lets a daemon that is alone act within seconds', async () => {
    expect(await site.untilActive(site.start('ctl1'))).toBeLessThan(4_000)
    expect(site.tenures()).toMatchObject([{ by: 'ctl1', why: 'nobody was active' }])
  })

  it('never has two of three daemons active that start at once', async () => {
    const all = ['ctl1', 'ctl2', 'ctl3'].map((name) => site.start(name))
    await site.clock.advance(30_000)
    expect(all.map(({ tenure }) => tenure.state).toSorted()).toEqual(['active', 'standby', 'standby'])
    expect(site.tenures()).toHaveLength(1)
  })

  it('refuses an act on a standby, and names who is active and where', async () => {
    const [, two] = await site.twoDaemons()
    expect(() => two.journal.append([])).toThrow(/ctl1 is active.*https:\/\/ctl1/)
    await expect(two.tenure.permit()).rejects.toMatchObject({ code: 'NOT_ACTIVE', details: { active: 'ctl1' } })
  })

  it("holds in the standby's copy what the active one recorded, entry for entry", async () => {
    const [one, two] = await site.twoDaemons()
    for (let n = 0; n < 600; n++)
      one.journal.append([{ kind: 'alarm.raised', data: { code: 'N', message: `é😀"${n}` } }])
    await site.clock.advance(2_000)
    expect(two.copy.head()).toEqual(one.copy.head())
    expect(two.copy.verify()).toMatchObject({ entries: 601, broken: null })
  })

  it('copies an entry of a kind that this release does not know exactly, and passes it over', async () => {
    const [one, two] = await site.twoDaemons()
    one.journal.append([{ kind: 'star.born', data: { size: 3 } } as unknown as NewEntry])
    await site.clock.advance(1_000)
    expect(two.copy.read().at(-1)).toMatchObject({ kind: 'star.born', data: { size: 3 } })
    expect(two.copy.head()).toEqual(one.copy.head())
    expect(two.copy.verify().broken).toBeNull()
    site.kill(one)
    await site.untilActive(two)
  })

  it("tells the standby's listeners of each entry in order", async () => {
    const [one, two] = await site.twoDaemons()
    const heard: number[] = []
    two.journal.onAppend(({ seq }) => heard.push(seq))
    await one.act()
    await one.act()
    await site.clock.advance(1_000)
    expect(heard).toEqual([2, 3])
  })
})

describe('taking over', () => {
  it('begins within the lease and two seconds when the active one is killed', async () => {
    const [one, two] = await site.twoDaemons()
    site.keepActing(one)
    await site.clock.advance(1_000)
    site.kill(one)
    expect(await site.untilActive(two)).toBeLessThan(leaseMs + 2_000)
    expect(await site.clock.run(two.act())).toBeNull()
  })

  it('resets what is unanswered before the process hears that its tenure has ended, which may end it', async () => {
    const [one, two] = await site.twoDaemons()
    const order: string[] = []
    one.tenure.onLapse(() => order.push('reset'))
    one.tenure.ended.addEventListener('abort', () => order.push('ended'))
    one.life.stall(20_000)
    await site.untilActive(two)
    await site.clock.until(() => one.tenure.state === 'ended')
    expect(order.slice(-2)).toEqual(['reset', 'ended'])
  })

  it('cuts off everything else, and ends the tenure, where one thing cannot be cut off, and says so', async () => {
    const [one, two] = await site.twoDaemons()
    let cut = 0
    one.tenure.onLapse(() => {
      throw new TypeError('not a TCP connection')
    })
    one.tenure.onLapse(() => cut++)
    one.life.stall(20_000)
    await site.untilActive(two)
    await site.clock.until(() => one.tenure.ended.aborted)
    expect(cut).toBeGreaterThan(0)
    const problem = expect.objectContaining({ message: 'not a TCP connection' }) as unknown
    expect(one.events).toContainEqual({ kind: 'not-cut-off', problem })
  })

  it('is told by the names of the daemons', async () => {
    const [one, two] = await site.twoDaemons()
    site.kill(one)
    await site.untilActive(two)
    await site.clock.run(two.release('SIGTERM'))
    const told = two.copy.read({ kinds: ['tenure.began', 'tenure.ended'] }).map((entry) => sentenceOf(entry).text)
    expect(told).toEqual([
      'ctl1 is active from here on: nobody was active',
      'ctl2 is active from here on: ctl1 did not renew its lease',
      'ctl2 is no longer active: SIGTERM',
    ])
  })

  it('begins at the next look, half a second later at most, when the active one stops in order', async () => {
    const [one, two] = await site.twoDaemons()
    await one.act()
    await site.clock.run(one.tenure.release())
    expect(await site.untilActive(two)).toBeLessThanOrEqual(500)
    expect(one.tenure.state).toBe('ended')
  })

  it('goes at once to the next process on the same machine, whose copy nobody else can hold', async () => {
    const [one] = await site.twoDaemons()
    site.kill(one)
    expect(await site.untilActive(site.start('ctl1'))).toBeLessThan(3_000)
  })

  it('goes to one of two standbys, and the other goes on standing by', async () => {
    const [one, two] = await site.twoDaemons()
    const three = site.start('ctl3')
    await site.clock.advance(5_000)
    site.kill(one)
    await site.clock.advance(20_000)
    expect([two.tenure.state, three.tenure.state].toSorted()).toEqual(['active', 'standby'])
  })

  it('leaves it to a standby that can read Nova', async () => {
    const [one, two] = await site.twoDaemons()
    site.kill(two)
    const blind = site.start('ctl2', { readsNova: false })
    const three = site.start('ctl3')
    await site.clock.advance(5_000)
    site.kill(one)
    await site.clock.advance(20_000)
    expect([blind.tenure.state, three.tenure.state]).toEqual(['standby', 'active'])
  })

  it('is asked for by an active one that has not read Nova for thirty seconds, where a standby can', async () => {
    const [one, two] = await site.twoDaemons()
    await site.clock.advance(60_000)
    one.novaAnswers(false)
    await site.clock.advance(10_000)
    expect([one.tenure.state, two.tenure.state]).toEqual(['ended', 'active'])
    const [ended] = two.copy.read({ kinds: ['tenure.ended'] })
    expect(ended?.data).toMatchObject({ why: 'it cannot read Nova, and ctl2 can' })
    expect(two.copy.read({ kinds: ['tenure.began'], newestFirst: true, limit: 1 })[0]?.seq).toBe((ended?.seq ?? 0) + 1)
  })

  it('is not asked for by a blind one beside standbys that are blind too', async () => {
    const [one, two] = await site.twoDaemons()
    await site.clock.advance(60_000)
    for (const controller of [one, two]) controller.novaAnswers(false)
    await site.clock.advance(60_000)
    expect(one.tenure.state).toBe('active')
  })

  it('is asked for once in ten minutes at the most, however blind they are by turns', async () => {
    const [one, two] = await site.twoDaemons()
    await site.clock.advance(60_000)
    one.novaAnswers(false)
    await site.untilActive(two)
    site.kill(one)
    const again = site.start('ctl1')
    await site.clock.advance(60_000)
    two.novaAnswers(false)
    await site.clock.advance(400_000)
    expect(two.tenure.state).toBe('active')
    expect(await site.untilActive(again, 300_000)).toBeGreaterThan(100_000)
    // The newest hand-over counts, not the first.
    site.kill(two)
    site.start('ctl2')
    await site.clock.advance(60_000)
    again.novaAnswers(false)
    await site.clock.advance(400_000)
    expect(again.tenure.state).toBe('active')
  })

  it('is not asked for by a blind one that became active a moment ago: it may see soon', async () => {
    const [one, two] = await site.twoDaemons()
    two.novaAnswers(false)
    site.kill(one)
    await site.untilActive(two)
    site.start('ctl1')
    await site.clock.advance(25_000)
    expect(two.tenure.state).toBe('active')
    await site.clock.advance(15_000)
    expect(two.tenure.state).toBe('ended')
  })

  it('is found out by the taker itself when its answer is lost', async () => {
    const [one, two] = await site.twoDaemons()
    site.kill(one)
    await site.clock.advance(leaseMs - 500)
    two.client.loseAnswers(3)
    expect(await site.untilActive(two)).toBeLessThan(10_000)
  })

  it('is found out too when the node that the taker looks at shows it late, and it took again meanwhile', async () => {
    const [one, two] = await site.twoDaemons()
    site.kill(one)
    const { take } = two.client
    let took = 0
    two.client.take = async (seen, next) => {
      took++
      if (took > 1) return take(seen, next)
      two.client.lag()
      await take(seen, next)
      throw new StoreTrouble('again', 'the answer was lost', { maybeDone: true })
    }
    await site.clock.until(() => took === 2)
    two.client.catchUp()
    expect(await site.untilActive(two)).toBeLessThan(1_000)
    expect(site.tenures()).toHaveLength(2)
    const [began] = two.copy.read({ kinds: ['tenure.began'], newestFirst: true, limit: 1 })
    expect(began?.data).toMatchObject({ from: '', silentMs: 0, why: 'the answer to its take-over was lost' })
  })

  it('does not happen while the whole cluster stands still, and the active one goes on after that', async () => {
    const [one, two] = await site.twoDaemons()
    site.cluster.stall()
    await site.clock.advance(20_000)
    site.cluster.flow()
    await site.clock.advance(10_000)
    expect([one.tenure.state, two.tenure.state]).toEqual(['active', 'standby'])
    expect(site.tenures()).toHaveLength(1)
  })

  it('is undone by no wall clock that jumps', async () => {
    const [one, two] = await site.twoDaemons()
    site.clock.stepWall(3_600_000)
    await site.clock.advance(10_000)
    site.clock.stepWall(-7_200_000)
    await site.clock.advance(10_000)
    expect([one.tenure.state, two.tenure.state]).toEqual(['active', 'standby'])
  })
})

describe('a daemon that was active', () => {
  it('sends nothing after another one has begun, however long it stood still', async () => {
    const [one, two] = await site.twoDaemons()
    site.keepActing(one)
    for (const ms of [3_000, 7_000, 9_000, 20_000, 60_000]) {
      one.life.stall(ms)
      await site.clock.advance(ms + 5_000)
    }
    expect(one.tenure.state).toBe('ended')
    expect(two.tenure.state).toBe('active')
    expect(await one.act()).toBe('NOT_ACTIVE')
  })

  it('goes on when it stood still for less than its lease', async () => {
    const [one] = await site.twoDaemons()
    one.life.stall(4_000)
    await site.clock.advance(8_000)
    expect(await site.clock.run(one.act())).toBeNull()
  })

  it('is suspended once it is cut off from the store, and ends when it is joined again after another began', async () => {
    const [one, two] = await site.twoDaemons()
    site.keepActing(one)
    one.client.cut()
    await site.clock.advance(leaseMs + 1_500)
    expect(one.tenure.state).toBe('suspended')
    await site.untilActive(two)
    one.client.join()
    await site.clock.advance(3_000)
    expect(one.tenure.state).toBe('ended')
  })

  it('goes on with all it recorded when nobody else was there to take over', async () => {
    const one = site.start('ctl1')
    await site.untilActive(one)
    one.client.cut()
    const acting = one.act()
    await site.clock.advance(20_000)
    expect(one.tenure.state).toBe('suspended')
    one.client.join()
    expect(await site.clock.run(acting)).toBeNull()
    expect(one.tenure.state).toBe('active')
  })

  it('tells whoever has something unanswered in the air when its lease is over', async () => {
    const [one] = await site.twoDaemons()
    let lapses = 0
    one.tenure.onLapse(() => lapses++)
    one.client.cut()
    await site.clock.advance(leaseMs - 1_500)
    expect(lapses).toBe(0)
    await site.clock.advance(1_600)
    expect(lapses).toBe(1)
  })

  it('writes an entry once when the answers to its statements are lost', async () => {
    const one = site.start('ctl1')
    await site.untilActive(one)
    one.client.loseAnswers(5)
    expect(await site.clock.run(one.act())).toBeNull()
    expect(site.cluster.entries).toHaveLength(2)
  })

  it('writes an entry once when its statement is served after its time limit', async () => {
    const one = site.start('ctl1')
    await site.untilActive(one)
    site.cluster.stall()
    const acting = one.act()
    await site.clock.advance(5_000)
    site.cluster.flow()
    expect(await site.clock.run(acting)).toBeNull()
    expect(site.cluster.entries).toHaveLength(2)
  })
})

describe('entries that the store lost', () => {
  it('are put back as they were by the active daemon', async () => {
    const [one, two] = await site.twoDaemons()
    for (let n = 0; n < 10; n++) await site.clock.run(one.act())
    const before = [...site.cluster.entries]
    site.cluster.lose(7)
    await site.clock.run(one.act())
    expect(site.cluster.entries.slice(0, before.length)).toEqual(before)
    await site.clock.advance(2_000)
    expect(two.copy.head()).toEqual(one.copy.head())
  })

  it('are put back by a standby when the active daemon died with them', async () => {
    const [one, two] = await site.twoDaemons()
    for (let n = 0; n < 10; n++) await site.clock.run(one.act())
    await site.clock.advance(1_000)
    const before = [...site.cluster.entries]
    site.kill(one)
    site.cluster.lose(5)
    await site.untilActive(two)
    expect(site.cluster.entries.slice(0, before.length)).toEqual(before)
  })

  it('keep a daemon following that starts while its node still shows them, until they are put back', async () => {
    const [one, two] = await site.twoDaemons()
    await site.clock.run(one.act())
    await site.clock.advance(1_000)
    site.kill(one)
    site.kill(two)
    const before = [...site.cluster.entries]
    const again = site.start('ctl2')
    again.client.lag()
    site.cluster.lose(1)
    await site.clock.advance(2_000)
    expect(again.tenure.state).toBe('following')
    again.client.catchUp()
    await site.untilActive(again)
    expect(site.cluster.entries.slice(0, 2)).toEqual(before)
  })

  it('are put back, too, when the store loses them between a look and the question about what it showed', async () => {
    const [one, two] = await site.twoDaemons()
    await site.clock.run(one.act())
    site.kill(one)
    await site.clock.advance(1_000)
    const before = [...site.cluster.entries]
    const { look } = two.client
    // What the look shows is gone by the time that it is asked about.
    two.client.look = async (seq, limit) => {
      const seen = await look(seq, limit)
      two.client.look = look
      site.cluster.lose(2)
      return { ...seen, newest: 1 }
    }
    await site.untilActive(two)
    expect(site.cluster.entries.slice(0, 2)).toEqual(before)
  })
})

describe('what a daemon refuses to follow', () => {
  it("is another cloud's journal, of which it takes nothing in", async () => {
    const [one] = await site.twoDaemons()
    await site.clock.run(one.act())
    const stranger = site.start('ctl3', { cloud: 'green' })
    await site.clock.advance(2_000)
    expect([stranger.problem, stranger.copy.head().seq]).toEqual(['CONFIG_INVALID', 0])
  })

  it.each([
    ['fewer', 3],
    ['as many', 5],
    ['more', 8],
  ])(
    'is a journal with other entries than its copy, and %s: it names its own, and changes neither',
    async (_, last) => {
      const [one, two] = await site.twoDaemons()
      await site.clock.run(one.act())
      await site.clock.advance(1_000)
      const backup = [...site.cluster.entries]
      for (let n = 0; n < 3; n++) await site.clock.run(one.act())
      await site.clock.advance(1_000)
      site.kill(one)
      site.kill(two)
      // The store was restored, and another daemon went on.
      site.cluster.entries = backup
      site.acts.splice(1)
      const three = site.start('ctl3')
      await site.untilActive(three)
      for (let seq = three.copy.head().seq; seq < last; seq++) await site.clock.run(three.act())
      const there = [...site.cluster.entries]
      const again = site.start('ctl2')
      await site.clock.until(() => again.problem !== null)
      expect(again.tenure.why).toMatch(/entries 3 to 5 of the copy are not those of the shared journal/)
      expect([again.problem, again.copy.head().seq]).toEqual(['JOURNAL_CORRUPT', 5])
      expect(site.cluster.entries.slice(0, there.length)).toEqual(there)
    },
  )

  it('is a journal that went another way while it stood by, and it does not hold the tenure', async () => {
    const [one, two] = await site.twoDaemons()
    await site.clock.run(one.act())
    await site.clock.advance(1_000)
    site.kill(one)
    const [first, second] = site.cluster.entries
    if (first === undefined || second === undefined) throw new Error('nothing was written')
    site.cluster.entries = [first, { ...second, hash: 'f'.repeat(64) }]
    site.acts.splice(0)
    await site.clock.until(() => two.problem !== null)
    expect(two.tenure.why).toMatch(/entry 2 of the copy is not that of the shared journal/)
    expect([two.problem, site.cluster.tenure.holder, site.tenures().length]).toEqual(['JOURNAL_CORRUPT', '', 1])
  })

  it('is a journal that went another way, and further, while it stood by', async () => {
    const [one, two] = await site.twoDaemons()
    await site.clock.run(one.act())
    await site.clock.advance(1_000)
    site.kill(one)
    const [first] = site.cluster.entries
    if (first === undefined) throw new Error('nothing was written')
    const others = ['1', '2'].map((message): NewEntry => ({ kind: 'alarm.raised', data: { code: 'OTHER', message } }))
    site.cluster.entries = [first, ...rowsAfter(first, ...others)]
    site.acts.splice(0)
    await site.clock.advance(1_000)
    expect([two.problem, two.copy.head().seq]).toEqual(['JOURNAL_CORRUPT', 2])
    expect(two.tenure.why).toMatch(/entry 2 of the copy is not that of the shared journal/)
  })

  it('is an entry format that this release does not know: it stands by', async () => {
    site.cluster.tenure = { ...site.cluster.tenure, format: 99 }
    const old = site.start('ctl1')
    await site.clock.advance(30_000)
    expect(old.tenure.state).toBe('standby')
  })
})
