/** What Nova says of its services (os-services), in our words. Filled by openstack/, read by monitor/. */

export type HostName = string

export interface ServiceRecord {
  /** Null in the records of an unreachable cell (microversion 2.69: status UNKNOWN, nothing else known). */
  id: string | null
  binary: string
  host: HostName
  zone: string | null
  status: 'enabled' | 'disabled' | 'unknown'
  state: 'up' | 'down' | null
  /** The row's last write, cloud time, ISO. Heartbeats move it, and so does every PUT (docs/nova.md §1.2). */
  updatedAt: string | null
  forcedDown: boolean
  disabledReason: string | null
}

/** One complete answer of GET /os-services. */
export interface ServicesReading {
  /** Of each nova-compute host one row. */
  services: ServiceRecord[]
  /** Further rows of hosts whose own row is among `services`: a cell that a host was moved from still lists it. */
  leftOver?: ServiceRecord[]
  /** The `Date` header as epoch ms, or null: the API's own clock, to be compared with `updatedAt`. */
  serverTimeMs: number | null
  tookMs: number
  /** Whether the hosts of a cell that cannot be reached are rows of status `unknown`. Older Novas leave them out, without a word. */
  showsLostCells: boolean
}

/** The flags of a service before a write of ours. `status` is Nova's word, whatever it is. */
export interface FlagsFound {
  forcedDown: boolean
  status: string
  disabledReason: string | null
}

export interface ServiceChange {
  forcedDown?: boolean
  status?: 'enabled' | 'disabled'
  /** Only with status disabled, 1 to 255 characters. */
  disabledReason?: string
}

const ourReason = 'lifeboat: incident '
/** nova-compute disables itself when it loses its hypervisor, with this before the reason (nova/virt/libvirt/driver.py). */
const novasReason = 'AUTO: '

/** What we write as the reason when we disable a service (Nova allows 255 characters). */
export function ourDisabledReason(incident: string): string {
  return `${ourReason}${incident}`
}

/** Whether one of our incidents wrote it, this daemon's or another's. */
export function isOurReason(disabledReason: string | null): boolean {
  return disabledReason?.startsWith(ourReason) === true
}

/**
 * Whether a person (or another program of theirs) disabled the service: the reason is neither ours (law L6) nor Nova's own.
 * A host that loses its hypervisor and then dies was not planned to.
 */
export function isDisabledByPerson({
  status,
  disabledReason,
}: Pick<ServiceRecord, 'status' | 'disabledReason'>): boolean {
  const reason = disabledReason ?? ''
  return status === 'disabled' && !isOurReason(reason) && !reason.startsWith(novasReason)
}
