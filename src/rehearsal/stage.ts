/**
 * The stage of a scenario: a simulated cloud on a virtual clock and a real daemon on a real journal, in one process and
 * without sockets, so that the same script gives the same journal, byte for byte. Owns the daemon's lives.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Entry, IncidentId } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import { applyEntry, type Incident } from '../domain/incident.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import type { Operations } from '../domain/operations.ts'
import type { FailoverSegments } from '../domain/failover-segment.ts'
import type { Reports } from '../domain/report.ts'
import type { Workflows } from '../engine/workflow.ts'
import { openJournal, type JournalWriter } from '../journal/journal.ts'
import { startSimulator, VirtualClock, type NewInstance, type Simulator } from '../simulator/index.ts'
import { parseConfiguration, type Config, type LoadedConfig } from '../config/index.ts'
import { configurationSource } from '../daemon/configuration-source.ts'
import { Daemon } from '../daemon/daemon.ts'
import { daemonParts } from '../daemon/daemon-parts.ts'
import type { Memory } from '../control/memory-watch.ts'
import { baseConfiguration, laidOver } from './base-configuration.ts'
import { Life } from './life.ts'
import { People } from './people.ts'
import { Receivers } from './receivers.ts'
import type { Setting } from './setting.ts'
import { shippedWorkflows } from './shipped-workflows.ts'
import { Witnesses } from './witnesses.ts'

/** The same script gives the same journal also on a machine that is short of memory. */
const plenty: Memory = { rssBytes: () => 0, limitBytes: Infinity }

/** A rehearsal's journal outlives nothing: where there is a file system in memory its commits cost no disk. */
const fileSystemInMemory = '/dev/shm'

/** Told what happens, as it happens. */
export interface Audience {
  entry(entry: Entry): void
  /** What people did, and what came of it. */
  said(line: string): void
}

/** The process stands still in the commit of an entry. */
export interface CommitStall {
  name: string
  isIt: (entry: Entry) => boolean
  ms: number
  /** What happens in the cloud as it begins. */
  meanwhile: () => void
}

/** What a scenario is played by: the rules that its own are laid over, in the words of the configuration file. */
export interface Ground {
  configuration: (hosts: string[]) => Record<string, unknown>
  workflows: (config: Config) => Workflows
}

const shippedGround: Ground = {
  configuration: baseConfiguration,
  workflows: ({ ownerPolicy }) => shippedWorkflows(ownerPolicy),
}

interface Play {
  daemon: Daemon
  journal: JournalWriter
  life: Life
}

export class Stage {
  readonly clock: VirtualClock
  readonly simulator: Simulator
  readonly people: People
  readonly witnesses: Witnesses
  readonly receivers: Receivers
  readonly #setting: Setting
  readonly #ground: Ground
  readonly #audience: Audience
  readonly #directory = mkdtempSync(
    join(existsSync(fileSystemInMemory) ? fileSystemInMemory : tmpdir(), 'lifeboat-rehearsal-'),
  )
  readonly #ids = new Map<string, string>()
  readonly #names = new Map<string, string>()
  #config: unknown
  /** What someone wrote instead of a configuration. */
  #slip: string | null = null
  #play: Play | null = null
  #fresh: Entry[] = []
  /** As the journal tells them, over all lives of the daemon. */
  readonly #incidents = new Map<IncidentId, Incident>()
  readonly #lastWords = new Map<IncidentId, number>()
  #diskFull = false
  #pid = 4_000
  #commitStall: CommitStall | null = null

  private constructor(setting: Setting, ground: Ground, audience: Audience, clock: VirtualClock, simulator: Simulator) {
    this.#setting = setting
    this.#ground = ground
    this.#audience = audience
    this.clock = clock
    this.simulator = simulator
    this.people = new People(simulator, (name) => this.idOf(name))
    this.witnesses = new Witnesses(simulator)
    this.receivers = new Receivers((line) => audience.said(line))
    this.#config = laidOver(ground.configuration([...simulator.world.hosts.keys()]), setting.config)
    this.#populate()
  }

  static async open(setting: Setting, audience: Audience, ground = shippedGround): Promise<Stage> {
    const clock = new VirtualClock()
    const { cloud } = setting
    let count = 0
    const simulator = await startSimulator({
      clock,
      hosts: cloud.hosts,
      maxMicroversion: cloud.microversion,
      ...(cloud.computeVersion !== undefined && { computeVersion: cloud.computeVersion }),
      reportIntervalMs: cloud.reportInterval,
      serviceDownTimeMs: cloud.serviceDownTime,
      timings: timings(cloud),
      powerSyncMs: cloud.powerSync,
      port: null,
      ids: () => `00000000-0000-4000-8000-${(++count).toString(16).padStart(12, '0')}`,
    })
    return new Stage(setting, ground, audience, clock, simulator)
  }

  get daemon(): Daemon | null {
    return this.#play?.daemon ?? null
  }

  get journalPath(): string {
    return join(this.#directory, 'journal.db')
  }

  /** Throws for a name that the scenario does not have. */
  idOf(name: string): string {
    const id = this.#ids.get(name)
    if (id === undefined) throw new Error(`the scenario has no instance ${name}`)
    return id
  }

  instance(name: string): ReturnType<Simulator['instance']> {
    return this.simulator.instance(this.idOf(name))
  }

  /** Name of each instance by its id, those that are still to come too once they are there. */
  names(): ReadonlyMap<string, string> {
    return this.#names
  }

  /** Adds an instance, or as many as it says. */
  add({ name, count, age, ...wanted }: Setting['instances'][number]): void {
    const known = omitUndefined(wanted)
    for (let n = 1; n <= (count ?? 1); n++) {
      const own = count === undefined ? name : `${name}-${n}`
      const { uuid } = this.simulator.addInstance({
        ...(known as unknown as NewInstance),
        name: own,
        ...(age !== undefined && { ageMs: age }),
      })
      this.#named(own, uuid)
    }
  }

  #named(name: string, id: string): void {
    this.#ids.set(name, id)
    this.#names.set(id, name)
  }

  /** Someone boots a server through Nova's API. */
  async boot(order: Parameters<People['boot']>[0]): Promise<void> {
    const id = await this.people.boot(order)
    if (id !== null) this.#named(order.name, id)
  }

  /** Entries since the last `forgetEntries`. */
  newEntries(): readonly Entry[] {
    return this.#fresh
  }

  forgetEntries(): void {
    this.#fresh = []
  }

  operations(): Operations {
    return this.#running().operations
  }

  reports(): Reports {
    return this.#running().reports
  }

  failover(): FailoverSegments {
    return this.#running().failover
  }

  #running(): Daemon {
    if (this.#play === null) throw new LifeboatError('USAGE', 'the daemon does not run')
    return this.#play.daemon
  }

  /** All incidents so far. */
  incidents(): Incident[] {
    return [...this.#incidents.values()]
  }

  /** How long nothing but alarms was journaled for an incident. */
  silentMs(incident: IncidentId): number {
    return this.clock.now() - (this.#lastWords.get(incident) ?? -Infinity)
  }

  /** The newest incident of a host. */
  incidentOn(host: string): Incident | undefined {
    return [...this.#incidents.values()].findLast((incident) => incident.host === host)
  }

  /** Of those that count, where some do. Throws NOT_FOUND when the host has none. */
  newestIncident(host: string, counts: (incident: Incident) => boolean = () => true): IncidentId {
    const newest = this.incidents().findLast((it) => it.host === host && counts(it)) ?? this.incidentOn(host)
    if (newest === undefined) throw new LifeboatError('NOT_FOUND', `${host} has no incident`)
    return newest.id
  }

  /** Does what a person orders, and tells what came of it. Only LifeboatErrors are answers; anything else is a bug. */
  async told(what: string, order: () => Promise<void>): Promise<void> {
    try {
      await order()
      this.#audience.said(`${what}: done`)
    } catch (thrown) {
      if (!(thrown instanceof LifeboatError)) throw thrown
      // The lease names the real process and machine, which differ from run to run.
      const message = thrown.message.replace(/process \d+ on \S+/, 'process N on this machine')
      this.#audience.said(`${what}: refused, ${thrown.code}: ${message}`)
    }
  }

  async daemonDoes(what: 'start' | 'stop' | 'kill' | 'restart', config?: Record<string, unknown>): Promise<void> {
    this.#config = laidOver(this.#config, config)
    this.#audience.said(`the daemon: ${what}`)
    if (what === 'kill') this.#kill()
    if (what === 'stop' || what === 'restart') await this.#stop()
    if (what === 'start' || what === 'restart') this.#start()
  }

  /** The configuration on disk changes: `change` is laid over it, or `slip` stands there instead and is no configuration. */
  writeConfiguration(change: Record<string, unknown> | undefined, slip: string | undefined): void {
    this.#config = laidOver(this.#config, change)
    this.#slip = slip ?? null
  }

  stall(ms: number): void {
    this.#play?.life.stall(ms)
  }

  /** The daemon will stand still in the middle of a commit of its journal. */
  stallIn(stall: CommitStall): void {
    this.#commitStall = stall
  }

  /** A second daemon is started on the same journal. */
  secondDaemon(): Promise<void> {
    return this.told('a second daemon', () => {
      openJournal(this.journalPath, { clock: this.clock }).close()
      return Promise.resolve()
    })
  }

  /** Nothing more can be written to the journal, or it can again. */
  disk(full: boolean): void {
    this.#diskFull = full
  }

  /** What the journal holds and whether it verifies. The daemon must not run. */
  readJournal(): { entries: Entry[]; verified: ReturnType<JournalWriter['verify']> } {
    const journal = openJournal(this.journalPath, { clock: this.clock })
    try {
      return { entries: journal.read(), verified: journal.verify() }
    } finally {
      journal.close()
    }
  }

  async close(): Promise<void> {
    if (this.#play !== null) this.#kill()
    await this.simulator.close()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #start(): void {
    if (this.#play !== null) throw new Error('the script starts a daemon that runs')
    const life = new Life(this.clock)
    const read = (): LoadedConfig => parseConfiguration(this.#slip ?? stringify(this.#config), 'scenario.yaml', {})
    const loaded = read()
    const source = configurationSource({
      loaded,
      read,
      context: {
        clock: life,
        observer: {},
        env: openStackEnvironment(this.simulator),
        simulated: {
          wire: life.wire(this.simulator.wire()),
          random: seededRandom(),
          run: (run) => life.heard(this.witnesses.run(run)),
          probe: (name, probe) => this.witnesses.probe(name, probe, life),
          receivers: life.wire(this.receivers.wire),
          sendmail: this.receivers.sendmail,
        },
      },
      loadWorkflows: this.#ground.workflows,
    })
    const journal = openJournal(this.journalPath, { clock: life })
    journal.onAppend((entry) => {
      this.#fresh.push(entry)
      applyEntry(this.#incidents, entry)
      if (entry.incident !== null && entry.kind !== 'alarm.raised')
        this.#lastWords.set(entry.incident, this.clock.now())
      this.#audience.entry(entry)
    })
    const daemon = new Daemon(
      daemonParts(loaded.config, {
        clock: life,
        observer: {},
        version: 'rehearsal',
        adapters: source.adapters,
        workflows: source.workflows,
        configuration: source,
        journal: this.#onDisk(journal),
        journalPath: 'journal.db',
        memory: plenty,
        pid: ++this.#pid,
      }),
    )
    daemon.start()
    this.#play = { daemon, journal, life }
  }

  async #stop(): Promise<void> {
    if (this.#play === null) throw new Error('the script stops a daemon that does not run')
    const { daemon, journal, life } = this.#play
    await daemon.stop('SIGTERM')
    life.end()
    journal.close()
    this.#play = null
  }

  /** The file's lock goes with the process, and so does everything it was about to do. */
  #kill(): void {
    if (this.#play === null) throw new Error('the script kills a daemon that does not run')
    this.#play.life.end()
    this.#play.journal.close()
    this.#play = null
  }

  #onDisk(journal: JournalWriter): JournalWriter {
    return {
      ...journal,
      append: (entries) => {
        if (this.#diskFull) throw new LifeboatError('JOURNAL_UNAVAILABLE', 'database or disk is full')
        const written = journal.append(entries)
        this.#standStill(written)
        return written
      },
    }
  }

  /** What was committed is committed; who waits for the commit learns of it only later. */
  #standStill(written: readonly Entry[]): void {
    const stall = this.#commitStall
    if (stall === null || !written.some((entry) => stall.isIt(entry))) return
    this.#commitStall = null
    this.#audience.said(`the daemon stands still in the commit of ${stall.name}`)
    this.#play?.life.stall(stall.ms)
    stall.meanwhile()
    this.clock.leap(stall.ms)
  }

  #populate(): void {
    const { cloud, instances } = this.#setting
    for (const { name, hosts, metadata, zone } of cloud.aggregates)
      this.simulator.addAggregate(name, hosts, metadata, zone ?? null)
    for (const wanted of instances) this.add(wanted)
    for (const { policy, members } of cloud.groups)
      this.simulator.addServerGroup(
        policy,
        members.map((name) => this.idOf(name)),
      )
  }
}

function timings(cloud: Setting['cloud']): Record<string, number> {
  const steps = {
    scheduleMs: 500,
    claimMs: 200,
    rebuildMs: 500,
    volumesMs: 300,
    powerMs: 1_000,
    rebootMs: 2_000,
    finishMs: 500,
  }
  return {
    ...steps,
    confirmMs: 2_000,
    spawnMs: cloud.spawnTime,
    agentStartMs: cloud.startTime,
    lifecycleDelayMs: cloud.lifecycleDelay,
    brokerReconnectMs: cloud.brokerReconnect,
    rpcTimeoutMs: 60_000,
  }
}

function openStackEnvironment(simulator: Simulator): Record<string, string> {
  return Object.fromEntries(
    Object.entries(simulator.cloud()).map(([key, value]) => [`OS_${key.toUpperCase()}`, String(value)]),
  )
}

/** The same sequence in every run (mulberry32). */
function seededRandom(): () => number {
  let state = 1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
