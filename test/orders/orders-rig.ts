/** Orders over a real journal, with a clock whose two times are moved by hand, apart from each other. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MaintenanceWindow } from '../../src/orders/maintenance-window.ts'
import { OrderScheduler } from '../../src/orders/order-scheduler.ts'
import { orderActs, type OrderActs } from '../../src/orders/order-acts.ts'
import { Orders } from '../../src/orders/orders.ts'
import type { Clock } from '../../src/domain/clock.ts'
import { orderText, type Scope } from '../../src/domain/order.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

class TwoClocks implements Clock {
  monotonic = 5_000
  wallMs: number
  constructor(wall: string) {
    this.wallMs = Date.parse(wall)
  }
  now(): number {
    return this.monotonic
  }
  wall(): number {
    return this.wallMs
  }
  after(): () => void {
    return () => undefined
  }
}

export class OrdersRig {
  readonly clock: TwoClocks
  readonly windows: MaintenanceWindow[] = []
  journal: JournalWriter
  orders: Orders
  scheduler: OrderScheduler
  acts: OrderActs
  readonly told: string[][] = []
  readonly #directory = mkdtempSync(join(tmpdir(), 'lifeboat-orders-'))

  private constructor(wall: string) {
    this.clock = new TwoClocks(wall)
    ;({ journal: this.journal, orders: this.orders, scheduler: this.scheduler, acts: this.acts } = this.#begin())
  }

  /** Begins on a Thursday, midnight UTC. */
  static run(test: (rig: OrdersRig) => Promise<void> | void): () => Promise<void> {
    return async () => {
      const rig = new OrdersRig('2026-01-01T00:00:00Z')
      try {
        await test(rig)
      } finally {
        rig.journal.close()
        rmSync(rig.#directory, { recursive: true, force: true })
      }
    }
  }

  /** Time passes, on both clocks, and the scheduler looks. */
  pass(ms: number): void {
    this.clock.monotonic += ms
    this.stepWall(ms)
  }

  /** Only the wall clock moves; the scheduler looks. */
  stepWall(ms: number): void {
    this.clock.wallMs += ms
    this.scheduler.look()
  }

  /** The daemon is down for so long; its monotonic clock begins again. */
  restart(downMs: number, windows = this.windows): void {
    this.journal.close()
    this.windows.splice(0, this.windows.length, ...windows)
    this.clock.wallMs += downMs
    this.clock.monotonic = 77
    Object.assign(this, this.#begin())
    this.scheduler.look()
  }

  inForce(): string[] {
    return this.orders.inForce().map(orderText)
  }

  written(...kinds: string[]): string[] {
    return this.journal
      .read()
      .filter(({ kind }) => kinds.some((wanted) => kind.startsWith(wanted)))
      .map(({ kind, actor, at }) => `${at.slice(5, 16)} ${actor} ${kind}`)
  }

  #begin(): { journal: JournalWriter; orders: Orders; scheduler: OrderScheduler; acts: OrderActs } {
    const { clock, windows } = this
    const journal = openJournal(join(this.#directory, 'journal.db'), { clock })
    const orders = new Orders(journal, clock)
    const observer = { orders: (): void => void this.told.push(orders.inForce().map(orderText)) }
    const monitor = { verdicts: () => [], verdict: () => undefined, segments: () => [] }
    const acts = orderActs({ clock, journal, orders, monitor })
    return {
      journal,
      orders,
      acts,
      scheduler: new OrderScheduler({ clock, journal, observer, orders, windows: () => windows }),
    }
  }
}

export const host = (name: string): Scope => ({ kind: 'host', name })
export const segment = (name: string): Scope => ({ kind: 'segment', name })
export const cloud: Scope = { kind: 'cloud', name: null }

export function nightly(change: Partial<MaintenanceWindow> = {}): MaintenanceWindow {
  return {
    name: 'night',
    kind: 'maintenance',
    schedule: '0 2 * * *',
    durationMs: 4 * hour,
    timezone: 'UTC',
    scopes: [host('cmp01')],
    reason: 'updates',
    ...change,
  }
}
