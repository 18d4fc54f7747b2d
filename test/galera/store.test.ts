/** The shared store on three real nodes of MariaDB Galera, all well. */
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { SharedStore } from '../../src/journal/shared/store.ts'
import { row, storeContract, start } from '../journal/shared/store-contract.ts'
import { account, reader } from './cluster.ts'
import { Stage } from './stage.ts'

const stage = new Stage()
const { cluster } = stage
beforeAll(() => cluster.start())
afterEach(() => stage.closeStores())
afterAll(() => cluster.stop())

storeContract('the store in Galera, with one node for both daemons', async () => {
  await cluster.tables()
  return [stage.store(1), stage.store(1)]
})

storeContract('the store in Galera, with a node for each daemon', async () => {
  await cluster.tables()
  return [stage.store(1), stage.store(2)]
})

describe('races of four connections on three nodes', () => {
  it('have one winner each of two hundred times', async () => {
    await cluster.tables()
    const racers = [1, 2, 3, 1].map((first) => stage.store(first))
    let before = start
    for (let seq = 1; seq <= 200; seq++) {
      const bids = racers.map((racer, index) => ({ racer, entry: row(seq, `${seq} by ${index}`) }))
      const ends = await Promise.all(
        bids.map(({ racer, entry }) => stage.untilAnswered(() => racer.insert(before, [entry]))),
      )
      const hashes = await Promise.all(racers.map((racer) => racer.hashAt(seq)))
      const [winner] = bids.filter(({ entry }) => entry.hash === hashes[0])
      expect(new Set(hashes)).toEqual(new Set([winner?.entry.hash]))
      const winners = bids.filter((_, index) => ends[index] === 'inserted')
      // Whose answer was lost and who then asked again hears that it is taken, by its own entry.
      expect(winners.every((it) => it === winner)).toBe(true)
      before = { seq, hash: winner?.entry.hash ?? '' }
    }
    expect((await stage.onEachNode()).map((rows) => rows.length)).toEqual([200, 200, 200])
  })

  it('let one take the tenure each of a hundred times', async () => {
    await cluster.tables()
    const racers = [1, 2, 3, 1].map((first) => stage.store(first))
    for (let epoch = 1; epoch <= 100; epoch++) {
      const took = await Promise.all(
        racers.map((racer, index) =>
          racer.take({ epoch: epoch - 1, beat: 0 }, { epoch, holder: `racer ${index}`, format: 1 }).catch(() => null),
        ),
      )
      expect(took.filter((it) => it === true).length).toBeLessThanOrEqual(1)
      // An answer that was lost leaves it open who won; the row says it.
      await racers[0]?.hashAt(1)
      await expect
        .poll(async () =>
          (await Promise.all(racers.map((racer) => racer.look(0, 0)))).map(({ tenure }) => tenure.epoch),
        )
        .toEqual(racers.map(() => epoch))
    }
  })
})

it('sees in a hash at one node what another has acknowledged, each of three hundred times', async () => {
  await cluster.tables()
  const [writer, other] = [stage.store(1), stage.store(2)]
  let before = start
  for (let seq = 1; seq <= 300; seq++) {
    const entry = row(seq, `entry ${seq}`)
    expect(await writer.insert(before, [entry])).toBe('inserted')
    expect(await other.hashAt(seq)).toBe(entry.hash)
    before = entry
  }
})

it('writes no row of a statement when the last of its sequences is taken', async () => {
  await cluster.tables()
  const store = stage.store(1)
  await store.insert(start, [row(1, 'a')])
  await cluster.sql(1, "INSERT INTO entries VALUES (4, REPEAT('f', 64), 'behind a hole')")
  expect(await store.insert(row(1, 'a'), [row(2, 'b'), row(3, 'c'), row(4, 'd')])).toBe('taken')
  expect([await store.hashAt(2), await store.hashAt(3)]).toEqual([null, null])
  expect((await store.look(0, 10)).rows).toEqual([row(1, 'a')])
})

describe('an insert that waits for a lock', () => {
  it('ends after a second as not executed, and delays neither a renewal nor a look', async () => {
    await cluster.tables()
    const store = stage.store(1)
    await store.take({ epoch: 0, beat: 0 }, { epoch: 1, holder: 'one', format: 1 })
    await Promise.all([store.look(0, 0), store.hashAt(1)])
    const unlock = await cluster.node(1).locked(account.database, "INSERT INTO entries VALUES (1, '', '')")
    onTestFinished(unlock)
    let isWaiting = true
    const insert = store.insert(start, [row(1, 'a')]).finally(() => (isWaiting = false))
    const ended = expect(insert).rejects.toMatchObject({ kind: 'again', maybeDone: false })
    expect(await store.renew(1, 'one')).toBe(true)
    await store.look(0, 0)
    expect(isWaiting).toBe(true)
    await ended
  })
})

it('is not misled by what a server is told for all clients', async () => {
  await cluster.tables()
  const hostile = { sql_mode: "'NO_BACKSLASH_ESCAPES'", autocommit: '0', wsrep_sync_wait: '15' }
  const before = (await cluster.sql(1, `SELECT @@GLOBAL.sql_mode AS mode`)) as { mode: string }[]
  onTestFinished(async () => {
    await cluster.sql(1, `SET GLOBAL sql_mode = '${before[0]?.mode}', autocommit = 1, wsrep_sync_wait = 0`)
  })
  await cluster.sql(
    1,
    `SET GLOBAL ${Object.entries(hostile)
      .map(([name, value]) => `${name} = ${value}`)
      .join(', ')}`,
  )
  const [one, two] = [stage.store(1), stage.store(2)]
  const holder = `it's "so" \\`
  expect(await one.take({ epoch: 0, beat: 0 }, { epoch: 1, holder, format: 1 })).toBe(true)
  expect(await one.insert(start, [row(1, 'a')])).toBe('inserted')
  expect(await two.hashAt(1)).toBe(row(1, 'a').hash)
  expect((await two.look(0, 0)).tenure.holder).toBe(holder)
  // Cut to fit, it would be another one's.
  await expect(one.take({ epoch: 1, beat: 0 }, { epoch: 2, holder: 'x'.repeat(65), format: 1 })).rejects.toMatchObject({
    kind: 'refused',
  })
})

describe('what a person must mend is refused', () => {
  it.each([
    ['a wrong password', { password: 'wrong' }],
    ['a user that is not known', { user: 'nobody-knows' }],
    ['a database that is not there', { database: 'elsewhere' }],
  ])('%s', async (_what, access) => {
    await cluster.tables()
    const store = stage.store(1, access)
    const refused = { kind: 'refused', maybeDone: false }
    await expect(store.look(0, 0)).rejects.toMatchObject(refused)
    await expect(store.insert(start, [row(1, 'a')])).rejects.toMatchObject(refused)
  })

  it('rights that were not given', async () => {
    await cluster.tables()
    const store = stage.store(1, reader)
    const refused = { kind: 'refused', maybeDone: false }
    await expect(store.insert(start, [row(1, 'a')])).rejects.toMatchObject(refused)
    await expect(store.renew(0, '')).rejects.toMatchObject(refused)
    expect((await store.look(0, 1)).rows).toEqual([])
  })

  it.each(['entries', 'tenure'])('a table %s that is not there', async (table) => {
    await cluster.tables()
    await cluster.sql(1, `DROP TABLE ${table}`)
    await expect(stage.store(1).look(0, 0)).rejects.toMatchObject({ kind: 'refused', maybeDone: false })
  })

  it('a tenure without its row', async () => {
    await cluster.tables()
    await cluster.sql(1, 'DELETE FROM tenure')
    await expect(stage.store(1).look(0, 0)).rejects.toMatchObject({ kind: 'refused', maybeDone: false })
  })

  it('works once the rights are given, on the same connection', async () => {
    await cluster.tables()
    const store = stage.store(1, reader)
    await expect(store.insert(start, [row(1, 'a')])).rejects.toMatchObject({ kind: 'refused' })
    await cluster.sql(1, `GRANT INSERT ON entries TO '${reader.user}'@'%'`)
    expect(await store.insert(start, [row(1, 'a')])).toBe('inserted')
  })
})

it('leaves no connection behind when it is closed, not even one that it is just making', async () => {
  await cluster.tables()
  const [used, fresh] = [stage.store(1), stage.store(1)]
  await Promise.all([used.look(0, 0), used.renew(0, ''), used.hashAt(1)])
  const late = expect(fresh.look(0, 0)).rejects.toMatchObject({ kind: 'again', maybeDone: false })
  await Promise.all([used.close(), fresh.close()])
  await late
  await expect(used.look(0, 0)).rejects.toMatchObject({ kind: 'again', maybeDone: false })
  const sql = `SELECT COUNT(*) AS open FROM information_schema.processlist WHERE user = '${account.user}'`
  await expect.poll(() => cluster.sql(1, sql)).toEqual([{ open: 0 }])
})

describe('with TLS', () => {
  /** @param ca the node whose certificate is trusted */
  const secure = (number: number, ca: number): SharedStore => {
    const nodes = cluster.addresses.slice(number - 1, number)
    return stage.store(number, {}, { nodes, tls: { ca: cluster.node(ca).certificate } })
  }
  const untrusted = { kind: 'again', maybeDone: false }

  it('speaks to a node whose certificate is trusted and names it, on every connection', async () => {
    await cluster.tables()
    for (let connections = 0; connections < 5; connections++) {
      const store = secure(1, 1)
      await store.look(0, 0)
      const ids = `SELECT id FROM information_schema.processlist WHERE user = '${account.user}'`
      const open = (await cluster.sql(1, ids)) as object[]
      expect(open).toHaveLength(1)
      expect(
        await store.insert({ seq: connections, hash: connections === 0 ? '' : row(connections, 'a').hash }, [
          row(connections + 1, 'a'),
        ]),
      ).toBe('inserted')
      await stage.closeStores()
      await expect.poll(() => cluster.sql(1, ids)).toEqual([])
    }
  })

  it.each([
    ['nobody vouches for', 1, 2],
    ['is of another machine', 2, 2],
    ['is missing', 3, 1],
  ])('asks nothing of a node whose certificate %s', async (_how, number, ca) => {
    await cluster.tables()
    await expect(secure(number, ca).look(0, 0)).rejects.toMatchObject(untrusted)
  })
})

it('lets no daemon change or remove an entry', async () => {
  await cluster.tables()
  await stage.store(1).insert(start, [row(1, 'a')])
  for (const sql of [
    "UPDATE entries SET body = 'b'",
    'DELETE FROM entries',
    'DROP TABLE entries',
    'DELETE FROM tenure',
  ])
    await expect(stage.asDaemon(sql)).rejects.toMatchObject({ errno: 1142 })
})
