/** Instances and what hangs on them, in our words. Filled by openstack/; the initial states in the journal have this shape. */
import type { HostName } from './service.ts'

export type InstanceId = string

/** Nova's power states. */
export const powerState = { none: 0, running: 1, paused: 3, shutdown: 4, crashed: 6, suspended: 7 } as const

export interface Flavor {
  name: string
  vcpus: number
  ramMb: number
  diskGb: number
  ephemeralGb: number
  swapMb: number
  extraSpecs: Record<string, string>
}

export interface Instance {
  id: InstanceId
  name: string
  projectId: string
  userId: string
  host: HostName | null
  /** Nova's `status`, e.g. ACTIVE, SHUTOFF, VERIFY_RESIZE, REBUILD. For people; decisions use the three below. */
  status: string
  vmState: string
  taskState: string | null
  powerState: number
  locked: boolean
  lockedReason: string | null
  /** Null: never launched, and Nova will not evacuate it. */
  launchedAt: string | null
  createdAt: string
  updatedAt: string
  metadata: Record<string, string>
  tags: string[]
  flavor: Flavor
  /** Null: boot from volume. */
  imageId: string | null
  volumeIds: string[]
  availabilityZone: string | null
  fault: string | null
  /** Its last start was refused the write lock of its disk: the guest runs where it was (docs/nova.md §2.5). */
  diskInUse?: true
}

/** One os-migrations record. `uuid` is also the Placement consumer of what the migration still holds. */
export interface Migration {
  id: number
  uuid: string
  instanceId: InstanceId
  type: 'evacuation' | 'resize' | 'migration' | 'live-migration'
  status: string
  sourceHost: HostName | null
  destHost: HostName | null
  createdAt: string
  updatedAt: string | null
}

const over = new Set(['done', 'completed', 'failed', 'error', 'cancelled'])

/** Whether an evacuation moves no more, however it ended. */
export function isOver({ status }: Pick<Migration, 'status'>): boolean {
  return over.has(status)
}

/**
 * QEMU's words when another process has the disk open, as administrators see them in a fault or an event; the message is only
 * `libvirtError`. Here words are read: they say that a guest lives elsewhere, and that is worth more than a refusal.
 */
export const diskInUse = /failed to get "?write"? lock|is another process using the image/i

export interface InstanceActionEvent {
  event: string
  /** Null while open. */
  result: string | null
  host: HostName | null
  details: string | null
  startedAt: string
  finishedAt: string | null
}

export interface InstanceAction {
  action: string
  requestId: string
  /** Null user and project on a `stop`: nova-compute's own power sync did it, not a person (docs/nova.md §1.5). */
  userId: string | null
  projectId: string | null
  startedAt: string
  message: string | null
  /** Only when one action was asked for. */
  events: InstanceActionEvent[]
}

export interface ServerGroup {
  id: string
  name: string
  policy: string
  members: InstanceId[]
}

export interface Aggregate {
  name: string
  availabilityZone: string | null
  hosts: HostName[]
  metadata: Record<string, string>
}

export interface Volume {
  id: string
  encrypted: boolean
}
