/** What tests on a real cluster need beside it: stores that begin at a certain node, and the rows as each node has them. */
import { createConnection } from 'mysql2/promise'
import { mariadbStore, type MariadbOptions } from '../../src/journal/shared/mariadb.ts'
import { StoreTrouble, type SharedStore } from '../../src/journal/shared/store.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { account, Cluster } from './cluster.ts'

export interface Row {
  seq: number
  hash: string
}

export class Stage {
  readonly cluster = new Cluster()
  readonly #opened: SharedStore[] = []

  /** @param first the node that it asks first; the others follow in order */
  store(first: number, access: Partial<typeof account> = {}, options: Partial<MariadbOptions> = {}): SharedStore {
    const { addresses } = this.cluster
    const nodes = [...addresses.slice(first - 1), ...addresses.slice(0, first - 1)]
    const store = mariadbStore({ nodes, ...account, ...access, tls: null, clock, ...options })
    this.#opened.push(store)
    return store
  }

  /** Of a daemon that reaches one node alone. */
  storeOf(number: number): SharedStore {
    const { addresses } = this.cluster
    return this.store(number, {}, { nodes: addresses.slice(number - 1, number) })
  }

  async closeStores(): Promise<void> {
    for (const store of this.#opened.splice(0)) await store.close()
  }

  /** The identical statement again and again, as the protocol has it. Throws what is no trouble that may pass. */
  async untilAnswered<T>(ask: () => Promise<T>, limitMs = 30_000): Promise<T> {
    for (const startedAt = clock.now(); ;) {
      try {
        return await ask()
      } catch (thrown) {
        if (!(thrown instanceof StoreTrouble) || thrown.kind !== 'again' || clock.now() - startedAt > limitMs)
          throw thrown
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }

  /** The entries as each node has them, once it has applied what the group committed. */
  async onEachNode(): Promise<Row[][]> {
    const read = [1, 2, 3].map((number) =>
      this.cluster.sql(number, 'SET SESSION wsrep_sync_wait = 1', 'SELECT seq, hash FROM entries ORDER BY seq'),
    )
    return (await Promise.all(read)) as Row[][]
  }

  /** One statement with the rights of a daemon. */
  async asDaemon(sql: string): Promise<unknown> {
    const [node] = this.cluster.addresses
    const connection = await createConnection({ ...node, ...account })
    try {
      return (await connection.query(sql))[0]
    } finally {
      connection.destroy()
    }
  }
}
