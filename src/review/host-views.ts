/** A host as people and the API read it: plain JSON made from its verdict and from what the journal tells of it. */
import { returnStates, type ReturnState } from '../domain/host-return.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import type { HostReturnDetail, HostStatus } from '../domain/operations.ts'
import type { ReturnRecord } from '../domain/return-record.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import type { Orders } from '../orders/orders.ts'

interface HostViewParts {
  store: IncidentStore
  orders: Orders
}

/** Null for a host on which nothing of ours was ever set. */
export function returnDetail({ ourFlags: mark, state, said, leftovers, order }: ReturnRecord): HostReturnDetail | null {
  if (mark === null && said === null) return null
  return {
    state,
    code: said?.code ?? null,
    message: said?.message ?? returnStates[state].means,
    since: said?.at ?? null,
    leftovers,
    order,
  }
}

/** How far the host's return is, while something of ours is still set on it and no incident of it is open; null: it is not. */
export function returningOf(store: Pick<IncidentStore, 'isReturning' | 'returnOf'>, host: string): ReturnState | null {
  return store.isReturning(host) ? store.returnOf(host).state : null
}

export function hostStatus(verdict: Verdict, zone: string | null, { store, orders }: HostViewParts): HostStatus {
  const { host, segment, kind, reason, message, at, evidence } = verdict
  const { status, state, forcedDown, silentMs, sinceBeatMs, intervalMs, missedBeats, probes } = evidence
  const incident = (store.openOn(host) ?? store.openProcessOn(host))?.id ?? null
  const { setAside, order } = store.returnOf(host)
  const keptOut = order?.keepOut === true ? { by: order.by, reason: order.reason } : null
  return {
    host,
    segment,
    zone,
    verdict: kind,
    reason,
    message,
    status,
    state,
    forcedDown,
    silentMs,
    ...omitUndefined({ sinceBeatMs }),
    intervalMs,
    missedBeats,
    probes,
    incident,
    returning: returningOf(store, host),
    setAside: setAside && {
      incident: setAside.incident,
      because: setAside.because,
      since: setAside.since,
      keptOut,
    },
    standingOrders: (['pause', 'maintenance'] as const).flatMap((order) => orders.covering(order, host, [segment])),
    at,
  }
}
