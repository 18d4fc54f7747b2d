/** The daemon as it runs, over a simulated cloud with quick heartbeats: only the cloud is not real. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Daemon } from '../../src/daemon/daemon.ts'
import { simulatedParts, type SimulatedOptions } from '../../src/rehearsal/simulated-parts.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { sleep } from '../../src/domain/clock.ts'
import type { IncidentDetail } from '../../src/domain/operations.ts'
import type { VerdictKind } from '../../src/domain/verdict.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'
import { startSimulator, type Simulator } from '../../src/simulator/index.ts'

const workflowFile = new URL('../../recovery-workflows/host-failure.yaml', import.meta.url)
const workflow = parseWorkflow(readFileSync(workflowFile, 'utf8'), 'host-failure.yaml', {
  ownerPolicy: defaultOwnerPolicy,
})

/** Nova's stamps have whole seconds: quicker heartbeats could not be told apart. */
export const beatMs = 1_000

export type FleetOptions = Pick<SimulatedOptions, 'segment' | 'mode' | 'observer'> & { hosts?: number }

export class Fleet {
  readonly simulator: Simulator
  daemon: Daemon
  journal: JournalWriter
  readonly #directory: string
  readonly #options: FleetOptions

  private constructor(simulator: Simulator, directory: string, options: FleetOptions) {
    this.simulator = simulator
    this.#directory = directory
    this.#options = { ...options }
    this.journal = openJournal(this.journalPath, { clock })
    this.daemon = this.#compose()
  }

  /** Runs `test` over a fleet that is watched and healthy, then takes it down. */
  static run(options: FleetOptions, test: (fleet: Fleet) => Promise<void>): () => Promise<void> {
    return async () => {
      const { hosts = 4 } = options
      const simulator = await startSimulator({ clock, hosts, reportIntervalMs: beatMs, serviceDownTimeMs: 4 * beatMs })
      const fleet = new Fleet(simulator, mkdtempSync(join(tmpdir(), 'lifeboat-daemon-')), options)
      try {
        fleet.daemon.start()
        await test(fleet)
      } finally {
        await fleet.daemon.stop('the test is over')
        fleet.journal.close()
        await simulator.close()
        rmSync(fleet.#directory, { recursive: true, force: true })
      }
    }
  }

  get journalPath(): string {
    return join(this.#directory, 'journal.db')
  }

  /** A stop and a start over the same journal; `meanwhile` happens while no daemon runs, `change` is configured again. */
  async restart(change: FleetOptions = {}, meanwhile: () => Promise<void> | void = () => undefined): Promise<void> {
    await this.daemon.stop('restart')
    this.journal.close()
    await meanwhile()
    Object.assign(this.#options, change)
    this.journal = openJournal(this.journalPath, { clock })
    this.daemon = this.#compose()
    this.daemon.start()
  }

  /** Every host was seen to beat: from here on silence means something. */
  async healthy(): Promise<void> {
    const hosts = this.simulator.world.hosts.size
    await this.until(() => {
      const seen = this.daemon.operations.hosts()
      return seen.length === hosts && seen.every(({ verdict }) => verdict === 'healthy')
    }, 'every host healthy')
  }

  verdict(host: string): VerdictKind | undefined {
    return this.daemon.operations.hosts().find((at) => at.host === host)?.verdict
  }

  /** The newest incident of a host, or undefined. */
  incident(host: string): IncidentDetail | undefined {
    const newest = this.daemon.operations.incidents({ host })[0]
    return newest && this.daemon.operations.incident(newest.id)
  }

  /** Waits until the host's incident is over, and gives it. */
  async ended(host: string): Promise<IncidentDetail> {
    await this.until(
      () => this.incident(host)?.ended !== undefined && this.incident(host)?.ended !== null,
      `${host} over`,
    )
    return this.incident(host) as IncidentDetail
  }

  /** Waits until the host's incident is held for that reason, and gives it. */
  async held(host: string, code: string): Promise<IncidentDetail> {
    await this.until(() => this.incident(host)?.held?.code === code, `${host} held for ${code}`)
    return this.incident(host) as IncidentDetail
  }

  /** What was sent to Nova that changes something. */
  writes(): string[] {
    const nova = this.simulator.requests().filter((at) => at.path.startsWith('compute/') && at.method !== 'GET')
    return nova.map(({ method, action, route }) => `${method} ${action ?? route}`)
  }

  /** Orders to BMCs, which can only be to power off. */
  powerOffs(): number {
    return this.simulator.requests().filter((at) => at.path.startsWith('redfish/') && at.method !== 'GET').length
  }

  async polls(count: number): Promise<void> {
    await sleep(clock, (count * beatMs) / 2)
  }

  async until(condition: () => boolean, what: string, limitMs = 60_000): Promise<void> {
    const end = clock.now() + limitMs
    while (!condition()) {
      if (clock.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`)
      await sleep(clock, 20)
    }
  }

  #compose(): Daemon {
    const options = { clock, journal: this.journal, workflow, beatMs, ...this.#options }
    return new Daemon({ ...simulatedParts(this.simulator, options), journalPath: this.journalPath })
  }
}
