/**
 * Holds all connections of a store to one database cluster. Owns which one it uses, and who is told of nodes that it does not use; which one it is
 * follows from membership.ts.
 */
import type { Clock } from '../../domain/clock.ts'
import type { Ask } from './lane.ts'
import { clusterToUse, membershipOf, wordOf, type Word } from './membership.ts'
import type { Node } from './nodes.ts'
import { StoreTrouble } from './store.ts'

/** What all nodes said is good for so long. Longer: a daemon comes back later; shorter: each lane that tries again asks all nodes. */
const wordsLastMs = 1_000

const standsAlone =
  'this server replicates nothing (wsrep_on is off, or it runs without Galera): no other daemon sees what is written there'

/** Each is told once, when it becomes so. `node`: why it is not used; null: it is used again. `moved`: the cluster in use is over. */
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

  constructor(parts: OneClusterParts) {
    this.#parts = parts
  }

  /** At a new connection, before anything else is asked there. Throws StoreTrouble for a node that must not be used: the next one may be. */
  async admit(node: Node, ask: Ask): Promise<void> {
    const word = wordOf(await membershipOf(ask))
    // What a node that does not serve refuses, it says itself. Which cluster it will be in it may not know yet.
    if (word === 'unknown') return
    if (word === 'alone') throw this.alone(node)
    if (word.cluster !== this.#inUse) await this.#choose(node, word)
    if (word.cluster !== this.#inUse) throw this.#refuse(node, this.#elsewhere(word.cluster))
    if (this.#refused.delete(node)) this.#parts.told({ kind: 'node', node, why: null })
  }

  /** A node that replicates nothing, also one that did before. Gives what is to be thrown. */
  alone(node: Node): StoreTrouble {
    return this.#refuse(node, standsAlone)
  }

  /** At a node of another cluster than the one in use, or at the first of all. */
  async #choose(at: Node, said: Word): Promise<void> {
    const { nodes } = this.#parts
    const words = (await this.#words()).map((word, index) => (nodes[index] === at ? said : word))
    const from = this.#inUse
    this.#inUse = clusterToUse(from, words) ?? from
    const to = this.#inUse
    if (from !== null && to !== null && from !== to) this.#parts.told({ kind: 'moved', from, to })
    // Those too that no connection has come to yet: people learn of them before they are needed.
    for (const [index, node] of nodes.entries()) {
      const word = words[index]
      if (word === 'alone') this.alone(node)
      else if (typeof word === 'object' && to !== null && word.cluster !== to)
        this.#refuse(node, this.#elsewhere(word.cluster))
    }
  }

  /** Of all nodes, in their order. Lanes that come to a stranger together ask once. */
  #words(): Promise<Word[]> {
    const { nodes, clock, ask } = this.#parts
    const now = clock.now()
    if (this.#asked === null || now - this.#asked.at >= wordsLastMs)
      this.#asked = { at: now, words: Promise.all(nodes.map((node) => ask(node))) }
    return this.#asked.words
  }

  #elsewhere(cluster: string): string {
    if (this.#inUse === null)
      return `this node is in the database cluster ${cluster}, others of shared_journal.nodes are in another one, and none has most of them`
    return `this node is in the database cluster ${cluster}, and this daemon uses ${this.#inUse}`
  }

  #refuse(node: Node, why: string): StoreTrouble {
    if (this.#refused.get(node) !== why) {
      this.#refused.set(node, why)
      this.#parts.told({ kind: 'node', node, why })
    }
    return new StoreTrouble('again', why, { maybeDone: false, answered: true })
  }
}
