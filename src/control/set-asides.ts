/**
 * Keeps hosts out of scheduling, and lets them back: silent ones while guests of a dead host are evacuated, and those whose nova-compute
 * failed, as long as its incident is open. Driven by the polls, and asked by each recovery before its first evacuation. What is to be
 * done is decided in domain/set-aside.ts and domain/process-failure.ts, how it is written in executor/set-aside-steps.ts.
 *
 * Never more hosts than the brake would let through as dead, and none while the recovery itself may not act: in a fault of the control
 * plane every host is silent, and lives.
 */
import { pauseAfter } from '../domain/back-off.ts'
import { Moments, sleep, type Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { IncidentId } from '../domain/entry.ts'
import { ensureError, type LifeboatError } from '../domain/errors.ts'
import type { Incident } from '../domain/incident.ts'
import type { Journal } from '../domain/journal.ts'
import type { Observer } from '../domain/observer.ts'
import {
  afterRefusalMs,
  pauseAfterRefusals,
  rarestRetryMs,
  refusalsBeforeAlarm,
  serviceChangeRefused,
} from '../domain/service-refusals.ts'
import type { HostName, ServiceRecord } from '../domain/service.ts'
import { isFromBeforeSilence } from '../domain/return-record.ts'
import { evacuates } from '../domain/set-aside-record.ts'
import { isProcessDown, isToBeDisabled } from '../domain/process-failure.ts'
import {
  decideSetAside,
  isDestination,
  readSetAsideReason,
  setAsideReason,
  whySetAside,
  type SetAside,
  type WhyAside,
} from '../domain/set-aside.ts'
import type { Permissions, ExecutorSettings } from '../executor/context.ts'
import { disable, enable, type SetAsideRun } from '../executor/set-aside-steps.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { PollReport } from '../monitor/report.ts'
import { staleness } from '../monitor/freshness.ts'
import type { BrakeWatch } from './brake-watch.ts'
import type { IncidentStore } from './incident-store.ts'
import type { ProcessFailures } from './process-failures.ts'
import { orderHolds } from '../orders/order-holds.ts'
import type { Orders } from '../orders/orders.ts'
import type { Standstill } from './standstill.ts'

/**
 * How long evacuations wait until Nova shows the disable. Longer delays a recovery when Nova is slow; shorter sends some of them before
 * a disable that takes this long.
 */
const waitsAtMostMs = 2_000

/** The first pause before Nova is asked whether it shows the disable; each next one is twice as long. */
const firstLookMs = 100

export interface SetAsidesParts {
  clock: Clock
  cloud: Pick<Cloud, 'listServices' | 'updateService'>
  journal: Journal
  observer: Observer
  monitor: Pick<
    Monitor,
    | 'verdict'
    | 'verdicts'
    | 'service'
    | 'segment'
    | 'frozen'
    | 'inDoubt'
    | 'lastRead'
    | 'noteOurWrite'
    | 'noteOurDisable'
  >
  store: Pick<
    IncidentStore,
    'open' | 'openOn' | 'openProcesses' | 'openProcessOn' | 'hasOurFlags' | 'returnOf' | 'setAside' | 'has'
  >
  orders: Orders
  brake: Pick<BrakeWatch, 'roomFor'>
  processes: Pick<ProcessFailures, 'mayReturn'>
  permission: Permissions['of']
  mode: () => 'observe' | 'armed'
  /** How often Nova is read, and how long a poll waits for its witnesses. */
  reading: () => { pollIntervalMs: number; probeLimitMs: number }
  standstill: Pick<Standstill, 'last'>
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
  /** Refusals in a row. */
  refusals: number
}

/** A disable that should leave now. */
interface Due {
  kind: WhyAside
  /** A beat since takes it back. Not of what was reported: nova-compute may beat and die again. */
  whileSilent: boolean
  host: HostName
  incident: IncidentId
  because: string
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
      for (const { host } of report.verdicts) if (beganAt > this.#watchOf(host).wroteAt) this.#adopt(host)
    } catch (thrown) {
      this.#log(thrown)
    }
    void this.#act()
  }

  /** As `Permissions.setSilentAside`. */
  async setSilentAside(): Promise<void> {
    if (this.#acting === null && this.#silentDue().length === 0 && this.#ordered().length === 0) return
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
    const watch: Watch = { unanswered: 0, isBeingEnabled: false, wroteAt: -Infinity, refusedAt: -Infinity, refusals: 0 }
    this.#watches.set(host, watch)
    return watch
  }

  /** One at a time. Never rejects. */
  #act(): Promise<void> {
    if (this.#acting !== null) return this.#acting
    if (this.#due().length === 0) return Promise.resolve()
    this.#acting = this.#setAside()
      .catch((thrown: unknown) => this.#log(thrown))
      .finally(() => (this.#acting = null))
    return this.#acting
  }

  async #setAside(): Promise<void> {
    const { cloud, signal } = this.#parts
    const { services } = await cloud.listServices({ signal })
    // Reading took time, in which people act and hosts beat.
    for (const due of this.#due()) {
      const seen = this.#parts.monitor.service(due.host)
      const row = computeOf(services, due.host)
      if (seen === undefined || row === undefined || row.id === null || signal.aborted) continue
      const hasBeaten = row.updatedAt !== seen.updatedAt
      if (row.id !== seen.id || (due.whileSilent && hasBeaten)) continue
      if (!(due.kind === 'process' ? isToBeDisabled(row) : isDestination(row))) continue
      const order = { incident: due.incident, serviceId: row.id, reason: setAsideReason(due.incident, due.kind) }
      const run = this.#run(due.host, () => this.#isStillDue(due))
      this.#write(due.host, disable(run, order, due.because))
    }
  }

  /** The incident whose evacuations may leave now. */
  #evacuating(): Incident | undefined {
    const { store, permission, mode, monitor } = this.#parts
    if (mode() === 'observe' || monitor.inDoubt()) return undefined
    return store.open().find((incident) => evacuates(incident) && permission(incident).allowed)
  }

  /** Each kind within the room that it has by itself: a process that is down must not keep evacuations from being protected. */
  #due(): Due[] {
    return [...this.#silentDue(), ...this.#processesDue()]
  }

  #silentDue(): Due[] {
    const { monitor } = this.#parts
    const evacuating = this.#evacuating()
    if (evacuating === undefined) return []
    const hosts = monitor.verdicts().map(({ host }) => host)
    return this.#withRoom(
      hosts.flatMap((host) => {
        const silence = this.#isFree(host) ? this.#whySilent(host) : null
        if (silence === null) return []
        const because = `${silence}. Guests of ${evacuating.host} are evacuated, and Nova takes this host for up`
        return [{ kind: 'silent' as const, whileSilent: true, host, incident: evacuating.id, because }]
      }),
      this.#asideFor('silent'),
    )
  }

  #processesDue(): Due[] {
    const { store } = this.#parts
    return this.#withRoom(
      store.openProcesses().flatMap(({ host, id, openedBy }) => {
        const because = this.#isFree(host) ? this.#whyDown(host) : null
        return because === null
          ? []
          : [{ kind: 'process' as const, whileSilent: openedBy === 'daemon', host, incident: id, because }]
      }),
      this.#asideFor('process'),
    )
  }

  #withRoom(due: readonly Due[], aside: readonly HostName[]): Due[] {
    if (due.length === 0) return []
    const room = new Set(
      this.#parts.brake.roomFor(
        due.map(({ host }) => host),
        aside,
      ),
    )
    return due.filter(({ host }) => room.has(host))
  }

  /** Hosts that were set aside for the same kind of reason; those that are well again take nobody's room. */
  #asideFor(kind: WhyAside): HostName[] {
    const { store, monitor } = this.#parts
    return store
      .setAside()
      .filter(({ setAside }) => setAside !== null && whyOf(setAside) === kind)
      .map(({ host }) => host)
      .filter((host) => kind === 'silent' || monitor.verdict(host)?.kind !== 'healthy')
  }

  /** Nothing of ours stands on it, and no write was refused there just now. */
  #isFree(host: HostName): boolean {
    return this.#parts.store.returnOf(host).setAside === null && !this.#isRefused(host)
  }

  #isRefused(host: HostName): boolean {
    const { store, clock } = this.#parts
    const { refusals, refusedAt } = this.#watchOf(host)
    // No evacuation waits for an enable, nor for the disable of a host that lives.
    const isUrgent = store.openProcessOn(host) === undefined && store.returnOf(host).setAside === null
    const mostMs = isUrgent ? afterRefusalMs : rarestRetryMs
    return clock.now() - refusedAt < pauseAfterRefusals(refusals, mostMs)
  }

  #isStillDue({ kind, host }: Due): boolean {
    if (kind === 'process') return this.#whyDown(host) !== null
    return this.#whySilent(host) !== null && this.#evacuating() !== undefined
  }

  /** Why the service of a host whose nova-compute failed should be disabled, or null. */
  #whyDown(host: HostName): string | null {
    const { monitor, store } = this.#parts
    const incident = store.openProcessOn(host)
    const verdict = monitor.verdict(host)
    const row = monitor.service(host)
    if (incident === undefined || incident.mode === 'observe') return null
    // Theirs now: a person has ended it, or changed the service.
    if (incident.cancelled !== null || incident.changedByOthers !== null) return null
    const reported = incident.openedBy !== 'daemon'
    if (verdict === undefined || row === undefined || !isToBeDisabled(row)) return null
    if (!reported && !isProcessDown(verdict)) return null
    if (this.#isHeld(host) || store.openOn(host) !== undefined || store.hasOurFlags(host)) return null
    return reported ? `${incident.openedBy} reported its nova-compute down` : verdict.message
  }

  /** Why nothing should be sent there, or null, also where nothing may be done about it. */
  #whySilent(host: HostName): string | null {
    const { monitor, store, confirmAfterBeats } = this.#parts
    const verdict = monitor.verdict(host)
    const row = monitor.service(host)
    if (verdict === undefined || row === undefined || store.hasOurFlags(host) || this.#isHeld(host)) return null
    return whySetAside(verdict, row, store.openOn(host), confirmAfterBeats())
  }

  /** Disables that evacuations wait for: they were ordered, and nothing shows them yet. */
  #ordered(): HostName[] {
    return this.#parts.store
      .setAside()
      .filter(({ setAside }) => setAside?.state === 'setting' && whyOf(setAside) === 'silent')
      .map(({ host }) => host)
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
    const unanswered = this.#isUnanswered(host, known)
    const decision = decideSetAside({
      ...{ known, row, unanswered },
      verdict: monitor.verdict(host),
      hasIncident: this.#hasIncident(host),
      mayReturn: this.#mayReturn(host, known),
    })
    if (decision.do === 'take-back') return this.#takeBack(host, known)
    if (decision.do === 'wait') return
    const { to, because, certainty, theirs } = decision
    const { serviceId, reason } = known
    // An incident of nova-compute that is open now ends when someone else changes the service. What our own enable may have done is of
    // before it.
    const isOurs = known.state === 'taking-back' && theirs !== true && unanswered
    const incident = isOurs ? known.incident : (store.openProcessOn(host)?.id ?? known.incident)
    const data = { to, serviceId, reason, because, certainty, ...(theirs === true && { theirs }) }
    journal.append([{ kind: 'service.set-aside', incident, host, data }])
    this.#watchOf(host).wroteAt = clock.now()
  }

  /**
   * Nova shows a disable of ours of which nothing is on record: it was served after all, although it was refused or long given up. It
   * is ours to take back, unless it covers one of someone else's.
   */
  #adopt(host: HostName): void {
    const { monitor, store, journal } = this.#parts
    const row = monitor.service(host)
    const { setAside, covered } = store.returnOf(host)
    if (row === undefined || row.id === null || row.status !== 'disabled') return
    const text = readSetAsideReason(row.disabledReason)
    if (text === null || setAside !== null || store.hasOurFlags(host)) return
    const { incident } = text
    if (covered.includes(incident) || !store.has(incident)) return
    const because = 'Nova shows our disable, which was no longer on record'
    const data = {
      to: 'set',
      serviceId: row.id,
      reason: row.disabledReason ?? '',
      because,
      certainty: 'applied',
    } as const
    journal.append([{ kind: 'service.set-aside', incident, host, data }])
  }

  /**
   * A nova-compute that failed has to prove itself, also when its incident is over; a host that was only silent is back with its beat, unless
   * a person keeps it out since then. Who said so before spoke of a failure, and a silence is none.
   */
  #mayReturn(host: HostName, known: SetAside): boolean {
    const { processes, store } = this.#parts
    const record = store.returnOf(host)
    if (whyOf(known) === 'silent') return record.order?.keepOut !== true || isFromBeforeSilence(record)
    return processes.mayReturn(host)
  }

  #takeBack(host: HostName, known: SetAside): void {
    const watch = this.#watchOf(host)
    if (this.#isRefused(host) || watch.isBeingEnabled || this.#isHeld(host)) return
    watch.isBeingEnabled = true
    this.#write(
      host,
      this.#enableOurs(host, known).finally(() => (watch.isBeingEnabled = false)),
    )
  }

  /** By a fresh row: a person may have disabled it since the poll. */
  async #enableOurs(host: HostName, known: SetAside): Promise<LifeboatError | null> {
    const { cloud, signal, monitor } = this.#parts
    const lives = (): boolean =>
      monitor.verdict(host)?.kind === 'healthy' &&
      !this.#hasIncident(host) &&
      !this.#isHeld(host) &&
      this.#mayReturn(host, known)
    const row = computeOf((await cloud.listServices({ signal })).services, host)
    const isOurs = row?.id === known.serviceId && row.status === 'disabled' && row.disabledReason === known.reason
    if (!isOurs || !lives() || signal.aborted) return null
    return enable(this.#run(host, lives), known, monitor.verdict(host)?.message ?? '')
  }

  #write(host: HostName, work: Promise<LifeboatError | null>): void {
    const { clock } = this.#parts
    const watch = this.#watchOf(host)
    watch.unanswered += 1
    watch.wroteAt = clock.now()
    const ended = work
      .then((refused) => this.#count(host, refused))
      .catch((thrown: unknown) => this.#log(thrown))
      .finally(() => {
        watch.unanswered -= 1
        watch.wroteAt = clock.now()
        this.#writes.delete(ended)
      })
    this.#writes.add(ended)
  }

  /** A row of refusals is one alarm: it is tried again, less and less often, and only a person can change Nova's mind. */
  #count(host: HostName, refused: LifeboatError | null): void {
    const { clock, journal, signal } = this.#parts
    const watch = this.#watchOf(host)
    watch.refusals = refused === null ? 0 : watch.refusals + 1
    if (refused === null) return
    watch.refusedAt = clock.now()
    if (watch.refusals !== refusalsBeforeAlarm || signal.aborted) return
    journal.append([{ kind: 'alarm.raised', host, data: serviceChangeRefused(host, refused) }])
  }

  /** It decides what becomes of what stands on the host. */
  #hasIncident(host: HostName): boolean {
    const { store } = this.#parts
    return store.openOn(host) !== undefined || store.openProcessOn(host) !== undefined
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
    const { clock, mode, orders, monitor, standstill, reading } = this.#parts
    const isOrdered = orderHolds(host, orders, [monitor.segment(host).name]) !== null
    if (isOrdered || mode() === 'observe' || monitor.frozen() !== null) return true
    return staleness(monitor.lastRead(), standstill.last(), clock.now(), reading()) !== null
  }

  #run(host: HostName, mayWrite: () => boolean): SetAsideRun {
    const { cloud, journal, clock, signal, monitor, store } = this.#parts
    return {
      ...{ host, cloud, journal, clock, signal, mayWrite },
      record: () => store.returnOf(host).setAside,
      noteOurDisable: () => monitor.noteOurDisable(host),
      noteOurWrite: ({ host: of, updatedAt }, sentAt) => monitor.noteOurWrite(of, updatedAt, sentAt),
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

/** Texts of older releases are of silent hosts. */
function whyOf({ reason }: SetAside): WhyAside {
  return readSetAsideReason(reason)?.why ?? 'silent'
}
