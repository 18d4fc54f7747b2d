/**
 * Schedules the orders: writes the end of those whose time is over and the beginning of those that were planned, opens the
 * calendar's windows, and reminds people of orders without an end. Decides nothing about recoveries.
 *
 * A window is opened once for each of its openings. It is closed when its length has passed on the monotonic clock and the
 * wall clock says so too: a clock that is set back or forth over a border neither closes it early nor opens it twice, and
 * keeps it open no longer than the step. One that a person ended stays ended until its next start. What was planned lasts likewise, and a plan
 * that passed by a clock which is set back later is taken up again.
 */
import { isAborted, sleep, type Clock } from '../domain/clock.ts'
import type { NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import type { Observer } from '../domain/observer.ts'
import { lateReasons, scopeText, type LateReason, type Order, type PlannedOrder } from '../domain/order.ts'
import { openingAt, type MaintenanceWindow, type Opening } from './maintenance-window.ts'
import { forgottenCode, type Orders } from './orders.ts'

/** Between two looks at the calendar. Longer: a window opens later, and a host that is shut down at once is recovered. */
const lookEveryMs = 5_000

/** Between two looks without a calendar or a plan: only reminders could be late. */
const idleLookMs = 60_000

/** A planned beginning that is recorded later than this after its time says why. Shorter: a busy daemon explains itself. */
const lateMs = 10_000

/** With a journal that cannot be written an end that is due is tried again after this; shorter would spin. */
const retryMs = 1_000

export interface OrderSchedulerParts {
  clock: Clock
  journal: Journal
  observer: Observer
  orders: Orders
  /** Those that the configuration has now. */
  windows: () => readonly MaintenanceWindow[]
}

export class OrderScheduler {
  readonly #parts: OrderSchedulerParts
  /** Ends the sleep: something began or ended, and the next end may be sooner now. */
  #wake = new AbortController()
  /** When this daemon first looked, by the wall clock, ms. */
  #firstLookAt: number | null = null
  /** The journal took nothing at the last look. */
  #isRefused = false

  constructor(parts: OrderSchedulerParts) {
    this.#parts = parts
    parts.journal.onAppend(({ kind }) => {
      if (!isOrder(kind)) return
      parts.observer.orders?.(parts.orders.inForce())
      this.#wake.abort()
    })
  }

  /** Writes whatever is due now. Throws JOURNAL_UNAVAILABLE: then what was in force still is. */
  look(): void {
    const { journal, orders, clock } = this.#parts
    const windows = this.#parts.windows()
    const wallMs = clock.wall()
    this.#firstLookAt ??= wallMs
    const over = orders.over().filter((order) => !isStillOpen(order, windows, wallMs))
    const gone = removed(orders.inForce(), windows).filter((order) => !over.includes(order))
    const entries = [
      ...over.map((order) => endOf(order, 'its time is over')),
      ...gone.map((order) => endOf(order, 'the window is no longer configured')),
      ...orders.due().map((planned) => this.#beginning(planned, wallMs)),
      ...windows.flatMap((window) => openings(window, orders, wallMs)),
      ...orders.forgotten().map(({ order, key, ageMs }) => reminder(order, key, ageMs)),
    ]
    if (entries.length === 0) return
    this.#isRefused = true
    journal.append(entries)
    this.#isRefused = false
  }

  /** Of a plan whose whole time has passed only that is recorded. */
  #beginning({ plan, scope, by, reason, from, until }: PlannedOrder, wallMs: number): NewEntry {
    const because = this.#whyLate(Date.parse(from), wallMs)
    if (until !== null && Date.parse(until) <= wallMs) {
      const meanwhile = because === null ? '' : ` while ${lateReasons[because]}`
      const passed = `its time, ${from} to ${until}, passed${meanwhile}`
      const data = { plan, scope, by: 'daemon', reason: passed }
      return { kind: 'operator.maintenance-withdrawn', ...hostOf({ scope }), data }
    }
    const data = { scope, by, reason, until, plan, ...(because !== null && { late: { from, because } }) }
    return { kind: 'operator.maintenance', ...hostOf({ scope }), data }
  }

  /** Null: it is in time, or the wall clock was set forward over its beginning. */
  #whyLate(fromMs: number, wallMs: number): LateReason | null {
    if (wallMs - fromMs < lateMs) return null
    if (fromMs < (this.#firstLookAt ?? wallMs)) return 'daemon'
    return this.#isRefused ? 'journal' : null
  }

  /** Looks now: the windows have changed. */
  wake(): void {
    this.#wake.abort()
  }

  /** Looks until `signal` aborts. The first look is done when this returns: nothing is decided on orders that are over. */
  run(signal: AbortSignal): Promise<void> {
    const { observer, orders } = this.#parts
    observer.orders?.(orders.inForce())
    return this.#loop(signal)
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { clock, observer, orders, windows } = this.#parts
    const wakeUp = (): void => this.wake()
    signal.addEventListener('abort', wakeUp)
    while (!isAborted(signal)) {
      const isPlanned = orders.planned().length > 0 || orders.inForce().some(({ plan }) => plan !== undefined)
      const usualMs = windows().length > 0 || isPlanned ? lookEveryMs : idleLookMs
      let pauseMs = usualMs
      try {
        this.look()
        pauseMs = Math.min(usualMs, orders.nextChangeInMs())
      } catch (thrown) {
        observer.log?.('error', 'standing_orders.not_recorded', {}, ensureError(thrown))
        pauseMs = retryMs
      }
      this.#wake = new AbortController()
      await sleep(clock, pauseMs, this.#wake.signal)
    }
    signal.removeEventListener('abort', wakeUp)
  }
}

function isOrder(kind: string): boolean {
  return kind.startsWith('operator.maintenance') || kind === 'operator.paused' || kind === 'operator.resumed'
}

function endOf(order: Order, reason: string): NewEntry {
  const { kind, scope, source, plan } = order
  const by = source ?? 'daemon'
  const data = { scope, by, reason, source }
  return kind === 'pause'
    ? { kind: 'operator.resumed', actor: by, ...hostOf(order), data }
    : {
        kind: 'operator.maintenance-ended',
        actor: by,
        ...hostOf(order),
        data: { ...data, ...(source === null && { through: null }), ...(plan !== undefined && { plan }) },
      }
}

/** Orders of windows that the configuration no longer has, or has for other hosts. */
function removed(inForce: readonly Order[], windows: readonly MaintenanceWindow[]): Order[] {
  return inForce.filter((order) => order.source !== null && windowOf(order, windows) === undefined)
}

/** By the wall clock, in the very opening that the order was made for. */
function isStillOpen(order: Order, windows: readonly MaintenanceWindow[], wallMs: number): boolean {
  const window = windowOf(order, windows)
  return window !== undefined && untilOf(openingAt(window, wallMs)) === order.until
}

function windowOf(
  { kind, scope, source }: Order,
  windows: readonly MaintenanceWindow[],
): MaintenanceWindow | undefined {
  return windows.find(
    (window) =>
      sourceOf(window) === source &&
      window.kind === kind &&
      window.scopes.some((one) => one.kind === scope.kind && one.name === scope.name),
  )
}

function untilOf(opening: Opening | null): string | undefined {
  return opening === null ? undefined : new Date(opening.until).toISOString()
}

/** The orders of a window that is open and whose opening is not on record. */
function openings(window: MaintenanceWindow, orders: Orders, wallMs: number): NewEntry[] {
  const until = untilOf(openingAt(window, wallMs))
  if (until === undefined) return []
  const source = sourceOf(window)
  const { kind, reason } = window
  return window.scopes
    .filter((scope) => !orders.knowsOpening(kind, scope, source, until))
    .map((scope) => {
      const data = { scope, by: source, reason, until, source }
      return kind === 'pause'
        ? { kind: 'operator.paused', actor: source, ...hostOf({ scope }), data }
        : { kind: 'operator.maintenance', actor: source, ...hostOf({ scope }), data }
    })
}

function reminder(order: Order, key: string, ageMs: number): NewEntry {
  const { kind, scope, by, since, reason } = order
  const what = kind === 'pause' ? 'The pause' : 'The maintenance'
  const days = Math.floor(ageMs / 86_400_000)
  const message = `${what} of ${scopeText(scope)} by ${by} since ${since} has no end and is ${days} d old: ${reason}. No host in it is recovered meanwhile; end it if it is over`
  return { kind: 'alarm.raised', ...hostOf(order), data: { code: forgottenCode, message, order: key } }
}

function sourceOf({ name }: MaintenanceWindow): string {
  return `calendar:${name}`
}

/** So that `journal list --host` shows what was ordered for it. */
function hostOf({ scope: { kind, name } }: Pick<Order, 'scope'>): { host?: string } {
  return kind === 'host' && name !== null ? { host: name } : {}
}
