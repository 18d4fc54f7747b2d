/**
 * Which cluster a node is in, by its own word, and whether a daemon may use it. What is written at a node of another cluster, or at one that replicates
 * nothing, no other daemon sees: two would be active. The daemon asks at each new connection; `lifeboat check` asks the same.
 */
import type { RowDataPacket } from 'mysql2'
import type { SharedNode } from '../../domain/shared-node.ts'
import type { Ask } from './lane.ts'
import type { Node } from './nodes.ts'
import { StoreTrouble } from './store.ts'

type Membership = SharedNode['galera']

// In one round trip. Of the information schema, which a node answers in a minority too.
const membershipSql = `SELECT VARIABLE_NAME AS name, VARIABLE_VALUE AS value FROM information_schema.GLOBAL_STATUS
  WHERE VARIABLE_NAME IN ('WSREP_READY', 'WSREP_CLUSTER_STATUS', 'WSREP_CLUSTER_SIZE', 'WSREP_CLUSTER_STATE_UUID')
  UNION ALL SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES WHERE VARIABLE_NAME = 'WSREP_ON'`

/** Null: it is in none, or does not replicate what is written there. */
export async function membershipOf(ask: Ask): Promise<Membership> {
  const rows = await ask<({ name: string; value: string } & RowDataPacket)[]>(membershipSql)
  const said = new Map(rows.map(({ name, value }) => [name.toUpperCase(), value]))
  if (said.get('WSREP_ON') !== 'ON') return null
  return {
    ready: said.get('WSREP_READY') === 'ON' && said.get('WSREP_CLUSTER_STATUS') === 'Primary',
    size: Number(said.get('WSREP_CLUSTER_SIZE')),
    cluster: said.get('WSREP_CLUSTER_STATE_UUID') ?? '',
  }
}

/** Told when this changes for a node. `why`: null: it is used again. */
export type ToldOfNode = (node: Node, why: string | null) => void

/**
 * The one cluster that a daemon uses: that of the first node that let it in. A cluster that was made anew is another one, and is used once every node
 * of the list has said that it is in it: then no node is left of the one before.
 */
export class OneCluster {
  readonly #nodes: readonly Node[]
  readonly #told: ToldOfNode
  readonly #clusters = new Map<Node, string>()
  readonly #refused = new Map<Node, string>()
  #cluster: string | null = null

  constructor(nodes: readonly Node[], told: ToldOfNode) {
    this.#nodes = nodes
    this.#told = told
  }

  /** At a new connection, before anything else is asked there. Throws StoreTrouble for a node that must not be used: the next one may. */
  async admit(node: Node, ask: Ask): Promise<void> {
    const why = this.#judged(node, await membershipOf(ask))
    if (why !== (this.#refused.get(node) ?? null)) this.#told(node, why)
    if (why === null) {
      this.#refused.delete(node)
      return
    }
    this.#refused.set(node, why)
    throw new StoreTrouble('again', why, { maybeDone: false, answered: true })
  }

  #judged(node: Node, membership: Membership): string | null {
    if (membership === null)
      return 'this server is in no Galera cluster: no other daemon would see what is written there'
    // What such a node refuses it says itself; which cluster it will be in it may not know yet.
    if (!membership.ready) return null
    this.#clusters.set(node, membership.cluster)
    const before = this.#cluster
    if (before === null || this.#nodes.every((each) => this.#clusters.get(each) === membership.cluster))
      this.#cluster = membership.cluster
    if (this.#cluster === membership.cluster) return null
    return `this node is in the cluster ${membership.cluster}, and this daemon uses ${before}: shared_journal.nodes must name nodes of one cluster`
  }
}
