/**
 * The executor over a simulated cloud: real HTTP, real clock, real journal, real Redfish fencing. The test alone
 * decides the permissions: it can pause, and say which hosts are fenced.
 *
 * Every rig watches the laws by itself: `finish` fails on a write without a row (L2), on two evacuations in flight (L5), on a
 * guest that ran twice, on an instance without exactly one outcome (L9), and on a journal that does not verify.
 */
import { setMaxListeners } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { IncidentStore } from '../../src/control/incident-store.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { sleep } from '../../src/domain/clock.ts'
import type { Cloud } from '../../src/domain/cloud.ts'
import type { Entry, NewEntry } from '../../src/domain/entry.ts'
import type { Fencer } from '../../src/domain/fencing.ts'
import type { Incident, InstanceRecovery } from '../../src/domain/incident.ts'
import type { Journal } from '../../src/domain/journal.ts'
import type { Outcome } from '../../src/domain/outcome.ts'
import type { StepKind, Workflow } from '../../src/domain/plan.ts'
import { builtInSettings, type Segment } from '../../src/domain/segment.ts'
import type { Verdict } from '../../src/domain/verdict.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import type { Permissions, ExecutorContext, Permission } from '../../src/executor/context.ts'
import { runIncident } from '../../src/executor/run-incident.ts'
import { Slots } from '../../src/executor/slots.ts'
import { createFencer } from '../../src/fencing/fencer.ts'
import { redfishMethod } from '../../src/fencing/redfish.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'
import { createCloud, type OpenStackCloud } from '../../src/openstack/cloud-client.ts'
import { loadCloudConfig } from '../../src/openstack/clouds-file.ts'
import { startSimulator, type Simulator, type SimulatorOptions } from '../../src/simulator/index.ts'

/** The host that dies in every test. */
export const dead = 'cmp01'

/** The shipped workflow; only the pauses between tries are shorter, so that a test of a retry takes no minutes. */
export const workflow: Workflow = parseWorkflow(
  readFileSync(new URL('../../recovery-workflows/host-failure.yaml', import.meta.url), 'utf8').replaceAll(
    /first: \d+s/g,
    'first: 100ms',
  ),
  'host-failure.yaml',
  { ownerPolicy: defaultOwnerPolicy },
)

export interface RigOptions {
  hosts?: number | string[]
  segment?: Partial<Segment>
  simulator?: Partial<SimulatorOptions>
  reconcileQuietMs?: number
  writeTimeoutMs?: number
  readTimeoutMs?: number
}

type Write = 'evacuate' | 'start' | 'stop' | 'lock' | 'unlock' | 'resetState' | 'confirmResize'
const stepOf: Record<Write, StepKind> = {
  evacuate: 'evacuate',
  start: 'start',
  stop: 'stop',
  lock: 'lock',
  unlock: 'unlock',
  resetState: 'reset-state',
  confirmResize: 'confirm-resize',
}

export class Rig {
  readonly simulator: Simulator
  readonly segment: Segment
  /** Hosts that count as fenced beside the dead one. */
  readonly fenced = new Set<string>()
  /** Each broken law, in words. */
  readonly broken: string[] = []
  /** Told after each write that was answered or failed. */
  onWrite: (kind: StepKind, instance: string) => void = () => undefined
  /** Told right before each write is sent. */
  beforeWrite: (kind: StepKind, instance: string) => void = () => undefined
  /** Replaces the journal that the executor sees. */
  wrapJournal: (journal: Journal) => Journal = (journal) => journal
  /** Replaces the cloud that the executor reads and writes. */
  wrapCloud: (cloud: Cloud) => Cloud = (cloud) => cloud
  wrapFencer: (fencer: Fencer) => Fencer = (fencer) => fencer
  wrapPermissions: (permissions: Permissions) => Permissions = (permissions) => permissions
  hold: Exclude<Permission, { allowed: true } | { cancelled: string }> | null = null
  id = 'incident-1'
  journal: JournalWriter
  store: IncidentStore
  readonly #directory: string
  readonly #options: RigOptions
  #cloud: OpenStackCloud

  private constructor(simulator: Simulator, directory: string, options: RigOptions) {
    this.simulator = simulator
    this.#directory = directory
    this.#options = options
    this.segment = {
      ...builtInSettings,
      name: 'az1',
      storage: 'shared',
      fencing: ['bmc'],
      brake: { maxHosts: 2, maxShare: 0.5 },
      ...options.segment,
    }
    this.journal = openJournal(this.journalPath, { clock })
    this.store = new IncidentStore(this.journal)
    this.#cloud = this.#connect()
  }

  static async start(options: RigOptions = {}): Promise<Rig> {
    const simulator = await startSimulator({
      clock,
      hosts: options.hosts ?? 3,
      reportIntervalMs: 60_000,
      serviceDownTimeMs: 600_000,
      ...options.simulator,
    })
    return new Rig(simulator, mkdtempSync(join(tmpdir(), 'lifeboat-executor-')), options)
  }

  get journalPath(): string {
    return join(this.#directory, 'journal.db')
  }

  get incident(): Incident {
    return this.store.get(this.id)
  }

  /** The host crashes and an incident stands at fencing, as the monitor and the confirmation would have left it. */
  hostDies(): void {
    this.simulator.crash(dead)
    this.seed()
  }

  seed(phase: 'confirming' | 'fencing' = 'fencing'): void {
    const { name, revision, digest, source } = workflow
    const base = { incident: this.id, host: dead }
    const opened = {
      verdict: null,
      segment: this.segment.name,
      failure: 'host' as const,
      mode: 'armed' as const,
      openedBy: 'daemon',
      workflowDigest: digest,
    }
    this.journal.append([
      { kind: 'workflow.pinned', data: { name, revision, digest, source } },
      { kind: 'incident.opened', ...base, data: opened },
      ...(phase === 'fencing'
        ? [{ kind: 'incident.phase' as const, ...base, data: { from: 'confirming' as const, to: 'fencing' as const } }]
        : []),
    ])
  }

  /** Runs the incident to its end, or until `signal` aborts. */
  run(signal: AbortSignal = new AbortController().signal): Promise<void> {
    // As the daemon does: every step under way listens for the stop.
    setMaxListeners(0, signal)
    return runIncident(this.context(), this.id, Slots.shared(32), signal)
  }

  context(): ExecutorContext {
    return {
      cloud: this.wrapCloud(this.#guarded(this.#cloud)),
      journal: this.wrapJournal(this.journal),
      fencer: this.wrapFencer(this.#fencer()),
      clock,
      observer: {},
      permissions: this.wrapPermissions(this.#permissions()),
      settings: {
        maxParallel: 32,
        tickMs: 15,
        reconcileQuietMs: this.#options.reconcileQuietMs ?? 300,
        longestRequestMs: 0,
        fenceRetryMs: 200,
        fenceRetryMaxMs: 800,
      },
    }
  }

  /** What a restart does: the same journal file and cloud, everything else again. */
  restart(): void {
    this.journal.close()
    this.#cloud.close()
    this.journal = openJournal(this.journalPath, { clock })
    this.store = new IncidentStore(this.journal)
    this.#cloud = this.#connect()
  }

  cancel(): void {
    const data = { by: 'ann', reason: 'enough' }
    this.journal.append([{ kind: 'operator.cancelled', incident: this.id, host: dead, data }])
  }

  recovery(instance: string): InstanceRecovery {
    const recovery = this.incident.instances.get(instance)
    if (recovery === undefined) throw new Error(`no plan for ${instance}`)
    return recovery
  }

  outcome(instance: string): Outcome {
    const { outcome } = this.recovery(instance)
    if (outcome === null) throw new Error(`${instance} has no outcome`)
    return outcome
  }

  entries(kinds: Entry['kind'][], instance?: string): Entry[] {
    return this.journal.read({ incident: this.id, kinds, ...(instance !== undefined && { instance }) })
  }

  /** Writes that reached Nova, by action name, for one instance or all. */
  sent(action: string, instance = ''): number {
    return this.simulator.requests().filter((at) => at.action === action && at.path.includes(instance)).length
  }

  /** Waits, on the real clock, for something that the run brings about by itself. */
  async until(condition: () => boolean, what: string, limitMs = 60_000): Promise<void> {
    const end = clock.now() + limitMs
    while (!condition()) {
      if (clock.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`)
      await sleep(clock, 3)
    }
  }

  /** The laws that hold whatever a test did. */
  checkLaws(): void {
    expect(this.broken).toEqual([])
    expect(this.simulator.truth().doubles).toEqual([])
    expect(this.journal.verify().broken).toBeNull()
    if (this.incident.closed === null) return
    for (const [instance, { outcome, steps }] of this.incident.instances) {
      expect(outcome, `outcome of ${instance}`).not.toBeNull()
      expect(this.entries(['outcome.recorded'], instance), `lines of ${instance}`).toHaveLength(1)
      const open = [...steps.values()].filter((step) => step.status === 'intended' || step.status === 'issued')
      expect(open, `open steps of ${instance}`).toEqual([])
    }
  }

  async close(): Promise<void> {
    this.#cloud.close()
    this.journal.close()
    await this.simulator.close()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #connect(): OpenStackCloud {
    const access = Object.entries(this.simulator.cloud())
    const env = Object.fromEntries(access.map(([key, value]) => [`OS_${key.toUpperCase()}`, value]))
    return createCloud({
      config: loadCloudConfig({ env, workDir: '/' }),
      clock,
      observer: {},
      readTimeoutMs: this.#options.readTimeoutMs ?? 3_000,
      writeTimeoutMs: this.#options.writeTimeoutMs ?? 3_000,
    })
  }

  #fencer(): Fencer {
    const bmc = redfishMethod({
      name: 'bmc',
      clock,
      observer: {},
      requestLimitMs: 1_000,
      system: (host) => ({ url: this.simulator.bmcUrl(host), ...this.simulator.bmcAccess }),
      verify: { pauseMs: 20, limitMs: 1_000 },
    })
    return createFencer({ clock, methods: new Map([['bmc', bmc]]), observer: {} })
  }

  #permissions(): Permissions {
    return {
      incident: (id) => this.store.get(id),
      of: (incident, act = 'begins') => {
        if (act !== 'begins') return { allowed: true }
        if (incident.cancelled !== null) return { allowed: false, cancelled: incident.cancelled.reason }
        return this.hold ?? { allowed: true }
      },
      verdict: () => downVerdict,
      lookAgain: () => Promise.resolve({ verdict: downVerdict, frozen: null }),
      isFenced: (host) => host === dead || this.fenced.has(host),
      wasFencedBefore: () => false,
      hasIncident: () => false,
      setSilentAside: () => Promise.resolve(),
      setAsideReason: () => null,
      earlier: () => null,
      segment: () => this.segment,
      workflow: () => workflow,
      stoodStillUntil: () => -Infinity,
      quiet: () => null,
      noteOurWrite: () => undefined,
    }
  }

  /** Looks at every write before it is sent: its row must be on disk, and no other evacuation may be in flight. */
  #guarded(cloud: Cloud): Cloud {
    const guard = (kind: Write, instance: string): void => {
      this.beforeWrite(stepOf[kind], instance)
      const steps = [...(this.incident.instances.get(instance)?.steps.values() ?? [])]
      if (!steps.some((step) => step.kind === stepOf[kind] && step.status === 'intended'))
        this.broken.push(`L2: ${kind} of ${instance} without an intended row`)
      const open = (status: string): boolean => ['accepted', 'pre-migrating'].includes(status)
      const inFlight = this.simulator
        .evacuationsOf(instance)
        .filter(({ status, dest }) => open(status) && (dest === null || this.simulator.world.host(dest).agent))
      if (kind === 'evacuate' && inFlight.length > 0) this.broken.push(`L5: second evacuation of ${instance} in flight`)
    }
    const watched = <A extends unknown[], R>(kind: Write, call: (id: string, ...rest: A) => Promise<R>) => {
      return async (id: string, ...rest: A): Promise<R> => {
        guard(kind, id)
        try {
          return await call(id, ...rest)
        } finally {
          this.onWrite(stepOf[kind], id)
        }
      }
    }
    return {
      ...cloud,
      evacuate: watched('evacuate', cloud.evacuate),
      start: watched('start', cloud.start),
      stop: watched('stop', cloud.stop),
      lock: watched('lock', cloud.lock),
      unlock: watched('unlock', cloud.unlock),
      resetState: watched('resetState', cloud.resetState),
      confirmResize: watched('confirmResize', cloud.confirmResize),
    }
  }
}

/** A journal whose `append` fails for the entries that `fails` names; everything else goes through. */
export function failingJournal(journal: Journal, fails: (entry: NewEntry) => Error | null): Journal {
  return {
    ...journal,
    append: (entries) => {
      for (const entry of entries) {
        const error = fails(entry)
        if (error !== null) throw error
      }
      return journal.append(entries)
    },
  }
}

const downVerdict: Verdict = {
  host: dead,
  segment: 'az1',
  kind: 'host-down',
  reason: 'OUR_INCIDENT',
  message: 'dead',
  at: '2030-01-01T00:00:00.000Z',
  evidence: {
    status: 'enabled',
    state: 'down',
    forcedDown: false,
    updatedAt: null,
    silentMs: 0,
    intervalMs: 0,
    missedBeats: 0,
    probes: [],
  },
}

/** Runs `test` with a fresh rig, checks the laws, and takes everything down. */
export function withRig(options: RigOptions, test: (rig: Rig) => Promise<void>): () => Promise<void> {
  return async () => {
    const rig = await Rig.start(options)
    try {
      await test(rig)
      rig.checkLaws()
    } finally {
      await rig.close()
    }
  }
}
