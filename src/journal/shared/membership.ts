/**
 * Which database cluster a node is in, by its own word, and which one a daemon uses. What is written to a node of another cluster, or to one that
 * replicates nothing, no other daemon sees: two would be active. A daemon asks at each new connection, and `lifeboat check` asks the same.
 */
import type { RowDataPacket } from 'mysql2'
import type { SharedNode } from '../../domain/shared-node.ts'
import type { Ask } from './lane.ts'

type Membership = SharedNode['galera']

// In one round trip. Of the information schema, which a node answers in a minority too.
const membershipSql = `SELECT VARIABLE_NAME AS name, VARIABLE_VALUE AS value FROM information_schema.GLOBAL_STATUS
  WHERE VARIABLE_NAME IN ('WSREP_READY', 'WSREP_CLUSTER_STATUS', 'WSREP_CLUSTER_SIZE', 'WSREP_CLUSTER_STATE_UUID')
  UNION ALL SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES
  WHERE VARIABLE_NAME IN ('WSREP_ON', 'WSREP_PROVIDER')`

/** Null: it is in no cluster, or does not replicate what is written there. Rejects with what the driver says. */
export async function membershipOf(ask: Ask): Promise<Membership> {
  const rows = await ask<({ name: string; value: string } & RowDataPacket)[]>(membershipSql)
  const said = new Map(rows.map(({ name, value }) => [name.toUpperCase(), value]))
  // Without the library it serves every client, and calls itself not ready.
  if (said.get('WSREP_ON') !== 'ON' || said.get('WSREP_PROVIDER') === 'none') return null
  return {
    ready: said.get('WSREP_READY') === 'ON' && said.get('WSREP_CLUSTER_STATUS') === 'Primary',
    size: Number(said.get('WSREP_CLUSTER_SIZE')),
    cluster: said.get('WSREP_CLUSTER_STATE_UUID') ?? '',
  }
}

/**
 * What is known of a node at one moment. `alone`: it replicates nothing. `closed`: its machine answers that no server listens there. `unknown`: it
 * does not answer, or does not serve now; it may be in any cluster. `size`: the nodes of the cluster as this one sees it.
 */
export type Word = { cluster: string; size: number } | 'alone' | 'closed' | 'unknown'

export function wordOf(membership: Membership): Exclude<Word, 'closed'> {
  if (membership === null) return 'alone'
  const { ready, cluster, size } = membership
  return ready ? { cluster, size } : 'unknown'
}

/**
 * The cluster that a daemon uses, by what all its nodes say at one moment; null: none yet. While a node of the cluster in use answers, that one stays.
 * Silence of all its nodes does not end it: it may serve other daemons, and then two would be active. It is over once it can have no majority any
 * more: more than half of the nodes are in another one, or no node is left that may be in it, as when a database is started again after all its
 * servers crashed. So the first of them to serve is enough where the machines of the others answer.
 *
 * @param inUse null: the daemon has just started, and uses what all that answer are in
 * @param isPatient whether one that has just started still gives silent nodes time to answer
 */
export function clusterToUse(inUse: string | null, words: readonly Word[], isPatient = false): string | null {
  const nodes = new Map<string, number>()
  for (const word of words) if (typeof word === 'object') nodes.set(word.cluster, (nodes.get(word.cluster) ?? 0) + 1)
  if (inUse !== null && nodes.has(inUse)) return inUse
  const [largest] = [...nodes].find(([, count]) => count > words.length / 2) ?? []
  if (largest !== undefined) return largest
  const [only] = nodes.size === 1 ? [...nodes.keys()] : []
  const isSilenceWaitedFor = (inUse !== null || isPatient) && words.includes('unknown')
  return only === undefined || isSilenceWaitedFor ? null : only
}

/**
 * The node whose part of a cluster is used instead of that of the node `at`; null: that one's own. A node that was begun by itself with what it has
 * keeps the name of the cluster: one that is stopped in order, and has `gcomm://` in its configuration when it starts. It tells by its size: more
 * nodes serve than it sees. A part with most of the nodes named is used, otherwise the largest; of two that are as large, the one of the node
 * that all daemons name first.
 */
export function otherPart(at: number, words: readonly Word[]): number | null {
  const own = words[at]
  if (typeof own !== 'object' || own.size > words.length / 2) return null
  const serving = words.flatMap((word, index) =>
    typeof word === 'object' && word.cluster === own.cluster ? [{ index, size: word.size }] : [],
  )
  if (serving.length <= own.size) return null
  const [largest] = serving.toSorted((one, other) => other.size - one.size)
  return largest === undefined || largest.index === at ? null : largest.index
}
