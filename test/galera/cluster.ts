/**
 * Three real nodes of MariaDB Galera on this machine's loopback, in a directory that goes with them. Needs root and Debian's mariadb-server. Touches
 * no other server: where another cluster has the addresses, this one takes the next.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sharedTables } from '../../src/journal/shared/tables.ts'
import { GaleraNode, portsOf, sqlPort, type Signal } from './node.ts'

export const account = { user: 'lifeboat', password: 'shared', database: 'lifeboat' }

/** An account that may look and nothing more. */
export const reader = { ...account, user: 'reader' }

const numbers = [1, 2, 3]

export class Cluster {
  readonly #directory = mkdtempSync(join(tmpdir(), 'lifeboat-galera-'))
  #nodes: GaleraNode[] = []

  get addresses(): { host: string; port: number }[] {
    return this.#nodes.map(({ address }) => ({ host: address, port: sqlPort }))
  }

  async start(): Promise<void> {
    // Each node goes through it to its own files.
    execFileSync('chown', ['mysql:', this.#directory])
    const block = await freeBlock()
    // The first has a certificate of its own, the second one of another machine, the third none.
    const certified = [`${block}1`, `${block}9`, null]
    this.#nodes = numbers.map(
      (number, index) => new GaleraNode(this.#directory, number, `${block}${number}`, certified[index] ?? null),
    )
    const [first, ...others] = this.#nodes
    first?.install()
    await first?.start('gcomm://')
    // One copies the first node while the other waits for it, or copies it too.
    await Promise.all(others.map((node) => node.start(this.#all())))
  }

  /** A whole cluster, whatever the test before did to it, with empty tables of a cloud and the daemons' accounts on every node. */
  async tables(cloud = 'blue'): Promise<void> {
    await this.heal()
    const { database, password } = account
    const users = [account.user, reader.user]
    await this.node(1).sql(
      `DROP DATABASE IF EXISTS ${database}`,
      `CREATE DATABASE ${database}`,
      ...users.map((user) => `CREATE OR REPLACE USER '${user}'@'%' IDENTIFIED BY '${password}'`),
      ...sharedTables({ database, cloud, account: { user: account.user, host: '%' } }),
      `GRANT SELECT ON ${database}.* TO '${reader.user}'@'%'`,
    )
    for (const node of this.#nodes)
      await node.sql('SET SESSION wsrep_sync_wait = 15', `SELECT COUNT(*) FROM ${database}.tenure`)
  }

  /** What an administrator does on one node. */
  async sql(number: number, ...statements: string[]): Promise<unknown> {
    return this.node(number).sql(`USE ${account.database}`, ...statements)
  }

  /** Starts a node that was killed; it joins the others. */
  async run(number: number): Promise<void> {
    await this.node(number).start(this.#all())
  }

  /** Stops a node in order, and starts it by itself with what it has: a part with the name of the cluster, which the others do not see. */
  async beginAlone(number: number): Promise<void> {
    const node = this.node(number)
    await node.ended('SIGTERM')
    node.allowToBegin()
    // In a group of its own: found by the others, it may end or end them.
    await node.start('gcomm://', 'lifeboat-parted')
  }

  /** Starts a node again with its files alone. */
  async withoutGalera(number: number): Promise<void> {
    await this.node(number).ended('SIGTERM')
    await this.node(number).startWithoutGalera()
  }

  /** Kills a node, and starts it as a cluster of its own with what it has. */
  async part(number: number): Promise<void> {
    const node = this.node(number)
    await node.ended()
    node.allowToBegin()
    await node.start('gcomm://', 'lifeboat-parted')
    // The others have voted it out.
    await agreed(this.#nodes.filter((other) => other !== node))
  }

  /** Ends these three: it joins the others again, and has what they have. */
  async unite(number: number): Promise<void> {
    const node = this.node(number)
    await node.ended()
    node.forgetView()
    await this.run(number)
    await this.whole()
  }

  signal(number: number, signal: Signal): void {
    this.node(number).signal(signal)
  }

  /** Cuts a node off from the others, not from its clients. */
  async isolate(number: number): Promise<void> {
    await this.node(number).sql("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'")
  }

  /** Ends `isolate`, and waits until the node serves again. */
  async rejoin(number: number): Promise<void> {
    await this.node(number).sql("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'")
    await this.whole()
  }

  /**
   * Waits until all nodes serve in one and the same view of the cluster. A node that stood still goes on with the view it had: it calls itself
   * ready and the cluster whole until it hears that it was voted out. So all are asked in one round, and the view's number must agree.
   */
  whole(): Promise<void> {
    return agreed(this.#nodes)
  }

  /** Ends whatever a test did to the nodes, so that one that fails leaves nothing to the next. */
  async heal(): Promise<void> {
    // Fewer than two are no majority that a node could join.
    if (this.#nodes.filter(({ isRunning }) => isRunning).length < 2) await this.crashAndRecover()
    for (const node of this.#nodes) {
      node.signal('SIGCONT')
      if (!node.isRunning) await node.start(this.#all())
      await node.sql("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'")
    }
    await this.whole()
  }

  /** All nodes crash together, and come back with what is on their disks. */
  async crashAndRecover(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.ended()))
    const positions = this.#nodes.map((node) => ({ node, position: node.recoveredPosition() }))
    const [newest, ...others] = positions.toSorted((one, other) => other.position - one.position)
    newest?.node.allowToBegin()
    await newest?.node.start('gcomm://')
    await Promise.all(others.map(({ node }) => node.start(this.#all())))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.ended()))
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 10 })
  }

  node(number: number): GaleraNode {
    const node = this.#nodes[number - 1]
    if (node === undefined) throw new Error(`there is no node ${number}`)
    return node
  }

  #all(): string {
    return `gcomm://${this.#nodes.map(({ address }) => address).join(',')}`
  }
}

/** All of these serve, and are the whole cluster. */
async function agreed(nodes: readonly GaleraNode[]): Promise<void> {
  for (let tries = 0; ; tries++) {
    const views = await Promise.all(nodes.map(viewOf))
    if (views.every((view) => view.startsWith(`ready, ${nodes.length} nodes`)) && new Set(views).size === 1) return
    // Three minutes at least: beside two labs that start, forty seconds were too few on a slow machine.
    if (tries > 1_800) throw new Error(`the cluster is not whole: ${views.join('; ')}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** What a node says of the cluster, in a line; the view's number is the same in the whole cluster. */
async function viewOf(node: GaleraNode): Promise<string> {
  const asked = "SHOW STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_size', 'wsrep_cluster_conf_id')"
  const rows = (await node.sql(asked).catch(() => [])) as { Variable_name: string; Value: string }[]
  const status = new Map(rows.map((row) => [row.Variable_name, row.Value]))
  const isReady = status.get('wsrep_ready') === 'ON'
  return `${isReady ? 'ready' : 'not ready'}, ${status.get('wsrep_cluster_size')} nodes, view ${status.get('wsrep_cluster_conf_id')}`
}

/** Addresses, but for the last digit, on which every port of every node is free. */
async function freeBlock(): Promise<string> {
  for (let net = 0; net < 100; net++) {
    const block = `127.0.${net}.1`
    const wanted = numbers.flatMap((number) => portsOf(number).map((port) => isFree(`${block}${number}`, port)))
    if ((await Promise.all(wanted)).every(Boolean)) return block
  }
  throw new Error('no addresses from 127.0.0.11 to 127.0.99.13 are free')
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
