/**
 * What people do with orders: pause, resume, maintenance and its end. Each is one journal entry; what follows from
 * it is decided where it matters (permissions, watch loop), from the entry.
 */
import type { Clock } from '../domain/clock.ts'
import type { NewEntry, Via } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import type { Operations, PauseState } from '../domain/operations.ts'
import {
  orderText,
  plannedText,
  sameScope,
  scopeText,
  wholeCloud,
  type Order,
  type OrderKind,
  type PlannedOrder,
  type Scope,
} from '../domain/order.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { Orders } from './orders.ts'
import { plannedTimes } from './planned-times.ts'

export interface OrderActsParts {
  clock: Clock
  journal: Journal
  orders: Orders
  monitor: Pick<Monitor, 'verdict' | 'verdicts' | 'segments'>
}

export type OrderActs = Pick<
  Operations,
  'pause' | 'resume' | 'startMaintenance' | 'planMaintenance' | 'withdrawMaintenance' | 'endMaintenance'
>

export function orderActs({ clock, journal, orders, monitor }: OrderActsParts): OrderActs {
  const write = (scope: Scope, by: string, entry: NewEntry): number => {
    const host = scope.kind === 'host' && scope.name !== null ? { host: scope.name } : {}
    const [written] = journal.append([{ ...entry, actor: `operator:${by}`, ...host }])
    return written?.seq ?? 0
  }
  return {
    pause: ({ by, reason, until, scope = wholeCloud, via }) => {
      mustExist(scope, monitor, orders)
      mustNotShorten('pause', { scope, by, until }, orders)
      write(scope, by, { kind: 'operator.paused', data: { by, reason, until, ...unlessCloud(scope), ...known(via) } })
      return Promise.resolve({ by, reason, until, since: now(clock) })
    },
    resume: ({ by, reason, scope = wholeCloud, via }) => {
      mustBeInForce('pause', scope, orders)
      write(scope, by, { kind: 'operator.resumed', data: { by, reason, ...unlessCloud(scope), ...known(via) } })
      return Promise.resolve()
    },
    startMaintenance: ({ by, reason, until, scope, via }) => {
      mustExist(scope, monitor, orders)
      mustNotShorten('maintenance', { scope, by, until }, orders)
      write(scope, by, { kind: 'operator.maintenance', data: { scope, by, reason, until, ...known(via) } })
      return Promise.resolve({ kind: 'maintenance', scope, by, reason, until, since: now(clock), source: null })
    },
    planMaintenance: ({ by, reason, from: asWritten, until: end, forMs, scope, via }) => {
      mustExist(scope, monitor, orders)
      const { from, until } = plannedTimes({ from: asWritten, until: end, forMs }, clock.wall())
      mustNotShortenPlan({ scope, by, from, until }, orders)
      const data = { scope, by, reason, from, until, ...known(via) }
      const plan = write(scope, by, { kind: 'operator.maintenance-planned', data })
      return Promise.resolve({ plan, kind: 'maintenance', scope, by, reason, orderedAt: now(clock), from, until })
    },
    withdrawMaintenance: ({ plan, by, reason, via }) => {
      const { scope } = mustBePlanned(plan, orders, journal)
      write(scope, by, { kind: 'operator.maintenance-withdrawn', data: { plan, scope, by, reason, ...known(via) } })
      return Promise.resolve()
    },
    endMaintenance: ({ by, reason, scope, via }) => {
      mustBeInForce('maintenance', scope, orders)
      write(scope, by, { kind: 'operator.maintenance-ended', data: { scope, by, reason, ...known(via) } })
      return Promise.resolve()
    },
  }
}

/** The pause of the whole cloud, a person's before the calendar's; null when there is none. */
export function cloudPause(orders: Orders): PauseState | null {
  const pauses = orders.of('pause', wholeCloud)
  const pause = pauses.find(({ source }) => source === null) ?? pauses[0]
  if (pause === undefined) return null
  const { by, reason, since, until } = pause
  return { by, reason, since, until }
}

/**
 * A mistyped name would protect nothing and be noticed only when the host is powered off. Before the first reading of Nova
 * no name is known and every one is taken: a person can stop it at any moment (law L10).
 */
function mustExist({ kind, name }: Scope, monitor: OrderActsParts['monitor'], { failover }: Orders): void {
  if (kind === 'cloud' || monitor.verdicts().length === 0) return
  if (kind === 'host' && monitor.verdict(name ?? '') === undefined)
    throw new LifeboatError('NOT_FOUND', `Nova shows no nova-compute on ${name}`)
  const segments = [...monitor.segments(), ...failover.records().segments.values()].map((segment) => segment.name)
  if (kind === 'segment' && !segments.includes(name ?? ''))
    throw new LifeboatError('NOT_FOUND', `There is no segment ${name} with hosts (there are: ${segments.join(', ')})`)
}

/**
 * A second order replaces the first. If it ends sooner, it cuts short what another person ordered, and Lifeboat may fence the host they are
 * working on. Only a person may end the pause of a journal that does not verify.
 */
function mustNotShorten(
  kind: OrderKind,
  { scope, by, until }: Pick<Order, 'scope' | 'by' | 'until'>,
  orders: Orders,
): void {
  const field = orders.asField(scope)
  const longer = orders
    .of(kind, scope)
    .find((other) => other !== field && isReplaced(other) && other.by !== by && endsLater(other, until))
  if (longer === undefined) return
  const what = kind === 'pause' ? 'Recoveries are' : 'It is'
  const message = `${what} ${orderText(longer)}; an order that ends sooner would replace that one. End it first, or give one that ends no sooner`
  throw new LifeboatError('CONFLICT', message)
}

/** The same of a plan that begins at the same moment. */
function mustNotShortenPlan(
  { scope, by, from, until }: Pick<PlannedOrder, 'scope' | 'by' | 'from' | 'until'>,
  orders: Orders,
): void {
  const longer = orders
    .planned()
    .find((other) => other.by !== by && other.from === from && sameScope(other.scope, scope) && endsLater(other, until))
  if (longer === undefined) return
  const message = `There is ${plannedText(longer)} by ${longer.by} already; a plan that ends sooner would replace it. Withdraw it first, or give one that ends no sooner`
  throw new LifeboatError('CONFLICT', message)
}

function endsLater(other: Pick<Order, 'until'>, until: string | null): boolean {
  return until !== null && (other.until === null || Date.parse(other.until) > Date.parse(until))
}

/** The calendar's and what was planned stand beside a person's, as a field of Masakari's API does. */
function isReplaced({ source, plan }: Order): boolean {
  return source === null && plan === undefined
}

function mustBeInForce(kind: OrderKind, scope: Scope, orders: Orders): void {
  if (orders.of(kind, scope).length > 0) return
  const others = orders.inForce().filter((order: Order) => order.kind === kind)
  const which = others.length === 0 ? 'none is' : `in force: ${others.map((one) => scopeText(one.scope)).join(', ')}`
  const planned = kind === 'maintenance' ? orders.planned().filter((one) => sameScope(one.scope, scope)) : []
  const later = planned.map((one) => `; ${plannedText(one)} is still to begin: withdraw it`).join('')
  throw new LifeboatError('CONFLICT', `No ${kind} of ${scopeText(scope)} is in force (${which})${later}`)
}

/** Throws CONFLICT for one that has begun, was withdrawn or is over, NOT_FOUND for one that nothing is known of. */
function mustBePlanned(plan: number, orders: Orders, journal: OrderActsParts['journal']): PlannedOrder {
  const planned = orders.planned()
  const found = planned.find((one) => one.plan === plan)
  if (found !== undefined) return found
  const running = orders.inForce().find((one) => one.plan === plan)
  if (running !== undefined) {
    const message = `Maintenance ${plan} of ${scopeText(running.scope)} began at ${running.since}; it can no longer be withdrawn; end it instead`
    throw new LifeboatError('CONFLICT', message)
  }
  refuseOver(plan, journal)
  const which = planned.length === 0 ? 'none is' : `planned: ${planned.map((one) => one.plan).join(', ')}`
  throw new LifeboatError('NOT_FOUND', `No maintenance ${plan} is planned (${which})`)
}

/** Of two people who withdraw one plan the second is too late, and has not mistyped it. */
function refuseOver(plan: number, journal: OrderActsParts['journal']): void {
  const [written] = journal.read({ after: plan - 1, limit: 1 })
  if (written?.seq !== plan || written.kind !== 'operator.maintenance-planned') return
  const withdrawals = journal
    .read({ kinds: ['operator.maintenance-withdrawn'], after: plan })
    .flatMap((entry) => (entry.kind === 'operator.maintenance-withdrawn' && entry.data.plan === plan ? [entry] : []))
  const [withdrawn] = withdrawals
  const what = withdrawn === undefined ? 'is over' : `was withdrawn at ${withdrawn.at} by ${withdrawn.data.by}`
  throw new LifeboatError('CONFLICT', `Maintenance ${plan} of ${scopeText(written.data.scope)} ${what}`)
}

/** How the person was known, where a cloud vouched for them. */
export function known(via: Via | undefined): { via?: Via } {
  return via === undefined ? {} : { via }
}

/** As older releases wrote it: an entry without a scope is the whole cloud's. */
function unlessCloud(scope: Scope): { scope?: Scope } {
  return scope.kind === 'cloud' ? {} : { scope }
}

function now(clock: Clock): string {
  return new Date(clock.wall()).toISOString()
}
