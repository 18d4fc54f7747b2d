/**
 * The records of the simulated cloud: what a real control plane keeps in its databases, in the columns' own words.
 * Types only; the rules that move them live beside each service.
 */

export type StoredStatus = 'enabled' | 'disabled'

/** A row of os-services. `lastSeen` and `lastWrite` are wall-clock milliseconds. */
export interface SimService {
  rowId: number
  uuid: string
  binary: 'nova-compute' | 'nova-conductor' | 'nova-scheduler'
  host: string
  zone: string
  status: StoredStatus
  disabledReason: string | null
  forcedDown: boolean
  /** The last heartbeat that reached the database while the process was not beating; see heartbeats.ts. */
  frozenAt: number
  /** Wall time since which the process beats without a pause, or null while it is silent. */
  beatingSince: number | null
  /** The last PUT: it moves updated_at as a heartbeat does. */
  lastWrite: number
}

export interface SimFlavor {
  id: string
  name: string
  vcpus: number
  ram: number
  disk: number
  ephemeral: number
  swap: number
  extraSpecs: Record<string, string>
}

export interface SimFault {
  message: string
  code: number
  created: number
  /** What administrators see behind the message. */
  details?: string
}

export interface SimInstance {
  uuid: string
  index: number
  name: string
  projectId: string
  userId: string
  host: string | null
  vmState: string
  taskState: string | null
  powerState: number
  locked: boolean
  lockedReason: string | null
  launchedAt: number | null
  createdAt: number
  updatedAt: number
  deletedAt: number | null
  metadata: Record<string, string>
  tags: string[]
  flavor: SimFlavor
  /** What a resize replaced, until it is confirmed. */
  oldFlavor: SimFlavor | null
  /** Null: boot from volume. */
  imageId: string | null
  volumeIds: string[]
  fault: SimFault | null
  /** Set by a resize, as system_metadata has it: what the guest was before. Never shown. */
  oldVmState: string | null
  vtpm: boolean
}

export type MigrationType = 'evacuation' | 'resize' | 'migration' | 'live-migration'

export interface SimMigration {
  id: number
  uuid: string
  instanceUuid: string
  type: MigrationType
  status: string
  source: string
  dest: string | null
  oldFlavorId: number | null
  newFlavorId: number | null
  userId: string | null
  projectId: string | null
  createdAt: number
  updatedAt: number | null
}

export interface SimActionEvent {
  event: string
  start: number
  finish: number | null
  result: 'Success' | 'Error' | null
  host: string
  details: string | null
}

export interface SimAction {
  action: string
  instanceUuid: string
  requestId: string
  userId: string | null
  projectId: string | null
  start: number
  updated: number
  message: string | null
  events: SimActionEvent[]
}

export interface SimVolume {
  id: string
  name: string
  size: number
  encrypted: boolean
  attachedTo: string | null
  projectId: string
}

export interface SimServerGroup {
  id: string
  name: string
  policy: 'affinity' | 'anti-affinity' | 'soft-affinity' | 'soft-anti-affinity'
  members: string[]
  projectId: string
}

export interface SimAggregate {
  id: number
  uuid: string
  name: string
  zone: string | null
  hosts: string[]
  metadata: Record<string, string>
}

/** A host's board controller. */
export interface SimBmc {
  power: 'On' | 'Off'
  reachable: boolean
  /** Accepts a reset and does nothing. */
  stuck: boolean
}

/** What is wrong with a host as a destination. */
export interface HostFaults {
  spawnFails: boolean
  stopFails: boolean
  /** Milliseconds that every spawn takes in addition. */
  slowSpawnMs: number
  /** The claim refuses: the migration fails and the instance stays as it was. */
  claimFails: boolean
  /** The conductor does not answer when the guest has been spawned (docs/nova.md §2.5). */
  saveTimesOut: boolean
  /** Neither then nor later: the record stays `pre-migrating` for ever. */
  savesNoEnd: boolean
  /** The end of a resize's confirmation on its source: the instance goes to ERROR, the record too. */
  confirmFails: boolean
  /** The host dies when the next guest is being spawned. */
  diesWhileSpawning: boolean
  /** The host dies once it has moved the next instance, before it has ended the record. */
  diesOnceMoved: boolean
  /** The migration ends `done` and the instance's record stays on its source: a lie no recovery may believe. */
  losesMove: boolean
  /** The message bus loses what the conductor sends it (docs/nova.md §2.2). */
  missesOrders: boolean
  /** It takes an order, cannot reach the conductor, and reverts the task before it has claimed (docs/nova.md §2.3). */
  dropsOrders: boolean
  /** It begins an order, and the conductor dies before it has claimed: the task stays, the event has no end (docs/nova.md §2.3). */
  leavesOrders: boolean
  /** Its storage carries write locks: it starts no guest whose disk another host has open. */
  diskLocks: boolean
  /** How long after its record the instance moves; Nova moves it before. */
  slowMoveMs: number
  /** How many instances its claim still takes; null: as many as come. */
  capacity: number | null
  localDisk: boolean
}

export interface SimHost {
  name: string
  service: SimService
  /** The machine runs (power and kernel). */
  alive: boolean
  /** The machine is on the network. */
  connected: boolean
  /** nova-compute runs and is connected. */
  agent: boolean
  bmc: SimBmc
  faults: HostFaults
  /** Placement's COMPUTE_STATUS_DISABLED on this host; it follows `status` late, see disabled-trait.ts. */
  disabledTrait: boolean
  /** Bumped at every death of the agent: work in progress of an older life stops. */
  life: number
  /** Orders that wait in the broker while no nova-compute takes them; the next one that starts takes them all. */
  queue: (() => void)[]
}

/** Everything that takes time, in milliseconds of the simulator's clock. */
export interface Timings {
  /** POST evacuate to the claim on the destination. */
  scheduleMs: number
  claimMs: number
  rebuildMs: number
  volumesMs: number
  spawnMs: number
  /** The stop after the spawn, and a user's stop or start. */
  powerMs: number
  /** A reboot, soft or hard, of a guest that runs or does not. */
  rebootMs: number
  /** How long nova-compute keeps a guest's end to itself: libvirt's may be half of a reboot. */
  lifecycleDelayMs: number
  /** Guest is up to host moved and migration done. */
  finishMs: number
  /** confirmResize on the source. */
  confirmMs: number
  /** nova-compute's start: from power on until it beats and has settled its evacuated guests. */
  agentStartMs: number
  /** The broker's return until the computes beat again: Nova's can take an RPC time limit and longer. */
  brokerReconnectMs: number
  /** How long a call to a nova-compute that does not answer is waited for (rpc_response_timeout). */
  rpcTimeoutMs: number
}

export interface SimulatedUser {
  id: string
  name: string
  password: string
  /** Project name to roles. */
  roles: Record<string, string[]>
}

/** What Keystone and the identity provider know of single sign-on. */
export interface Federation {
  /** Identity provider to its protocols. */
  providers: Record<string, string[]>
  /** `[federation] trusted_dashboard`: where a token may be posted to, compared whole. */
  trustedDashboards: string[]
  /** The user whom the identity provider knows in the browser that asks; null: it knows nobody. */
  signedOn: string | null
}

export interface ApplicationCredential {
  id: string
  name: string
  secret: string
  userId: string
  project: string
}
