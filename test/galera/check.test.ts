/** What `lifeboat check` finds out of real nodes: settings, tables and rights as the server has them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { SharedNode } from '../../src/domain/shared-node.ts'
import { parseConfig } from '../../src/config/index.ts'
import { lookAtNode } from '../../src/daemon/shared-journal-acts.ts'
import { sharedJournalLines } from '../../src/preflight/check-shared-journal.ts'
import { surveyNode } from '../../src/journal/shared/node-survey.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { account } from './cluster.ts'
import { Stage } from './stage.ts'

const { cluster } = new Stage()
beforeAll(() => cluster.start())
beforeEach(() => cluster.tables('https://keystone:5000/v3'))
afterAll(() => cluster.stop())

async function look(number = 1, access: Partial<typeof account> = {}): Promise<SharedNode> {
  const [node] = cluster.addresses.slice(number - 1, number)
  if (node === undefined) throw new Error(`there is no node ${number}`)
  return surveyNode(node, { ...account, ...access, tls: null, clock })
}

/** What an administrator does on one node, and how it is taken back when the test ends. */
async function set(number: number, sql: string, back: string): Promise<void> {
  await cluster.sql(number, sql)
  onTestFinished(async () => void (await cluster.sql(number, back)))
}

it('the check has no finding where all is as it should be', async () => {
  const nodes = cluster.addresses.map(({ host, port }) => `${host}:${port}`)
  const text = `shared_journal: { nodes: ${JSON.stringify(nodes)}, password: ${account.password} }`
  const { sharedJournal } = parseConfig(text, 'lifeboat.yaml', {})
  if (sharedJournal === null) throw new Error('no journal is shared')
  const lines = sharedJournalLines(sharedJournal, 'https://keystone:5000/v3', (...asked) => lookAtNode(...asked, clock))
  const found: string[] = []
  for await (const { result } of lines) found.push(result)
  expect(found).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok'])
})

describe('a node', () => {
  it('says that it serves, of which cluster, and how it commits', async () => {
    const [one, two] = [await look(1), await look(2)]
    expect(one).toMatchObject({ galera: { ready: true, size: 3 }, flushAtCommit: 1, largestPacket: 16 * 1024 * 1024 })
    expect(one.version).toMatch(/^\d+\.\d+\.\d+-MariaDB/)
    expect(two.galera?.cluster).toBe(one.galera?.cluster)
    expect(one.galera?.cluster).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('says for itself what it is set to', async () => {
    await set(2, 'SET GLOBAL innodb_flush_log_at_trx_commit = 2', 'SET GLOBAL innodb_flush_log_at_trx_commit = 1')
    await set(2, 'SET GLOBAL max_allowed_packet = 1048576', 'SET GLOBAL max_allowed_packet = 16777216')
    expect(await look(2)).toMatchObject({ flushAtCommit: 2, largestPacket: 1_048_576 })
    expect(await look(1)).toMatchObject({ flushAtCommit: 1, largestPacket: 16_777_216 })
  })

  it('that is cut off says that it does not serve', async () => {
    await cluster.isolate(3)
    await expect.poll(async () => (await look(3)).galera?.ready).toBe(false)
    expect(await look(3)).toMatchObject({ schema: null })
    await cluster.rejoin(3)
    expect(await look(3)).toMatchObject({ galera: { ready: true }, schema: { missingTables: [] } })
  })

  it.each([
    ['the password is another', { password: 'wrong' }, 1045],
    ['the account is another', { user: 'nobody' }, 1045],
    ['the account may do nothing in the database', { database: 'mysql' }, 1044],
  ])('lets nobody in where %s', async (_what, access, number) => {
    await expect(look(1, access)).rejects.toMatchObject({
      code: 'JOURNAL_UNAVAILABLE',
      message: expect.stringMatching(/^127\.0\.\d+\.\d+:3306: Access denied/) as string,
      details: { number },
    })
  })
})

describe('the account', () => {
  const rights = async (): Promise<{ missing: unknown; needless: unknown }> => {
    const { schema } = await look()
    return { missing: schema?.missingRights, needless: schema?.needlessRights }
  }

  it('may do what the administrator granted by journal init, and no more', async () => {
    expect((await look()).schema).toEqual({
      account: 'lifeboat@%',
      ...{
        missingTables: [],
        unreplicated: [],
        wronglyKeyed: [],
        cloud: 'https://keystone:5000/v3',
        missingRights: [],
        needlessRights: [],
      },
    })
  })

  it.each([
    ['GRANT UPDATE, DELETE ON lifeboat.entries TO lifeboat', ['UPDATE, DELETE on entries']],
    ['GRANT UPDATE (body) ON lifeboat.entries TO lifeboat', ['UPDATE (body) on entries']],
    ['GRANT DROP, ALTER ON lifeboat.* TO lifeboat', ['DROP, ALTER on the whole database']],
    ['GRANT CREATE ON `life%`.* TO lifeboat', ['CREATE on the whole database']],
    ['GRANT SUPER ON *.* TO lifeboat', ['SUPER on *.*']],
    ['GRANT SELECT ON lifeboat.entries TO lifeboat WITH GRANT OPTION', ['GRANT OPTION on entries']],
    ['GRANT ALL ON lifeboat.* TO lifeboat', ['ALL PRIVILEGES on the whole database']],
  ])('has too much after %s', async (grant, needless) => {
    await cluster.sql(1, grant)
    expect(await rights()).toEqual({ missing: [], needless })
  })

  it('has what everyone has', async () => {
    await set(1, 'GRANT INSERT ON lifeboat.tenure TO PUBLIC', 'REVOKE INSERT ON lifeboat.tenure FROM PUBLIC')
    expect(await rights()).toEqual({ missing: [], needless: ['INSERT on tenure'] })
  })

  it.each([
    ['from the start', ['SET DEFAULT ROLE keeper FOR lifeboat']],
    ['when it asks for it', []],
  ])('has what a role gives it %s', async (_when, more) => {
    await set(1, 'CREATE ROLE keeper', 'DROP ROLE keeper')
    await cluster.sql(1, 'GRANT DELETE ON lifeboat.entries TO keeper', 'GRANT keeper TO lifeboat', ...more)
    expect(await rights()).toEqual({ missing: [], needless: ['DELETE on entries'] })
  })

  it('lacks what was revoked, and tables that it may not see count as not there', async () => {
    await cluster.sql(
      1,
      'REVOKE INSERT ON lifeboat.entries FROM lifeboat',
      'REVOKE ALL ON lifeboat.tenure FROM lifeboat',
    )
    expect((await look()).schema).toMatchObject({
      ...{ missingRights: ['INSERT on entries', 'SELECT, UPDATE on tenure'], needlessRights: [] },
      ...{ missingTables: ['tenure'], cloud: null },
    })
  })

  it('sees which tables have not the primary key that lets one daemon alone write an entry', async () => {
    await cluster.sql(
      1,
      'ALTER TABLE entries DROP PRIMARY KEY, ADD PRIMARY KEY (seq, hash)',
      'ALTER TABLE daemons DROP PRIMARY KEY',
    )
    expect((await look()).schema?.wronglyKeyed).toEqual(['entries', 'daemons'])
  })

  it('tells a tenure without its row from one that may not be read', async () => {
    await cluster.sql(1, 'DELETE FROM tenure')
    expect((await look()).schema?.cloud).toBe('')
  })

  it('sees which tables Galera does not replicate', async () => {
    await cluster.sql(1, 'ALTER TABLE daemons ENGINE = Aria')
    expect((await look()).schema?.unreplicated).toEqual(['daemons (Aria)'])
  })
})
