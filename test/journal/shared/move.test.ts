/** A journal moved to the shared store and back, on a store in memory and under a virtual clock. On real nodes: test/galera/move.test.ts. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ensureError, LifeboatError } from '../../../src/domain/errors.ts'
import type { JournalPlace } from '../../../src/domain/entry.ts'
import { openJournal, type JournalWriter } from '../../../src/journal/journal.ts'
import { identityOf } from '../../../src/journal/shared/identity.ts'
import { moveOutOfLostStore, moveToOwn, moveToShared } from '../../../src/journal/shared/move.ts'
import { entryRow, sharedRow } from '../../../src/journal/shared/rows.ts'
import { StoreTrouble, type SharedStore } from '../../../src/journal/shared/store.ts'
import { troubleOf } from '../../../src/journal/shared/trouble.ts'
import { mustBeOwn, notShared } from '../../../src/journal/shared/whereabouts.ts'
import { newJournal } from '../fixtures.ts'
import { Site } from './controllers.ts'

let site: Site
beforeEach(() => {
  site = new Site()
})
afterEach(() => {
  expect(site.broken()).toEqual([])
  site.close()
})

/** Opens the journal of a machine whose daemon is stopped. `directory`: of a copy that someone made. */
async function using<T>(
  name: string,
  use: (journal: JournalWriter) => T | Promise<T>,
  directory = site.directory,
): Promise<T> {
  const journal = openJournal(join(directory, `${name}.db`), { clock: site.clock })
  try {
    return await use(journal)
  } finally {
    journal.close()
  }
}

/** What a daemon with a journal of its own records. */
const record = (name: string, entries: number, directory?: string): Promise<void> =>
  using(
    name,
    (journal) => {
      mustBeOwn(journal)
      const numbers = Array.from({ length: entries }, (_, n) => n)
      journal.append(numbers.map((n) => ({ kind: 'alarm.raised', data: { code: 'N', message: `é😀"${n}` } })))
    },
    directory,
  )

interface Order {
  databaseLost?: boolean
  store?: SharedStore
  cloud?: string
  /** Of a copy that someone made. */
  directory?: string
  /** The run of the machine's kernel; another one: it has restarted. */
  boot?: string
}

/** Orders a move on a machine. Gives `ENTRIES HASH` that both hold, or the code of what stands against it. */
function move(
  name: string,
  to: JournalPlace,
  { store = site.cluster.client(), cloud = 'blue', databaseLost = false, directory, boot }: Order = {},
): Promise<string> {
  const order = async (copy: JournalWriter): Promise<string> => {
    const parts = {
      store,
      copy,
      cloud,
      clock: site.clock,
      identity: identityOf(name, copy.path, boot),
      by: 'ann',
      reason: 'so',
    }
    const moving = to === 'shared' ? moveToShared : databaseLost ? moveOutOfLostStore : moveToOwn
    const moved = await site.clock.run(moving(parts)).catch((thrown: unknown) => ensureError(thrown))
    if (moved instanceof LifeboatError) return moved.code
    const { seq, hash } = moved.head
    expect(copy.verify()).toMatchObject({ entries: seq, head: hash, broken: null })
    if (!databaseLost) expect(shared()).toBe(`${seq} ${hash}`)
    return `${seq} ${hash}`
  }
  return using(name, order, directory)
}

const shared = (): string => {
  const last = site.cluster.entries.at(-1)
  return `${last?.seq ?? 0} ${last?.hash ?? ''}`
}

/** The places in which a daemon may go on with the journal that began on this machine. */
async function goesOnIn(name: string): Promise<JournalPlace[]> {
  const places: JournalPlace[] = []
  await using(name, (journal) => {
    try {
      mustBeOwn(journal)
      places.push('own')
    } catch {
      // It goes on elsewhere.
    }
  })
  const follower = newJournal()
  follower.takeIn(site.cluster.entries.map(entryRow))
  if (follower.head().seq > 0 && notShared(follower) === null) places.push('shared')
  return places
}

/** A store that the process does not outlive: it ends with this statement, before it is sent or before it is answered. */
function dyingAt(statement: number, sent: boolean): { store: SharedStore; died: () => boolean } {
  const client = site.cluster.client()
  let left = statement
  let died = false
  const store = new Proxy(client, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...values: unknown[]): Promise<unknown> => {
        left -= 1
        died = left === 0
        if (died && !sent) throw new Error('killed')
        const answer: unknown = await Reflect.apply(method, target, values)
        if (died) throw new Error('killed')
        return answer
      }
    },
  })
  return { store, died: () => died }
}

/** A daemon on this machine shares the journal, becomes active and is stopped in order. */
async function shareForAWhile(name: string): Promise<void> {
  const daemon = site.start(name)
  await site.untilActive(daemon)
  await site.clock.run(daemon.act())
  await site.clock.run(daemon.tenure.release())
  site.kill(daemon)
}

describe('moving to the shared store', () => {
  it('copies every entry as it is, and several daemons go on with them', async () => {
    await record('ctl1', 700)
    expect(await move('ctl1', 'shared')).toMatch(/^701 /)
    const one = site.start('ctl1')
    await site.untilActive(one)
    const two = site.start('ctl2')
    await site.clock.advance(5_000)
    expect([two.tenure.state, two.copy.head()]).toEqual(['standby', one.copy.head()])
    expect(two.copy.verify()).toMatchObject({ entries: 702, broken: null })
  })

  it('says who ordered it and why', async () => {
    await record('ctl1', 1)
    await move('ctl1', 'shared')
    expect(await using('ctl1', (journal) => journal.read({ after: 1 }))).toMatchObject([
      { kind: 'journal.moved', actor: 'operator:ann', data: { to: 'shared', by: 'ann', reason: 'so' } },
    ])
  })

  it('sends no statement of more than a megabyte, but for an entry that is larger by itself', async () => {
    await using('ctl1', (journal) =>
      journal.append(
        [400_000, 400_000, 400_000, 1_500_000, 10, 999_999].map((length) => ({
          kind: 'alarm.raised',
          data: { code: 'N', message: 'm'.repeat(length) },
        })),
      ),
    )
    const store = site.cluster.client()
    const { insert } = store
    const statements: number[][] = []
    store.insert = (after, rows) => {
      statements.push(rows.map(({ seq }) => seq))
      return insert(after, rows)
    }
    await move('ctl1', 'shared', { store })
    expect(statements).toEqual([[1, 2], [3], [4], [5], [6], [7]])
  })

  it('once more changes nothing', async () => {
    await record('ctl1', 3)
    const moved = await move('ctl1', 'shared')
    expect(await move('ctl1', 'shared')).toBe(moved)
  })

  it.each([
    ['tables that hold another journal', () => move('ctl2', 'shared'), 'CONFLICT'],
    ['an older file of a journal that went on', () => using('ctl1', (copy) => newerInTheStore(copy)), 'CONFLICT'],
    ['a tenure that another daemon holds', () => holdTenure(), 'NOT_ACTIVE'],
  ])("is refused for %s, and the file stays a daemon's own", async (_what, before, code) => {
    await record('ctl1', 3)
    await record('ctl2', 4)
    await before()
    const there = shared()
    expect(await move('ctl1', 'shared')).toBe(code)
    expect(shared()).toBe(there)
    await record('ctl1', 1)
  })

  it("is refused for another cloud's tables, and for a journal without entries", async () => {
    expect(await move('ctl1', 'shared')).toBe('CONFLICT')
    await record('ctl1', 3)
    expect(await move('ctl1', 'shared', { cloud: 'green' })).toBe('CONFIG_INVALID')
    expect(site.cluster.entries).toEqual([])
  })

  it('is never begun nor finished by a start', async () => {
    await record('ctl1', 300)
    await move('ctl1', 'shared', dyingAt(3, true))
    const moved = site.cluster.entries.length
    expect(moved).toBeGreaterThan(0)
    const [one, two] = [site.start('ctl1'), site.start('ctl2')]
    await site.clock.advance(20_000)
    expect([one.problem, two.tenure.state]).toEqual(['JOURNAL_UNAVAILABLE', 'standby'])
    expect(two.events.filter(({ kind }) => kind === 'trouble')).toHaveLength(1)
    expect(site.cluster.entries).toHaveLength(moved)
    site.kill(one)
    expect(await move('ctl1', 'shared')).toMatch(/^301 /)
    expect(await site.untilActive(two)).toBeLessThan(4_000)
  })
})

const newerInTheStore = (copy: JournalWriter): void => {
  const later = newJournal()
  later.takeIn(copy.rows(0, 10))
  later.append([{ kind: 'daemon.stopped', data: { reason: 'later' } }])
  site.cluster.entries = later.rows(0, 10).map(sharedRow)
}

const holdTenure = async (): Promise<void> => {
  await site.cluster.client().take({ epoch: 0, beat: 0 }, { epoch: 1, holder: 'ctl9/00000000#1', format: 1 })
}

describe('moving out of the shared store', () => {
  beforeEach(async () => {
    await record('ctl1', 5)
    await move('ctl1', 'shared')
    await shareForAWhile('ctl1')
    await shareForAWhile('ctl2')
  })

  it("makes the copy, complete, a daemon's own again, with the same entries", async () => {
    const before = [...site.cluster.entries]
    await move('ctl1', 'own')
    expect(site.cluster.entries.slice(0, -1)).toEqual(before)
    await record('ctl1', 1)
    expect(await goesOnIn('ctl1')).toEqual(['own'])
  })

  it('goes on on any machine, also on one that has no copy yet', async () => {
    expect(await move('ctl3', 'own')).toBe(shared())
    await record('ctl3', 1)
  })

  it('ends what was shared: no daemon takes over, and each says where it goes on', async () => {
    await move('ctl1', 'own')
    const [two, three] = [site.start('ctl2'), site.start('ctl3')]
    await site.clock.advance(30_000)
    expect([two.problem, three.problem]).toEqual(['CONFIG_INVALID', 'CONFIG_INVALID'])
    expect(two.tenure.why).toMatch(/ctl1's own journal/)
    expect(shared()).toMatch(/^11 /)
  })

  it('ends it for a daemon that stands by meanwhile', async () => {
    const two = site.start('ctl2')
    await site.untilActive(two)
    const three = site.start('ctl3')
    await site.clock.advance(5_000)
    expect(await move('ctl1', 'own')).toBe('NOT_ACTIVE')
    site.kill(two)
    site.cluster.tenure = { ...site.cluster.tenure, holder: '' }
    // The standby and the move take what is free at once: one of them wins, and the chain goes on in one place.
    const moved = await move('ctl1', 'own')
    await site.clock.advance(30_000)
    expect(three.problem ?? three.tenure.state).toBe(moved.startsWith('1') ? 'CONFIG_INVALID' : 'active')
  })

  it('ends it for a daemon that has taken the tenure and not yet written', async () => {
    const two = site.start('ctl2')
    const follower = newJournal()
    const take = two.client.take
    two.client.take = async (seen, next) => {
      const took = await take(seen, next)
      follower.takeIn(site.cluster.entries.map(entryRow))
      const data = { to: 'own' as const, holder: 'ctl9/00000000#1', by: 'ann', reason: 'so' }
      follower.append([{ kind: 'journal.moved', data }])
      site.cluster.entries.push(...follower.rows(follower.head().seq - 1, 1).map(sharedRow))
      return took
    }
    await site.clock.advance(20_000)
    expect([two.problem, two.tenure.state, site.cluster.tenure.holder]).toEqual(['CONFIG_INVALID', 'ended', ''])
    expect(site.cluster.entries).toHaveLength(follower.head().seq)
  })

  it("leaves the copies of others to be read, and to be nobody's own", async () => {
    await move('ctl1', 'own')
    const two = site.start('ctl2')
    await site.clock.advance(5_000)
    site.kill(two)
    await expect(record('ctl2', 1)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('once more changes nothing, and is refused elsewhere', async () => {
    const moved = await move('ctl1', 'own')
    expect([await move('ctl1', 'own'), await move('ctl2', 'own'), shared()]).toEqual([moved, 'CONFLICT', moved])
  })

  it('is refused once the own journal has gone on', async () => {
    await move('ctl1', 'own')
    await record('ctl1', 1)
    expect(await move('ctl1', 'own')).toBe('CONFLICT')
  })

  it('and in again goes on with the same tables and the same journal', async () => {
    await move('ctl1', 'own')
    await record('ctl1', 2)
    const one = site.start('ctl1')
    await site.clock.advance(3_000)
    expect(one.problem).toBe('JOURNAL_UNAVAILABLE')
    site.kill(one)
    expect(await move('ctl2', 'shared')).toBe('CONFLICT')
    expect(await move('ctl1', 'shared')).toBe(shared())
    await shareForAWhile('ctl2')
  })
})

describe("a daemon's directory that was copied to another machine", () => {
  beforeEach(async () => {
    await record('ctl1', 5)
    await move('ctl1', 'shared')
    await shareForAWhile('ctl1')
  })

  it.each(['own', 'shared'] as const)('moves nothing to the %s place that the first one holds', async (to) => {
    const one = site.start('ctl1')
    await site.untilActive(one)
    const directory = site.copyOf('ctl1')
    expect(await move('ctl1', to, { directory })).toBe('NOT_ACTIVE')
    await site.clock.advance(3_000)
    expect(one.tenure.state).toBe('active')
  })

  it('makes one journal its own by an order there, and not that of the first one too', async () => {
    const directory = site.copyOf('ctl1')
    await move('ctl1', 'own', { directory })
    // It pulls the entry that says so.
    const one = site.start('ctl1')
    await site.clock.advance(3_000)
    site.kill(one)
    await expect(record('ctl1', 1)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect([await move('ctl1', 'own'), await move('ctl1', 'shared')]).toEqual(['CONFLICT', 'CONFLICT'])
    await record('ctl1', 1, directory)
  })
})

describe('a move that is interrupted at any statement', () => {
  const cases = [false, true].flatMap((sent) => Array.from({ length: 12 }, (_, index) => [index + 1, sent] as const))

  it.each(cases)(
    'to the shared store, %i, sent: %s: one place at most goes on, and the order finishes it',
    async (at, sent) => {
      await record('ctl1', 450)
      const { store, died } = dyingAt(at, sent)
      const ended = await move('ctl1', 'shared', { store })
      expect(ended === 'INVARIANT').toBe(died())
      expect(await goesOnIn('ctl1')).toHaveLength(
        died() && (await fileSaysShared('ctl1')) && shared().startsWith('450 ') ? 0 : 1,
      )
      expect(await move('ctl1', 'shared')).toBe(shared())
      expect([await goesOnIn('ctl1'), shared()]).toEqual([['shared'], expect.stringMatching(/^451 /)])
    },
  )

  it.each(cases)('out of it, %i, sent: %s: one place at most goes on, and the order finishes it', async (at, sent) => {
    await shareFromOneToTheOther()
    const { store, died } = dyingAt(at, sent)
    expect((await move('ctl1', 'own', { store })) === 'INVARIANT').toBe(died())
    expect((await goesOnIn('ctl1')).length).toBeLessThanOrEqual(1)
    expect(await move('ctl1', 'own')).toBe(shared())
    expect([await goesOnIn('ctl1'), shared()]).toEqual([['own'], expect.stringMatching(/^9 /)])
    expect(site.cluster.tenure.holder).toBe('')
  })

  it.each([
    ['insert', 'own'],
    ['insert', 'shared'],
    ['release', 'own'],
    ['release', 'shared'],
  ] as const)(
    'out of it, at its %s: the order to %s is obeyed after a restart of the machine',
    async (statement, to) => {
      await shareFromOneToTheOther()
      const killed = () => Promise.reject(new Error('killed'))
      const store = { ...site.cluster.client(), [statement]: killed }
      expect(await move('ctl1', 'own', { store })).toBe('INVARIANT')
      expect(await move('ctl1', to, { boot: 'later' })).toBe(shared())
      expect(await goesOnIn('ctl1')).toEqual([to])
    },
  )

  async function shareFromOneToTheOther(): Promise<void> {
    await record('ctl1', 5)
    await move('ctl1', 'shared')
    await shareForAWhile('ctl2')
  }
})

const fileSaysShared = (name: string): Promise<boolean> =>
  using(name, (journal) => journal.read({ kinds: ['journal.moved'] }).length > 0)

describe('a store in trouble', () => {
  it('is waited for while a cluster votes a dead node out', async () => {
    await record('ctl1', 3)
    site.cluster.stall()
    site.clock.after(7_000, () => site.cluster.flow())
    expect(await move('ctl1', 'shared')).toMatch(/^4 /)
  })

  it('that does not come back ends the move after half a minute', async () => {
    await record('ctl1', 3)
    const store = site.cluster.client()
    store.cut()
    const began = site.clock.now()
    expect(await move('ctl1', 'shared', { store })).toBe('JOURNAL_UNAVAILABLE')
    expect(site.clock.now() - began).toBeGreaterThanOrEqual(30_000)
    expect(site.clock.now() - began).toBeLessThan(60_000)
    await record('ctl1', 1)
  })

  it.each([1, 2, 3, 5, 8])('that loses %i answers loses and doubles no entry', async (answers) => {
    await record('ctl1', 450)
    const store = site.cluster.client()
    store.loseAnswers(answers)
    expect(await move('ctl1', 'shared', { store })).toMatch(/^451 /)
    store.loseAnswers(answers)
    expect(await move('ctl1', 'own', { store })).toMatch(/^452 /)
  })
})

describe('a shared database that is lost for good', () => {
  let lost: SharedStore
  beforeEach(async () => {
    await record('ctl1', 5)
    await move('ctl1', 'shared')
    await shareForAWhile('ctl1')
    const client = site.cluster.client()
    client.cut()
    lost = client
  })
  const leave = (store: SharedStore): Promise<string> => move('ctl1', 'own', { store, databaseLost: true })

  it('leaves a copy that goes on by itself, with all that it had received', async () => {
    expect(await leave(lost)).toMatch(/^9 /)
    await record('ctl1', 1)
  })

  it('is not taken for lost when it only stands still, nor when it refuses the account', async () => {
    const refusing = site.cluster.client()
    refusing.look = () => Promise.reject(new StoreTrouble('refused', 'access denied', { maybeDone: false }))
    site.cluster.stall()
    expect([await leave(refusing), await leave(site.cluster.client())]).toEqual(['CONFLICT', 'CONFLICT'])
    expect(await goesOnIn('ctl1')).toEqual(['shared'])
  })

  it('is not taken for lost while a node says that it has no majority, for the majority may be elsewhere', async () => {
    const minority = site.cluster.client()
    const server = Object.assign(new Error('WSREP has not yet prepared node for application use'), { errno: 1047 })
    minority.look = () => Promise.reject(troubleOf(server, { host: '192.0.2.1', port: 3306 }))
    expect(await leave(minority)).toBe('CONFLICT')
    expect(await goesOnIn('ctl1')).toEqual(['shared'])
  })

  it('is not for a journal that is its own', async () => {
    await record('ctl2', 5)
    expect(await move('ctl2', 'own', { store: lost, databaseLost: true })).toBe('CONFLICT')
  })

  it('that comes back takes the journal in again where it stopped', async () => {
    await leave(lost)
    await record('ctl1', 2)
    expect(await move('ctl1', 'shared')).toMatch(/^12 /)
    await shareForAWhile('ctl2')
  })

  it('that comes back with entries of others is another journal from then on, and neither is changed', async () => {
    await leave(lost)
    await record('ctl1', 2)
    await shareForAWhile('ctl2')
    const there = shared()
    expect([await move('ctl1', 'shared'), shared()]).toEqual(['CONFLICT', there])
    await record('ctl1', 1)
  })
})
