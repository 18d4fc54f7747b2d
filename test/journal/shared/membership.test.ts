/** Which nodes a daemon uses, by the cluster that each says it is in. A real node that replicates nothing: test/galera/trouble.test.ts. */
import type { QueryResult } from 'mysql2'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Ask } from '../../../src/journal/shared/lane.ts'
import { OneCluster } from '../../../src/journal/shared/membership.ts'

const nodes = [1, 2, 3].map((number) => ({ host: `192.0.2.${number}`, port: 3306 }))

interface Word {
  on: string
  ready: string
  status: string
  cluster: string
}

let words: Word[]
let told: string[]
let cluster: OneCluster
beforeEach(() => {
  words = nodes.map(() => ({ on: 'ON', ready: 'ON', status: 'Primary', cluster: 'blue' }))
  told = []
  cluster = new OneCluster(nodes, ({ host }, why) => told.push(`${host}: ${why ?? 'used'}`))
})

const says = (number: number, word: Partial<Word>): void => {
  const before = words[number - 1]
  if (before !== undefined) words[number - 1] = { ...before, ...word }
}

/** As a lane does once it is connected there. Gives whether the node may be used. */
async function connects(number: number): Promise<boolean> {
  const [node, word] = [nodes[number - 1], words[number - 1]]
  if (node === undefined || word === undefined) throw new Error(`there is no node ${number}`)
  const answer = [
    { name: 'WSREP_CLUSTER_SIZE', value: '3' },
    { name: 'WSREP_CLUSTER_STATE_UUID', value: word.cluster },
    { name: 'WSREP_CLUSTER_STATUS', value: word.status },
    { name: 'WSREP_READY', value: word.ready },
    { name: 'WSREP_ON', value: word.on },
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

describe('a node', () => {
  it('of the same cluster as the one before may be used, and nothing is told', async () => {
    expect([await connects(1), await connects(2), await connects(1)]).toEqual([true, true, true])
    expect(told).toEqual([])
  })

  it('of another cluster must not, and is told of once, with both', async () => {
    says(2, { cluster: 'green' })
    expect([await connects(1), await connects(2), await connects(2), await connects(3)]).toEqual([
      true,
      false,
      false,
      true,
    ])
    expect(told).toEqual([
      '192.0.2.2: this node is in the cluster green, and this daemon uses blue: shared_journal.nodes must name nodes of one cluster',
    ])
  })

  it('that replicates nothing must not, be it the first', async () => {
    says(1, { on: 'OFF' })
    expect([await connects(1), await connects(2)]).toEqual([false, true])
    expect(told).toEqual([
      '192.0.2.1: this server is in no Galera cluster: no other daemon would see what is written there',
    ])
  })

  it('may be used again once it is right, and that is told', async () => {
    says(2, { on: 'OFF' })
    await connects(2)
    says(2, { on: 'ON' })
    expect(await connects(2)).toBe(true)
    expect(told.slice(1)).toEqual(['192.0.2.2: used'])
  })

  it.each<Partial<Word>>([
    { ready: 'OFF', cluster: '00000000-0000-0000-0000-000000000000' },
    { status: 'non-Primary', cluster: 'green' },
  ])('that does not serve is judged by nothing but what it refuses: %j', async (word) => {
    says(1, word)
    expect([await connects(1), await connects(2)]).toEqual([true, true])
  })
})

describe('a cluster that was made anew', () => {
  it('is used once each node is in it, and not while one may still be in the one before', async () => {
    for (const number of [1, 2, 3]) await connects(number)
    for (const number of [2, 3]) says(number, { cluster: 'restored' })
    expect([await connects(2), await connects(3), await connects(2)]).toEqual([false, false, false])
    says(1, { cluster: 'restored' })
    expect([await connects(1), await connects(2), await connects(3)]).toEqual([true, true, true])
  })

  it('is left for none again', async () => {
    for (const number of [1, 2, 3]) says(number, { cluster: 'restored' })
    await connects(1)
    says(2, { cluster: 'blue' })
    expect([await connects(2), await connects(3)]).toEqual([false, true])
  })
})
