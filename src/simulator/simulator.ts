/**
 * A simulated cloud over real HTTP: Keystone, Nova, Cinder, Placement and the hosts' BMCs in one process, with everything
 * that breaks in a real one. What it does is held to real Nova by the contract tests; where they differ it is wrong.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../domain/clock.ts'
import type { Probe } from '../domain/verdict.ts'
import type { Wire } from '../domain/wire.ts'
import { ApiFaults, type ApiFault } from './api-faults.ts'
import { serveCinder } from './cinder.ts'
import type { Exchange } from './exchange.ts'
import { GuestLife, type GuestCrash } from './guest-life.ts'
import { HostLife } from './host-life.ts'
import { InstanceActions } from './instance-actions.ts'
import { HttpServer, type LoggedRequest } from './http-server.ts'
import type { Truth } from './hypervisors.ts'
import { addInstance, type NewInstance } from './instance-builder.ts'
import { first, Keystone, type Project } from './keystone.ts'
import type {
  ApplicationCredential,
  Federation,
  HostFaults,
  SimAggregate,
  SimBmc,
  SimInstance,
  SimMigration,
  SimServerGroup,
  SimulatedUser,
} from './model.ts'
import { turnLiveMigration, type LiveMigrationTurn } from './live-migrations.ts'
import { minorOf } from './microversion.ts'
import { NovaApi } from './nova-api.ts'
import { servePlacement } from './placement.ts'
import { PowerSync } from './power-sync.ts'
import { simulatedProbes } from './probes.ts'
import { bmcPassword, bmcUser, serveRedfish } from './redfish.ts'
import { quickTimings, type SimulatedCloudAccess, type SimulatorOptions } from './simulator-options.ts'
import { World, type ControlPlanePart } from './world.ts'

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const simulator = new Simulator(options)
  if (options.port !== null) await simulator.open(options.port ?? 0)
  return simulator
}

export class Simulator {
  readonly clock: Clock
  /** The records themselves: tests may read them, and set what no method sets. */
  readonly world: World
  readonly keystone: Keystone
  readonly users: SimulatedUser[]
  readonly projects: Project[]
  readonly applicationCredentials: ApplicationCredential[]
  readonly federation: Federation = { providers: {}, trustedDashboards: [], signedOn: null }
  readonly region: string
  readonly bmcAccess = { username: bmcUser, password: bmcPassword }
  /** The root of all services; with a port once listening. */
  url = 'http://simulator'
  private readonly life: HostLife
  private readonly guests: GuestLife
  private readonly powerSync: PowerSync
  private readonly faults = new ApiFaults()
  private readonly server: HttpServer

  constructor(options: SimulatorOptions) {
    const { clock } = options
    const wanted = options.hosts ?? 4
    const names =
      typeof wanted === 'number'
        ? Array.from({ length: wanted }, (_, i) => `cmp${String(i + 1).padStart(2, '0')}`)
        : wanted
    const max = options.maxMicroversion ?? '2.100'
    this.clock = clock
    this.region = options.region ?? 'RegionOne'
    this.world = new World({
      clock,
      hosts: names,
      zone: options.zone ?? 'nova',
      heartbeat: {
        reportIntervalMs: options.reportIntervalMs ?? 10_000,
        serviceDownTimeMs: options.serviceDownTimeMs ?? 60_000,
      },
      timings: { ...quickTimings, ...options.timings },
      maxMicroversion: max,
      computeVersion: options.computeVersion ?? (minorOf(max) >= 95 ? 68 : 60),
      ids: options.ids ?? randomUUID,
    })
    this.powerSync = new PowerSync(this.world, options.powerSyncMs ?? 600_000)
    this.life = new HostLife(this.world, this.powerSync)
    this.guests = new GuestLife(this.world, this.powerSync)
    this.projects = ['service', 'admin', 'demo', 'tenant'].map((name) => ({ id: `project-${name}`, name }))
    const admin = ['admin', 'member', 'reader']
    this.users = [
      // The daemon: admin in its own project and, as by an inherited assignment, in the tenants' ones.
      { id: 'user-lifeboat', name: 'lifeboat', password: 'secret', roles: { service: admin, tenant: admin, admin } },
      { id: 'user-operator', name: 'operator', password: 'secret', roles: { admin } },
      { id: 'user-tenant', name: 'tenant', password: 'secret', roles: { tenant: ['member', 'reader'] } },
      { id: 'user-demo', name: 'demo', password: 'secret', roles: { demo: ['member', 'reader'] } },
    ]
    this.applicationCredentials = [
      { id: 'appcred-lifeboat', name: 'lifeboat', secret: 'secret', userId: 'user-lifeboat', project: 'service' },
    ]
    this.keystone = new Keystone({
      clock,
      users: this.users,
      projects: this.projects,
      applicationCredentials: this.applicationCredentials,
      federation: this.federation,
      tokenLifeMs: options.tokenLifeMs ?? 3_600_000,
      region: this.region,
      catalogue: (projectId) => [
        { type: 'identity', name: 'keystone', url: `${this.url}/identity/v3` },
        { type: 'compute', name: 'nova', url: `${this.url}/compute/v2.1` },
        { type: 'placement', name: 'placement', url: `${this.url}/placement` },
        { type: 'volumev3', name: 'cinderv3', url: `${this.url}/volume/v3/${projectId}` },
      ],
    })
    this.server = this.makeServer()
  }

  /** The same cloud without sockets, at the same URLs: for daemons in this process. */
  wire(): Wire {
    return this.server.wire
  }

  /** Listens. `startSimulator` has done it already. */
  async open(port: number): Promise<void> {
    this.url = await this.server.listen(port)
  }

  /** Leaves nothing behind that would keep a process alive. */
  close(): Promise<void> {
    this.powerSync.end()
    return this.server.close()
  }

  /** Access for the daemon's user; `user` and `project` for someone else. */
  cloud(user = 'lifeboat', project = 'service'): SimulatedCloudAccess {
    return {
      auth_url: `${this.url}/identity/v3`,
      username: user,
      password: this.users.find((at) => at.name === user)?.password ?? '',
      project_name: project,
      user_domain_name: 'Default',
      project_domain_name: 'Default',
      region_name: this.region,
    }
  }

  /** The Redfish address of a host's system. */
  bmcUrl(host: string): string {
    return `${this.url}/redfish/v1/Systems/${host}`
  }

  probes(): Probe[] {
    return simulatedProbes(this.world, this.clock)
  }

  addInstance(wanted: NewInstance): SimInstance {
    return addInstance(this.world, wanted)
  }

  /** The record of an instance. Throws when there is none. */
  instance(uuid: string): SimInstance {
    const instance = this.world.instances.get(uuid)
    if (instance === undefined) throw new Error(`no such instance: ${uuid}`)
    return instance
  }

  /** Its evacuation records, oldest first. */
  evacuationsOf(uuid: string): SimMigration[] {
    return this.world.migrations.filter((at) => at.instanceUuid === uuid && at.type === 'evacuation')
  }

  /** A person with these roles in the daemon's own project; the password is `secret`. */
  addUser(name: string, roles: string[]): void {
    this.users.push({ id: `user-${name}`, name, password: 'secret', roles: { service: roles } })
  }

  addServerGroup(policy: SimServerGroup['policy'], members: string[], name = 'group'): SimServerGroup {
    const group = { id: this.world.options.ids(), name, policy, members, projectId: 'project-tenant' }
    this.world.serverGroups.push(group)
    return group
  }

  addAggregate(
    name: string,
    hosts: string[],
    metadata: Record<string, string> = {},
    zone: string | null = null,
  ): SimAggregate {
    const id = this.world.aggregates.length + 1
    const aggregate = { id, uuid: this.world.options.ids(), name, zone, hosts, metadata }
    this.world.aggregates.push(aggregate)
    if (zone !== null) for (const host of hosts) this.world.host(host).service.zone = zone
    return aggregate
  }

  crash(...hosts: string[]): void {
    for (const host of hosts) this.life.crash(host)
  }

  isolate(...hosts: string[]): void {
    for (const host of hosts) this.life.isolate(host)
  }

  partition(...hosts: string[]): void {
    for (const host of hosts) this.life.partition(host)
  }

  /** Hosts come back; their nova-compute beats after its start-up time. */
  start(...hosts: string[]): void {
    for (const host of hosts) this.life.start(host)
  }

  /** A guest's process dies; its host and nova-compute live on. Throws when it runs nowhere. */
  crashGuest(uuid: string, crash: GuestCrash = {}): void {
    this.guests.crash(uuid, crash)
  }

  /** The hypervisor pauses a guest on its own, as QEMU does when it cannot write to its disk. Throws when it runs nowhere. */
  pauseGuest(uuid: string): void {
    this.guests.pause(uuid)
  }

  /** The live migration of an instance goes on, or ends. Throws when none is under way. */
  turnLiveMigration(uuid: string, turn: LiveMigrationTurn): void {
    turnLiveMigration(this.world, uuid, turn)
  }

  /** What its tenant orders of a server, taken at this very moment. Throws what Nova refuses. */
  tenantOrders(uuid: string, action: string, argument: unknown = null): void {
    const instance = this.instance(uuid)
    const { userId, projectId } = instance
    const requestId = `req-${this.world.options.ids()}`
    const caller = { userId, userName: 'tenant', projectId, roles: ['member', 'reader'], requestId }
    new InstanceActions(this.world).perform(
      action,
      argument,
      instance,
      minorOf(this.world.options.maxMicroversion),
      caller,
    )
  }

  bmc(host: string, change: Partial<SimBmc> = {}): SimBmc {
    return Object.assign(this.world.host(host).bmc, change)
  }

  /** What is wrong with a host as a destination. */
  fault(host: string, change: Partial<HostFaults>): HostFaults {
    return Object.assign(this.world.host(host).faults, change)
  }

  /** Nova's power sync on that host, now. */
  syncPower(host: string): void {
    this.powerSync.ofHost(host)
  }

  /** Parts of the control plane die. */
  kill(...parts: ControlPlanePart[]): void {
    for (const part of parts) this.world.down.add(part)
    this.world.refreshHeartbeats()
  }

  /** The message bus loses the next evacuations and confirmations that Nova's API took. */
  loseOrders(count: number): void {
    this.world.ordersToLose = count
  }

  /** Nova's API stands still over the next evacuation, once it has checked it and before it writes anything. */
  standStillOverOrder(forMs: number): void {
    this.world.standstills.push(forMs)
  }

  /** What waits for the nova-compute of a host is gone. */
  purgeQueue(host: string): void {
    this.world.host(host).queue.length = 0
  }

  /** The conductor begins the next evacuations and dies over them. */
  dieOverOrders(count: number): void {
    this.world.ordersToDieOver = count
  }

  /** The scheduler claims room for the next evacuations and dies before it answers: the conductor gives them up. */
  leaveClaims(count: number): void {
    this.world.claimsToLeave = count
  }

  /** They are back; what waited for the conductor runs now (docs/nova.md fact 11). */
  revive(...parts: ControlPlanePart[]): void {
    for (const part of parts) this.world.down.delete(part)
    if (parts.includes('rabbitmq')) {
      this.world.reconnecting = true
      this.clock.after(this.world.options.timings.brokerReconnectMs, () => {
        this.world.reconnecting = false
        this.world.refreshHeartbeats()
      })
    }
    this.world.refreshHeartbeats()
    if (!this.world.down.has('conductor')) for (const work of this.world.conductorQueue.splice(0)) work()
  }

  /** The database of these hosts' cell cannot be reached, or can again. */
  cellDown(hosts: string[], down = true): void {
    for (const host of hosts) {
      if (down) this.world.downCell.add(host)
      else this.world.downCell.delete(host)
    }
  }

  /** Arms a fault of the API itself; the returned function takes it back. */
  apiFault(fault: ApiFault): () => void {
    return this.faults.add(fault)
  }

  clearApiFaults(): void {
    this.faults.clear()
  }

  truth(): Truth {
    return this.world.hypervisors.truth()
  }

  /** Every request since the start or the last `forgetRequests`. */
  requests(): readonly LoggedRequest[] {
    return this.server.log
  }

  forgetRequests(): void {
    this.server.log.length = 0
  }

  private makeServer(): HttpServer {
    const caller = (exchange: Exchange): ReturnType<Keystone['authenticate']> =>
      this.keystone.authenticate(first(exchange.headers['x-auth-token']), exchange.requestId)
    const nova = new NovaApi(this.world, this.life, caller)
    const unavailable = {
      status: 503,
      body: { error: { code: 503, title: 'Service Unavailable', message: 'not running' } },
    }
    return new HttpServer({
      clock: this.clock,
      ids: this.world.options.ids,
      apiWall: () => this.clock.wall() + this.world.apiSkewMs,
      faults: this.faults,
      userOf: (exchange) => caller(exchange)?.userName ?? null,
      services: {
        identity: (exchange) => (this.world.down.has('keystone') ? unavailable : this.keystone.serve(exchange)),
        compute: (exchange) => (this.world.down.has('nova-api') ? unavailable : nova.serve(exchange)),
        volume: (exchange) => serveCinder(this.world, exchange, caller(exchange)),
        placement: (exchange) => servePlacement(this.world, exchange, caller(exchange)),
        redfish: (exchange) => serveRedfish(this.world, this.life, exchange),
      },
    })
  }
}
