/** What people read before they plan: maintenance in force and planned, the calendar ahead, and what stands against it. */
import type { Clock } from '../domain/clock.ts'
import { machineTimezone } from '../domain/local-time.ts'
import type { MaintenanceView, WindowView } from '../domain/maintenance-view.ts'
import type { Order } from '../domain/order.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import type { Monitor } from '../monitor/monitor.ts'
import { maintenanceConflicts, type HostInSegments, type Span } from '../orders/maintenance-conflicts.ts'
import { nextOpenings, type MaintenanceWindow } from '../orders/maintenance-window.ts'
import type { Orders } from '../orders/orders.ts'

/** Openings that are said of each window. More: a nightly one fills the page. */
const openingsShown = 3

export interface MaintenanceViewParts {
  clock: Clock
  orders: Orders
  monitor: Pick<Monitor, 'verdicts'>
  store: Pick<IncidentStore, 'openOn'>
  /** Those that the configuration has now. */
  windows: () => readonly MaintenanceWindow[]
}

export function maintenanceView({ clock, orders, monitor, store, windows }: MaintenanceViewParts): MaintenanceView {
  const inForce = orders.inForce()
  const planned = orders.planned()
  const calendar = windows().map((window) => windowView(window, clock.wall()))
  const hosts = monitor.verdicts().map(({ host, segment }): HostInSegments => ({
    host,
    segments: [segment, ...orders.failover.namesFor(host)],
    incident: store.openOn(host)?.id ?? null,
  }))
  const spans = [
    ...inForce.filter(({ kind }) => kind === 'maintenance').map(spanNow),
    ...planned.map((one) => ({ scope: one.scope, from: Date.parse(one.from), until: msOf(one.until) })),
    ...calendar.filter(({ kind }) => kind === 'maintenance').flatMap(spansOf),
  ]
  return {
    timezone: machineTimezone(),
    inForce,
    planned,
    windows: calendar,
    conflicts: maintenanceConflicts(spans, hosts),
  }
}

function windowView(window: MaintenanceWindow, wallMs: number): WindowView {
  const { name, kind, scopes, schedule, timezone, reason } = window
  const next = nextOpenings(window, wallMs, openingsShown).map(({ from, until }) => ({
    from: new Date(from).toISOString(),
    until: new Date(until).toISOString(),
  }))
  return { name, kind, scopes, schedule, timezone: timezone ?? machineTimezone(), reason, next }
}

function spanNow({ scope, until }: Order): Span {
  return { scope, from: null, until: msOf(until) }
}

/** Only its next opening: a window that comes again stands for all of them. */
function spansOf({ scopes, next: [first] }: WindowView): Span[] {
  return first === undefined
    ? []
    : scopes.map((scope) => ({ scope, from: Date.parse(first.from), until: Date.parse(first.until) }))
}

function msOf(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso)
}
