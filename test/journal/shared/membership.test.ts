/** Which database cluster a daemon uses, and which nodes it passes over. Real nodes: test/galera/trouble.test.ts. */
import type { QueryResult } from 'mysql2'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Ask } from '../../../src/journal/shared/lane.ts'
import { clusterToUse, otherPart, wordOf, type Word } from '../../../src/journal/shared/membership.ts'
import { OneCluster } from '../../../src/journal/shared/one-cluster.ts'
import { VirtualClock } from '../../../src/simulator/virtual-clock.ts'

const blue = { cluster: 'blue', size: 3 }
const green = { cluster: 'green', size: 3 }

describe('a daemon that starts uses', () => {
  it.each<[string, Word[], string | null]>([
    ['the cluster that all nodes are in', [blue, blue, blue], 'blue'],
    ['the only one that a node names, whatever the silent ones are in', ['unknown', green, 'unknown'], 'green'],
    ['the one that most of all nodes are in, wherever it comes first', [green, blue, blue], 'blue'],
    ['none of two that have as many nodes', [green, blue], null],
    ['none of two of which neither has most of the nodes', [green, blue, 'unknown'], null],
    ['no node that replicates nothing', ['alone', 'alone', blue], 'blue'],
  ])('%s', (_what, words, cluster) => expect(clusterToUse(null, words)).toBe(cluster))

  it.each<[string, Word[], string | null]>([
    ['none at first while one node names it and another one is silent', ['unknown', green, 'closed'], null],
    ['at once what most of all nodes are in', ['unknown', green, green], 'green'],
    ['at once the only one that a node names where none is silent', ['closed', green, 'alone'], 'green'],
  ])('%s', (_what, words, cluster) => expect(clusterToUse(null, words, true)).toBe(cluster))
})

describe('of a cluster whose nodes do not all see each other', () => {
  const sees = (...sizes: (number | 'unknown')[]): Word[] =>
    sizes.map((size) => (size === 'unknown' ? size : { cluster: 'blue', size }))

  it.each<[string, Word[], (number | null)[]]>([
    ['the part with most of the nodes', sees(2, 2, 1), [null, null, 0]],
    ['the part with most of the nodes, wherever it comes first', sees(1, 2, 2), [1, null, null]],
    ['the first node of two parts that are as large', sees(2, 2, 2, 2, 'unknown'), [null, 0, 0, 0, null]],
    [
      'the larger part, though most nodes are silent',
      sees(1, 'unknown', 2, 2, 'unknown', 'unknown'),
      [2, null, null, 2, null, null],
    ],
    ['a lone node where no other one serves', sees('unknown', 1, 'unknown'), [null, null, null]],
    ['a small cluster that lists more nodes than it has', sees(2, 2, 'unknown', 'unknown'), [null, null, null, null]],
    ['no part of it by the size of another cluster', [...sees(1), green, green], [null, null, null]],
  ])('a daemon uses %s', (_what, words, others) =>
    expect(words.map((_word, index) => otherPart(index, words))).toEqual(others),
  )
})

describe('a daemon that uses the blue cluster', () => {
  it.each<[string, Word[]]>([
    ['one of its nodes answers, though most are in another one', [green, green, blue]],
    ['all its nodes answer', [blue, blue, blue]],
  ])('stays there while %s', (_what, words) => expect(clusterToUse('blue', words)).toBe('blue'))

  it.each<[string, Word[]]>([
    ['one node is in another cluster and the others are silent: it may live there', [green, 'unknown', 'unknown']],
    ['no server runs on one machine, but another one is silent', [green, 'unknown', 'closed']],
    ['two others have a node each', [green, { cluster: 'red', size: 1 }, 'closed']],
    ['half of the nodes are in another one and the rest is silent', [green, green, 'unknown', 'unknown']],
  ])('uses none while %s', (_what, words) => expect(clusterToUse('blue', words)).toBeNull())

  it.each<[string, Word[]]>([
    ['most nodes are in it, though one is silent', [green, green, 'unknown']],
    ['no server runs on the other machines, as after a crash of all', [green, 'closed', 'closed']],
    ['the others replicate nothing', [green, 'alone', 'alone']],
    ['it stands behind the one address that is known', [green]],
  ])('moves to another one once %s', (_what, words) => expect(clusterToUse('blue', words)).toBe('green'))
})

it('a node that does not serve may be in any cluster: it may be about to leave the one it names', () =>
  expect(wordOf({ ready: false, size: 1, cluster: 'green' })).toBe('unknown'))

interface Said {
  on: string
  provider: string
  size: number
  ready: string
  status: string
  cluster: string
}

const serving: Said = {
  ...{ on: 'ON', provider: '/usr/lib/galera/libgalera_smm.so' },
  ...{ ready: 'ON', status: 'Primary', cluster: 'blue', size: 3 },
}

const nodes = [1, 2, 3].map((number) => ({ host: `192.0.2.${number}`, port: 3306 }))

describe('a node', () => {
  let clock: VirtualClock
  let said: (Said | 'closed' | 'unknown')[]
  let asked: number
  let told: string[]
  let cluster: OneCluster
  beforeEach(() => {
    clock = new VirtualClock()
    said = nodes.map(() => serving)
    asked = 0
    told = []
    cluster = new OneCluster({
      ...{ nodes, clock },
      ask: (node) => {
        asked++
        const word = said[nodes.indexOf(node)]
        if (typeof word !== 'object') return Promise.resolve(word ?? 'unknown')
        return Promise.resolve(word.on === 'OFF' ? 'alone' : { cluster: word.cluster, size: word.size })
      },
      told: (event) =>
        told.push(
          event.kind === 'moved' ? `from ${event.from} to ${event.to}` : `${event.node.host}: ${event.why ?? 'used'}`,
        ),
    })
  })

  const says = (number: number, word: Partial<Said> | 'closed' | 'unknown'): void => {
    const before = said[number - 1]
    said[number - 1] = typeof word === 'object' ? { ...(typeof before === 'object' ? before : serving), ...word } : word
  }

  /** As a lane does once it is connected there. Gives whether the node may be used. */
  const connects = async (number: number): Promise<boolean> => {
    const [node, word] = [nodes[number - 1], said[number - 1]]
    if (node === undefined || typeof word !== 'object') throw new Error(`nobody can connect to ${number}`)
    const answer = [
      { name: 'WSREP_CLUSTER_SIZE', value: String(word.size) },
      { name: 'WSREP_CLUSTER_STATE_UUID', value: word.cluster },
      { name: 'WSREP_CLUSTER_STATUS', value: word.status },
      { name: 'WSREP_READY', value: word.ready },
      { name: 'WSREP_ON', value: word.on },
      { name: 'WSREP_PROVIDER', value: word.provider },
    ]
    const ask: Ask = <T extends QueryResult>() => Promise.resolve(answer as unknown as T)
    try {
      await cluster.admit(node, ask)
      return true
    } catch (thrown) {
      expect(thrown).toMatchObject({ name: 'StoreTrouble', kind: 'again', maybeDone: false, answered: true })
      return false
    }
  }

  it('of the cluster in use is used without a question to the others, and nothing is told', async () => {
    expect([await connects(1), await connects(2), await connects(1)]).toEqual([true, true, true])
    expect([asked, told]).toEqual([3, []])
  })

  it('of another cluster is told of as soon as the daemon starts, and once, with both', async () => {
    says(2, { cluster: 'green' })
    expect(await connects(1)).toBe(true)
    const once = ['192.0.2.2: this node is in the database cluster green, and this daemon uses blue']
    expect(told).toEqual(once)
    expect([await connects(2), await connects(2), await connects(3)]).toEqual([false, false, true])
    expect(told).toEqual(once)
  })

  it('is not used by its place in the list alone: a daemon that starts asks all', async () => {
    says(1, { cluster: 'green' })
    expect([await connects(1), await connects(2)]).toEqual([false, true])
  })

  it('is used by nobody while two clusters have as many nodes', async () => {
    says(2, { cluster: 'green' })
    says(3, 'unknown')
    expect([await connects(1), await connects(2)]).toEqual([false, false])
    expect(told[0]).toBe(
      '192.0.2.1: this node is in the database cluster blue, others of shared_journal.nodes are in another one, and none has most of them',
    )
  })

  it('that replicates nothing is not used, be it the first, and may be again once it does', async () => {
    says(1, { on: 'OFF' })
    expect([await connects(1), await connects(2)]).toEqual([false, true])
    says(1, { on: 'ON' })
    expect(await connects(1)).toBe(true)
    expect(told).toEqual([
      '192.0.2.1: this server replicates nothing (wsrep_on is off, or it runs without Galera): no other daemon sees what is written there',
      '192.0.2.1: used',
    ])
  })

  it('whose server has no library for Galera replicates nothing', async () => {
    says(1, { provider: 'none', ready: 'OFF', status: 'Disconnected', cluster: '' })
    expect([await connects(1), told]).toEqual([
      false,
      [expect.stringMatching(/^192.0.2.1: this server replicates nothing/)],
    ])
  })

  it.each<Partial<Said>>([
    { ready: 'OFF', cluster: '00000000-0000-0000-0000-000000000000' },
    { status: 'non-Primary', cluster: 'green' },
  ])(
    'that does not serve is not used, for it may come to serve in any cluster, and nothing is told: %j',
    async (word) => {
      says(1, word)
      expect([await connects(1), asked, told]).toEqual([false, 0, []])
    },
  )

  it('is waited for by a daemon that starts, for ten seconds, where another one alone names a cluster', async () => {
    for (const number of [1, 2]) says(number, 'unknown')
    says(3, { cluster: 'green' })
    expect(await connects(3)).toBe(false)
    await clock.advance(9_999)
    expect([await connects(3), told]).toEqual([false, []])
    await clock.advance(1)
    expect([await connects(3), told]).toEqual([true, []])
  })

  it('that was begun by itself under the name of the cluster is not used while one of the others is, and is told of', async () => {
    for (const number of [1, 2]) says(number, { size: 2 })
    says(3, { size: 1 })
    expect([await connects(1), await connects(3), await connects(2)]).toEqual([true, false, true])
    expect(told).toEqual([
      expect.stringMatching(/^192.0.2.3: this node serves in a part .* does not see 192.0.2.1:3306: it sees 1 of/),
    ])
    for (const number of [1, 2, 3]) says(number, { size: 3 })
    expect([await connects(3), told.at(-1)]).toEqual([true, '192.0.2.3: used'])
  })

  it('of another cluster says what to do where the nodes of the one in use are gone for good', async () => {
    await connects(1)
    await clock.advance(1_000)
    for (const number of [1, 2]) says(number, 'unknown')
    says(3, { cluster: 'green' })
    expect([await connects(3), told]).toEqual([false, [expect.stringMatching(/gone for good, restart this daemon$/)]])
  })

  it('of a cluster that was begun anew is used by all connections, and that is told once', async () => {
    await connects(1)
    await clock.advance(1_000)
    for (const number of [1, 2]) says(number, 'closed')
    says(3, { cluster: 'green' })
    expect(await Promise.all([connects(3), connects(3)])).toEqual([true, true])
    says(1, { cluster: 'green' })
    expect([await connects(1), told]).toEqual([true, ['from blue to green']])
  })

  it('of the cluster before is not used any more after that', async () => {
    await connects(1)
    await clock.advance(1_000)
    for (const number of [2, 3]) says(number, { cluster: 'green' })
    says(1, 'unknown')
    await connects(2)
    says(1, { cluster: 'blue' })
    expect([await connects(1), await connects(3)]).toEqual([false, true])
  })

  it('of another cluster waits for what the others say, which connections that come together ask once a second', async () => {
    await connects(1)
    await clock.advance(1_000)
    for (const number of [1, 2]) says(number, 'unknown')
    says(3, { cluster: 'green' })
    asked = 0
    expect(await Promise.all([connects(3), connects(3), connects(3)])).toEqual([false, false, false])
    expect(asked).toBe(3)
    for (const number of [1, 2]) says(number, 'closed')
    await clock.advance(999)
    expect(await connects(3)).toBe(false)
    await clock.advance(1)
    expect(await connects(3)).toBe(true)
  })
})
