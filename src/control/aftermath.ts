/** What looks after hosts once their incidents are over works with: their returns, and orders of ours that wait in their queues. */
import type { Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { Journal } from '../domain/journal.ts'
import type { Observer } from '../domain/observer.ts'
import type { ExecutorSettings } from '../executor/context.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { IncidentStore } from './incident-store.ts'
import type { Orders } from '../orders/orders.ts'
import type { Standstill } from './standstill.ts'

export interface AftermathParts {
  clock: Clock
  cloud: Cloud
  journal: Journal
  observer: Observer
  monitor: Monitor
  store: IncidentStore
  orders: Orders
  mode: () => 'observe' | 'armed'
  /** How often Nova is read, and how long a poll waits for its witnesses. */
  reading: () => { pollIntervalMs: number; probeLimitMs: number }
  standstill: Pick<Standstill, 'last'>
  settings: Pick<ExecutorSettings, 'reconcileQuietMs' | 'longestRequestMs' | 'tickMs'>
  signal: AbortSignal
}
