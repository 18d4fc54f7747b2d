/**
 * What orders mean for an incident and for a host: whether they hold it, and how that is said. Pure.
 */
import type { HoldCode } from '../domain/incident-phases.ts'
import type { Incident } from '../domain/incident.ts'
import { orderText, type Order } from '../domain/order.ts'
import type { Verdict, VerdictKind } from '../domain/verdict.ts'
import type { Orders } from './orders.ts'

type CoveringOrders = Pick<Orders, 'covering'>

/**
 * Why orders hold what would be done to a host, all of them named; null when none does. A pause is said before maintenance.
 *
 * @param segments of the host, whose orders hold it too; for an incident also the one that it was opened in: a person who paused that
 *   one meant this incident as well
 */
export function orderHolds(
  host: string,
  orders: CoveringOrders,
  segments: readonly string[],
): { hold: HoldCode; message: string } | null {
  const known = [...new Set(segments)]
  const pauses = orders.covering('pause', host, known)
  if (pauses.length > 0) return { hold: 'PAUSED', message: said(pauses) }
  const maintenance = orders.covering('maintenance', host, known)
  return maintenance.length > 0 ? { hold: 'MAINTENANCE', message: said(maintenance) } : null
}

/** The maintenance that a host is in, in words for its verdict; null when it is in none. */
export function maintenanceOf(orders: CoveringOrders, host: string, segment: string): string | null {
  const maintenance = orders.covering('maintenance', host, [segment])
  return maintenance.length > 0 ? said(maintenance) : null
}

/** Why an incident waits whose host a person disabled meanwhile. Without numbers: the verdict has them, and they move. */
export const disabledHere =
  'a person disabled its nova-compute while the incident waited; it goes on when the service is enabled, or on an attestation'

/** Why an incident waits whose host a person forced down meanwhile, where the segment leaves such hosts to people. */
export const forcedDownHere =
  'a person forced the host down while the incident waited; it goes on when that is taken back, or on an attestation'

/**
 * Whether nothing was done to the host yet and nobody stated its death: a person who disables it now means to keep it out
 * of recovery. Once it is proven dead its instances are brought back whatever its flags say: left half way they are lost.
 */
export function isOnlyWaiting({ proof, attestation }: Pick<Incident, 'proof' | 'attestation'>): boolean {
  return proof === null && attestation === null
}

/** A host that is worked on may still answer while its nova-compute is off, and after a restart nobody has watched it yet. */
const silent: ReadonlySet<VerdictKind> = new Set(['suspect', 'host-down', 'service-down', 'unknown'])

/** For the brake: a host that is silent because of maintenance is no sign of a mass failure. It still belongs to the fleet. */
export function withoutPlanned(verdicts: readonly Verdict[], orders: CoveringOrders): Verdict[] {
  return verdicts.map((verdict) =>
    silent.has(verdict.kind) && maintenanceOf(orders, verdict.host, verdict.segment) !== null
      ? { ...verdict, kind: 'maintenance' }
      : verdict,
  )
}

function said(orders: readonly Order[]): string {
  return orders.map(orderText).join('; ')
}
