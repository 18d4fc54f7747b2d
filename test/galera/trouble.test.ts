/** The shared store on three real nodes of MariaDB Galera, of which some are killed, stopped or cut off, replicate nothing, or are another cluster. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { SharedRow, SharedStore } from '../../src/journal/shared/store.ts'
import type { MariadbOptions } from '../../src/journal/shared/mariadb.ts'
import { row, start } from '../journal/shared/store-contract.ts'
import { account } from './cluster.ts'
import { Stage } from './stage.ts'

const stage = new Stage()
const { cluster } = stage
beforeAll(() => cluster.start())
beforeEach(() => cluster.tables())
afterEach(() => stage.closeStores())
afterAll(() => cluster.stop())

/** A vote on a dead node takes six seconds, and the statement that it held up is sent again after it. */
const longestStandstillMs = 15_000

/** Appends one entry after the other, as the protocol has it, and measures the longest wait for one. */
class Writer {
  readonly acknowledged: SharedRow[] = []
  longestMs = 0
  #isStopping = false
  #done: Promise<void>

  constructor(store: SharedStore) {
    this.#done = this.#write(store)
    // Rejects when `finish` is called, not before anyone listens.
    this.#done.catch(() => undefined)
  }

  async reached(entries: number): Promise<void> {
    await expect.poll(() => this.acknowledged.length).toBeGreaterThanOrEqual(entries)
  }

  async finish(): Promise<void> {
    this.#isStopping = true
    await this.#done
  }

  async #write(store: SharedStore): Promise<void> {
    while (!this.#isStopping) {
      const before = this.acknowledged.at(-1) ?? start
      const entry = row(before.seq + 1, `entry ${before.seq + 1}`)
      const sentAt = performance.now()
      const end = await stage.untilAnswered(() => store.insert(before, [entry]))
      if (end === 'taken') expect(await stage.untilAnswered(() => store.hashAt(entry.seq))).toBe(entry.hash)
      if (end === 'nothing') throw new Error(`the entry before ${entry.seq} is gone`)
      this.longestMs = Math.max(this.longestMs, performance.now() - sentAt)
      this.acknowledged.push(entry)
    }
  }
}

/** Every acknowledged entry is on each node, once and in order, and no other one is. */
async function expectNothingLost({ acknowledged }: Writer): Promise<void> {
  const wanted = acknowledged.map(({ seq, hash }) => ({ seq, hash }))
  expect(await stage.onEachNode()).toEqual([wanted, wanted, wanted])
}

describe('the node that is asked', () => {
  it('costs the caller seconds and no acknowledged entry when it is killed', async () => {
    const writer = new Writer(stage.store(2))
    await writer.reached(20)
    cluster.signal(2, 'SIGKILL')
    await writer.reached(writer.acknowledged.length + 20)
    await writer.finish()
    expect(writer.longestMs).toBeLessThan(longestStandstillMs)
    await cluster.run(2)
    await expectNothingLost(writer)
  })

  it('costs the caller seconds and no acknowledged entry when it stands still and goes on', async () => {
    const writer = new Writer(stage.store(3))
    await writer.reached(20)
    cluster.signal(3, 'SIGSTOP')
    await writer.reached(writer.acknowledged.length + 20)
    cluster.signal(3, 'SIGCONT')
    await cluster.whole()
    await writer.finish()
    expect(writer.longestMs).toBeLessThan(longestStandstillMs)
    await expectNothingLost(writer)
  })

  it('is left for the next one within the time for a connection when it lets nobody in', async () => {
    cluster.signal(1, 'SIGSTOP')
    const store = stage.store(1)
    const askedAt = performance.now()
    await store.look(0, 0)
    const tookMs = performance.now() - askedAt
    cluster.signal(1, 'SIGCONT')
    await cluster.whole()
    expect(tookMs).toBeGreaterThan(900)
    expect(tookMs, 'a statement has three seconds').toBeLessThan(3_000)
  })

  it('is left by all connections of a daemon once a look at it had no answer, which takes a second', async () => {
    const store = stage.store(1)
    await store.look(0, 0)
    await store.daemons()
    cluster.signal(1, 'SIGSTOP')
    const askedAt = performance.now()
    await expect(store.look(0, 0)).rejects.toMatchObject({ kind: 'again' })
    const lookedMs = performance.now() - askedAt
    await store.daemons()
    const allMs = performance.now() - askedAt
    cluster.signal(1, 'SIGCONT')
    await cluster.whole()
    expect(lookedMs, 'a statement has three seconds').toBeLessThan(3_000)
    // Another connection that waited for itself would take as long again.
    expect(allMs).toBeLessThan(1.8 * lookedMs)
  })
})

/** What a store tells of its nodes and its cluster, as words. */
function telling(): { told: string[]; options: Partial<MariadbOptions> } {
  const told: string[] = []
  const toldOfCluster: MariadbOptions['toldOfCluster'] = (event) => {
    const number = event.kind === 'node' ? cluster.addresses.findIndex(({ host }) => host === event.node.host) + 1 : 0
    told.push(event.kind === 'moved' ? 'moved' : `node ${number} ${event.why === null ? 'used' : 'refused'}`)
  }
  return { told, options: { toldOfCluster } }
}

const entriesOnEach = async (): Promise<number[]> => (await stage.onEachNode()).map((rows) => rows.length)

describe('a node that replicates nothing', () => {
  const replicatesNothing = async (number: number): Promise<void> => {
    await cluster.sql(number, 'SET GLOBAL wsrep_on = OFF')
    onTestFinished(async () => void (await cluster.sql(number, 'SET GLOBAL wsrep_on = ON')))
  }

  it('is passed over by a daemon that starts, with a word', async () => {
    await replicatesNothing(1)
    const { told, options } = telling()
    expect(await stage.store(1, {}, options).insert(start, [row(1, 'a')])).toBe('inserted')
    await expect.poll(entriesOnEach).toEqual([1, 1, 1])
    expect(told).toEqual(['node 1 refused'])
  })

  const statements: [string, (store: SharedStore) => Promise<unknown>][] = [
    ['a look', (store) => store.look(0, 0)],
    ['a first entry', (store) => store.insert(start, [row(1, 'other')])],
    ['a later entry', (store) => store.insert(row(1, 'a'), [row(2, 'b')])],
    ['a take-over', (store) => store.take({ epoch: 0, beat: 0 }, { epoch: 1, holder: 'one', format: 1 })],
    ['a renewal', (store) => store.renew(0, '')],
    ['the end of a tenure', (store) => store.release(0, '')],
  ]

  it.each(statements)('refuses %s on connections that are older, and nothing is written there', async (_what, send) => {
    const { told, options } = telling()
    const store = stage.store(1, {}, options)
    expect(await store.insert(start, [row(1, 'a')])).toBe('inserted')
    await Promise.all([store.look(0, 0), store.renew(9, '')])
    const written = (): Promise<unknown> =>
      cluster.sql(1, 'SELECT epoch, beat, holder, at, (SELECT COUNT(*) FROM entries) AS entries FROM tenure')
    const before = await written()
    await replicatesNothing(1)
    await expect(send(store)).rejects.toMatchObject({ kind: 'again', maybeDone: false, answered: true })
    expect(await written()).toEqual(before)
    expect(told).toEqual(['node 1 refused'])
  })

  it('is left for the next one', async () => {
    const store = stage.store(1)
    expect(await store.insert(start, [row(1, 'a')])).toBe('inserted')
    await replicatesNothing(1)
    expect(await stage.untilAnswered(() => store.insert(row(1, 'a'), [row(2, 'b')]))).toBe('inserted')
    await expect.poll(entriesOnEach).toEqual([2, 2, 2])
  })

  it('is one that has no library for Galera too', async () => {
    await cluster.withoutGalera(3)
    onTestFinished(() => cluster.unite(3))
    const { told, options } = telling()
    expect(await stage.store(3, {}, options).insert(start, [row(1, 'a')])).toBe('inserted')
    expect(told).toEqual(['node 3 refused'])
    await expect(stage.storeOf(3).insert(start, [row(1, 'b')])).rejects.toMatchObject({ kind: 'again' })
  })

  it('gets nothing where it is the only one', async () => {
    await replicatesNothing(1)
    const refused = { kind: 'again', maybeDone: false, answered: true }
    await expect(stage.storeOf(1).insert(start, [row(1, 'a')])).rejects.toMatchObject(refused)
    expect(await entriesOnEach()).toEqual([0, 0, 0])
  })
})

it('a node alone that refuses the account, as one that was installed again, is passed over', async () => {
  const change = (how: 'LOCK' | 'UNLOCK'): Promise<unknown> =>
    cluster.sql(1, 'SET SESSION wsrep_on = OFF', `ALTER USER '${account.user}'@'%' ACCOUNT ${how}`)
  await change('LOCK')
  onTestFinished(async () => void (await change('UNLOCK')))
  const store = stage.store(1)
  expect(await store.insert(start, [row(1, 'a')])).toBe('inserted')
  await expect.poll(entriesOnEach).toEqual([1, 1, 1])
})

describe('a node that was stopped in order and begun by itself, under the name of the cluster', () => {
  // After the tables were made on all three.
  beforeEach(() => cluster.beginAlone(3))
  afterEach(() => cluster.unite(3))

  it('is passed over while the others answer, and takes no entry', async () => {
    const before = (await entriesOnEach())[2]
    const { told, options } = telling()
    expect(await stage.store(3, {}, options).insert(start, [row(1, 'a')])).toBe('inserted')
    expect(await entriesOnEach()).toEqual([1, 1, before])
    expect(told).toEqual(['node 3 refused'])
  })
})

describe('a node that is a cluster of its own', () => {
  beforeEach(() => cluster.part(3))
  afterEach(() => cluster.unite(3))

  it('is passed over by a daemon that starts and is to ask it first', async () => {
    const before = (await entriesOnEach())[2]
    const { told, options } = telling()
    expect(await stage.store(3, {}, options).insert(start, [row(1, 'a')])).toBe('inserted')
    expect(await entriesOnEach()).toEqual([1, 1, before])
    expect(told).toEqual(['node 3 refused'])
  })

  it('is not used while the others are silent, for they may serve other daemons', async () => {
    const { told, options } = telling()
    const store = stage.store(1, {}, options)
    expect(await store.insert(start, [row(1, 'a')])).toBe('inserted')
    for (const number of [1, 2]) cluster.signal(number, 'SIGSTOP')
    onTestFinished(() => {
      for (const number of [1, 2]) cluster.signal(number, 'SIGCONT')
    })
    for (let tries = 0; tries < 3; tries++)
      await expect(store.insert(row(1, 'a'), [row(2, 'b')])).rejects.toMatchObject({ kind: 'again' })
    for (const number of [1, 2]) cluster.signal(number, 'SIGCONT')
    expect(await stage.untilAnswered(() => store.insert(row(1, 'a'), [row(2, 'b')]), 60_000)).toMatch(/inserted|taken/)
    await expect.poll(async () => (await entriesOnEach()).slice(0, 2)).toEqual([2, 2])
    // Once for each reason: the others are used, they are silent, they are used again.
    expect(new Set(told)).toEqual(new Set(['node 3 refused']))
  })
})

it('says within the time for a statement that it may be done, when the node hangs in the middle of it', async () => {
  const store = stage.storeOf(1)
  expect(await store.insert(start, [row(1, 'a')])).toBe('inserted')
  cluster.signal(1, 'SIGSTOP')
  const askedAt = performance.now()
  const calls = [store.insert(row(1, 'a'), [row(2, 'b')]), store.insert(row(2, 'b'), [row(3, 'c')])]
  const ends = await Promise.allSettled(calls)
  const tookMs = performance.now() - askedAt
  cluster.signal(1, 'SIGCONT')
  await cluster.whole()
  const again = (maybeDone: boolean): object => ({ status: 'rejected', reason: { kind: 'again', maybeDone } })
  // The second one waited for the first, and was never sent.
  expect(ends).toMatchObject([again(true), again(false)])
  expect(tookMs, 'one after the other takes two times three seconds').toBeLessThan(6_000)
})

it('refuses everything in a minority once the vote is over, while the majority goes on', async () => {
  const [few, many] = [stage.storeOf(3), stage.store(1)]
  expect(await many.insert(start, [row(1, 'a')])).toBe('inserted')
  expect(await few.hashAt(1)).toBe(row(1, 'a').hash)
  await cluster.isolate(3)
  onTestFinished(() => cluster.rejoin(3))
  // Until then the node answers reads, with what it had.
  const refused = { kind: 'again', maybeDone: false }
  await expect.poll(() => few.look(0, 0).catch((thrown: unknown) => thrown)).toMatchObject(refused)
  await expect(few.insert(row(1, 'a'), [row(2, 'few')])).rejects.toMatchObject(refused)
  await expect(few.renew(0, '')).rejects.toMatchObject(refused)
  expect(await stage.untilAnswered(() => many.insert(row(1, 'a'), [row(2, 'many')]))).toBe('inserted')
  await cluster.rejoin(3)
  expect(await stage.untilAnswered(() => few.hashAt(2))).toBe(row(2, 'many').hash)
})

it('says that a write may be done that waits for an answer as its node is cut off', async () => {
  // Longer than the vote: what the node itself says of the write is looked at.
  const few = stage.store(3, {}, { nodes: cluster.addresses.slice(2), statementLimitMs: 15_000 })
  await few.look(0, 0)
  await cluster.isolate(3)
  onTestFinished(() => cluster.rejoin(3))
  await expect(few.insert(start, [row(1, 'a')])).rejects.toMatchObject({ kind: 'again', maybeDone: true })
})

it('has every acknowledged entry after all nodes crashed together, and is then another cluster', async () => {
  const { told, options } = telling()
  const writer = new Writer(stage.store(1, {}, options))
  await writer.reached(200)
  await cluster.crashAndRecover()
  await writer.reached(writer.acknowledged.length + 20)
  await writer.finish()
  await expectNothingLost(writer)
  expect(told.filter((word) => word === 'moved')).toHaveLength(1)
})
