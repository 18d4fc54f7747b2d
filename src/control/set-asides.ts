/**
 * Keeps silent hosts out of scheduling while guests of a dead host are evacuated, and lets them back. Driven by the polls, and asked by
 * each recovery before its first evacuation. What is to be done is decided in domain/set-aside.ts, how it is written in
 * executor/set-aside-steps.ts.
 *
 * Never more hosts than the brake would let through as dead, and none while the recovery itself may not act: in a fault of the control
 * plane every host is silent, and lives.
 */
import { pauseAfter } from '../domain/back-off.ts'
import { Moments, sleep, type Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import { ensureError } from '../domain/errors.ts'
import type { Incident } from '../domain/incident.ts'
import type { Journal } from '../domain/journal.ts'
import type { Observer } from '../domain/observer.ts'
import type { HostName, ServiceRecord } from '../domain/service.ts'
import { evacuates } from '../domain/set-aside-record.ts'
import { decideSetAside, isDestination, setAsideReason, whySetAside, type SetAside } from '../domain/set-aside.ts'
import type { Permissions, ExecutorSettings } from '../executor/context.ts'
import { disable, enable, type SetAsideRun } from '../executor/set-aside-steps.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { PollReport } from '../monitor/report.ts'
import type { BrakeWatch } from './brake-watch.ts'
import type { IncidentStore } from './incident-store.ts'
import { orderHolds } from '../orders/order-holds.ts'
import type { Orders } from '../orders/orders.ts'

/**
 * How long evacuations wait until Nova shows the disable. Longer delays a recovery when Nova is slow; shorter sends some of them before
 * a disable that takes this long.
 */
const waitsAtMostMs = 2_000

/** The first pause before Nova is asked whether it shows the disable; each next one is twice as long. */
const firstLookMs = 100

/** After Nova refused a write on a host. Shorter fills the journal with refusals. */
const afterRefusalMs = 60_000

export interface SetAsidesParts {
  clock: Clock
  cloud: Pick<Cloud, 'listServices' | 'updateService'>
  journal: Journal
  observer: Observer
  monitor: Pick<Monitor, 'verdict' | 'verdicts' | 'service' | 'segment' | 'frozen' | 'inDoubt' | 'noteOurWrite'>
  store: Pick<IncidentStore, 'open' | 'openOn' | 'hasOurFlags' | 'returnOf' | 'setAside'>
  orders: Orders
  brake: Pick<BrakeWatch, 'roomFor'>
  permission: Permissions['of']
  mode: () => 'observe' | 'armed'
  confirmAfterBeats: () => number
  settings: Pick<ExecutorSettings, 'reconcileQuietMs' | 'longestRequestMs'>
  signal: AbortSignal
}

/** What is remembered of one host between polls. */
interface Watch {
  /** Answers that are missing. A disable and the enable after it may wait for theirs together. */
  unanswered: number
  isBeingEnabled: boolean
  /** When it was written last, or an answer came: what was read before may show it otherwise. */
  wroteAt: number
  refusedAt: number
}

export class SetAsides {
  readonly #parts: SetAsidesParts
  readonly #startedAt: number
  readonly #moments: Moments
  readonly #watches = new Map<HostName, Watch>()
  readonly #writes = new Set<Promise<void>>()
  #acting: Promise<void> | null = null

  constructor(parts: SetAsidesParts) {
    this.#parts = parts
    this.#startedAt = parts.clock.now()
    this.#moments = new Moments(parts.clock)
  }

  /** Takes in a poll. Never throws: what cannot be done now is looked at again in the next one. */
  consider(report: PollReport): void {
    const { store, signal, clock } = this.#parts
    if (signal.aborted || !report.ok) return
    const beganAt = clock.now() - report.tookMs
    try {
      for (const { host, setAside } of store.setAside())
        if (setAside !== null && beganAt > this.#watchOf(host).wroteAt) this.#follow(host, setAside)
    } catch (thrown) {
      this.#log(thrown)
    }
    void this.#act()
  }

  /** As `Permissions.setSilentAside`. */
  async setSilentAside(): Promise<void> {
    if (this.#acting === null && this.#silent().length === 0 && this.#ordered().length === 0) return
    const { clock, signal } = this.#parts
    const enough = new AbortController()
    // One that is under way began before this recovery could be seen.
    const shown = Promise.resolve(this.#acting)
      .then(() => this.#act())
      .then(() => this.#seeItShown(enough.signal))
      .catch((thrown: unknown) => this.#log(thrown))
    await Promise.race([shown, sleep(clock, waitsAtMostMs, AbortSignal.any([enough.signal, signal]))])
    enough.abort()
  }

  /** Resolves when no write is under way. */
  async idle(): Promise<void> {
    await this.#acting
    await Promise.allSettled(this.#writes)
  }

  #watchOf(host: HostName): Watch {
    const known = this.#watches.get(host)
    if (known !== undefined) return known
    const watch: Watch = { unanswered: 0, isBeingEnabled: false, wroteAt: -Infinity, refusedAt: -Infinity }
    this.#watches.set(host, watch)
    return watch
  }

  /** One at a time. Never rejects. */
  #act(): Promise<void> {
    if (this.#acting !== null) return this.#acting
    if (this.#silent().length === 0) return Promise.resolve()
    this.#acting = this.#setAside()
      .catch((thrown: unknown) => this.#log(thrown))
      .finally(() => (this.#acting = null))
    return this.#acting
  }

  async #setAside(): Promise<void> {
    const { cloud, brake, store, monitor, signal } = this.#parts
    const { services } = await cloud.listServices({ signal })
    // Reading took time, in which people act and hosts beat.
    const silent = this.#silent().filter((host) => this.#isUnchanged(host, services))
    const aside = store.setAside().map(({ host }) => host)
    for (const host of brake.roomFor(silent, aside)) {
      const incident = this.#evacuating()
      const row = monitor.service(host)
      const silence = this.#whySilent(host)
      if (incident === undefined || row === undefined || row.id === null || silence === null || signal.aborted) return
      const order = { incident: incident.id, serviceId: row.id, reason: setAsideReason(incident.id) }
      const because = `${silence}. Guests of ${incident.host} are evacuated, and Nova takes this host for up`
      const run = this.#run(host, () => this.#whySilent(host) !== null && this.#evacuating() !== undefined)
      this.#write(host, disable(run, order, because))
    }
  }

  /** The incident whose evacuations may leave now. */
  #evacuating(): Incident | undefined {
    const { store, permission, mode, monitor } = this.#parts
    if (mode() === 'observe' || monitor.inDoubt()) return undefined
    return store.open().find((incident) => evacuates(incident) && permission(incident).allowed)
  }

  /** Hosts to be set aside; none while nothing is evacuated. */
  #silent(): HostName[] {
    const { monitor, store, clock } = this.#parts
    if (this.#evacuating() === undefined) return []
    const isRefused = (host: HostName): boolean => clock.now() - this.#watchOf(host).refusedAt < afterRefusalMs
    return monitor
      .verdicts()
      .map(({ host }) => host)
      .filter((host) => this.#whySilent(host) !== null && store.returnOf(host).setAside === null && !isRefused(host))
  }

  /** Why nothing should be sent there, or null, also where nothing may be done about it. */
  #whySilent(host: HostName): string | null {
    const { monitor, store, confirmAfterBeats } = this.#parts
    const verdict = monitor.verdict(host)
    const row = monitor.service(host)
    if (verdict === undefined || row === undefined || store.hasOurFlags(host) || this.#isHeld(host)) return null
    return whySetAside(verdict, row, store.openOn(host), confirmAfterBeats())
  }

  /** Nobody changed it, and it did not beat. */
  #isUnchanged(host: HostName, services: readonly ServiceRecord[]): boolean {
    const seen = this.#parts.monitor.service(host)
    const row = computeOf(services, host)
    return row !== undefined && isDestination(row) && row.id === seen?.id && row.updatedAt === seen.updatedAt
  }

  /** Disables that were ordered and that nothing shows yet. */
  #ordered(): HostName[] {
    return this.#parts.store.setAside().flatMap(({ host, setAside }) => (setAside?.state === 'setting' ? [host] : []))
  }

  async #seeItShown(enough: AbortSignal): Promise<void> {
    const { clock, cloud, store } = this.#parts
    for (let looks = 1; this.#ordered().length > 0; looks += 1) {
      await sleep(clock, pauseAfter(looks, firstLookMs, waitsAtMostMs), enough)
      if (enough.aborted || this.#ordered().length === 0) return
      const { services } = await cloud.listServices({ signal: enough })
      for (const host of this.#ordered()) {
        const known = store.returnOf(host).setAside
        const row = computeOf(services, host)
        // What was read while the order was under way may be of before it: only what shows it says anything.
        if (known !== null && row?.disabledReason === known.reason) this.#follow(host, known, row)
      }
    }
  }

  #follow(host: HostName, known: SetAside, row = this.#parts.monitor.service(host)): void {
    const { monitor, store, journal, clock } = this.#parts
    const decision = decideSetAside({
      ...{ known, row },
      verdict: monitor.verdict(host),
      hasIncident: store.openOn(host) !== undefined,
      unanswered: this.#isUnanswered(host, known),
    })
    if (decision.do === 'take-back') return this.#takeBack(host, known)
    if (decision.do === 'wait') return
    const { to, because, certainty } = decision
    const { incident, serviceId, reason } = known
    const data = { to, serviceId, reason, because, certainty }
    journal.append([{ kind: 'service.set-aside', incident, host, data }])
    this.#watchOf(host).wroteAt = clock.now()
  }

  #takeBack(host: HostName, known: SetAside): void {
    const watch = this.#watchOf(host)
    const isRefused = this.#parts.clock.now() - watch.refusedAt < afterRefusalMs
    if (isRefused || watch.isBeingEnabled || this.#isHeld(host)) return
    watch.isBeingEnabled = true
    this.#write(
      host,
      this.#enableOurs(host, known).finally(() => (watch.isBeingEnabled = false)),
    )
  }

  /** By a fresh row: a person may have disabled it since the poll. */
  async #enableOurs(host: HostName, known: SetAside): Promise<boolean> {
    const { cloud, signal, monitor, store } = this.#parts
    const lives = (): boolean =>
      monitor.verdict(host)?.kind === 'healthy' && store.openOn(host) === undefined && !this.#isHeld(host)
    const row = computeOf((await cloud.listServices({ signal })).services, host)
    const isOurs = row?.id === known.serviceId && row.status === 'disabled' && row.disabledReason === known.reason
    if (!isOurs || !lives() || signal.aborted) return false
    return enable(this.#run(host, lives), known, monitor.verdict(host)?.message ?? '')
  }

  #write(host: HostName, work: Promise<boolean>): void {
    const { clock } = this.#parts
    const watch = this.#watchOf(host)
    watch.unanswered += 1
    watch.wroteAt = clock.now()
    const ended = work
      .then((refused) => void (watch.refusedAt = refused ? clock.now() : watch.refusedAt))
      .catch((thrown: unknown) => this.#log(thrown))
      .finally(() => {
        watch.unanswered -= 1
        watch.wroteAt = clock.now()
        this.#writes.delete(ended)
      })
    this.#writes.add(ended)
  }

  /** A front end may still serve a disable whose client has gone, and nobody would take that back. */
  #isUnanswered(host: HostName, { state, at }: SetAside): boolean {
    const { clock, settings } = this.#parts
    const { unanswered, wroteAt } = this.#watchOf(host)
    const { reconcileQuietMs, longestRequestMs } = settings
    const showsWithinMs = state === 'setting' ? Math.max(reconcileQuietMs, longestRequestMs) : reconcileQuietMs
    // An order of the run before was cut off when that one ended, whatever the wall clock says.
    const orderedAt = this.#moments.of(at)
    const lastAt = Math.max(orderedAt, this.#startedAt, wroteAt)
    return unanswered > 0 || clock.now() - lastAt < showsWithinMs
  }

  /** Nothing may be written on this host now. */
  #isHeld(host: HostName): boolean {
    const { mode, orders, monitor } = this.#parts
    const isOrdered = orderHolds(host, orders, [monitor.segment(host).name]) !== null
    return isOrdered || mode() === 'observe' || monitor.frozen() !== null
  }

  #run(host: HostName, mayWrite: () => boolean): SetAsideRun {
    const { cloud, journal, clock, signal, monitor, store } = this.#parts
    return {
      ...{ host, cloud, journal, clock, signal, mayWrite },
      record: () => store.returnOf(host).setAside,
      noteOurWrite: (service) => monitor.noteOurWrite(service.host, service.updatedAt),
    }
  }

  #log(thrown: unknown): void {
    const { observer, signal } = this.#parts
    if (!signal.aborted) observer.log?.('warn', 'set_aside.failed', {}, ensureError(thrown))
  }
}

function computeOf(services: readonly ServiceRecord[], host: HostName): ServiceRecord | undefined {
  return services.find((service) => service.binary === 'nova-compute' && service.host === host)
}
