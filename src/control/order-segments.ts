/**
 * Orders of a segment that new rules would leave without a host: a pause or a maintenance that someone gave would hold nothing any
 * more, and nobody would be told.
 */
import type { NewEntry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import { orderText, plannedText, type Order, type PlannedOrder } from '../domain/order.ts'
import type { SegmentOf } from '../domain/segment.ts'
import { isUnread } from '../domain/verdict.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { PollReport } from '../monitor/report.ts'
import { orderKey, type Orders } from '../orders/orders.ts'

interface OrdersWithoutHosts {
  orders: Orders
  monitor: Pick<Monitor, 'segment'>
  journal: Pick<Journal, 'append'>
}

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

/**
 * Tells people once in each run of each order that holds nothing. After the first poll that read every host: of orders for a segment that has
 * no host, because the daemon was started with a configuration that lacks it. And of windows of the calendar for a host that Nova does not show,
 * once they open: a name that is written wrong protects nobody who works on the host.
 */
export function tellOfOrdersWithoutHosts({ orders, monitor, journal }: OrdersWithoutHosts): {
  consider: (report: PollReport) => void
} {
  let isTold = false
  const toldHosts = new Set<string>()
  const tellOfHosts = (hosts: readonly string[]): void => {
    const unknown = orders
      .inForce()
      .filter(({ source, scope }) => source !== null && scope.kind === 'host' && !hosts.includes(scope.name ?? ''))
    const fresh = unknown.filter(({ scope }) => !toldHosts.has(scope.name ?? ''))
    if (fresh.length > 0) journal.append(fresh.map(ofUnknownHost))
    toldHosts.clear()
    for (const { scope } of unknown) toldHosts.add(scope.name ?? '')
  }
  const consider = (report: PollReport): void => {
    if (!report.ok || report.verdicts.some(isUnread)) return
    const hosts = report.verdicts.map(({ host }) => host)
    tellOfHosts(hosts)
    if (isTold) return
    const named = new Set([
      ...hosts.map((host) => monitor.segment(host).name),
      // Made through Masakari's API, and perhaps to be filled.
      ...[...orders.failover.records().segments.values()].map(({ name }) => name),
    ])
    const isOfNone = ({ source, scope }: Order): boolean =>
      source === null && scope.kind === 'segment' && !named.has(scope.name ?? '')
    const lost = orders.inForce().filter(isOfNone)
    if (lost.length > 0) journal.append(lost.map(ofNoHost))
    isTold = true
  }
  return { consider }
}

function ofUnknownHost(order: Order): NewEntry {
  const message = `Nova shows no nova-compute on ${order.scope.name}, so this window holds nothing: ${orderText(order)}. Write the host's name as Nova does`
  return { kind: 'alarm.raised', data: { code: 'ORDER_WITHOUT_HOSTS', message, order: orderKey(order) } }
}

function ofNoHost(order: Order): NewEntry {
  const message = `No host is in segment ${order.scope.name}, so its order holds nothing: ${orderText(order)}. If the hosts are of another segment now, order it for that one, and end this one`
  return { kind: 'alarm.raised', data: { code: 'ORDER_WITHOUT_HOSTS', message, order: orderKey(order) } }
}
