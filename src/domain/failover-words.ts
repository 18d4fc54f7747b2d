/** The fields of a failover segment and of a host in it, in Masakari's words. */
import type { HostName } from './service.ts'

/** Masakari's words. Lifeboat keeps and shows them; it recovers every host as `auto` says. */
export const recoveryMethods = ['auto', 'reserved_host', 'auto_priority', 'rh_priority'] as const

export type RecoveryMethod = (typeof recoveryMethods)[number]

/** The only method that Lifeboat follows. */
export const honouredMethod: RecoveryMethod = 'auto'

/** What people write about a segment; below, about a host in it. */
export interface SegmentFields {
  name: string
  serviceType: string
  recoveryMethod: RecoveryMethod
  description: string | null
}

export interface SegmentHostFields {
  name: HostName
  type: string
  controlAttributes: string
  reserved: boolean
}
