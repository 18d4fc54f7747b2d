/**
 * The orders that fields of Masakari's API stand for: `enabled` of a segment, `on_maintenance` of a host. Returns the entries;
 * failover-writes.ts appends them in one batch with the rest. `through` marks such an order: it ends when its segment or host is deleted,
 * while an order given elsewhere stays.
 */
import type { EntryData, NewEntry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Writer } from '../domain/failover-segment.ts'
import { orderText, plannedText, sameScope, type Order, type PlannedOrder, type Scope } from '../domain/order.ts'
import type { Monitor } from '../monitor/monitor.ts'
import { known } from '../orders/order-acts.ts'
import type { Orders } from '../orders/orders.ts'

/** Marks an order that such a field gave. */
const through = 'masakari' as const

type Ended = Pick<EntryData['operator.maintenance-ended'], 'source' | 'through'>

interface Parts {
  orders: Orders
  monitor: Pick<Monitor, 'segment'>
}

export interface FieldOrders {
  enabling(segment: string, enabled: boolean, writer: Writer): NewEntry[]
  maintaining(host: string, wanted: boolean, writer: Writer): NewEntry[]
  /** Moves a segment's orders to its new name, unless `enabled` ends them. */
  renaming(from: string, to: string, enabled: boolean | undefined, writer: Writer): NewEntry[]
  deleting(segment: string, writer: Writer): NewEntry[]
  endingField(scope: Scope, writer: Writer): NewEntry[]
  /**
   * Throws CONFLICT while the segment has an order that was given elsewhere, or a plan: the person who gave it counts on it for the hosts that are
   * in the segment now. @param what cannot be done, for people
   */
  refuseElsewhere(segment: string, what: string): void
  /** Throws CONFLICT while the host or the segment has an order of maintenance that was given elsewhere. */
  refuseUnseen(scope: Scope): void
}

export function fieldOrders({ orders, monitor }: Parts): FieldOrders {
  const setting = (scope: Scope, wanted: boolean, reason: string, writer: Writer): NewEntry[] => {
    const standing = orders.of('maintenance', scope)
    if (wanted) return standing.some(isKept) ? [] : [begin(scope, reason, writer)]
    return standing.length === 0 ? [] : [end(scope, reason, writer)]
  }
  const endingField: FieldOrders['endingField'] = (scope, writer) => {
    const field = orders.asField(scope)
    return field === undefined ? [] : [end(scope, 'it was deleted', writer, { source: null, through })]
  }
  const refuseElsewhere: FieldOrders['refuseElsewhere'] = (segment, what) => {
    const scope = { kind: 'segment', name: segment } as const
    const field = orders.asField(scope)
    const others = [...orders.of('pause', scope), ...orders.of('maintenance', scope)].find((order) => order !== field)
    if (others !== undefined) throw new LifeboatError('CONFLICT', `${what}: it is ${orderText(others)}`)
    const later = orders.planned().find((planned) => sameScope(planned.scope, scope))
    if (later !== undefined)
      throw new LifeboatError('CONFLICT', `${what}: ${plannedText(later)} is planned; withdraw it first`)
  }
  return {
    endingField,
    refuseElsewhere,
    refuseUnseen: (scope) => {
      const field = orders.asField(scope)
      const other = orders.of('maintenance', scope).find((order) => order !== field)
      if (other === undefined) return
      const [what, fieldName] =
        scope.kind === 'host'
          ? [`Host ${scope.name} stays on maintenance`, 'on_maintenance']
          : [`Failover segment ${scope.name} stays disabled`, 'enabled']
      const message = `${what}: it is ${orderText(other)}. If this form is to end that, send ${fieldName} alone, or end it where it was ordered`
      throw new LifeboatError('CONFLICT', message)
    },
    enabling: (name, enabled, writer) =>
      setting({ kind: 'segment', name }, !enabled, enabled ? 'enabled' : 'disabled', writer),
    maintaining: (host, wanted, writer) => {
      const scope = { kind: 'host', name: host } as const
      if (!wanted) refuseWider(host, orders, monitor)
      return setting(scope, wanted, wanted ? 'on_maintenance was set' : 'on_maintenance was cleared', writer)
    },
    renaming: (from, to, enabled, writer) => {
      const old = { kind: 'segment', name: from } as const
      const maintenance = orders.of('maintenance', old).filter(isPersons)
      const kept = [...orders.of('pause', old).filter(isPersons), ...(enabled === true ? [] : maintenance)]
      const later = orders.planned().filter(({ scope }) => sameScope(scope, old))
      return [
        ...kept.flatMap((order) => moved(order, to, orders.asField(old) === order, writer)),
        ...later.flatMap((planned) => movedPlan(planned, to, writer)),
        ...(enabled === true ? setting(old, false, 'enabled', writer) : []),
        ...(enabled === false && !maintenance.some(isKept)
          ? [begin({ kind: 'segment', name: to }, 'disabled', writer)]
          : []),
      ]
    },
    deleting: (name, writer) => {
      refuseElsewhere(name, `Failover segment ${name} can't be deleted`)
      return endingField({ kind: 'segment', name }, writer)
    },
  }
}

function isPersons({ source }: Order): boolean {
  return source === null
}

/** The field stands until someone clears it: an order that ends by itself does not stand for it. */
function isKept(order: Order): boolean {
  return isPersons(order) && order.until === null
}

/** Throws CONFLICT if the order covers more than the host: ending it would end the maintenance of the others too. */
function refuseWider(host: string, orders: Orders, monitor: Parts['monitor']): void {
  const wider = orders
    .covering('maintenance', host, [monitor.segment(host).name])
    .find(({ scope }) => scope.kind !== 'host')
  if (wider !== undefined)
    throw new LifeboatError('CONFLICT', `Host ${host} stays on maintenance: it is ${orderText(wider)}`)
}

function begin(scope: Scope, reason: string, { by, via }: Writer): NewEntry {
  const data = { scope, by, reason, until: null, through, ...known(via ?? undefined) } as const
  return { kind: 'operator.maintenance', ...hostOf(scope), data }
}

/** @param only the one order that it ends; missing: every order of this scope */
function end(scope: Scope, reason: string, { by, via }: Writer, only?: Ended): NewEntry {
  const data = { scope, by, reason, ...only, ...known(via ?? undefined) }
  return { kind: 'operator.maintenance-ended', ...hostOf(scope), data }
}

function moved(order: Order, to: string, isField: boolean, { by: renamer, via }: Writer): NewEntry[] {
  const { kind, scope: from, by, reason, until, plan } = order
  const planned = plan === undefined ? {} : { plan }
  const scope = { kind: 'segment', name: to } as const
  const ended = {
    ...{ scope: from, by: renamer, reason: `renamed to ${to}`, source: null },
    ...known(via ?? undefined),
  }
  const field = isField ? { through } : {}
  const only = { through: isField ? through : null }
  return kind === 'pause'
    ? [
        { kind: 'operator.paused', data: { by, reason, until, scope } },
        { kind: 'operator.resumed', data: ended },
      ]
    : [
        {
          kind: 'operator.maintenance',
          data: { by, reason, until, scope, ...planned, ...field },
        },
        { kind: 'operator.maintenance-ended', data: { ...ended, ...planned, ...only } },
      ]
}

function movedPlan(planned: PlannedOrder, to: string, { by: renamer, via }: Writer): NewEntry[] {
  const { plan, scope: old, by, reason, from, until } = planned
  const withdrawn = { plan, scope: old, by: renamer, reason: `renamed to ${to}`, ...known(via ?? undefined) }
  return [
    {
      kind: 'operator.maintenance-planned',
      data: { by, reason, from, until, scope: { kind: 'segment', name: to } },
    },
    { kind: 'operator.maintenance-withdrawn', data: withdrawn },
  ]
}

function hostOf({ kind, name }: Scope): { host?: string } {
  return kind === 'host' && name !== null ? { host: name } : {}
}
