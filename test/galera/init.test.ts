/** What `lifeboat journal init` prints, executed by MariaDB's own client on a real node. */
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { initScript, type InitScript } from '../../src/journal/shared/init-script.ts'
import { account } from './cluster.ts'
import { Stage } from './stage.ts'

const stage = new Stage()
const { cluster } = stage
beforeAll(() => cluster.start())
beforeEach(() => cluster.node(1).sql('DROP DATABASE IF EXISTS lifeboat', 'DROP USER IF EXISTS lifeboat'))
afterAll(async () => {
  await stage.closeStores()
  await cluster.stop()
})

const cloud = "https://keystone:5000/v3?o'clock\\é😀"
const createUser = `CREATE USER '${account.user}'@'%' IDENTIFIED BY '${account.password}'`

/** Gives what went wrong; empty: nothing. */
function execute(script: Partial<InitScript> = {}): string {
  const usual = {
    database: account.database,
    cloud,
    account: { user: account.user, host: '%' },
    tls: false,
    version: '1',
  }
  const text = initScript({ ...usual, ...script })
  // As on a machine whose locale says nothing of UTF-8.
  const options = [`--socket=${cluster.node(1).socket}`, '--user=root', '--default-character-set=latin1']
  return spawnSync('mariadb', ['--no-defaults', ...options], { input: text, encoding: 'utf8' }).stderr
}

it('makes a journal that daemons share at every node', async () => {
  await cluster.node(1).sql(createUser)
  expect(execute()).toBe('')
  for (const number of [2, 3])
    await cluster.sql(number, 'SET SESSION wsrep_sync_wait = 15', 'SELECT COUNT(*) FROM tenure')
  const { tenure, newest } = await stage.untilAnswered(() => stage.store(3).look(0, 1))
  expect([tenure, newest]).toEqual([{ epoch: 0, beat: 0, holder: '', format: 1, cloud }, 0])
  expect(await stage.store(2).take(tenure, { epoch: 1, holder: 'ctl1/1#1', format: 1 })).toBe(true)
})

it('makes nothing where the account is not there, also on a server that would make one without a password', async () => {
  await cluster.node(1).sql("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'")
  try {
    expect(execute()).toContain('ERROR 1133')
    expect(await cluster.node(1).sql("SHOW DATABASES LIKE 'lifeboat'")).toEqual([])
    await cluster.node(1).sql(createUser)
    expect(execute()).toBe('')
    expect(await cluster.sql(1, 'SELECT cloud FROM tenure')).toEqual([{ cloud }])
  } finally {
    await cluster.node(1).sql('SET GLOBAL sql_mode = DEFAULT')
  }
})

it('changes nothing of a journal that is there', async () => {
  await cluster.node(1).sql(createUser)
  execute()
  expect(execute({ cloud: 'https://another/v3' })).toContain('ERROR 1050')
  expect(await cluster.sql(1, 'SELECT cloud FROM tenure')).toEqual([{ cloud }])
})
