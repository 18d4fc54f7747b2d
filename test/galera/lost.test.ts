/** A database that loses what it confirmed, and one that is gone for good: real nodes, and the copies of two daemons. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sleep } from '../../src/domain/clock.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { identityOf } from '../../src/journal/shared/identity.ts'
import { moveOutOfLostStore } from '../../src/journal/shared/move.ts'
import { StoreTrouble } from '../../src/journal/shared/store.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { Machines, type Machine } from './machine.ts'
import { Stage } from './stage.ts'

const stage = new Stage()
const { cluster } = stage
const machines = new Machines(stage)

async function twoDaemons(): Promise<[Machine, Machine]> {
  const one = machines.start('ctl1')
  await expect.poll(() => one.state).toBe('active')
  const two = machines.start('ctl2')
  await expect.poll(() => two.state).toBe('standby')
  return [one, two]
}

/** Each node has exactly the entries of this copy. */
async function expectOneHistory({ copy }: Machine): Promise<void> {
  const rows = copy.rows(0, 100_000).map(({ seq, hash }) => ({ seq, hash }))
  expect(await stage.onEachNode()).toEqual([rows, rows, rows])
  expect(copy.verify()).toMatchObject({ entries: rows.length, broken: null })
}

describe('nodes that write their log once a second and crash together', () => {
  it('get back from the copies every entry that they had confirmed', async () => {
    const [one, two] = await twoDaemons()
    // The row of the tenure is on disk.
    await sleep(clock, 3_000)
    for (const number of [1, 2, 3]) await cluster.sql(number, 'SET GLOBAL innodb_flush_log_at_trx_commit = 0')
    // The log is written each second: up to that moment all was lost, or nothing.
    let putBack = 0
    for (let tries = 0; tries < 5 && putBack === 0; tries++) {
      for (let n = 0; n < 300; n++) await one.acts()
      const confirmed = one.copy.head()
      await cluster.crashAndRecover()
      await expect.poll(() => [one, two].some(({ state }) => state === 'active'), { timeout: 40_000 }).toBe(true)
      const active = one.state === 'active' ? one : two
      await active.acts()
      expect(active.copy.hashAt(confirmed.seq)).toBe(confirmed.hash)
      putBack = one.putBack + two.putBack
      if (active !== one) break
      for (const number of [1, 2, 3]) await cluster.sql(number, 'SET GLOBAL innodb_flush_log_at_trx_commit = 0')
    }
    expect(putBack).toBeGreaterThan(0)
    const [active, other] = one.state === 'active' ? [one, two] : [two, one]
    if (other.state !== 'ended') await expect.poll(() => other.copy.head()).toEqual(active.copy.head())
    await expectOneHistory(active)
  }, 300_000)
})

it('an active daemon that is alone and records nothing puts back within two seconds what the database lost', async () => {
  const one = machines.start('ctl1')
  await expect.poll(() => one.state).toBe('active')
  for (let n = 0; n < 5; n++) await one.acts()
  await cluster.sql(1, 'DELETE FROM entries WHERE seq > 2')
  await expect.poll(() => one.putBack, { timeout: 2_000 }).toBe(4)
  await expectOneHistory(one)
})

describe('a database that is gone for good', () => {
  it('leaves a copy that goes on by itself on order, and not while one node still answers', async () => {
    const [one, two] = await twoDaemons()
    await one.acts()
    await expect.poll(() => two.copy.head()).toEqual(one.copy.head())
    one.dies()
    two.dies()
    for (const number of [1, 2]) cluster.signal(number, 'SIGKILL')
    const path = join(machines.directory, 'ctl2.db')
    const leave = async (): Promise<number> => {
      const copy = openJournal(path, { clock })
      const parts = { store: stage.store(1), copy, clock, cloud: 'blue', by: 'ann', reason: 'the site burnt down' }
      try {
        const { head } = await moveOutOfLostStore({ ...parts, identity: identityOf('ctl2', path) })
        expect(copy.verify()).toMatchObject({ head: head.hash, broken: null })
        return head.seq
      } finally {
        copy.close()
      }
    }
    // The last node answers reads until the vote on the others is over, and then says that it has no majority.
    const refusal = (text: string): object => ({ code: 'CONFLICT', message: expect.stringContaining(text) as string })
    await expect(leave()).rejects.toMatchObject(refusal('it answers'))
    const last = stage.storeOf(3)
    await expect.poll(() => last.look(0, 0).catch((thrown: unknown) => thrown)).toBeInstanceOf(StoreTrouble)
    await expect(leave()).rejects.toMatchObject(refusal('it sees too few other nodes'))
    cluster.signal(3, 'SIGKILL')
    // Half a minute without any answer, and then the copy goes on.
    expect(await leave()).toBe(3)
    const own = openJournal(path, { clock })
    own.append([{ kind: 'daemon.stopped', data: { reason: 'it goes on alone' } }])
    expect(own.verify()).toMatchObject({ entries: 4, broken: null })
    own.close()
  }, 300_000)
})
