/**
 * Orders of a segment that would not hold a host any more because it is of another segment now: by new rules, or because Nova shows it elsewhere.
 * The person who gave a pause or a maintenance counts on it, and nobody would be told.
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
 * Throws CONFLICT where `rules` take a host out of a segment by whose order it is paused or in maintenance, and where they leave a segment without
 * hosts for which an order is planned. Windows of the calendar are part of the rules themselves.
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
  if (left.length === 0) return holdsEachHost(hosts, { orders, monitor }, rules)
  throw new LifeboatError(
    'CONFLICT',
    `the new configuration leaves no host in segment ${[...lost].join(', ')}, for which an order stands: ${left.join('; ')}. End it first, or keep the segment's name`,
  )
}

function holdsEachHost(
  hosts: readonly string[],
  { orders, monitor }: { orders: Orders; monitor: Pick<Monitor, 'placed' | 'segment'> },
  rules: SegmentOf,
): void {
  for (const host of hosts) {
    const before = monitor.segment(host).name
    const after = monitor.placed(host, rules)?.name ?? before
    if (after === before) continue
    for (const kind of ['pause', 'maintenance'] as const) {
      const [held] = orders.covering(kind, host, [before]).filter(({ source }) => source === null)
      if (held === undefined || orders.covering(kind, host, [after]).length > 0) continue
      throw new LifeboatError(
        'CONFLICT',
        `the new configuration takes ${host} out of segment ${before}, and with that out of an order: ${orderText(held)}. End it first, give ${host} an order of its own, or leave it where it is`,
      )
    }
  }
}

/**
 * Tells people of each order that holds nothing, in each run and once as long as that stays so. After each poll that read every host: of orders for
 * a segment that has no host, because the daemon was started with a configuration that lacks it, or Nova shows the last one elsewhere. And of
 * windows of the calendar for a host that Nova does not show, once they open: a name that is written wrong protects nobody who works on the host.
 */
export function tellOfOrdersWithoutHosts({ orders, monitor, journal }: OrdersWithoutHosts): {
  consider: (report: PollReport) => void
} {
  const toldSegments = new Set<string>()
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
    const named = new Set([
      ...hosts.map((host) => monitor.segment(host).name),
      // Made through Masakari's API, and perhaps to be filled.
      ...[...orders.failover.records().segments.values()].map(({ name }) => name),
    ])
    const isOfNone = ({ source, scope }: Order): boolean =>
      source === null && scope.kind === 'segment' && !named.has(scope.name ?? '')
    const lost = orders.inForce().filter(isOfNone)
    const fresh = lost.filter((order) => !toldSegments.has(orderKey(order)))
    if (fresh.length > 0) journal.append(fresh.map(ofNoHost))
    toldSegments.clear()
    for (const order of lost) toldSegments.add(orderKey(order))
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
