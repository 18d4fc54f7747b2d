/** The commands of a journal that several daemons share: what they are told, and what they say. */
import { describe, expect, it } from 'vitest'
import { sharedJournalScript } from '../../src/daemon/shared-journal-acts.ts'
import { run, type Ran } from './fake-commands.ts'

const sharing = 'shared_journal: { nodes: ["192.0.2.1:3306"], password_env: SHARED }\n'

/** The real command, where no cloud and no database answers. */
const init = (config: string, env: Record<string, string> = {}): Promise<Ran> =>
  run(
    ['journal', 'init', '--from', '192.0.2.%'],
    { sharedJournalScript: (read, from) => sharedJournalScript(read, { env, version: '1', from }) },
    { config },
  )

describe('journal init', () => {
  const cloud = {
    ...{ OS_AUTH_URL: 'https://keystone:5000/v3', OS_USERNAME: 'u', OS_PASSWORD: 'secret', OS_PROJECT_NAME: 'p' },
    ...{ OS_USER_DOMAIN_NAME: 'd', OS_PROJECT_DOMAIN_NAME: 'd' },
  }

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
