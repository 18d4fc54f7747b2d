/**
 * One real node of MariaDB Galera on a loopback address of its own. Owns its process and its files; knows nothing of what it stores. It runs as
 * Debian's user mysql, for the copy by rsync refuses root, and dies with this process, however that ends.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import type { Statement } from '../../src/journal/shared/tables.ts'

export const sqlPort = 3306

/** Ports that a node listens on; the last is where it takes the copy of another one. */
export const portsOf = (number: number): number[] => [sqlPort, 4567, 4568, 4044 + number * 100]

export type Signal = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'

export class GaleraNode {
  readonly number: number
  readonly address: string
  readonly #directory: string
  #process: ChildProcess | null = null

  readonly #certified: string | null

  /** @param certified the address in its certificate; null: it speaks no TLS */
  constructor(directory: string, number: number, address: string, certified: string | null) {
    this.#directory = directory
    this.#certified = certified
    this.number = number
    this.address = address
  }

  /** Makes the data that the first node begins with; the others copy it. */
  install(): void {
    const options = [`--datadir=${this.#file()}`, '--auth-root-authentication-method=normal', '--skip-test-db']
    execFileSync('mariadb-install-db', ['--no-defaults', '--user=mysql', ...options], { stdio: 'ignore' })
  }

  /**
   * @param cluster addresses of the others; `gcomm://` alone begins a cluster
   * @param group nodes of another one hear nothing of it
   */
  async start(cluster: string, group = 'lifeboat-test'): Promise<void> {
    await this.#ready(this.#run(this.#options(cluster, group)))
  }

  /** As a server whose configuration asks for Galera, and which has no library for it. */
  async startWithoutGalera(): Promise<void> {
    const process = this.#run([...this.#options('gcomm://', 'lifeboat-test'), '--wsrep-provider=none'])
    await this.#answers(process, 'SELECT 1 AS Value', '1')
  }

  #run(options: readonly string[]): ChildProcess {
    mkdirSync(this.#file(), { recursive: true })
    if (this.#certified !== null) this.#certify(this.#certified)
    execFileSync('chown', ['-R', 'mysql:', this.#file()])
    const user = ['--reuid=mysql', '--regid=mysql', '--clear-groups', '--pdeathsig=KILL', 'mariadbd']
    const process = spawn('setpriv', [...user, ...options, `--log-error=${this.#file('.log')}`], { stdio: 'ignore' })
    this.#process = process
    return process
  }

  get isRunning(): boolean {
    return this.#process !== null
  }

  /** A node that was killed is started again by `start`. */
  signal(signal: Signal): void {
    this.#process?.kill(signal)
    if (signal === 'SIGKILL' || signal === 'SIGTERM') this.#process = null
  }

  /** @param signal SIGTERM: it is stopped in order, and the others hear of it */
  async ended(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const process = this.#process
    this.signal(signal)
    if (process !== null && process.exitCode === null && process.signalCode === null)
      await new Promise((resolve) => process.once('exit', resolve))
  }

  /** What an administrator executes here. By its socket: root has no password and is known there alone. Gives the last answer. */
  async sql(...statements: readonly (string | Statement)[]): Promise<unknown> {
    const connection = await createConnection({ socketPath: this.#file('.sock'), user: 'root', connectTimeout: 2_000 })
    try {
      let answer: unknown
      for (const statement of statements) {
        const { sql, values } = typeof statement === 'string' ? { sql: statement, values: [] } : statement
        ;[answer] = await connection.query(sql, values)
      }
      return answer
    } finally {
      connection.destroy()
    }
  }

  /** A transaction that stays open with the locks of its statement. Gives what rolls it back. */
  async locked(database: string, sql: string): Promise<() => Promise<void>> {
    const connection = await createConnection({ socketPath: this.#file('.sock'), user: 'root', database })
    await connection.query('BEGIN')
    await connection.query(sql)
    return async () => {
      await connection.query('ROLLBACK')
      connection.destroy()
    }
  }

  /** The newest commit that its files hold, after a crash. */
  recoveredPosition(): number {
    const log = this.#file('.recover')
    const options = [
      ...this.#options('gcomm://', 'lifeboat-test'),
      '--user=mysql',
      `--log-error=${log}`,
      '--wsrep-recover',
    ]
    execFileSync('mariadbd', options, { stdio: 'ignore' })
    const [position] = [...readFileSync(log, 'utf8').matchAll(/Recovered position: [0-9a-f-]+:(-?\d+)/g)].slice(-1)
    if (position?.[1] === undefined) throw new Error(`node ${this.number} names no position: ${log}`)
    return Number(position[1])
  }

  /** Lets it begin the cluster, as the one with the newest commit. */
  allowToBegin(): void {
    const state = this.#file('/grastate.dat')
    writeFileSync(state, readFileSync(state, 'utf8').replace('safe_to_bootstrap: 0', 'safe_to_bootstrap: 1'))
  }

  /** After a crash it would go on as what it was part of, though that was nobody but itself. */
  forgetView(): void {
    rmSync(this.#file('/gvwstate.dat'), { force: true })
  }

  /** Where root is let in without a password. */
  get socket(): string {
    return this.#file('.sock')
  }

  /** Signed by itself: it is its own CA. */
  get certificate(): Buffer {
    return readFileSync(this.#file('.crt'))
  }

  #certify(address: string): void {
    if (existsSync(this.#file('.crt'))) return
    const subject = ['-subj', `/CN=${address}`, '-addext', `subjectAltName=IP:${address}`, '-days', '2', '-nodes']
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
    const files = ['-keyout', this.#file('.key'), '-out', this.#file('.crt')]
    execFileSync('openssl', [...made, ...subject, ...files], { stdio: 'ignore' })
    execFileSync('chown', ['mysql:', this.#file('.key')])
  }

  #ready(process: ChildProcess): Promise<void> {
    return this.#answers(process, "SHOW STATUS LIKE 'wsrep_ready'", 'ON')
  }

  async #answers(process: ChildProcess, asked: string, wanted: string): Promise<void> {
    for (let tries = 0; tries < 1_800; tries++) {
      const rows = await this.sql(asked).catch(() => [])
      if (String((rows as { Value: unknown }[])[0]?.Value) === wanted) return
      if (process.exitCode !== null || process.signalCode !== null)
        throw new Error(`node ${this.number} ended: ${this.#log()}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`node ${this.number} is not ready after three minutes: ${this.#log()}`)
  }

  #log(): string {
    return readFileSync(this.#file('.log'), 'utf8').slice(-3_000)
  }

  /** @param suffix none: its data */
  #file(suffix = ''): string {
    return join(this.#directory, `n${this.number}${suffix}`)
  }

  #options(cluster: string, group: string): string[] {
    const { number, address } = this
    const [port, groupPort, increments, copies] = portsOf(number)
    return [
      '--no-defaults',
      ...[`--datadir=${this.#file()}`, `--socket=${this.#file('.sock')}`, `--pid-file=${this.#file('.pid')}`],
      ...[`--bind-address=${address}`, `--port=${port}`, '--skip-name-resolve', '--performance-schema=OFF'],
      ...['--innodb-buffer-pool-size=64M', '--innodb-log-file-size=32M', '--innodb-flush-log-at-trx-commit=1'],
      ...['--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--wsrep-on=ON', '--wsrep-slave-threads=2'],
      ...['--wsrep-provider=/usr/lib/galera/libgalera_smm.so', `--wsrep-cluster-name=${group}`],
      ...[`--wsrep-node-name=n${number}`, `--wsrep-node-address=${address}`],
      ...[`--wsrep-node-incoming-address=${address}:${port}`],
      ...(this.#certified === null ? [] : [`--ssl-cert=${this.#file('.crt')}`, `--ssl-key=${this.#file('.key')}`]),
      ...['--wsrep-sst-method=rsync', `--wsrep-sst-receive-address=${address}:${copies}`],
      `--wsrep-provider-options=gmcast.listen_addr=tcp://${address}:${groupPort};ist.recv_addr=${address}:${increments};gcache.size=64M`,
      `--wsrep-cluster-address=${cluster}`,
    ]
  }
}
