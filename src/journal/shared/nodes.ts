/**
 * Which of several database nodes a daemon asks. Its lanes share it: where one of them met a node that hangs, the others go on to the next one
 * too, and none of them waits for that node once more. A take-over begins with lanes that were never used, so it would wait for it twice.
 */
import { StoreTrouble } from './store.ts'

export interface Node {
  host: string
  port: number
}

export class Nodes {
  readonly #nodes: readonly Node[]
  /** Modulo the number of nodes it is the node in use. */
  #turn = 0

  /** In the order in which they are asked: a cluster works best with one writer. */
  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes
  }

  get count(): number {
    return this.#nodes.length
  }

  /** Counts up. A connection is good for the turn in which it was made: what let it in may be over when all have come round to its node again. */
  get turn(): number {
    return this.#turn
  }

  /** Throws StoreTrouble when there is none. */
  current(): Node {
    const node = this.#nodes[this.#turn % this.#nodes.length]
    if (node === undefined) throw new StoreTrouble('again', 'No node is configured', { maybeDone: false })
    return node
  }

  /** Goes on to the next one, unless another lane has already done so since that turn. */
  leave(turn: number): void {
    if (this.#turn === turn) this.#turn += 1
  }

  /** The same node, on new connections. */
  connectAnew(): void {
    this.#turn += this.#nodes.length
  }
}
