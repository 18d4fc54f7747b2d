/**
 * The orders in force, folded from the journal. An order ends when its end is on record, never silently: what
 * holds while the end cannot be written is the order. Owns how long an order lasts; order-scheduler.ts writes the ends.
 *
 * A planned maintenance is in force from its time on, by the wall clock as the calendar's windows, whether its beginning is
 * on record yet or not: the plan is. So neither end of it can leave a host unprotected for want of an entry.
 *
 * Time. An order's length is counted on the monotonic clock, and wall time is believed in one place only: at a start, for
 * what had passed before. So while the daemon runs a step of the wall clock neither ends a maintenance early (a host would
 * be powered off in the middle of someone's work) nor prolongs it (a dead host would stay unrecovered). Over a restart a
 * clock that was set back makes an order last at most its full length again, never longer; one that was set forward, which
 * nobody can tell from time that passed, ends it early. The calendar's orders and what was planned besides last as long as the wall clock
 * says (order-scheduler.ts): neither clock alone ends them.
 */
import { onOurClock, type Clock } from '../domain/clock.ts'
import type { Entry, EntryData } from '../domain/entry.ts'
import type { Journal } from '../domain/journal.ts'
import type { HostName } from '../domain/service.ts'
import {
  begun,
  covers,
  sameScope,
  wholeCloud,
  type Order,
  type OrderKind,
  type PlannedOrder,
  type Scope,
} from '../domain/order.ts'
import { FailoverBook } from './failover-book.ts'

/** The alarm about an order without an end that nobody seems to remember. */
export const forgottenCode = 'PAUSE_FORGOTTEN'

/** An order without an end is brought to mind this often. Longer: a cloud stays unprotected for as long unnoticed. */
const remindEveryMs = 86_400_000

const kinds = [
  'operator.paused',
  'operator.resumed',
  'operator.maintenance',
  'operator.maintenance-ended',
  'operator.maintenance-planned',
  'operator.maintenance-withdrawn',
  'alarm.raised',
] as const

interface Kept {
  order: Order
  /** Monotonic ms; of an order from before this start as far back as the wall clock says. */
  startedAt: number
  /** Monotonic ms of its last reminder, or of its start. */
  remindedAt: number
  /** The plan that it was. */
  planned: PlannedOrder | null
}

export class Orders {
  /** The segments of Masakari's API: an order of one covers its hosts. */
  readonly failover: FailoverBook
  readonly #clock: Clock
  readonly #kept = new Map<string, Kept>()
  /** Maintenance whose beginning is not on record yet, by the number of its entry. */
  readonly #plans = new Map<number, PlannedOrder>()
  /** Plans that a wall clock running ahead may have passed over, or ended too early. */
  readonly #passed = new Map<number, PlannedOrder>()
  /** Of calendar orders that a person ended, by key, when that opening would have ended: it is not opened again. */
  readonly #endedEarly = new Map<string, string | null>()

  /** Reads what is in force and follows the journal from then on. */
  constructor(journal: Journal, clock: Clock) {
    this.#clock = clock
    this.failover = new FailoverBook(journal)
    for (const entry of journal.read({ kinds: [...kinds] })) this.#follow(entry)
    journal.onAppend((entry) => this.#follow(entry))
  }

  inForce(): Order[] {
    return [...[...this.#kept.values()].map(({ order }) => order), ...this.due().map(begun)]
  }

  /** Maintenance for a later time, the soonest first. */
  planned(): PlannedOrder[] {
    const wallMs = this.#clock.wall()
    return this.#toBegin(wallMs)
      .filter(({ from }) => Date.parse(from) > wallMs)
      .toSorted((a, b) => a.from.localeCompare(b.from))
  }

  /** Planned maintenance whose time has come, and whose beginning is not on record yet. */
  due(): PlannedOrder[] {
    if (this.#plans.size + this.#passed.size === 0) return []
    const wallMs = this.#clock.wall()
    return this.#toBegin(wallMs).filter(({ from }) => Date.parse(from) <= wallMs)
  }

  /** With those that passed by a clock that has been set back since, but not to before they were ordered: then it is wrong now. */
  #toBegin(wallMs: number): PlannedOrder[] {
    const isToCome = ({ orderedAt, until }: PlannedOrder): boolean =>
      Date.parse(orderedAt) <= wallMs && Date.parse(until ?? '') > wallMs
    return [...this.#plans.values(), ...[...this.#passed.values()].filter(isToCome)]
  }

  /** The orders of a kind that take in a host, oldest first. */
  covering(kind: OrderKind, host: HostName, segments: readonly string[]): Order[] {
    const all = [...segments, ...this.failover.namesFor(host)]
    return this.inForce().filter((order) => order.kind === kind && covers(order.scope, host, all))
  }

  /** Orders of exactly this kind and scope: a person's, the calendar's, or both. */
  of(kind: OrderKind, scope: Scope): Order[] {
    return this.inForce().filter((order) => order.kind === kind && sameScope(order.scope, scope))
  }

  /** A person's order of maintenance that Masakari's API gave as a field of this segment or host, if one is in force. */
  asField(scope: Scope): Order | undefined {
    return this.#kept.get(fieldKeyOf(scope))?.order
  }

  /** Orders whose time is over and whose end is not on record yet. */
  over(): Order[] {
    const now = this.#clock.now()
    const wall = new Date(this.#clock.wall()).toISOString()
    // What was begun by a wall clock that ran ahead lasts to the end that was planned, as the calendar's orders do.
    const isStillPlanned = ({ planned }: Kept): boolean =>
      planned !== null && planned.from <= wall && wall < (planned.until ?? '')
    const over = [...this.#kept.values()].filter((kept) => endsAt(kept) <= now && !isStillPlanned(kept))
    return over.map(({ order }) => order)
  }

  /** Orders without an end that are a day old, and of which nobody was reminded for a day. */
  forgotten(): { order: Order; key: string; ageMs: number }[] {
    const now = this.#clock.now()
    return [...this.#kept].flatMap(([key, { order, startedAt, remindedAt }]) =>
      order.until === null && now - remindedAt >= remindEveryMs ? [{ order, key, ageMs: now - startedAt }] : [],
    )
  }

  /** Ms until the next order is over or the next plan begins; Infinity when none will. */
  nextChangeInMs(): number {
    const now = this.#clock.now()
    const wallMs = this.#clock.wall()
    const ends = [...this.#kept.values()].map((kept) => endsAt(kept) - now)
    const begins = this.#toBegin(wallMs).map(({ from }) => Date.parse(from) - wallMs)
    return Math.min(...[...ends, ...begins].filter((leftMs) => leftMs > 0))
  }

  /** Whether this opening of a calendar window is in force, or was ended by a person before its time. */
  knowsOpening(kind: OrderKind, scope: Scope, source: string, until: string): boolean {
    const key = keyOf({ kind, scope, source })
    return this.#kept.get(key)?.order.until === until || this.#endedEarly.get(key) === until
  }

  #follow(entry: Entry): void {
    switch (entry.kind) {
      case 'operator.paused':
        this.#begin('pause', entry.data.scope ?? wholeCloud, entry.data, entry.at)
        break
      case 'operator.maintenance':
        this.#begin('maintenance', entry.data.scope, entry.data, entry.at)
        break
      case 'operator.resumed':
        this.#end('pause', entry.data.scope ?? wholeCloud, entry.data, entry.at)
        break
      case 'operator.maintenance-ended':
        this.#end('maintenance', entry.data.scope, entry.data, entry.at)
        if (entry.data.source === undefined) this.#endDue(entry.data.scope, entry.at)
        break
      case 'operator.maintenance-planned':
        this.#plan(entry)
        break
      case 'operator.maintenance-withdrawn':
        this.#withdraw(entry.data.plan, entry.data.by)
        break
      case 'alarm.raised': {
        const kept = entry.data.code === forgottenCode ? this.#named(entry.data.order ?? '') : undefined
        if (kept !== undefined) kept.remindedAt = onOurClock(this.#clock, entry.at)
        break
      }
      default:
        break
    }
  }

  #begin(
    kind: OrderKind,
    scope: Scope,
    order: {
      by: string
      reason: string
      until: string | null
      source?: string | null
      through?: 'masakari'
      plan?: number
    },
    since: string,
  ): void {
    const { by, reason, until, source = null, through, plan } = order
    const planned = plan === undefined ? undefined : this.#plannedAs(plan)
    if (plan !== undefined) this.#withdraw(plan)
    const given = { kind, scope, by, reason, since, until, source, ...(plan !== undefined && { plan }) }
    const at = onOurClock(this.#clock, since)
    const key = through === undefined ? keyOf(given) : fieldKeyOf(scope)
    // The same person says now how long.
    const isTheirs = kind === 'maintenance' && source === null && plan === undefined && this.asField(scope)?.by === by
    if (isTheirs) this.#kept.delete(fieldKeyOf(scope))
    this.#kept.set(key, { order: given, startedAt: at, remindedAt: at, planned: planned ?? null })
  }

  /** Also of one that is in force: it begins again under the new name of its segment. */
  #plannedAs(plan: number): Kept['planned'] | undefined {
    const inForce = [...this.#kept.values()].find(({ order }) => order.plan === plan)
    return this.#plans.get(plan) ?? this.#passed.get(plan) ?? inForce?.planned
  }

  /** In older releases a field's order had the name that a person's has. */
  #named(key: string): Kept | undefined {
    const fields = [...this.#kept.values()].filter(({ order }) => this.asField(order.scope) === order)
    return this.#kept.get(key) ?? fields.find(({ order }) => keyOf(order) === key)
  }

  #plan({ seq, at, data }: Extract<Entry, { kind: 'operator.maintenance-planned' }>): void {
    const { scope, by, reason, from, until } = data
    for (const other of [...this.#plans.values(), ...this.#passed.values()])
      if (other.from === from && sameScope(other.scope, scope)) this.#withdraw(other.plan)
    this.#plans.set(seq, { plan: seq, kind: 'maintenance', scope, by, reason, orderedAt: at, from, until })
  }

  /** One that passed may have passed by a wall clock that ran ahead. */
  #withdraw(plan: number, by?: string): void {
    const planned = this.#plans.get(plan)
    for (const plans of [this.#plans, this.#passed]) plans.delete(plan)
    if (by === 'daemon' && planned !== undefined) this.#passed.set(plan, planned)
  }

  #end(kind: OrderKind, scope: Scope, ended: Ended, at: string): void {
    for (const [key, { order, planned }] of this.#kept) {
      if (order.kind !== kind || !sameScope(order.scope, scope)) continue
      if (!isMeant(order, key === fieldKeyOf(scope), ended)) continue
      this.#kept.delete(key)
      // A wall clock that ran ahead had begun it: its time is still to come, also if a person ended what came too early.
      if (planned !== null && at < planned.from) this.#passed.set(planned.plan, planned)
      if (ended.source === undefined && order.source !== null) this.#endedEarly.set(key, order.until)
    }
  }

  /** Of plans that were in force when everybody's orders of this scope ended. */
  #endDue(scope: Scope, at: string): void {
    for (const planned of [...this.#plans.values(), ...this.#passed.values()])
      if (sameScope(planned.scope, scope) && planned.from <= at && at < (planned.until ?? '~'))
        this.#withdraw(planned.plan)
  }
}

/** Which orders of a scope an end is about: `source` undefined is everybody's. */
type Ended = Pick<EntryData['operator.maintenance-ended'], 'by' | 'source' | 'through' | 'plan'>

function isMeant(order: Order, isField: boolean, { source, through, plan }: Ended): boolean {
  if (source === undefined) return true
  if (order.source !== source || order.plan !== plan) return false
  return through === undefined || isField === (through !== null)
}

function endsAt({ order: { since, until }, startedAt }: Kept): number {
  return until === null ? Infinity : startedAt + (Date.parse(until) - Date.parse(since))
}

/** By which an alarm names the order that it is about. */
export function orderKey(order: Order): string {
  return keyOf(order)
}

/**
 * One order per kind, scope and source; a second one replaces the first. One that was planned stands beside the others, and so does that of
 * Masakari's field: were it to replace a longer one, that would end early, with the plan or with the field.
 */
function keyOf({ kind, scope, source, plan }: Pick<Order, 'kind' | 'scope' | 'source' | 'plan'>): string {
  return JSON.stringify([kind, scope.kind, scope.name, source, ...(plan === undefined ? [] : [plan])])
}

function fieldKeyOf(scope: Scope): string {
  return JSON.stringify(['field', scope.kind, scope.name])
}
