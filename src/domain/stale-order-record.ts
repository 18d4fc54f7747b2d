/** The stale orders that are open, folded from the journal: a restarted daemon knows exactly these. */
import type { Entry } from './entry.ts'
import type { StaleOrder } from './stale-order.ts'

export const staleOrderKinds = ['debt.recorded', 'debt.settled'] as const satisfies readonly Entry['kind'][]

/** Adds one entry to the orders that are open, by incident, instance and record. */
export function applyToStaleOrders(orders: Map<string, StaleOrder>, entry: Entry): void {
  const { incident, instance, host, seq } = entry
  if (incident === null || instance === null) return
  if (entry.kind === 'debt.recorded' && entry.data.waitsAt !== undefined) {
    const { waitsAt } = entry.data
    orders.set(keyOf(incident, instance, waitsAt.migration), {
      ...waitsAt,
      incident,
      instance,
      source: host ?? '',
      seq,
    })
  }
  if (entry.kind === 'debt.settled') orders.delete(keyOf(incident, instance, entry.data.migration))
}

function keyOf(incident: string, instance: string, migration: string): string {
  return JSON.stringify([incident, instance, migration])
}
