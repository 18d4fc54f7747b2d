/**
 * A stage for one rule of the executor: Nova as a few records in memory, a journal that only folds, a clock that only the
 * test moves. What is said here is what the executor sees; what it does is in `sent` and `entries`.
 */
import type { Accepted, Cloud } from '../../../src/domain/cloud.ts'
import type { Entry, NewEntry } from '../../../src/domain/entry.ts'
import { LifeboatError, type ErrorCode } from '../../../src/domain/errors.ts'
import type { FencingProof } from '../../../src/domain/fencing.ts'
import { applyEntry, type Incident, type InstanceRecovery, type StepRecord } from '../../../src/domain/incident.ts'
import type { Instance, InstanceAction, Migration } from '../../../src/domain/instance.ts'
import type { Journal } from '../../../src/domain/journal.ts'
import type { InstancePlan, RecipeStep } from '../../../src/domain/plan.ts'
import type { BeforeEvacuation, EvacuationRequest, Evacuated } from '../../../src/domain/step-payloads.ts'
import type { Act, Permission, Run } from '../../../src/executor/context.ts'
import { Gate } from '../../../src/executor/gate.ts'
import { CloudTrouble } from '../../../src/executor/cloud-trouble.ts'
import { HostWatch } from '../../../src/executor/host-watch.ts'
import { Holding } from '../../../src/executor/holding.ts'
import { Slots } from '../../../src/executor/slots.ts'
import type { StepScene } from '../../../src/executor/step-driver.ts'
import { VirtualClock } from '../../../src/simulator/virtual-clock.ts'
import { instance } from '../../engine/surveys.ts'

export const cloudTimeMs = Date.parse('2030-01-01T12:00:00.000Z')

type Call = keyof Cloud

export class Stage {
  readonly clock = new VirtualClock(cloudTimeMs)
  readonly stop = new AbortController()
  /** Every call of the cloud, in order, with the time at which it was made. */
  readonly calls: { call: Call; args: unknown[]; at: number }[] = []
  readonly entries: Entry[] = []
  readonly incidents = new Map<string, Incident>()
  readonly fenced = new Set<string>()
  /** Those that were so when the order in force was sent. */
  readonly fencedBefore = new Set<string>()
  readonly gate: Gate
  readonly slots = new Slots(Slots.shared(8), 8, 0)
  readonly watch: HostWatch
  readonly trouble: CloudTrouble
  readonly run: Run
  instances = new Map<string, Instance>([['i-1', instance({ id: 'i-1' })]])
  migrations: Migration[] = []
  actions: InstanceAction[] = []
  /** Hosts that Placement has the instance on. */
  allocated: string[] = ['dead']
  /** Hosts whose nova-compute Nova shows as up. */
  up: string[] = []
  /** When the process last ended standing still. */
  stoodStillUntil = -Infinity
  quiet: string | null = null
  /** Hosts that have an incident. */
  failing: string[] = []
  /** Before the services are answered. */
  onServices: () => Promise<void> | void = () => undefined
  permission: Permission = { allowed: true }
  /** For what was begun. Nothing: it may go on. */
  begun: Partial<Record<Act, Permission>> = {}
  /** The reads that were asked without a signal: a daemon that stops would wait for their answer. */
  readonly uncut: Call[] = []
  /** When the proof of death was renewed. */
  readonly renewals: number[] = []
  onRenew: () => Promise<void> | void = () => undefined
  /** How often a proof of any method lapses; null: never. */
  expiryMs: number | null = null
  /** What the proof's verification throws. */
  forged: Error | null = null
  /** What the next calls throw, by their name. */
  readonly failures = new Map<Call, Error[]>()
  /** Told of each write before it is answered. */
  onWrite: (call: Call) => Promise<void> | void = () => undefined

  constructor(changes: Partial<Run> = {}) {
    const proof = { host: 'dead', method: 'bmc' } as FencingProof
    this.run = {
      id: 'inc-1',
      host: 'dead',
      signal: this.stop.signal,
      proof,
      destinations: new Map(),
      clock: this.clock,
      cloud: this.#cloud(),
      journal: {
        append: (entries: NewEntry[]) => this.#append(entries),
        read: ({ kinds }: { kinds: string[] }) => this.entries.filter(({ kind }) => kinds.includes(kind)),
      } as unknown as Journal,
      fencer: {
        verify: () => {
          if (this.forged !== null) throw this.forged
        },
        renewEveryMs: () => this.expiryMs,
      } as unknown as Run['fencer'],
      observer: {},
      permissions: {
        incident: () => this.incident,
        of: (_incident: Incident, act: Act = 'begins') =>
          act === 'begins' ? this.permission : (this.begun[act] ?? { allowed: true }),
        isFenced: (host: string) => this.fenced.has(host),
        wasFencedBefore: (host: string) => this.fencedBefore.has(host),
        hasIncident: (host: string) => this.failing.includes(host),
        setAsideReason: () => null,
        stoodStillUntil: () => this.stoodStillUntil,
        quiet: () => this.quiet,
      } as unknown as Run['permissions'],
      proofAskedAt: 0,
      proofExpired: null,
      plans: { stands: () => true, refresh: () => Promise.resolve() },
      settings: {
        maxParallel: 8,
        tickMs: 100,
        reconcileQuietMs: 1_000,
        longestRequestMs: 0,
        fenceRetryMs: 1_000,
        fenceRetryMaxMs: 60_000,
      },
      ...changes,
    }
    this.gate = new Gate(
      this.run,
      async () => {
        this.renewals.push(this.clock.now())
        await this.onRenew()
      },
      () => Promise.resolve(this.onProveAnew()),
    )
    this.trouble = new CloudTrouble(this.run, new Holding(this.run))
    this.watch = new HostWatch({
      cloud: this.run.cloud,
      clock: this.clock,
      observer: this.run.observer,
      host: 'dead',
      tickMs: 100,
      signal: this.run.signal,
      cloudTimeMs,
    })
    const opened = {
      verdict: null,
      segment: 's',
      failure: 'host',
      mode: 'armed',
      openedBy: 't',
      workflowDigest: 'd',
    } as const
    this.#append([
      { kind: 'incident.opened', incident: 'inc-1', host: 'dead', data: opened },
      { kind: 'plan.made', incident: 'inc-1', host: 'dead', instance: 'i-1', data: plan() },
    ])
  }

  /** One try to prove the host dead again. */
  onProveAnew: () => boolean = () => true

  get incident(): Incident {
    return this.incidents.get('inc-1')!
  }

  get recovery(): InstanceRecovery {
    return this.incident.instances.get('i-1')!
  }

  get nova(): Instance {
    return this.instances.get('i-1')!
  }

  /** Changes what Nova shows of the instance. */
  shows(changes: Partial<Instance>): void {
    this.instances.set('i-1', { ...this.nova, ...changes })
  }

  /** Replaces the plan that the journal holds. */
  plans(changes: Partial<InstancePlan>): void {
    this.#append([{ kind: 'plan.made', incident: 'inc-1', host: 'dead', instance: 'i-1', data: plan(changes) }])
  }

  scene(step: Partial<RecipeStep> = {}, act: Act = 'begins'): StepScene {
    return {
      run: this.run,
      watch: this.watch,
      trouble: this.trouble,
      plan: this.recovery.plan,
      recovery: this.recovery,
      step: { id: 'go', do: 'evacuate', landing: 'stopped', deadlineMs: 600_000, ...step },
      signal: this.stop.signal,
      act,
    }
  }

  cancel(): void {
    this.#append([{ kind: 'operator.cancelled', incident: 'inc-1', host: 'dead', data: { by: 'ann', reason: 'mine' } }])
  }

  /** The next calls of that name fail, once for each error. */
  fails(call: Call, ...errors: Error[]): void {
    this.failures.set(call, errors)
  }

  count(call: Call): number {
    return this.calls.filter((made) => made.call === call).length
  }

  /** The entries since the stage was set, as `kind code`. */
  rows(): string[] {
    return this.entries
      .slice(2)
      .map(({ kind, data }) => [kind, (data as { error?: { code: string } }).error?.code ?? ''].join(' ').trim())
  }

  /** Lets time pass until it is settled, and gives the value or the code of the error. Fails after a quarter of an hour. */
  async ending<T>(work: Promise<T>, limitMs = 900_000): Promise<T | ErrorCode> {
    const ended = work.catch((error: unknown) => {
      if (error instanceof LifeboatError) return error.code
      throw error
    })
    return this.clock.run(ended, limitMs)
  }

  /** Notes a call of the cloud, and throws what was said to fail it. */
  protected readonly asked = (call: Call, ...args: unknown[]): void => {
    this.calls.push({ call, args, at: this.clock.now() })
    const failure = this.failures.get(call)?.shift()
    if (failure !== undefined) throw failure
  }

  #append(entries: NewEntry[]): Entry[] {
    const made = entries.map((entry) => {
      const seq = this.entries.length + 1
      const at = new Date(this.clock.wall()).toISOString()
      const blank = { actor: 'daemon', incident: null, host: null, instance: null, step: null }
      const whole = { ...blank, ...entry, seq, at, prevHash: '', hash: '' }
      this.entries.push(whole)
      applyEntry(this.incidents, whole)
      return whole
    })
    return made
  }

  #cloud(): Cloud {
    const called = this.asked
    const write =
      (call: Call) =>
      async (...args: unknown[]): Promise<Accepted> => {
        await this.onWrite(call)
        called(call, ...args)
        return { requestId: `req-${this.count(call)}` }
      }
    const readable = (call: Call, options: { signal?: AbortSignal } | undefined): void => {
      if (options?.signal === undefined) this.uncut.push(call)
    }
    const cloud: Partial<Cloud> = {
      getInstance: async (id, options) => {
        readable('getInstance', options)
        called('getInstance', id)
        const found = this.instances.get(id)
        if (found === undefined) throw new LifeboatError('INSTANCE_GONE', 'gone', { certainty: 'applied' })
        return found
      },
      listInstances: async (host, options) => {
        readable('listInstances', options)
        called('listInstances', host)
        return [...this.instances.values()].filter((found) => found.host === host)
      },
      listMigrations: async (filter, options) => {
        readable('listMigrations', options)
        called('listMigrations', filter)
        return this.migrations.filter(
          (record) =>
            (filter.type === undefined || record.type === filter.type) &&
            (filter.sourceHost === undefined || record.sourceHost === filter.sourceHost) &&
            (filter.instanceId === undefined || record.instanceId === filter.instanceId),
        )
      },
      listChangedInstances: async (since, options) => {
        readable('listChangedInstances', options)
        called('listChangedInstances', since)
        return [...this.instances.values()].filter((found) => found.updatedAt >= since)
      },
      listActions: async (id, options) => {
        readable('listActions', options)
        called('listActions', id)
        return this.actions
      },
      getAction: async (id, requestId, options) => {
        readable('getAction', options)
        called('getAction', id, requestId)
        const found = this.actions.find((action) => action.requestId === requestId)
        if (found === undefined) throw new LifeboatError('NOT_FOUND', 'no such request')
        return found
      },
      allocatedHosts: async (id, options) => {
        readable('allocatedHosts', options)
        called('allocatedHosts', id)
        return this.allocated
      },
      listServices: async (options) => {
        readable('listServices', options)
        called('listServices')
        await this.onServices()
        const row = { id: 's', binary: 'nova-compute', zone: 'nova', updatedAt: null, status: 'enabled' } as const
        const flags = { state: 'up', forcedDown: false, disabledReason: null } as const
        return {
          services: this.up.map((host) => ({ ...row, ...flags, host })),
          serverTimeMs: null,
          tookMs: 0,
          showsLostCells: true,
        }
      },
      evacuate: write('evacuate'),
      start: write('start'),
      stop: write('stop'),
      lock: write('lock'),
      unlock: write('unlock'),
      resetState: write('resetState'),
      confirmResize: write('confirmResize'),
    }
    return cloud as Cloud
  }
}

export function plan(changes: Partial<InstancePlan> = {}): InstancePlan {
  return {
    instanceId: 'i-1',
    name: 'one',
    projectId: 'p-1',
    rule: 'running',
    decision: 'recover',
    reason: 'RUNNING',
    message: 'It ran',
    original: {
      instance: instance({ id: 'i-1' }),
      wanted: 'running',
      wantedBecause: '',
      flagged: false,
      locked: false,
      lockedReason: null,
      knownEvacuations: [],
      resize: null,
    },
    recipe: 'go',
    recipes: {},
    expected: 'running',
    asProject: null,
    priority: 0,
    exclusive: null,
    debts: [],
    notes: [],
    ...changes,
  }
}

/** An evacuation of the instance from the dead host. */
export function evacuation(id: number, changes: Partial<Migration> = {}): Migration {
  return {
    id,
    uuid: `m-${id}`,
    instanceId: 'i-1',
    type: 'evacuation',
    status: 'accepted',
    sourceHost: 'dead',
    destHost: 'alive',
    createdAt: '2030-01-01T12:00:00',
    updatedAt: null,
    ...changes,
  }
}

export function action(requestId: string, changes: Partial<InstanceAction> = {}): InstanceAction {
  return {
    action: 'evacuate',
    requestId,
    userId: 'u',
    projectId: 'p',
    startedAt: '2030-01-01T12:00:00',
    message: null,
    events: [],
    ...changes,
  }
}

/** What was true before an evacuation of i-1. */
export const was: BeforeEvacuation = {
  ...{ vmState: 'active', taskState: null, powerState: 1, host: 'dead' },
  ...{ spentEvacuations: [], knownRequests: [], cloudTime: new Date(cloudTimeMs).toISOString() },
}

/** What is asked for. */
export const asked: EvacuationRequest = { landing: 'stopped', asProject: null, fencedBy: 'bmc' }

/** What came of it. */
export const landed: Evacuated = { migration: 'm-1', host: 'alive', vmState: 'stopped', powerState: 4 }

/** The record of an evacuation that was intended, with what was true before it. */
export function record(changes: Partial<StepRecord<'evacuate'>> = {}): StepRecord<'evacuate'> {
  return {
    key: '0.go.go.1',
    kind: 'evacuate',
    attempt: 1,
    status: 'issued',
    before: was,
    request: null,
    requestId: 'req-1',
    globalRequestId: null,
    waitsUntil: null,
    result: null,
    error: null,
    intendedAt: '',
    endedAt: null,
    ...changes,
  }
}

export const failed = (code: ErrorCode, options: ConstructorParameters<typeof LifeboatError>[2] = {}): LifeboatError =>
  new LifeboatError(code, `it was ${code}`, options)
