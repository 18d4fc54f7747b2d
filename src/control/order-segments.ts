/**
 * Orders of a segment that new rules would leave without a host: a pause or a maintenance that someone gave would hold nothing any
 * more, and nobody would be told.
 */
import { LifeboatError } from '../domain/errors.ts'
import { orderText, plannedText, type Order, type PlannedOrder } from '../domain/order.ts'
import type { SegmentOf } from '../domain/segment.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { Orders } from '../orders/orders.ts'

/**
 * Throws CONFLICT where a segment that has hosts, and an order that is in force or planned, has no host by `rules`. Windows of the
 * calendar are part of the rules themselves.
 */
export function keepsOrders(
  { orders, monitor }: { orders: Orders; monitor: Pick<Monitor, 'verdicts' | 'placed' | 'segment' | 'segments'> },
  rules: SegmentOf,
): void {
  const hosts = monitor.verdicts().map(({ host }) => host)
  const next = new Set(
    // A host whose row cannot be read stays where it was.
    hosts.flatMap((host) => [
      (monitor.placed(host, rules) ?? monitor.segment(host)).name,
      ...orders.failover.namesFor(host),
    ]),
  )
  const lost = new Set(monitor.segments().flatMap(({ name }) => (next.has(name) ? [] : [name])))
  const isLost = ({ scope }: Order | PlannedOrder): boolean => scope.kind === 'segment' && lost.has(scope.name ?? '')
  const left = [
    ...orders
      .inForce()
      .filter((order) => order.source === null && isLost(order))
      .map(orderText),
    ...orders.planned().filter(isLost).map(plannedText),
  ]
  if (left.length === 0) return
  throw new LifeboatError(
    'CONFLICT',
    `the new configuration leaves no host in segment ${[...lost].join(', ')}, for which an order stands: ${left.join('; ')}. End it first, or keep the segment's name`,
  )
}
