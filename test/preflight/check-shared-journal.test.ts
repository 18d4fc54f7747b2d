/** What `lifeboat check` says of a shared journal, by what its nodes say of themselves. Real nodes: test/galera/check.test.ts. */
import { describe, expect, it } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { SharedNode, SharedSchema } from '../../src/domain/shared-node.ts'
import { parseConfig } from '../../src/config/index.ts'
import { sharedJournalLines } from '../../src/preflight/check-shared-journal.ts'

const cloud = 'https://keystone:5000/v3'
const schema: SharedSchema = {
  account: 'lifeboat@%',
  missingTables: [],
  unreplicated: [],
  wronglyKeyed: [],
  cloud,
  missingRights: [],
  needlessRights: [],
}
const well: SharedNode = {
  version: '10.11.19-MariaDB',
  galera: { ready: true, size: 3, cluster: 'c1' },
  flushAtCommit: 1,
  largestPacket: 16 * 1024 * 1024,
  schema,
}
const galera = (changed: Partial<NonNullable<SharedNode['galera']>>): SharedNode => ({
  ...well,
  galera: { ready: true, size: 3, cluster: 'c1', ...changed },
})
const withSchema = (changed: Partial<SharedSchema>): SharedNode => ({ ...well, schema: { ...schema, ...changed } })

/** `result what` of each line, but for those that are ok. */
async function findings(nodes: (SharedNode | null)[], ours: string | null = cloud): Promise<string[]> {
  const addresses = nodes.map((_, index) => `192.0.2.${index}:3306`)
  const { sharedJournal } = parseConfig(
    `shared_journal: { nodes: ${JSON.stringify(addresses)}, password: x }`,
    'lifeboat.yaml',
    {},
  )
  if (sharedJournal === null) throw new Error('no journal is shared')
  const look = (_sharing: unknown, { host }: { host: string }): Promise<SharedNode> => {
    const node = nodes[Number(host.split('.').at(-1))] ?? null
    if (node !== null) return Promise.resolve(node)
    return Promise.reject(new LifeboatError('JOURNAL_UNAVAILABLE', 'it does not answer'))
  }
  const found: string[] = []
  for await (const { result, what, advice } of sharedJournalLines(sharedJournal, ours, look)) {
    expect([what, advice === null]).toEqual([what, result === 'ok' || result === 'skip'])
    if (result !== 'ok') found.push(`${result} ${what.replace('shared journal', '').replace(/^[: ]+/, '')}`)
  }
  return found
}

describe('a cluster that is as it should be', () => {
  it('has no finding', async () => expect(await findings([well, well, well])).toEqual([]))

  it('is seen through one proxy as well', async () => expect(await findings([well])).toEqual([]))
})

describe('what is wrong with it', () => {
  it.each<[string, (SharedNode | null)[], string[]]>([
    ['a node that does not answer', [well, null, well], ['fail at 192.0.2.1:3306']],
    ['a node that does not serve', [well, galera({ ready: false })], ['fail at 192.0.2.1:3306']],
    ['a server in no cluster', [{ ...well, galera: null }], ['fail at 192.0.2.0:3306', 'skip cluster']],
    ['nodes of two clusters', [well, galera({ cluster: 'c2' })], ['fail cluster']],
    [
      'a node that was begun by itself',
      [galera({ size: 2 }), galera({ size: 2 }), galera({ size: 1 })],
      ['fail cluster'],
    ],
    ['one node', [galera({ size: 1 })], ['warn cluster']],
    ['an even number of nodes', [galera({ size: 2 })], ['warn cluster']],
    ['commits that are not flushed', [well, { ...well, flushAtCommit: 2 }], ['warn at 192.0.2.1:3306']],
    ['packets that are too small', [{ ...well, largestPacket: 2 ** 20 }], ['fail at 192.0.2.0:3306']],
    ['tables that are not there', [withSchema({ missingTables: ['entries'], cloud: null })], ['fail tables']],
    ['tables that are not replicated', [withSchema({ unreplicated: ['entries (Aria)'] })], ['fail tables']],
    ["another cloud's journal", [withSchema({ cloud: 'https://other/v3' })], ['fail tables']],
    ['a tenure that may not be read', [withSchema({ cloud: null })], ['skip tables']],
    ['no row of the tenure', [withSchema({ cloud: '' })], ['fail tables']],
    ['a table without its primary key', [withSchema({ wronglyKeyed: ['entries'] })], ['fail tables']],
    ['rights that are missing', [withSchema({ missingRights: ['INSERT on entries'] })], ['fail rights']],
    ['rights that are too many', [withSchema({ needlessRights: ['DROP on entries'] })], ['fail rights']],
    [
      'both',
      [withSchema({ missingRights: ['INSERT on entries'], needlessRights: ['DROP on entries'] })],
      ['fail rights', 'fail rights'],
    ],
  ])('is told: %s', async (_what, nodes, expected) => expect(await findings(nodes)).toEqual(expected))

  it('leaves what no node can tell unchecked', async () => {
    expect(await findings([null, { ...galera({ ready: false }), schema: null }])).toEqual([
      ...['fail at 192.0.2.0:3306', 'fail at 192.0.2.1:3306'],
      ...['skip cluster', 'skip tables', 'skip rights'],
    ])
  })

  it.each([
    ['a right on the database', 1044],
    ['a database', 1049],
  ])('sends who has an account and not %s to `lifeboat journal init`', async (_what, number) => {
    const { sharedJournal } = parseConfig('shared_journal: { nodes: [ctl1:3306], password: x }', 'lifeboat.yaml', {})
    if (sharedJournal === null) throw new Error('no journal is shared')
    const problem = new LifeboatError('JOURNAL_UNAVAILABLE', 'Access denied', { details: { number } })
    const { value } = await sharedJournalLines(sharedJournal, cloud, () => Promise.reject(problem)).next()
    expect(value?.advice).toContain('lifeboat journal init')
  })

  it('takes no cloud for granted that is not known', async () =>
    expect(await findings([well], null)).toEqual(['skip tables']))
})
