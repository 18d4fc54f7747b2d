/**
 * The orders in force, folded from the journal. An order ends when its end is on record, never silently: what
 * holds while the end cannot be written is the order. Owns how long an order lasts; order-scheduler.ts writes the ends.
 *
 * Time. An order's length is counted on the monotonic clock, and wall time is believed in one place only: at a start, for
 * what had passed before. So while the daemon runs a step of the wall clock neither ends a maintenance early (a host would
 * be powered off in the middle of someone's work) nor prolongs it (a dead host would stay unrecovered). Over a restart a
 * clock that was set back makes an order last at most its full length again, never longer; one that was set forward, which
 * nobody can tell from time that passed, ends it early. The calendar's orders besides last as long as the wall clock says that
 * their window is open (order-scheduler.ts): neither clock alone ends them.
 */
import { onOurClock, type Clock } from '../domain/clock.ts'
import type { Entry } from '../domain/entry.ts'
import type { Journal } from '../domain/journal.ts'
import type { HostName } from '../domain/service.ts'
import { covers, wholeCloud, type Scope, type Order, type OrderKind } from '../domain/order.ts'
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
  'alarm.raised',
] as const

interface Kept {
  order: Order
  /** Monotonic ms; of an order from before this start as far back as the wall clock says. */
  startedAt: number
  /** Monotonic ms of its last reminder, or of its start. */
  remindedAt: number
  /** Given through Masakari's API, as a field of a segment or a host. */
  isField: boolean
}

export class Orders {
  /** The segments of Masakari's API: an order of one covers its hosts. */
  readonly failover: FailoverBook
  readonly #clock: Clock
  readonly #kept = new Map<string, Kept>()
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
    return [...this.#kept.values()].map(({ order }) => order)
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
    const kept = this.#kept.get(keyOf('maintenance', scope, null))
    return kept?.isField === true ? kept.order : undefined
  }

  /** Orders whose time is over and whose end is not on record yet. */
  over(): Order[] {
    const now = this.#clock.now()
    return [...this.#kept.values()].filter((kept) => endsAt(kept) <= now).map(({ order }) => order)
  }

  /** Orders without an end that are a day old, and of which nobody was reminded for a day. */
  forgotten(): { order: Order; key: string; ageMs: number }[] {
    const now = this.#clock.now()
    return [...this.#kept].flatMap(([key, { order, startedAt, remindedAt }]) =>
      order.until === null && now - remindedAt >= remindEveryMs ? [{ order, key, ageMs: now - startedAt }] : [],
    )
  }

  /** Ms until the next order is over; Infinity when none will be. */
  nextEndInMs(): number {
    const now = this.#clock.now()
    return Math.min(...[...this.#kept.values()].map((kept) => endsAt(kept) - now).filter((leftMs) => leftMs > 0))
  }

  /** Whether this opening of a calendar window is in force, or was ended by a person before its time. */
  knowsOpening(kind: OrderKind, scope: Scope, source: string, until: string): boolean {
    const key = keyOf(kind, scope, source)
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
        this.#end('pause', entry.data.scope ?? wholeCloud, entry.data.source)
        break
      case 'operator.maintenance-ended':
        this.#end('maintenance', entry.data.scope, entry.data.source)
        break
      case 'alarm.raised': {
        const kept = entry.data.code === forgottenCode ? this.#kept.get(entry.data.order ?? '') : undefined
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
    order: { by: string; reason: string; until: string | null; source?: string | null; through?: 'masakari' },
    since: string,
  ): void {
    const { by, reason, until, source = null, through } = order
    const key = keyOf(kind, scope, source)
    const at = onOurClock(this.#clock, since)
    this.#kept.set(key, {
      order: { kind, scope, by, reason, since, until, source },
      startedAt: at,
      remindedAt: at,
      isField: through !== undefined,
    })
  }

  /** @param source whose order ends; undefined: everybody's of this scope */
  #end(kind: OrderKind, scope: Scope, source: string | null | undefined): void {
    if (source !== undefined) {
      this.#kept.delete(keyOf(kind, scope, source))
      return
    }
    for (const order of this.of(kind, scope)) {
      const key = keyOf(kind, scope, order.source)
      this.#kept.delete(key)
      if (order.source !== null) this.#endedEarly.set(key, order.until)
    }
  }
}

function endsAt({ order: { since, until }, startedAt }: Kept): number {
  return until === null ? Infinity : startedAt + (Date.parse(until) - Date.parse(since))
}

function sameScope(a: Scope, b: Scope): boolean {
  return a.kind === b.kind && a.name === b.name
}

/** One order per kind, scope and source; a second one replaces the first. */
function keyOf(kind: OrderKind, { kind: scope, name }: Scope, source: string | null): string {
  return JSON.stringify([kind, scope, name, source])
}
