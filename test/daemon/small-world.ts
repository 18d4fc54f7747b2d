/** A daemon with its telemetry over a simulated cloud on a virtual clock: for what happens to the daemon's own machine. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { Daemon, type DaemonParts } from '../../src/daemon/daemon.ts'
import { simulatedParts } from '../../src/rehearsal/simulated-parts.ts'
import type { Clock } from '../../src/domain/clock.ts'
import type { Incident } from '../../src/domain/incident.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'
import { startSimulator, VirtualClock, type Simulator } from '../../src/simulator/index.ts'
import { createTelemetry, type Telemetry } from '../../src/telemetry/telemetry.ts'

const workflowFile = new URL('../../recovery-workflows/host-failure.yaml', import.meta.url)
const workflow = parseWorkflow(readFileSync(workflowFile, 'utf8'), 'host-failure.yaml', {
  ownerPolicy: defaultOwnerPolicy,
})

export const beatMs = 10_000

export interface SmallWorldOptions {
  /** How many, or their names. */
  hosts?: number | string[]
  /** Where the journal is; default: a directory of its own, in memory where there is such a place. */
  directory?: string
  /** Between the daemon and its journal. */
  wrapJournal?: (journal: JournalWriter) => JournalWriter
  parts?: Partial<DaemonParts>
}

export class SmallWorld {
  readonly clock: VirtualClock
  readonly simulator: Simulator
  readonly telemetry: Telemetry
  readonly log: { level: string; event: string; message?: string }[]
  journal!: JournalWriter
  daemon!: Daemon
  readonly #directory: string
  readonly #options: SmallWorldOptions
  #wallAheadMs = 0
  readonly #ownClock: Clock = {
    now: () => this.clock.now(),
    wall: () => this.clock.wall() + this.#wallAheadMs,
    after: (delayMs, fire) => this.clock.after(delayMs, fire),
  }
  #closeCloud: () => void = () => undefined

  private constructor(clock: VirtualClock, simulator: Simulator, directory: string, options: SmallWorldOptions) {
    this.clock = clock
    this.simulator = simulator
    this.#directory = directory
    this.#options = options
    const lines: SmallWorld['log'] = []
    this.log = lines
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        for (const line of chunk.toString().split('\n').filter(Boolean)) lines.push(JSON.parse(line) as never)
        done()
      },
    })
    this.telemetry = createTelemetry({ level: 'info', clock, version: 'test', stream })
    this.compose()
  }

  /** Runs `test` over a fleet that is watched and healthy, and takes everything down. */
  static run(options: SmallWorldOptions, test: (world: SmallWorld) => Promise<void>): () => Promise<void> {
    return async () => {
      const clock = new VirtualClock()
      const simulator = await startSimulator({
        clock,
        hosts: options.hosts ?? 4,
        port: null,
        reportIntervalMs: beatMs,
        serviceDownTimeMs: 60_000,
      })
      const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
      const own = mkdtempSync(join(place, 'lifeboat-world-'))
      const world = new SmallWorld(clock, simulator, options.directory ?? own, options)
      try {
        world.daemon.start()
        await clock.advance(5 * beatMs)
        await test(world)
      } finally {
        await world.stop().catch(() => undefined)
        await simulator.close()
        rmSync(own, { recursive: true, force: true })
      }
    }
  }

  get path(): string {
    return join(this.#directory, 'journal.db')
  }

  compose(change: Partial<DaemonParts> = {}): void {
    const onWrite = this.telemetry.journalWrite
    const opened = openJournal(this.path, { clock: this.#ownClock, onWrite, busyTimeoutMs: 0 })
    this.journal = this.#options.wrapJournal?.(opened) ?? opened
    this.daemon = this.another(change)
  }

  /** Gives another daemon over the same journal. */
  another(change: Partial<DaemonParts> = {}): Daemon {
    const { simulator, journal } = this
    const { observer } = this.telemetry
    const clock = this.#ownClock
    const parts = simulatedParts(simulator, { clock, journal, workflow, beatMs, observer, wire: simulator.wire() })
    this.#closeCloud = () => (parts.cloud as unknown as { close(): void }).close()
    const settings = { ...parts.executorSettings, tickMs: 2_000, reconcileQuietMs: 5_000 }
    return new Daemon({
      ...parts,
      executorSettings: settings,
      journalPath: this.path,
      ...this.#options.parts,
      ...change,
    })
  }

  async stop(): Promise<void> {
    try {
      await this.clock.run(this.daemon.stop('SIGTERM'))
    } finally {
      this.#closeCloud()
      this.journal.close()
    }
  }

  /** The wall clock of the daemon's machine is set; the cloud's clocks and time itself go on as before. */
  stepWall(ms: number): void {
    this.#wallAheadMs += ms
  }

  /** Lets time pass until `condition` holds; a quarter of an hour at the most. */
  until(condition: () => boolean, limitMs = 900_000): Promise<void> {
    return this.clock.until(condition, limitMs)
  }

  incident(host: string): Incident | undefined {
    const id = this.daemon.operations.incidents({ host })[0]?.id
    return id === undefined ? undefined : this.daemon.store.find(id)
  }

  /** Waits until the host's incident is over. */
  async ended(host: string): Promise<Incident> {
    await this.until(() => (this.incident(host)?.closed ?? null) !== null, 3_600_000)
    return this.incident(host) as Incident
  }

  /** What was sent that changes something. */
  writes(): string[] {
    return this.simulator
      .requests()
      .filter(({ method, path }) => method !== 'GET' && !path.startsWith('identity/'))
      .map(({ method, action, route }) => `${method} ${action ?? route}`)
  }

  alarms(): string[] {
    return this.journal
      .read({ kinds: ['alarm.raised'] })
      .flatMap((entry) => (entry.kind === 'alarm.raised' ? [entry.data.code] : []))
  }
}
