/**
 * The pages on stage: a simulated cloud, the real daemon with its real API over TCP, and a browser. Time is the cloud's own and
 * moves only when a test lets it, so that a running recovery can be looked at for as long as it takes.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { listenForPeople, type SecureListener, type WebOptions } from '../../src/api/index.ts'
import { Daemon, type DaemonParts } from '../../src/daemon/daemon.ts'
import { simulatedParts } from '../../src/rehearsal/simulated-parts.ts'
import type { Clock } from '../../src/domain/clock.ts'
import type { CloudBrake } from '../../src/domain/brake.ts'
import type { IncidentSummary } from '../../src/domain/operations.ts'
import { requestHeader, type Role } from '../../src/domain/review.ts'
import type { Segment } from '../../src/domain/segment.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'
import type { OpenStackCloud } from '../../src/openstack/cloud-client.ts'
import { startSimulator, VirtualClock, type NewInstance, type Simulator } from '../../src/simulator/index.ts'
import { openBrowser, type Browser } from './browser.ts'

const workflowFile = new URL('../../recovery-workflows/host-failure.yaml', import.meta.url)
const workflow = parseWorkflow(readFileSync(workflowFile, 'utf8'), 'host-failure.yaml', {
  ownerPolicy: defaultOwnerPolicy,
})

export const beatMs = 10_000

const rules: ReturnType<WebOptions['rules']> = {
  roles: { admin: 'admin', member: 'operator', reader: 'reader' },
  projects: [],
  sessionMs: 28_800_000,
  requestsAMinute: 1_000_000,
  sso: [],
}

/** Who looks at the pages, with their role in Keystone. */
const people = { rita: 'reader', otto: 'member', ann: 'admin' }
const personOf: Record<Role, keyof typeof people> = { reader: 'rita', operator: 'otto', admin: 'ann' }

export interface StageOptions {
  hosts?: number | string[]
  segment?: Partial<Segment>
  brake?: Partial<CloudBrake>
  segmentOf?: DaemonParts['segmentOf']
  mode?: DaemonParts['mode']
  tenure?: DaemonParts['tenure']
  notices?: DaemonParts['notices']
  /** Hosts are read for their readiness. */
  readiness?: true
  windows?: DaemonParts['maintenanceWindows']
  /** Wall-clock ms at which the cloud's time begins; now, unless a test is about another day. */
  beginsAt?: number
  timings?: Parameters<typeof startSimulator>[0]['timings']
  /** Logins by single sign-on. A browser has to reach the cloud's Keystone for them: it is on a port of its own then. */
  sso?: ReturnType<WebOptions['rules']>['sso']
  tls?: WebOptions['tls']
}

/** The same time; a turn for others takes none of it, so that long answers are written while it stands still. */
function withTurns(clock: VirtualClock): Clock {
  return {
    now: () => clock.now(),
    wall: () => clock.wall(),
    after: (delayMs, fire) => {
      if (delayMs > 0) return clock.after(delayMs, fire)
      const turn = setImmediate(fire)
      return () => clearImmediate(turn)
    },
  }
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
  #listener: SecureListener | null = null
  #cloud!: OpenStackCloud

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
    const clock = new VirtualClock(options.beginsAt ?? Date.now())
    const simulator = await startSimulator({
      clock,
      hosts: options.hosts ?? 6,
      port: options.sso === undefined ? null : 0,
      reportIntervalMs: beatMs,
      serviceDownTimeMs: 6 * beatMs,
      timings: { ...slowTimings, ...options.timings },
    })
    for (const [name, keystoneRole] of Object.entries(people)) simulator.addUser(name, [keystoneRole])
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
    this.#cloud = parts.cloud as OpenStackCloud
    this.daemon = new Daemon({
      ...parts,
      ...(this.#options.segmentOf !== undefined && { segmentOf: this.#options.segmentOf }),
      ...(this.#options.tenure !== undefined && { tenure: this.#options.tenure }),
      ...(this.#options.mode !== undefined && { mode: this.#options.mode }),
      ...(this.#options.notices !== undefined && { notices: this.#options.notices }),
      ...(this.#options.windows !== undefined && { maintenanceWindows: this.#options.windows }),
      executorSettings: { ...parts.executorSettings, tickMs: 1_000, reconcileQuietMs: 5_000 },
      journalPath: path,
      cloudName: 'simulated',
    })
    const { operations, review } = this.daemon
    this.#listener = await listenForPeople(
      { operations, review, clock: withTurns(clock), people: this.#cloud.people, observer: {} },
      this.#web(),
    )
    this.url = this.#listener.address
    this.daemon.start()
    if (this.#options.readiness === true) this.daemon.watchReadiness()
  }

  #web(): WebOptions {
    return {
      host: '127.0.0.1',
      port: this.url === '' ? 0 : Number(new URL(this.url).port),
      tls: this.#options.tls ?? null,
      trustedProxies: [],
      rules: () => ({ ...rules, sso: this.#options.sso ?? [] }),
      pages: fileURLToPath(new URL('../../dist/web', import.meta.url)),
    }
  }

  async stop(): Promise<void> {
    await this.#listener?.close()
    this.#listener = null
    await this.clock.run(this.daemon.stop('SIGTERM'))
    this.#cloud.close()
    this.journal.close()
  }

  async close(): Promise<void> {
    await this.browser.close()
    await this.stop()
    await this.simulator.close()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  /** A page of someone with that role, logged in. Everybody who was before is not any more: a browser has one session. */
  async page(role: Role = 'admin'): Promise<Page> {
    await this.browser.context.clearCookies()
    const page = await this.browser.context.newPage()
    const answer = await page.request.post(`${this.url}/v1/session`, {
      headers: { [requestHeader]: 'test' },
      data: { user: personOf[role], password: 'secret' },
    })
    if (answer.status() !== 201) throw new Error(`no login: ${await answer.text()}`)
    return page
  }

  /** A token as `openstack token issue` gives it. */
  async token(role: Role): Promise<string> {
    const { people: keystone } = this.#cloud
    const login = { user: personOf[role], password: 'secret', userDomain: 'Default', project: null }
    return (await keystone.login(login))?.token ?? ''
  }

  /** As a person does it. */
  async fillLogin(page: Page, role: Role): Promise<void> {
    await page.getByLabel('User', { exact: true }).fill(personOf[role])
    await page.getByLabel('Password', { exact: true }).fill('secret')
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
    let seen = -1
    let fitted = false
    const fits = (): boolean => {
      // Asked at each turn: an incident of thousands is looked at again only when something was written.
      const { seq } = this.journal.head()
      if (seq === seen) return fitted
      seen = seq
      fitted = look()
      return fitted
    }
    const look = (): boolean => {
      const incident = this.incident(host)
      return incident !== undefined && wanted(incident)
    }
    await this.clock.until(fits, limitMs)
    await this.passOn()
    const found = this.incident(host)
    if (found === undefined || !fits()) throw new Error(`the incident of ${host} did not get there`)
    return found.id
  }

  /** Lets the event stream hand on what was written: it gathers for a moment, and a moment is time too. */
  passOn(): Promise<void> {
    return this.clock.advance(100)
  }

  /** The record of a large incident is read in pieces with pauses between them, and a pause is time. */
  load(incident: string): Promise<void> {
    return this.clock.run(this.daemon.review.load(incident))
  }

  /** For what the daemon makes in pieces while a browser waits: each piece gets its turn, and no time passes. */
  async turns<T>(work: Promise<T>): Promise<T> {
    let over = false
    const done = work.finally(() => (over = true))
    while (!over) {
      await this.clock.advance(0)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return done
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
