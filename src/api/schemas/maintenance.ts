/** Answers about maintenance: now, planned, and the calendar ahead. */
import { z } from 'zod'
import {
  conflictCodes,
  type MaintenanceConflict,
  type MaintenanceView,
  type WindowView,
} from '../../domain/maintenance-view.ts'
import { orderKinds } from '../../domain/order.ts'
import { namesOf, order, plannedOrder, scope, time } from './shared.ts'

const windowView: z.ZodType<WindowView> = z
  .object({
    name: z.string(),
    kind: namesOf(orderKinds),
    scopes: z.array(scope),
    schedule: z.string().describe('Five cron fields'),
    timezone: z.string(),
    reason: z.string(),
    next: z.array(z.object({ from: time, until: time })).describe('Its next openings, the soonest first'),
  })
  .meta({ id: 'MaintenanceWindow', description: 'A maintenance window of the configuration' })

const conflict: z.ZodType<MaintenanceConflict> = z
  .object({
    code: namesOf(conflictCodes),
    from: z.string().nullable().describe('When it begins; null: now'),
    message: z.string(),
    segment: z.string().nullable(),
    host: z.string().nullable(),
    incident: z.string().nullable(),
  })
  .meta({ id: 'MaintenanceConflict', description: 'What stands against a maintenance' })

export const maintenanceView: z.ZodType<MaintenanceView> = z
  .object({
    timezone: z.string().describe('Of the daemon’s machine: times without an offset are read in it'),
    inForce: z.array(order).describe('Pauses and maintenance, the oldest first'),
    planned: z.array(plannedOrder).describe('The soonest first'),
    windows: z.array(windowView),
    conflicts: z.array(conflict).describe('Each at the first moment at which it stands, the soonest first'),
  })
  .meta({ id: 'Maintenance' })

/** What an order is answered with: in force at once, or a plan. */
export const orderOrPlan = z.union([order, plannedOrder])
