/** The real daemon as its own process, as systemd would run it, for the tests against a real Nova. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parse } from 'yaml'
import type { Entry } from '../../src/domain/entry.ts'
import { foldIncidents, type Incident } from '../../src/domain/incident.ts'
import { openJournalReader } from '../../src/journal/reader.ts'

export interface DaemonOptions {
  stateDir?: string
  /** Default: config/lab.yaml. */
  config?: string
  cloudsFile: string
  env?: Record<string, string>
  /** The group that it runs as. */
  gid?: number
}

export class DaemonProcess {
  readonly stateDir: string
  readonly #options: DaemonOptions
  #child: ChildProcess | null = null
  #output = ''

  constructor(options: DaemonOptions) {
    this.#options = options
    this.stateDir = options.stateDir ?? mkdtempSync(join(tmpdir(), 'lifeboat-nova-'))
  }

  /** Starts the daemon and waits until it has polled. */
  async start(): Promise<this> {
    const child = this.launch()
    await until('the daemon is ready', async () => {
      if (child.exitCode !== null)
        throw new Error(`the daemon ended with ${child.exitCode}: ${this.#output.slice(-2000)}`)
      const answer = await fetch('http://127.0.0.1:9393/readyz', soon()).catch(() => null)
      return answer?.ok === true
    })
    return this
  }

  /** Starts the daemon and waits for nothing: its cloud may be in trouble. */
  launch(): ChildProcess {
    const { gid } = this.#options
    const child = spawn(process.execPath, ['dist/bundle/main.js', 'run', '--config', this.config], {
      ...(gid !== undefined && { gid }),
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.on('data', (chunk: Buffer) => (this.#output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (this.#output += chunk.toString()))
    this.#child = child
    return child
  }

  get runs(): boolean {
    return this.#child !== null && !hasEnded(this.#child)
  }

  /** SIGSTOP: the process stands still, as when it is swapped out or its machine is suspended. */
  standStill(): void {
    this.#child?.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child?.kill('SIGCONT')
  }

  get config(): string {
    return this.#options.config ?? 'config/lab.yaml'
  }

  get env(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      OS_CLIENT_CONFIG_FILE: this.#options.cloudsFile,
      LIFEBOAT_STATE_DIR: this.stateDir,
      ...this.#options.env,
    }
  }

  get output(): string {
    return this.#output
  }

  /** Everything the journal holds; works while the daemon runs and after it died. */
  entries(): Entry[] {
    const reader = openJournalReader(join(this.stateDir, 'journal.db'))
    try {
      return reader.read()
    } finally {
      reader.close()
    }
  }

  incidents(): Incident[] {
    return [...foldIncidents(this.entries()).values()]
  }

  /** What Prometheus would read of it now; empty while it does not answer. */
  async metrics(): Promise<string> {
    const { http } = parse(readFileSync(this.config, 'utf8')) as { http: { listen: string } }
    const answer = await fetch(`http://${http.listen}/metrics`, soon()).catch(() => null)
    return (await answer?.text().catch(() => '')) ?? ''
  }

  /** Starts the daemon beside `work`, and once both are done waits until it has seen every host beat. Gives what `work` gives. */
  async watchBeside<T>(work: Promise<T>): Promise<T> {
    const [given] = await Promise.all([work, this.start()])
    await this.watched()
    return given
  }

  /** Waits until every host is healthy and nothing is frozen: the daemon has watched each of them beat, and would see it die. */
  async watched(): Promise<void> {
    await until('every host is healthy', async () => {
      const page = await this.metrics()
      const hosts = total(page, 'lifeboat_hosts', [])
      const isFrozen = /^lifeboat_frozen(\{.*\})? 1$/m.test(page)
      return !isFrozen && hosts >= 4 && hosts === total(page, 'lifeboat_hosts', ['verdict="healthy"'])
    })
  }

  /** Waits for the incident on `host` to satisfy `wanted`. */
  async incident(host: string, wanted: (incident: Incident) => boolean): Promise<Incident> {
    try {
      return await until(`the incident on ${host}`, () =>
        Promise.resolve(this.incidents().findLast((incident) => incident.host === host && wanted(incident))),
      )
    } catch (thrown) {
      throw new Error(`${String(thrown)}\n${this.lastEntries(40)}`, { cause: thrown })
    }
  }

  /** The journal's end, a line an entry: what a test that waited in vain is found out by. */
  lastEntries(count: number): string {
    const line = ({ at, kind, host, instance, step, data }: Entry): string =>
      [at, kind, host, instance, step, JSON.stringify(data).slice(0, 300)].filter(Boolean).join(' ')
    return this.entries().slice(-count).map(line).join('\n')
  }

  /** Peak resident memory of the process in MiB. */
  peakRssMiB(): number {
    const status = readFileSync(`/proc/${this.#child?.pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  }

  /** SIGKILL, as a crash would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** SIGTERM, and SIGKILL to one that goes on for as long as systemd would wait. Throws then: it is to end by itself. */
  async stop(): Promise<void> {
    const ended = await this.#end('SIGTERM')
    writeFileSync(join(this.stateDir, 'daemon.log'), this.#output)
    if (!ended) throw new Error(`the daemon went on after SIGTERM: ${this.#output.slice(-2000)}`)
  }

  async #end(signal: NodeJS.Signals): Promise<boolean> {
    const child = this.#child
    this.#child = null
    if (child === null || hasEnded(child)) return true
    const exit = new Promise<true>((resolve) => child.once('exit', () => resolve(true)))
    child.kill(signal)
    const ended = await Promise.race([exit, setTimeout(stopLimitMs, false, { ref: false })])
    if (!ended) child.kill('SIGKILL')
    await exit
    return ended
  }

  /** Runs a command of the CLI beside the daemon. */
  command(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, ['dist/bundle/main.js', ...args, '--config', this.config], {
        env: this.env,
        timeout: patienceMs,
      })
      let stdout = ''
      let stderr = ''
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
      child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }))
    })
  }
}

/** systemd's TimeoutStopSec (systemd/lifeboat.service). */
const stopLimitMs = 90_000

/** One that a signal ended has no exit code. */
const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

/** A daemon that takes a connection and answers nothing has not answered. */
const soon = (): RequestInit => ({ signal: AbortSignal.timeout(10_000) })

/** The sum of a metric over everything that has these labels. */
export function total(page: string, name: string, labels: string[]): number {
  return page
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/**
 * How long anything is waited for, unless a test says otherwise. It asserts nothing: what must be quick is measured. Shorter fails where two labs share two slow cores.
 */
const patienceMs = 300_000

/** Asks until the answer is neither undefined nor false. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  limitMs = patienceMs,
): Promise<T> {
  const end = Date.now() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (Date.now() > end) throw new Error(`waited ${limitMs / 1000} s in vain for: ${what}`)
    await setTimeout(200)
  }
}
