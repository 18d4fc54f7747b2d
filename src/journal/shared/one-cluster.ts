/**
 * Holds all connections of a store to one database cluster. Owns which one it uses, and tells of nodes that it does not use; which one it is
 * follows from membership.ts.
 */
import type { Clock } from '../../domain/clock.ts'
import type { Ask } from './lane.ts'
import { clusterToUse, membershipOf, otherPart, wordOf, type Word } from './membership.ts'
import type { Node } from './nodes.ts'
import { StoreTrouble } from './store.ts'

/** What all nodes said is good for so long. Longer: a daemon comes back later; shorter: each lane that tries again asks all nodes. */
const wordsLastMs = 1_000

/**
 * A daemon that starts gives silent nodes so long, unless most nodes are in one cluster. Longer: it is of no use for as long where most machines are
 * gone; shorter: where a loaded cluster is slow to answer, it uses a node that someone made a cluster of its own.
 */
const patienceMs = 10_000

const standsAlone =
  'this server replicates nothing (wsrep_on is off, or it runs without Galera): no other daemon sees what is written there'

/** Each is told when it becomes so, and when the reason changes. `node`: why it is not used; null: it is used again. `moved`: the cluster in use is over. */
export type ClusterEvent =
  | { kind: 'node'; node: Node; why: string | null }
  | { kind: 'moved'; from: string; to: string }

export interface OneClusterParts {
  nodes: readonly Node[]
  clock: Clock
  /** What one node says now, on a connection of its own. Must not reject. */
  ask: (node: Node) => Promise<Word>
  told: (event: ClusterEvent) => void
}

export class OneCluster {
  readonly #parts: OneClusterParts
  readonly #refused = new Map<Node, string>()
  #inUse: string | null = null
  #asked: { at: number; words: Promise<Word[]> } | null = null
  /** When a node named a cluster first. */
  #chosenFrom: number | null = null

  constructor(parts: OneClusterParts) {
    this.#parts = parts
  }

  /** At a new connection, before anything else is asked there. Throws StoreTrouble for a node that must not be used: the next one may be. */
  async admit(node: Node, ask: Ask): Promise<void> {
    const { nodes, told } = this.#parts
    const said = wordOf(await membershipOf(ask))
    // Not let in either: which cluster it will serve in it may not know yet, and a connection is asked once.
    if (said === 'unknown')
      throw notUsed('this node does not serve: it sees too few other nodes, or is just joining them')
    if (said === 'alone') throw this.alone(node)
    if (said.cluster !== this.#inUse || said.size <= nodes.length / 2) {
      const words = (await this.#words()).map((word, index) => (nodes[index] === node ? said : word))
      if (said.cluster !== this.#inUse) this.#choose(words)
      const why = this.#whyNot(nodes.indexOf(node), words)
      if (why !== null) throw this.#refuse(node, why)
    }
    if (this.#refused.delete(node)) told({ kind: 'node', node, why: null })
  }

  /** A node that replicates nothing, also one that did before. Gives what is to be thrown. */
  alone(node: Node): StoreTrouble {
    return this.#refuse(node, standsAlone)
  }

  /** By all that was said, at a node of another cluster than the one in use, or at the first of all. Throws StoreTrouble while it waits. */
  #choose(words: readonly Word[]): void {
    const { nodes, clock, told } = this.#parts
    const now = clock.now()
    this.#chosenFrom ??= now
    const from = this.#inUse
    const isPatient = now - this.#chosenFrom < patienceMs
    const to = clusterToUse(from, words, isPatient) ?? from
    // Nothing is wrong with the node.
    if (to === null && clusterToUse(null, words) !== null)
      throw notUsed(
        'no more than half of the nodes name their database cluster yet, and the silent ones are waited for',
      )
    this.#inUse = to
    if (from !== null && to !== null && from !== to) told({ kind: 'moved', from, to })
    // Those too that no connection has come to yet: people learn of them before they are needed.
    for (const [index, node] of nodes.entries()) {
      const why = this.#whyNot(index, words)
      if (why !== null) this.#refuse(node, why)
    }
  }

  /** Why a node is not used by what all said; null: nothing is known against it. */
  #whyNot(index: number, words: readonly Word[]): string | null {
    const word = words[index]
    if (word === 'alone') return standsAlone
    if (typeof word !== 'object') return null
    const { cluster, size } = word
    if (cluster !== this.#inUse) return elsewhere(cluster, this.#inUse, words)
    const other = otherPart(index, words)
    const larger = other === null ? undefined : this.#parts.nodes[other]
    return larger === undefined
      ? null
      : `this node serves in a part of its database cluster that does not see ${larger.host}:${larger.port}: it sees ${size} of the nodes that serve. Someone began it by itself, or left wsrep_cluster_address=gcomm:// there`
  }

  /** Of all nodes, in their order. Lanes that come to a stranger together ask once. */
  #words(): Promise<Word[]> {
    const { nodes, clock, ask } = this.#parts
    const now = clock.now()
    if (this.#asked === null || now - this.#asked.at >= wordsLastMs)
      this.#asked = { at: now, words: Promise.all(nodes.map((node) => ask(node))) }
    return this.#asked.words
  }

  #refuse(node: Node, why: string): StoreTrouble {
    if (this.#refused.get(node) !== why) {
      this.#refused.set(node, why)
      this.#parts.told({ kind: 'node', node, why })
    }
    return notUsed(why)
  }
}

function notUsed(why: string): StoreTrouble {
  return new StoreTrouble('again', why, { maybeDone: false, answered: true })
}

function elsewhere(cluster: string, inUse: string | null, words: readonly Word[]): string {
  const is = `this node is in the database cluster ${cluster}`
  if (inUse === null) return `${is}, others of shared_journal.nodes are in another one, and none has most of them`
  if (words.some((word) => typeof word === 'object' && word.cluster === inUse))
    return `${is}, and this daemon uses ${inUse}`
  return `${is}, and this daemon used ${inUse}, which may still serve other daemons: it waits until most nodes are in one cluster, or no node is silent. If the silent ones are gone for good, restart this daemon`
}
