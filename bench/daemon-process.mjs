/** The daemon as a process of its own, started as an administrator would, and read through its journal only. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { foldIncidents } from '../dist/domain/incident.js'
import { openJournalReader } from '../dist/journal/reader.js'
import { shipped } from './builds.mjs'
import { memoryMiB, until } from './figures.mjs'

/** What the unit gives every daemon: measured is what administrators run. */
const unit = readFileSync(new URL('../systemd/lifeboat.service', import.meta.url), 'utf8')
const variables = unit.matchAll(/^Environment="?(\w+)=(.*?)"?$/gm)
const ofTheUnit = Object.fromEntries([...variables].map(([, name, value]) => [name, value]))

export class DaemonProcess {
  #options
  #child = null
  #output = ''

  /** @param options { config, stateDir, port, env, program? }: `program` replaces `dist/bundle/main.js run` */
  constructor(options) {
    this.#options = options
  }

  get pid() {
    return this.#child.pid
  }

  /** Starts it and waits until it has polled. Gives the wall time of the start, and how long readiness took. */
  async start() {
    const { config, stateDir, port, env, program = [shipped, 'run'] } = this.#options
    const startedAt = Date.now()
    const child = spawn(process.execPath, [...program, '--config', config], {
      env: { ...ofTheUnit, ...process.env, ...env, LIFEBOAT_STATE_DIR: stateDir },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => (this.#output = (this.#output + chunk.toString()).slice(-4000)))
    await until(
      'the daemon to be ready',
      30_000,
      async () => {
        if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}:\n${this.#output}`)
        return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true
      },
      20,
    )
    return { startedAt, readyMs: Date.now() - startedAt }
  }

  entries(filter) {
    const reader = openJournalReader(join(this.#options.stateDir, 'journal.db'))
    try {
      return reader.read(filter)
    } finally {
      reader.close()
    }
  }

  /** Waits until `count` hosts are healthy: their heartbeats are known, and a silence can be judged. */
  watched(count, limitMs = 60_000) {
    return until(`${count} healthy hosts`, limitMs, () => {
      const verdicts = new Map(this.entries({ kinds: ['verdict.changed'] }).map(({ host, data }) => [host, data.kind]))
      return [...verdicts.values()].filter((kind) => kind === 'healthy').length >= count
    })
  }

  /** Waits for the newest incident on a host to be closed, and gives it with its entries. */
  async closed(host, limitMs = 120_000) {
    // Only the closing entry is looked for: reading thousands of plans ten times a second would slow down the cloud, too.
    const find = () => this.entries({ host, kinds: ['incident.closed'], newestFirst: true, limit: 1 })[0]
    const { incident: id } = await until(`the incident on ${host} to be closed`, limitMs, find, 100)
    const entries = this.entries({ incident: id })
    return { incident: foldIncidents(entries).get(id), entries }
  }

  memory() {
    return memoryMiB(this.pid)
  }

  /** Asks a program that answers (see measured-daemon.mjs) for its own figures. */
  ask(question) {
    return new Promise((resolve) => {
      this.#child.once('message', resolve)
      this.#child.send(question)
    })
  }

  kill() {
    return this.#end('SIGKILL')
  }

  stop() {
    return this.#end('SIGTERM')
  }

  async #end(signal) {
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }
}
