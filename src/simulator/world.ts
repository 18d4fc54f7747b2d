/**
 * The state of the simulated cloud: hosts, instances, migrations, actions, volumes, and the health of the control plane.
 * Owns the records and the look-ups; the behaviour (evacuation, power, return of a host) lives in its own files.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../domain/clock.ts'
import { isUp, startBeating, stopBeating, type HeartbeatRules } from './heartbeats.ts'
import { Hypervisors } from './hypervisors.ts'
import type {
  HostFaults,
  SimAction,
  SimAggregate,
  SimFlavor,
  SimHost,
  SimInstance,
  SimMigration,
  SimServerGroup,
  SimService,
  SimVolume,
  Timings,
} from './model.ts'

/** Parts of the control plane that can be dead. */
export type ControlPlanePart =
  | 'conductor'
  | 'scheduler'
  | 'rabbitmq'
  | 'placement'
  | 'neutron'
  | 'keystone'
  | 'nova-api'

export interface WorldOptions {
  clock: Clock
  hosts: string[]
  zone: string
  heartbeat: HeartbeatRules
  timings: Timings
  /** Highest compute microversion, e.g. "2.100". */
  maxMicroversion: string
  /** Service version of the computes, for the evacuate-to-stopped check. */
  computeVersion: number
  /** Makes the ids of records and requests. */
  ids: () => string
}

export const flavors: readonly SimFlavor[] = [
  { id: '1', name: 'm1.tiny', vcpus: 1, ram: 64, disk: 1, ephemeral: 0, swap: 0, extraSpecs: {} },
  { id: '2', name: 'm1.small', vcpus: 1, ram: 128, disk: 1, ephemeral: 0, swap: 0, extraSpecs: {} },
  { id: '3', name: 'm1.large', vcpus: 4, ram: 4096, disk: 4, ephemeral: 0, swap: 0, extraSpecs: {} },
  { id: '4', name: 'm1.ha', vcpus: 1, ram: 64, disk: 1, ephemeral: 0, swap: 0, extraSpecs: { 'ha:enabled': 'true' } },
  { id: '5', name: 'm1.diskless', vcpus: 1, ram: 64, disk: 0, ephemeral: 0, swap: 0, extraSpecs: {} },
]

const noFaults: HostFaults = {
  spawnFails: false,
  stopFails: false,
  slowSpawnMs: 0,
  claimFails: false,
  saveTimesOut: false,
  savesNoEnd: false,
  confirmFails: false,
  diesWhileSpawning: false,
  diesOnceMoved: false,
  losesMove: false,
  missesOrders: false,
  dropsOrders: false,
  leavesOrders: false,
  diskLocks: false,
  slowMoveMs: 0,
  capacity: null,
  localDisk: false,
}

export class World {
  readonly clock: Clock
  readonly options: WorldOptions
  readonly hypervisors: Hypervisors
  readonly hosts = new Map<string, SimHost>()
  readonly controllers: SimService[] = []
  readonly instances = new Map<string, SimInstance>()
  readonly migrations: SimMigration[] = []
  readonly actions = new Map<string, SimAction[]>()
  readonly volumes = new Map<string, SimVolume>()
  readonly serverGroups: SimServerGroup[] = []
  readonly aggregates: SimAggregate[] = []
  /** Placement: consumer (instance or migration uuid) to the hosts that it holds resources on. */
  readonly allocations = new Map<string, Set<string>>()
  readonly down = new Set<ControlPlanePart>()
  /** Hosts whose cell's database cannot be reached. */
  readonly downCell = new Set<string>()
  /** Hosts whose nova-compute's record was deleted. */
  readonly deletedServices = new Set<string>()
  /** Work that waits for the conductor to come back (docs/nova.md fact 11). */
  readonly conductorQueue: (() => void)[] = []
  /** So many orders the message bus still loses on their way from the API (docs/nova.md §2.2, §3.6). */
  ordersToLose = 0
  /** For so many orders the scheduler dies when it has claimed room and not yet answered the conductor (docs/nova.md §2.2). */
  claimsToLeave = 0
  /** For how long Nova's API stands still over each of the next evacuations, in ms, between its checks and its first write. */
  readonly standstills: number[] = []
  /** So many orders the conductor still begins and dies over (docs/nova.md §2.2). */
  ordersToDieOver = 0
  /** The broker is back but the computes have not found it again yet (docs/nova.md §4.1). */
  reconnecting = false
  /** The API node's clock against everybody else's. */
  apiSkewMs = 0
  private readonly loads = new Map<string, number>()
  private counter = 0

  constructor(options: WorldOptions) {
    this.clock = options.clock
    this.options = options
    this.hypervisors = new Hypervisors(options.clock)
    this.controllers.push(this.service('nova-scheduler', 'controller', 'internal'))
    this.controllers.push(this.service('nova-conductor', 'controller', 'internal'))
    options.hosts.forEach((name, index) => this.addHost(name, options.zone, index / options.hosts.length))
  }

  /** Whether the database that the instance is in cannot be reached. */
  isLost(uuid: string): boolean {
    const host = this.instances.get(uuid)?.host ?? null
    return host !== null && this.downCell.has(host)
  }

  wall(): number {
    return this.clock.wall()
  }

  nextId(): number {
    return ++this.counter
  }

  /** `phase`, 0 to 1: where in the report interval the host beats, so that hosts do not beat in step. */
  addHost(name: string, zone: string, phase = 0): SimHost {
    const service = this.service('nova-compute', name, zone)
    if (service.beatingSince !== null)
      service.beatingSince -= Math.floor(phase * this.options.heartbeat.reportIntervalMs)
    const host: SimHost = {
      name,
      service,
      alive: true,
      connected: true,
      agent: true,
      bmc: { power: 'On', reachable: true, stuck: false },
      faults: { ...noFaults },
      disabledTrait: false,
      life: 0,
      queue: [],
    }
    this.hosts.set(name, host)
    return host
  }

  host(name: string): SimHost {
    const host = this.hosts.get(name)
    if (host === undefined) throw new Error(`no such host: ${name}`)
    return host
  }

  services(): SimService[] {
    const computes = [...this.hosts.values()].filter(({ name }) => !this.deletedServices.has(name))
    return [...this.controllers, ...computes.map((host) => host.service)]
  }

  isUp(service: SimService): boolean {
    return isUp(service, this.options.heartbeat, this.wall() + this.apiSkewMs)
  }

  /** Who can beat now: computes need the broker and the conductor, conductor and scheduler only themselves (docs/nova.md fact 10). */
  refreshHeartbeats(): void {
    const beat = (service: SimService, yes: boolean): void =>
      (yes ? startBeating : stopBeating)(service, this.options.heartbeat, this.wall())
    for (const service of this.controllers) {
      beat(service, !this.down.has(service.binary === 'nova-conductor' ? 'conductor' : 'scheduler'))
    }
    const path = !this.down.has('rabbitmq') && !this.down.has('conductor') && !this.reconnecting
    for (const host of this.hosts.values()) beat(host.service, path && host.agent && host.connected && host.alive)
  }

  /** Live instances; deleted ones stay in `instances` with a deletedAt. */
  instancesOn(host: string): SimInstance[] {
    return [...this.instances.values()].filter((instance) => instance.host === host && instance.deletedAt === null)
  }

  /** Writes columns of an instance and stamps the row. */
  save(instance: SimInstance, columns: Partial<SimInstance>): void {
    Object.assign(instance, columns)
    instance.updatedAt = this.wall()
  }

  saveMigration(migration: SimMigration, columns: Partial<SimMigration>): void {
    Object.assign(migration, columns)
    migration.updatedAt = this.wall()
  }

  addMigration(
    fields: Pick<SimMigration, 'instanceUuid' | 'type' | 'status' | 'source'> & Partial<SimMigration>,
  ): SimMigration {
    const migration: SimMigration = {
      id: this.migrations.length + 1,
      uuid: this.options.ids(),
      dest: null,
      oldFlavorId: null,
      newFlavorId: null,
      userId: null,
      projectId: null,
      createdAt: this.wall(),
      updatedAt: null,
      ...fields,
    }
    this.migrations.push(migration)
    return migration
  }

  addAction(
    instance: SimInstance,
    fields: Pick<SimAction, 'action' | 'requestId' | 'userId' | 'projectId'>,
  ): SimAction {
    const at = this.wall()
    const action: SimAction = {
      ...fields,
      instanceUuid: instance.uuid,
      start: at,
      updated: at,
      message: null,
      events: [],
    }
    const list = this.actions.get(instance.uuid)
    if (list === undefined) this.actions.set(instance.uuid, [action])
    else list.push(action)
    return action
  }

  /** Opens an event; the returned function closes it. An Error marks the whole action, for ever (docs/nova.md §1.5). */
  openEvent(action: SimAction, event: string, host: string): (result: 'Success' | 'Error', details?: string) => void {
    const record: SimAction['events'][number] = {
      event,
      start: this.wall(),
      finish: null,
      result: null,
      host,
      details: null,
    }
    action.events.push(record)
    action.updated = this.wall()
    return (result, details) => {
      record.finish = this.wall()
      record.result = result
      record.details = details ?? null
      action.updated = this.wall()
      if (result === 'Error') action.message = 'Error'
    }
  }

  allocate(consumer: string, host: string): void {
    const held = this.allocations.get(consumer) ?? new Set<string>()
    if (!held.has(host)) this.loads.set(host, this.loadOf(host) + 1)
    held.add(host)
    this.allocations.set(consumer, held)
  }

  release(consumer: string, host: string): void {
    const held = this.allocations.get(consumer)
    if (held?.delete(host) !== true) return
    this.loads.set(host, this.loadOf(host) - 1)
    if (held.size === 0) this.allocations.delete(consumer)
  }

  releaseAll(consumer: string): void {
    for (const host of [...(this.allocations.get(consumer) ?? [])]) this.release(consumer, host)
  }

  /** How many consumers hold resources on the host. */
  loadOf(host: string): number {
    return this.loads.get(host) ?? 0
  }

  groupOf(uuid: string): SimServerGroup | undefined {
    return this.serverGroups.find((group) => group.members.includes(uuid))
  }

  private service(binary: SimService['binary'], host: string, zone: string): SimService {
    const now = this.wall()
    return {
      rowId: this.nextId(),
      uuid: this.options.ids(),
      binary,
      host,
      zone,
      status: 'enabled',
      disabledReason: null,
      forcedDown: false,
      frozenAt: now,
      beatingSince: now,
      lastWrite: 0,
    }
  }
}

/** Nova's hostId: the same host shows differently to each project. */
export function hostId(host: string | null, projectId: string): string {
  return host === null
    ? ''
    : createHash('sha224')
        .update(projectId + host)
        .digest('hex')
}
