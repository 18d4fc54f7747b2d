/** A journal moved to real nodes and back, also by a process that is killed in the middle. Every statement's interruption: test/journal/shared/move.test.ts. */
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig, type Config } from '../../src/config/index.ts'
import { moveJournal } from '../../src/daemon/shared-journal-acts.ts'
import type { JournalPlace } from '../../src/domain/entry.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { compileJournal, lineFrom, startWriter } from '../journal/children.ts'
import { temporaryDirectory } from '../journal/fixtures.ts'
import { account, reader } from './cluster.ts'
import { Stage } from './stage.ts'

const cloud = 'https://keystone:5000/v3'
const env = {
  ...{ OS_AUTH_URL: cloud, OS_USERNAME: 'u', OS_PASSWORD: 'p', OS_PROJECT_NAME: 'p' },
  ...{ OS_USER_DOMAIN_NAME: 'd', OS_PROJECT_DOMAIN_NAME: 'd' },
}
const stage = new Stage()
const { cluster } = stage
beforeAll(() => cluster.start())
beforeEach(() => cluster.tables(cloud))
afterAll(async () => {
  await stage.closeStores()
  await cluster.stop()
})

/** A machine with a journal of so many entries. */
function machine(entries: number, access: typeof account = account): Config {
  const directory = temporaryDirectory()
  const nodes = cluster.addresses.map(({ host, port }) => `${host}:${port}`)
  const { user, password } = access
  const shared = `shared_journal: { nodes: ${JSON.stringify(nodes)}, user: ${user}, password: ${password}, name: ctl1 }`
  const config = parseConfig(`state_dir: ${directory}\n${shared}`, join(directory, 'lifeboat.yaml'), {})
  const journal = openJournal(config.journal, { clock })
  const numbers = Array.from({ length: entries }, (_, n) => n)
  journal.append(
    numbers.map((n) => ({ kind: 'alarm.raised', data: { code: 'N', message: `é😀"${'m'.repeat(400)}${n}` } })),
  )
  journal.close()
  return config
}

const move = (config: Config, to: JournalPlace): Promise<{ entries: number; head: string }> =>
  moveJournal(config, { to, by: 'ann', reason: 'three controllers', databaseLost: false }, { env, clock })

/** What `lifeboat journal verify` says on this machine. */
function verified({ journal }: Config): { entries: number; head: string; broken: unknown } {
  const open = openJournalReader(journal)
  try {
    return open.verify()
  } finally {
    open.close()
  }
}

const onNodes = async (): Promise<{ entries: number; head: string | undefined }[]> =>
  (await stage.onEachNode()).map((rows) => ({ entries: rows.length, head: rows.at(-1)?.hash }))

describe('a journal of twenty thousand entries', () => {
  it('has the same head on every node and in the file, there and back', async () => {
    const config = machine(20_000)
    const { entries, head } = await move(config, 'shared')
    expect(entries).toBe(20_001)
    expect(verified(config)).toMatchObject({ entries, head, broken: null })
    expect(await onNodes()).toEqual(Array(3).fill({ entries, head }))
    const elsewhere = machine(0)
    const back = await move(elsewhere, 'own')
    expect(back.entries).toBe(20_002)
    expect(verified(elsewhere)).toMatchObject({ entries: back.entries, head: back.head, broken: null })
    expect((await onNodes())[0]).toEqual({ entries: back.entries, head: back.head })
  })

  it('is whole after the process was killed in the middle, and nothing else was done to it meanwhile', async () => {
    const config = machine(20_000)
    const directory = temporaryDirectory()
    const journalModule = compileJournal(directory)
    const part = (name: string): string => JSON.stringify(join(directory, 'journal/shared', name))
    const child = startWriter(
      journalModule,
      config.journal,
      `const { mariadbStore } = await import(${part('mariadb.js')})
       const { moveToShared } = await import(${part('move.js')})
       const { identityOf } = await import(${part('identity.js')})
       const after = (ms, fire) => { const timer = setTimeout(fire, ms); return () => clearTimeout(timer) }
       const real = { ...clock, after }
       const options = ${JSON.stringify({ nodes: cluster.addresses, ...account, tls: null })}
       const parts = { store: mariadbStore({ ...options, clock: real }), copy: journal, clock: real }
       say('moves')
       await moveToShared({ ...parts, identity: identityOf('ctl1', journal.path), cloud: ${JSON.stringify(cloud)}, by: 'ann', reason: 'so' })
       say('moved')`,
    )
    await lineFrom(child, /^moves$/)
    const store = stage.store(1)
    await expect(move(config, 'shared')).rejects.toMatchObject({
      code: 'JOURNAL_UNAVAILABLE',
      details: { pid: child.pid },
    })
    while ((await store.look(0, 0)).newest < 1_000) await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
    const [partly] = await onNodes()
    expect(partly?.entries).toBeGreaterThanOrEqual(1_000)
    expect(partly?.entries).toBeLessThan(20_000)
    const { entries, head } = await move(config, 'shared')
    expect([entries, verified(config).head]).toEqual([20_001, head])
    expect(await onNodes()).toEqual(Array(3).fill({ entries, head }))
  })

  it('is whole when the node that it goes to dies in the middle', async () => {
    const config = machine(20_000)
    const watching = stage.store(2)
    const moving = move(config, 'shared')
    while ((await stage.untilAnswered(() => watching.look(0, 0))).newest < 1_000)
      await new Promise((resolve) => setTimeout(resolve, 5))
    cluster.signal(1, 'SIGKILL')
    const { entries, head } = await moving
    await cluster.run(1)
    await cluster.whole()
    expect([entries, verified(config).head]).toEqual([20_001, head])
    expect(await onNodes()).toEqual(Array(3).fill({ entries, head }))
  })
})

describe('what stands against a move', () => {
  it('is an account that may only read: at once, and nothing is written', async () => {
    const config = machine(3, reader)
    await expect(move(config, 'shared')).rejects.toMatchObject({
      code: 'JOURNAL_UNAVAILABLE',
      message: expect.stringContaining('(1142)') as string,
    })
    expect((await onNodes())[0]?.entries).toBe(0)
    expect(verified(config).entries).toBe(3)
  })

  it("is another cloud's tables", async () => {
    await cluster.tables('https://another/v3')
    await expect(move(machine(3), 'shared')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect((await onNodes())[0]?.entries).toBe(0)
  })

  it('are tables that hold another journal', async () => {
    const { entries, head } = await move(machine(3), 'shared')
    const other = machine(5)
    await expect(move(other, 'shared')).rejects.toMatchObject({ code: 'CONFLICT' })
    expect([(await onNodes())[0], verified(other).entries]).toEqual([{ entries, head }, 5])
  })

  it('is a copy that went another way', async () => {
    const config = machine(3)
    await move(config, 'shared')
    const journal = openJournal(config.journal, { clock })
    journal.append([{ kind: 'daemon.stopped', data: { reason: 'written beside the shared journal' } }])
    journal.close()
    await cluster.sql(1, "INSERT INTO entries VALUES (5, REPEAT('a', 64), 'x')")
    await expect(move(config, 'own')).rejects.toMatchObject({ code: 'CONFLICT' })
    expect((await onNodes())[0]?.entries).toBe(5)
  })

  it('are tables that are not there', async () => {
    await cluster.sql(1, 'DROP TABLE tenure')
    await expect(move(machine(3), 'shared')).rejects.toMatchObject({ code: 'JOURNAL_UNAVAILABLE' })
  })
})
