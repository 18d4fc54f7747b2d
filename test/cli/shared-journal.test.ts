/** The commands of a journal that several daemons share: what they are told, and what they say. */
import { chownSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Commands } from '../../src/cli/index.ts'
import { moveJournal, sharedJournalScript } from '../../src/daemon/shared-journal-acts.ts'
import { systemClock } from '../../src/system/system-clock.ts'
import { run, type Ran } from './fake-commands.ts'

const sharing = 'shared_journal: { nodes: ["192.0.2.1:3306"], password_env: SHARED }\n'

/** The real command, where no cloud and no database answers. */
const init = (config: string, env: Record<string, string> = {}): Promise<Ran> =>
  run(
    ['journal', 'init', '--from', '192.0.2.%'],
    { sharedJournalScript: (read, from) => sharedJournalScript(read, { env, version: '1', from }) },
    { config },
  )

const cloud = {
  ...{ OS_AUTH_URL: 'https://keystone:5000/v3', OS_USERNAME: 'u', OS_PASSWORD: 'secret', OS_PROJECT_NAME: 'p' },
  ...{ OS_USER_DOMAIN_NAME: 'd', OS_PROJECT_DOMAIN_NAME: 'd' },
}

describe('journal init', () => {
  it('prints SQL alone, with the cloud as the daemon names it, and needs no password', async () => {
    const { exit, out, err } = await init(sharing, cloud)
    expect([exit, err]).toEqual([0, ''])
    expect(out).toContain("INSERT INTO `lifeboat`.tenure VALUES (1, 0, 0, '', 1, 'https://keystone:5000/v3', ")
    expect(out).toContain("TO 'lifeboat'@'192.0.2.%';")
  })

  it('says which section is missing where no journal is shared', async () => {
    const { exit, out, err } = await init('mode: observe\n', cloud)
    expect([exit, out]).toEqual([78, ''])
    expect(err).toMatch(/lifeboat\.yaml has no section shared_journal.*shared_journal\.nodes.*ADDRESS:PORT/)
  })

  it('ends with 78 where nothing says which cloud it is', async () => {
    expect(await init(sharing, { HOME: '/nonexistent' })).toMatchObject({
      ...{ exit: 78, out: '' },
      err: expect.stringContaining('OS_AUTH_URL') as string,
    })
  })

  it.each(["'", 'a b', '', '%;', 'x'.repeat(256)])('takes no host that MariaDB has no account of: %j', async (from) => {
    const { exit, out, err } = await run(['journal', 'init', '--from', from])
    expect([exit, out]).toEqual([2, ''])
    expect(err).toContain('192.0.2.%')
  })

  it('means every host where none is named', async () => {
    expect((await run(['journal', 'init'])).out).toContain("'lifeboat'@'%'")
  })
})

describe('journal move', () => {
  it.each([
    ['where to', [], /--to <place>/],
    ['a place that there is', ['--to', 'galera'], /shared, own/],
    ['why', ['--to', 'shared'], /--reason/],
    ['a database that is there to move to', ['--to', 'shared', '--database-lost', '--reason', 'x'], /--to own/],
  ])('must be told %s', async (_what, words, message) => {
    const { exit, out, err } = await run(['journal', 'move', ...words])
    expect([exit, out]).toEqual([2, ''])
    expect(err).toMatch(message)
  })

  it('says where the journal goes on, and its head', async () => {
    const orders: unknown[] = []
    const moveJournal: Commands['moveJournal'] = (_config, order) => {
      orders.push(order)
      return Promise.resolve({ to: order.to, entries: 7, head: 'abc' })
    }
    const { exit, out } = await run(
      ['journal', 'move', '--to', 'own', '--reason', 'one controller', '-f', 'json'],
      { moveJournal },
      { config: sharing, env: { SHARED: 'x' } },
    )
    expect([exit, JSON.parse(out)]).toEqual([0, { To: 'own', Entries: 7, Head: 'abc' }])
    expect(orders).toEqual([{ to: 'own', by: 'alice', reason: 'one controller', databaseLost: false }])
  })

  it.skipIf(process.getuid?.() !== 0)(
    'is left to the user who owns the journal, for the daemon could not write it afterwards',
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'lb-'))
      chownSync(directory, 12_345, 12_345)
      const { exit, out, err } = await run(
        ['journal', 'move', '--to', 'shared', '--reason', 'x'],
        {},
        { config: `state_dir: ${directory}/state\n` },
      )
      expect([exit, out]).toEqual([77, ''])
      expect(err).toContain("sudo -u '#12345' lifeboat journal move --to shared")
    },
  )

  it('finds nothing to move where there is no journal, and makes none', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lb-'))
    const { exit, err } = await run(
      ['journal', 'move', '--to', 'shared', '--reason', 'x'],
      { moveJournal: (config, order) => moveJournal(config, order, { env: cloud, clock: systemClock }) },
      { config: `state_dir: ${directory}\n${sharing}`, env: { SHARED: 'x' } },
    )
    expect([exit, err]).toEqual([3, expect.stringContaining('[CONFLICT]')])
    expect(readdirSync(directory)).toEqual([])
  })
})
