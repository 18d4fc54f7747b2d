/** What the maintenance page and `lifeboat maintenance list` show: now, planned, and the calendar. Words only. */
import type { IncidentId } from './entry.ts'
import type { Order, OrderKind, PlannedOrder, Scope } from './order.ts'
import type { HostName } from './service.ts'

/** A maintenance window of the configuration. */
export interface WindowView {
  name: string
  kind: OrderKind
  scopes: Scope[]
  /** As it is written: five cron fields. */
  schedule: string
  /** A zone of the tz database. */
  timezone: string
  reason: string
  /** Its next openings, ISO, the soonest first. */
  next: { from: string; until: string }[]
}

/** Each with what it means. */
export const conflictCodes = {
  OPEN_INCIDENT: 'A host of it has an open incident, which maintenance holds',
  WHOLE_SEGMENT: 'All hosts of a segment are in maintenance at once: none of them is recovered',
} as const

export type ConflictCode = keyof typeof conflictCodes

/** What stands against a maintenance, now or when it begins. */
export interface MaintenanceConflict {
  code: ConflictCode
  /** ISO; null: now. */
  from: string | null
  message: string
  segment: string | null
  host: HostName | null
  incident: IncidentId | null
}

export interface MaintenanceView {
  /** The zone of the daemon's machine, in which times without an offset are read. */
  timezone: string
  inForce: Order[]
  planned: PlannedOrder[]
  windows: WindowView[]
  conflicts: MaintenanceConflict[]
}
