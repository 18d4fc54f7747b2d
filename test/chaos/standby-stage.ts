/**
 * Three daemons on three nodes of Galera over the lab's real Nova, each behind a wire of its own that can be cut, and each with a clock of
 * its own that can be set (Debian's faketime).
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, connect, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { account, Cluster } from '../galera/cluster.ts'
import { until, type DaemonProcess } from '../nova/daemon-process.ts'
import { lab, labIdentityUrl } from '../nova/lab.ts'
import { LabStage } from '../nova/stage.ts'
import { CountedWrites } from './counted-writes.ts'

/** As systemd's RestartSec, and a start. */
const startedAgainMs = 1_000
const firstPort = 9500
const firstGroup = 20_001
const clockLibrary = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'

/** What one daemon's connections to one database node go through. While it is cut nothing passes, and nobody is told. */
class Wire {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #cut = false

  constructor(host: string, port: number) {
    this.#server = createServer((near) => {
      const far = connect({ host, port })
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from)
        from.on('data', (chunk: Buffer) => {
          if (!this.#cut) to.write(chunk)
        })
        from.on('error', () => to.destroy())
        from.on('close', () => {
          this.#sockets.delete(from)
          to.destroy()
        })
      }
    })
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  cut(): void {
    this.#cut = true
  }

  /** What was under way is lost: the connections end. */
  join(): void {
    this.#cut = false
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}

export interface Controller {
  name: string
  daemon: DaemonProcess
  wires: Wire[]
  /** How far its clock is from the true one: a text as faketime takes it. */
  clockFile: string
  /** Until when its machine is away, epoch ms: nothing starts the daemon again before that. */
  awayUntil: number
}

export class StandbyStage {
  readonly lab: LabStage
  readonly cluster = new Cluster()
  readonly #directory = mkdtempSync(join(tmpdir(), 'lifeboat-clocks-'))
  controllers: Controller[] = []
  #keeping: NodeJS.Timeout | null = null
  #counted: CountedWrites | null = null

  private constructor(stage: LabStage) {
    this.lab = stage
  }

  static async open(): Promise<StandbyStage> {
    if (!existsSync(clockLibrary)) throw new Error(`${clockLibrary} is missing: apt-get install faketime`)
    const stage = new StandbyStage(await LabStage.open('standby-chaos'))
    await stage.cluster.start()
    return stage
  }

  /** Fresh tables, and three daemons of which one is active and has seen every host beat. */
  async set(): Promise<void> {
    await this.cluster.tables(labIdentityUrl)
    this.controllers = await Promise.all([1, 2, 3].map((number) => this.#controller(number)))
    const [first, ...others] = this.controllers
    first?.daemon.launch()
    await until('the first is active', async () => (await this.active()) === first)
    for (const { daemon } of others) daemon.launch()
    await first?.daemon.watched()
    const acts = (index: number) => () => this.#acts(index)
    this.#counted = await CountedWrites.begin(
      this.controllers.map(({ name }, index) => ({ name, gid: firstGroup + index, acts: acts(index) })),
    )
    this.#keeping = setInterval(() => this.#startAgain(), startedAgainMs)
  }

  async #controller(number: number): Promise<Controller> {
    const wires = this.cluster.addresses.map(({ host, port }) => new Wire(host, port))
    const nodes = await Promise.all(wires.map((wire) => wire.open()))
    const { user, password } = account
    const clockFile = join(this.#directory, `clock-${number}`)
    writeFileSync(clockFile, '+0s')
    const daemon = this.lab.freshDaemon(
      {
        http: { listen: `127.0.0.1:${firstPort + number}` },
        shared_journal: { nodes, user, password, name: `ctl${number}` },
        // A daemon dies between an intent and its sending: the next one waits this long, because Nova may serve the order late. The lab has no
        // queue before its API that is longer.
        executor: { longest_request: '1m' },
        segment: { return: { mode: 'automatic', healthy: '4s', max_returns: 50, within: '30m' } },
      },
      { gid: firstGroup + number - 1, env: clockOf(clockFile) },
    )
    return { name: `ctl${number}`, daemon, wires, clockFile, awayUntil: 0 }
  }

  /** Sentences on what a deposed daemon sent since the round began, and how many writes were counted in all. */
  async counted(): Promise<{ wrong: string[]; writes: number }> {
    const counted = this.#counted
    this.#counted = null
    return (await counted?.end()) ?? { wrong: [], writes: 0 }
  }

  #startAgain(): void {
    for (const { daemon, awayUntil } of this.controllers) if (!daemon.runs && Date.now() > awayUntil) daemon.launch()
  }

  /** Who says of itself that it acts; null when nobody does. */
  async active(): Promise<Controller | null> {
    for (const [index, controller] of this.controllers.entries()) if (await this.#acts(index)) return controller
    return null
  }

  async #acts(index: number): Promise<boolean> {
    const url = `http://127.0.0.1:${firstPort + index + 1}/active`
    const answer = await fetch(url, { signal: AbortSignal.timeout(500) }).catch(() => null)
    return answer?.ok === true
  }

  /** Everything is joined, runs and stands by, and one acts. */
  async peace(): Promise<void> {
    for (const { daemon, wires } of this.controllers) {
      daemon.goOn()
      for (const wire of wires) wire.join()
    }
    await this.cluster.whole()
    await until('one is active', async () => (await this.active()) !== null)
  }

  async end(): Promise<void> {
    if (this.#keeping !== null) clearInterval(this.#keeping)
    await this.counted()
    for (const { daemon } of this.controllers) {
      daemon.goOn()
      await daemon.stop()
    }
    for (const { wires } of this.controllers) for (const wire of wires) wire.close()
    this.controllers = []
    await this.lab.tidy()
  }

  async close(): Promise<void> {
    await this.cluster.stop()
    rmSync(this.#directory, { recursive: true, force: true })
    this.lab.close()
    await lab('up', '4')
  }
}

/** The wall clock is the file's; how long something takes is told by the true one, as on a machine whose clock is set. */
function clockOf(file: string): Record<string, string> {
  return {
    LD_PRELOAD: clockLibrary,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  }
}
