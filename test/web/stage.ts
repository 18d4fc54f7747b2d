/**
 * The pages on stage: a simulated cloud, the real daemon with its real API over TCP, and a browser. Time is the cloud's own and
 * moves only when a test lets it, so that a running recovery can be looked at for as long as it takes.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { Daemon, type DaemonParts } from '../../src/daemon/daemon.ts'
import { simulatedParts } from '../../src/daemon/simulated-parts.ts'
import type { CloudBrake } from '../../src/domain/brake.ts'
import type { IncidentSummary } from '../../src/domain/operations.ts'
import type { Role } from '../../src/domain/review.ts'
import type { Segment } from '../../src/domain/segment.ts'
import { defaultWishes } from '../../src/engine/wishes.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'
import { startSimulator, VirtualClock, type NewInstance, type Simulator } from '../../src/simulator/index.ts'
import { openBrowser, type Browser } from './browser.ts'
import { listenShim } from './shim.ts'

const workflowFile = new URL('../../recovery-workflows/host-failure.yaml', import.meta.url)
const workflow = parseWorkflow(readFileSync(workflowFile, 'utf8'), 'host-failure.yaml', { wishes: defaultWishes })

export const beatMs = 10_000

export interface StageOptions {
  hosts?: number | string[]
  segment?: Partial<Segment>
  brake?: Partial<CloudBrake>
  segmentOf?: DaemonParts['segmentOf']
  timings?: Parameters<typeof startSimulator>[0]['timings']
}

export class Stage {
  readonly browser: Browser
  readonly clock: VirtualClock
  readonly simulator: Simulator
  journal!: JournalWriter
  daemon!: Daemon
  url = ''
  readonly #directory: string
  readonly #options: StageOptions
  #listener: { close(): Promise<void> } | null = null
  #closeCloud: () => void = () => undefined

  private constructor(browser: Browser, clock: VirtualClock, simulator: Simulator, options: StageOptions) {
    this.browser = browser
    this.clock = clock
    this.simulator = simulator
    this.#options = options
    this.#directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'lifeboat-web-'))
  }

  /** A fleet that is watched and healthy. */
  static async open(options: StageOptions = {}): Promise<Stage> {
    // Before the clock: what runs when it is made is not waited for.
    const browser = await openBrowser()
    const clock = new VirtualClock(Date.now())
    const simulator = await startSimulator({
      clock,
      hosts: options.hosts ?? 6,
      port: null,
      reportIntervalMs: beatMs,
      serviceDownTimeMs: 6 * beatMs,
      timings: { ...slowTimings, ...options.timings },
    })
    const stage = new Stage(browser, clock, simulator, options)
    await stage.start()
    await clock.advance(5 * beatMs)
    return stage
  }

  /** The daemon and its listener, on the port that it had before. */
  async start(): Promise<void> {
    const { clock, simulator } = this
    const path = join(this.#directory, 'journal.db')
    this.journal = openJournal(path, { clock })
    const parts = simulatedParts(simulator, {
      clock,
      journal: this.journal,
      workflow,
      beatMs,
      wire: simulator.wire(),
      segment: this.#options.segment ?? {},
      brake: this.#options.brake ?? {},
    })
    this.#closeCloud = () => (parts.cloud as unknown as { close(): void }).close()
    this.daemon = new Daemon({
      ...parts,
      ...(this.#options.segmentOf !== undefined && { segmentOf: this.#options.segmentOf }),
      executorSettings: { ...parts.executorSettings, tickMs: 1_000, settleQuietMs: 5_000 },
      journalPath: path,
      cloudName: 'simulated',
    })
    const listener = await listenShim(this.daemon, clock, this.url === '' ? 0 : Number(new URL(this.url).port))
    this.#listener = listener
    this.url = listener.url
    this.daemon.start()
  }

  async stop(): Promise<void> {
    await this.#listener?.close()
    this.#listener = null
    await this.clock.run(this.daemon.stop('SIGTERM'))
    this.#closeCloud()
    this.journal.close()
  }

  async close(): Promise<void> {
    await this.browser.close()
    await this.stop()
    await this.simulator.close()
    this.clock.close()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  /** A page of somebody with that role, logged in. */
  async page(role: Role = 'admin'): Promise<Page> {
    await this.browser.context.clearCookies()
    const page = await this.browser.context.newPage()
    await this.login(page, role)
    return page
  }

  async login(page: Page, role: Role): Promise<void> {
    await page.request.post(`${this.url}/v1/session`, { data: { user: role } })
  }

  /** As a person does it. */
  async fillLogin(page: Page, role: Role): Promise<void> {
    await page.getByLabel('User', { exact: true }).fill(role)
    await page.getByLabel('Password', { exact: true }).fill('secret')
    await page.getByLabel('Project', { exact: true }).fill('service')
    await page.getByRole('button', { name: 'Log in' }).click()
  }

  add(...instances: NewInstance[]): void {
    for (const instance of instances) this.simulator.addInstance(instance)
  }

  incident(host: string): IncidentSummary | undefined {
    return this.daemon.operations.incidents({ host })[0]
  }

  /** Lets time pass until the host's incident satisfies `wanted`. */
  async until(host: string, wanted: (incident: IncidentSummary) => boolean, limitMs = 3_600_000): Promise<string> {
    const fits = (): boolean => {
      const incident = this.incident(host)
      return incident !== undefined && wanted(incident)
    }
    await this.clock.until(fits, limitMs)
    const found = this.incident(host)
    if (found === undefined || !fits()) throw new Error(`the incident of ${host} did not get there`)
    return found.id
  }

  ended(host: string): Promise<string> {
    return this.until(host, ({ ended }) => ended !== null)
  }
}

/** A hypervisor that takes seconds, so that a recovery can be seen under way. */
const slowTimings = {
  scheduleMs: 400,
  claimMs: 300,
  rebuildMs: 500,
  volumesMs: 300,
  spawnMs: 4_000,
  powerMs: 500,
  finishMs: 300,
  confirmMs: 1_000,
}

/** One of each kind, as a host of real life has them. */
export function mixedInstances(host: string, otherHost: string): NewInstance[] {
  const on = (name: string, more: Partial<NewInstance> = {}): NewInstance => ({ host, name, state: 'active', ...more })
  return [
    ...['web-1', 'web-2', 'api-1', 'api-2', 'worker-7', 'mail'].map((name) => on(name)),
    on('batch-nightly', { state: 'stopped' }),
    on('db-resized', { state: 'resized-running', otherHost }),
    on('report-resized', { state: 'resized-stopped', otherHost }),
    on('build-paused', { state: 'paused' }),
    on('rescue-me', { state: 'rescued' }),
    on('broken', { state: 'error' }),
    on('ledger', { locked: true, lockedReason: 'year end: hands off' }),
    on('vault', { encrypted: true }),
    on('hsm', { vtpm: true }),
    on('queue', { volumeBacked: true }),
    on('opted-out', { metadata: { HA_Enabled: 'False' } }),
  ]
}
