/**
 * What standing orders mean for an incident and for a host: whether they hold it, and how that is said. Pure.
 */
import type { HoldCode } from '../domain/incident-phases.ts'
import type { Incident } from '../domain/incident.ts'
import { orderText, type StandingOrder } from '../domain/standing-order.ts'
import type { Verdict, VerdictKind } from '../domain/verdict.ts'
import type { StandingOrders } from './standing-orders.ts'

type Orders = Pick<StandingOrders, 'covering'>

/** Why standing orders hold an incident, all of them named; null when none does. A pause is said before maintenance. */
export function orderHolds(
  incident: Pick<Incident, 'host' | 'segment'>,
  orders: Orders,
  segments: readonly string[],
): { hold: HoldCode; message: string } | null {
  const known = [incident.segment, ...segments]
  const pauses = orders.covering('pause', incident.host, known)
  if (pauses.length > 0) return { hold: 'PAUSED', message: said(pauses) }
  const maintenance = orders.covering('maintenance', incident.host, known)
  return maintenance.length > 0 ? { hold: 'MAINTENANCE', message: said(maintenance) } : null
}

/** The maintenance that a host is in, in words for its verdict; null when it is in none. */
export function maintenanceOf(orders: Orders, host: string, segment: string): string | null {
  const maintenance = orders.covering('maintenance', host, [segment])
  return maintenance.length > 0 ? said(maintenance) : null
}

/** Why an incident waits whose host a person disabled meanwhile. Without numbers: the verdict has them, and they move. */
export const disabledHere =
  'a person disabled its nova-compute while the incident waited; it goes on when the service is enabled, or on a statement'

/**
 * Whether nothing was done to the host yet and nobody stated its death: a person who disables it now means to keep it out
 * of recovery. Once it is proven dead its instances are brought back whatever its flags say: left half way they are lost.
 */
export function isOnlyWaiting({ proof, statement }: Pick<Incident, 'proof' | 'statement'>): boolean {
  return proof === null && statement === null
}

const silent: ReadonlySet<VerdictKind> = new Set(['suspect', 'host-down'])

/** For the brake: a host that is silent because of maintenance is no sign of a mass failure. It still belongs to the fleet. */
export function withoutPlanned(verdicts: readonly Verdict[], orders: Orders): Verdict[] {
  return verdicts.map((verdict) =>
    silent.has(verdict.kind) && maintenanceOf(orders, verdict.host, verdict.segment) !== null
      ? { ...verdict, kind: 'maintenance' }
      : verdict,
  )
}

function said(orders: readonly StandingOrder[]): string {
  return orders.map(orderText).join('; ')
}
