/**
 * One connection to the node that its store asks (nodes.ts). Owns the time limits: the driver has none for a statement, so a statement that takes
 * too long loses its connection. It sends a statement once and never again: whether to repeat it is the caller's decision.
 */
import { createConnection, type Connection, type ConnectionOptions, type QueryResult } from 'mysql2'
import { deadline, isAborted, type Clock } from '../../domain/clock.ts'
import type { Node, Nodes } from './nodes.ts'
import { StoreTrouble } from './store.ts'
import { checkAddress, tlsOptions, type Tls } from './tls.ts'
import { troubleOf } from './trouble.ts'

export interface LaneParts {
  /** Of one store: its lanes move on together. */
  nodes: Nodes
  /** Everything but the address and TLS. */
  access: ConnectionOptions
  /** Null: no TLS. */
  tls: Tls | null
  clock: Clock
  /** For one node: the next one is tried after that. */
  connectLimitMs: number
  /** For a whole call: its wait for calls before it, connecting, and its statements. */
  statementLimitMs: number
  /** Statements that each new connection begins with. */
  settings: readonly string[]
  /** Asked of each new connection after those. Throws StoreTrouble for a node that must not be used. Default: each may be. */
  admit?: (node: Node, ask: Ask) => Promise<void>
}

/** Sends one statement. Rejects with what the driver says. */
export type Ask = <T extends QueryResult>(sql: string, values?: readonly unknown[]) => Promise<T>

interface Connected {
  connection: Connection
  node: Node
  /** Of Nodes. */
  turn: number
}

export class Lane {
  readonly #parts: LaneParts
  #connected: Connected | null = null
  #turn: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(parts: LaneParts) {
    this.#parts = parts
  }

  /**
   * Runs `work` on the connection, one call at a time and in order. Throws StoreTrouble alone.
   *
   * @param workLimitMs for `work` alone, once it is connected
   */
  run<T>(work: (ask: Ask, node: Node) => Promise<T>, workLimitMs = this.#parts.statementLimitMs): Promise<T> {
    const limit = deadline(this.#parts.clock, this.#parts.statementLimitMs)
    const turn = this.#turn.then(() => this.#attempt(work, workLimitMs, limit.signal)).finally(limit.release)
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  /** Calls under way fail, as if the connection were lost. */
  close(): void {
    this.#closed = true
    this.#hangUp()
  }

  async #attempt<T>(work: (ask: Ask, node: Node) => Promise<T>, workLimitMs: number, signal: AbortSignal): Promise<T> {
    const { connection, node, turn } = await this.#connect(signal)
    const limit = deadline(this.#parts.clock, workLimitMs, signal)
    try {
      return await within(limit.signal, work(asking(connection), node))
    } catch (thrown) {
      const trouble = troubleOf(thrown, node)
      // What the account may not do on one node it may not do on another. All else may go well there.
      if (trouble.kind === 'again') this.#leave(connection, turn)
      throw trouble
    } finally {
      limit.release()
    }
  }

  /**
   * The connection in use, or one to the first node that lets us in. Throws StoreTrouble that says that nothing was sent: refused when every node
   * refuses us. A single one may be a server that was installed again and knows no account, while the others serve.
   */
  async #connect(signal: AbortSignal): Promise<Connected> {
    const { nodes } = this.#parts
    let trouble = new StoreTrouble('again', 'The statement was not sent in time', { maybeDone: false })
    const troubles: StoreTrouble[] = []
    for (;;) {
      if (this.#closed) throw this.#afterClose()
      if (isAborted(signal)) throw trouble
      const [node, turn] = [nodes.current(), nodes.turn]
      if (this.#connected?.turn === turn) return this.#connected
      // Another lane found that the node of our connection hangs, or that it must not be used.
      this.#hangUp()
      if (troubles.length === nodes.count) throw ofAll(troubles)
      try {
        this.#connected = { connection: await this.#connectTo(node, signal), node, turn }
      } catch (thrown) {
        const { kind, message, answered, cause } = troubleOf(thrown, node)
        trouble = new StoreTrouble(kind, message, { maybeDone: false, answered, cause })
        troubles.push(trouble)
        nodes.leave(turn)
      }
    }
  }

  #afterClose(): StoreTrouble {
    this.#hangUp()
    return new StoreTrouble('again', 'The store is closed', { maybeDone: false })
  }

  async #connectTo(node: Node, parent: AbortSignal): Promise<Connection> {
    const { access, tls, clock, connectLimitMs, settings, admit } = this.#parts
    const limit = deadline(clock, connectLimitMs, parent)
    const connection = createConnection({
      ...{ ...access, ...node, ...tlsOptions(tls, node.host) },
      connectTimeout: connectLimitMs,
    })
    // An idle connection that ends says so here alone; without a listener it would end the process. The node may be well: it closes what is idle.
    connection.on('error', () => this.#forget(connection))
    try {
      await within(limit.signal, opened(connection))
      checkAddress(tls, node.host, connection)
      const ask = asking(connection)
      for (const setting of settings) await within(limit.signal, ask(setting))
      if (admit !== undefined) await within(limit.signal, admit(node, ask))
      return connection
    } catch (thrown) {
      connection.destroy()
      throw thrown
    } finally {
      limit.release()
    }
  }

  /** The next call goes to the next node. What an earlier connection says late moves nothing. */
  #leave(connection: Connection, turn: number): void {
    if (this.#forget(connection)) this.#parts.nodes.leave(turn)
  }

  #hangUp(): void {
    if (this.#connected !== null) this.#forget(this.#connected.connection)
  }

  /** Destroys the connection. True: it was the one in use. */
  #forget(connection: Connection): boolean {
    connection.destroy()
    if (this.#connected?.connection !== connection) return false
    this.#connected = null
    return true
  }
}

/** A node that answers says more than those that are away: the store is not lost. */
function ofAll(troubles: readonly StoreTrouble[]): StoreTrouble {
  const again = troubles.filter(({ kind }) => kind === 'again')
  const said = again.find(({ answered }) => answered) ?? troubles.find(({ answered }) => answered) ?? troubles.at(-1)
  if (said === undefined) return new StoreTrouble('again', 'No node is configured', { maybeDone: false })
  if (again.length === 0) return said
  const { message, answered, cause } = said
  return new StoreTrouble('again', message, { maybeDone: false, answered, cause })
}

function opened(connection: Connection): Promise<void> {
  return new Promise((resolve, reject) => connection.connect((error) => (error === null ? resolve() : reject(error))))
}

function asking(connection: Connection): Ask {
  return <T extends QueryResult>(sql: string, values: readonly unknown[] = []) =>
    new Promise<T>((resolve, reject) => {
      connection.query<T>({ sql, values: [...values] }, (error, result) => {
        if (error === null) resolve(result)
        else reject(error)
      })
    })
}

/** As `work`, or StoreTrouble once the signal aborts. */
function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new StoreTrouble('again', 'no answer in time', { maybeDone: true }))
    const settled = (): void => signal.removeEventListener('abort', late)
    signal.addEventListener('abort', late, { once: true })
    if (signal.aborted) late()
    work.finally(settled).then(resolve, reject)
  })
}
