/**
 * The cloud port: everything Lifeboat asks of OpenStack. openstack/ implements it over HTTP; nothing else knows the JSON.
 *
 * Every method throws LifeboatError, with the certainty of its effect. A list is complete (all pages) or the call throws:
 * an empty list means that the cloud said "none", and even that is no proof (docs/nova.md §1.3, down cells).
 */
import type { Aggregate, Instance, InstanceAction, InstanceId, Migration, ServerGroup, Volume } from './instance.ts'
import type { HostName, ServiceChange, ServiceRecord, ServicesReading } from './service.ts'

/** stopped: sent at 2.95, lands off. as-before: sent at 2.94 or lower, lands active or stopped as it was. */
export type Landing = 'stopped' | 'as-before'

export interface Capabilities {
  /** The highest compute microversion of the cloud, e.g. "2.100". */
  computeMaxMicroversion: string
  /** Whether evacuate can land an instance stopped (2.95 or higher). */
  landsStopped: boolean
}

/** What a write gives back: the request id that Nova files the instance action under (docs/nova.md §1.1). */
export interface Accepted {
  requestId: string | null
}

export interface EvacuateOrder {
  landing: Landing
  /** Evacuate with a token scoped to the instance's own project (encrypted volumes, docs/nova.md §5). */
  asProject?: string
}

export interface CallOptions {
  signal?: AbortSignal
  /** `req-` and a UUID: what OpenStack's services log beside their own request id. Default: one of its own for each call. */
  globalRequestId?: string
  mayLeave?: MayLeave
}

/**
 * Asked right before a request leaves, a second one of the same call too, and again as its connection stands. Throws when it must not: nothing
 * was sent then.
 *
 * @param connectingMs how long the connection took: that is the network's time, not ours
 */
export type MayLeave = (connectingMs?: number) => void

export interface Cloud {
  capabilities(options?: CallOptions): Promise<Capabilities>
  listServices(options?: CallOptions): Promise<ServicesReading>
  updateService(serviceId: string, change: ServiceChange, options?: CallOptions): Promise<ServiceRecord>
  /** All instances whose current host is `host`, all projects, all pages. */
  listInstances(host: HostName, options?: CallOptions): Promise<Instance[]>
  /** All instances of the cloud changed since an ISO time, deleted ones included (status DELETED). */
  listChangedInstances(since: string, options?: CallOptions): Promise<Instance[]>
  /** Throws INSTANCE_GONE when it does not exist. */
  getInstance(id: InstanceId, options?: CallOptions): Promise<Instance>
  /**
   * Filters are combined; `host` matches either end. With `changedSince` (ISO, cloud time) a record that was never updated
   * is left out: an evacuation that is only `accepted` does not show yet (docs/nova.md §8).
   */
  listMigrations(
    filter: {
      sourceHost?: HostName
      host?: HostName
      instanceId?: InstanceId
      type?: Migration['type']
      status?: string
      changedSince?: string
    },
    options?: CallOptions,
  ): Promise<Migration[]>
  /** Newest first, without events. */
  listActions(id: InstanceId, options?: CallOptions): Promise<InstanceAction[]>
  /** One action with its events. Throws NOT_FOUND when Nova knows no such request. */
  getAction(id: InstanceId, requestId: string, options?: CallOptions): Promise<InstanceAction>
  /**
   * Whether the guest runs, as its hypervisor says: nova-compute asks it. What Nova has stored says nothing for a while after a crash
   * (docs/nova.md §1.8). Throws API_FAULT or API_TIMEOUT when that nova-compute does not answer.
   */
  guestRuns(id: InstanceId, options?: CallOptions): Promise<boolean>
  listServerGroups(options?: CallOptions): Promise<ServerGroup[]>
  listAggregates(options?: CallOptions): Promise<Aggregate[]>
  /** Volumes by id; an id that Cinder does not know is missing from the map. */
  getVolumes(ids: string[], options?: CallOptions): Promise<Map<string, Volume>>
  /**
   * The traits that Placement has of a host's nodes. Throws NOT_FOUND when Nova shows no hypervisor there, CATALOG_MISSING
   * without Placement.
   */
  hostTraits(host: HostName, options?: CallOptions): Promise<Set<string>>
  /**
   * Hosts on which Placement has something allocated to the instance: its own and, once Nova has chosen one, its destination
   * (docs/nova.md §2.7). Throws CATALOG_MISSING without Placement.
   */
  allocatedHosts(id: InstanceId, options?: CallOptions): Promise<HostName[]>
  /** Whether a token scoped to that project, with the role to evacuate there, can be had. Never throws for "no". */
  mayActFor(projectId: string, options?: CallOptions): Promise<boolean>

  evacuate(id: InstanceId, order: EvacuateOrder, options?: CallOptions): Promise<Accepted>
  start(id: InstanceId, asProject?: string, options?: CallOptions): Promise<Accepted>
  /** A hard reboot: whatever is left of the guest is ended, and it is started from its definition in Nova. */
  reboot(id: InstanceId, asProject?: string, options?: CallOptions): Promise<Accepted>
  stop(id: InstanceId, options?: CallOptions): Promise<Accepted>
  lock(id: InstanceId, reason: string, options?: CallOptions): Promise<Accepted>
  unlock(id: InstanceId, options?: CallOptions): Promise<Accepted>
  /** os-resetState to active. Sets vm_state, clears task_state, touches nothing else. */
  resetState(id: InstanceId, options?: CallOptions): Promise<Accepted>
  confirmResize(id: InstanceId, options?: CallOptions): Promise<Accepted>
}
