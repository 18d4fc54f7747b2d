/**
 * Hosts that came back by themselves, driven by the polls: which of their instances are off is read from Nova now and then, put on
 * record by name, and started where the segment says so or a person ordered it. Reads and writes beside recoveries; nobody waits
 * for it.
 *
 * Owns when to look and whether to start. What an instance was is engine/after-return.ts's, how one is started executor/start-again.ts's.
 */
import { isAborted, onOurClock, sleep } from '../domain/clock.ts'
import {
  offAfterReturn,
  pauseBeforeLook,
  shownWithinMs,
  supersedes,
  waitingForStart,
  type WatchedReturn,
} from '../domain/after-return.ts'
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { IncidentId, NewEntry, Via } from '../domain/entry.ts'
import { ensureError, errorRecord, LifeboatError } from '../domain/errors.ts'
import type { Incident, InstanceRecovery } from '../domain/incident.ts'
import { backAndUnknown } from '../domain/text/back-and-unknown.ts'
import type { HostName } from '../domain/service.ts'
import { isBeating, isSilent, isUnread } from '../domain/verdict.ts'
import { CloudTrouble, type Said } from '../executor/cloud-trouble.ts'
import type { ExecutorContext } from '../executor/context.ts'
import { HostWatch } from '../executor/host-watch.ts'
import { runOnLivingHost } from '../executor/living-host.ts'
import { Slots, type SharedQueue } from '../executor/slots.ts'
import { startAgain } from '../executor/start-again.ts'
import { lastMoment } from '../executor/last-moment.ts'
import type { Passage } from '../executor/attempt.ts'
import type { Monitor } from '../monitor/monitor.ts'
import { staleness } from '../monitor/freshness.ts'
import type { PollReport } from '../monitor/report.ts'
import { earlierRecovery } from './earlier-recoveries.ts'
import type { IncidentStore } from './incident-store.ts'
import { known } from '../orders/order-acts.ts'
import { orderHolds } from '../orders/order-holds.ts'
import { lookAtReturned, type Returned } from './returned-instances.ts'
import type { Orders } from '../orders/orders.ts'
import type { Standstill } from './standstill.ts'

/** Hosts whose lists are read at once. More: when a whole site returns, Nova is asked for every list when it is busiest. */
const looksAtOnce = 4

/** How often a start that must wait (a pause, a host that is silent) asks again. Longer delays it by as much. */
const askAgainMs = 500

export interface AfterReturnsParts {
  context: ExecutorContext
  queue: SharedQueue
  monitor: Pick<Monitor, 'verdict' | 'segment' | 'frozen' | 'lastRead' | 'cloudNow'>
  store: IncidentStore
  orders: Orders
  mode: () => 'observe' | 'armed'
  /** How often Nova is read, and how long a poll waits for its witnesses. */
  reading: () => { pollIntervalMs: number; probeLimitMs: number }
  standstill: Pick<Standstill, 'last'>
  signal: AbortSignal
}

/** What is remembered of one host between polls. */
interface Watch {
  incident: IncidentId
  /** When it came back, on our monotonic clock. Null: it is away, as far as is known. */
  backAt: number | null
  /** The journal does not have that moment yet. */
  isUntold: boolean
  /** Since when Nova has not listed it, on our monotonic clock. */
  unlistedSince: number | null
  nextLookAt: number
  /** A look at its list, or the closing of what a new failure of the host ended. */
  busy: Promise<void> | null
  starts: Promise<void> | null
  /** Aborts what is under way: the host failed again, and its instances belong to another incident. */
  over: AbortController
  /** Of that, and of the daemon's end. */
  signal: AbortSignal
  /** Started by Lifeboat since it was last said how many are off. */
  started: number
  /** Instances that were off before, with the stamp of the row that told so: only a newer one is looked into. */
  cleared: Map<string, string>
}

export class AfterReturns {
  readonly #parts: AfterReturnsParts
  readonly #watches = new Map<HostName, Watch>()

  constructor(parts: AfterReturnsParts) {
    this.#parts = parts
    parts.context.journal.onAppend((entry) => {
      // Before anything else is sent: from now on its instances belong to another incident.
      if (supersedes(entry)) this.#watches.get(entry.host ?? '')?.over.abort()
    })
  }

  /** Takes in a poll. Never throws: what cannot be read is looked at again. */
  consider(report: PollReport): void {
    if (!report.ok || this.#parts.signal.aborted) return
    const { store, context } = this.#parts
    for (const record of store.watchedReturns()) {
      const watch = this.#watchOf(record)
      this.#followBeat(record, watch)
      if (watch.busy !== null) continue
      if (record.supersededBy !== null) this.#work(record, watch, this.#parts.signal, () => this.#giveUp(record, watch))
      else if (watch.backAt === null && record.backAt !== null)
        this.#work(record, watch, watch.signal, () => this.#goesAway(record))
      else if (
        !record.known &&
        record.off === 0 &&
        context.clock.now() - (watch.unlistedSince ?? Infinity) >= shownWithinMs
      )
        this.#work(record, watch, watch.signal, () => this.#endUnlisted(record))
      else if (this.#parts.monitor.verdict(record.host)?.kind === 'healthy') {
        const { backAt, nextLookAt } = watch
        if (backAt !== null && context.clock.now() >= nextLookAt && this.#looking() < looksAtOnce)
          this.#work(record, watch, watch.signal, () => this.#look(record, watch, backAt))
        this.#startWhatMay(record, watch)
      }
    }
    const unfinished = new Set(store.watchedReturns().map(({ incident }) => incident))
    for (const [host, { incident, busy, starts }] of this.#watches) {
      if (unfinished.has(incident) || busy !== null || starts !== null) continue
      this.#watches.delete(host)
      store.forgetClosed(incident)
    }
  }

  /**
   * A person has those started that are off. Throws NOT_FOUND for an incident that was never opened, CONFLICT where nothing is to be
   * started.
   */
  order(id: IncidentId, { by, reason, via }: { by: string; reason: string; via?: Via }): void {
    const { store, context } = this.#parts
    const record = store.watchedReturns().find(({ incident }) => incident === id)
    if (record === undefined || record.supersededBy !== null) {
      if (!store.has(id)) throw new LifeboatError('NOT_FOUND', `There is no incident ${id}`)
      const message = `Incident ${id} has no instances that are off since their host came back by itself`
      throw new LifeboatError('CONFLICT', message)
    }
    if (record.backAt === null && (this.#watches.get(record.host)?.backAt ?? null) === null)
      throw new LifeboatError('CONFLICT', `${record.host} has not come back yet: nothing can be started there`)
    const incident = store.get(id)
    const off = offAfterReturn(incident)
    const again = off.filter(({ plan, outcome }) => plan.decision === 'recover' && outcome?.code !== plan.reason)
    const waiting = waitingForStart(incident)
    if (record.order !== null && again.length === 0) {
      const message = `${record.order.by} already ordered the instances of incident ${id} to be started`
      throw new LifeboatError('CONFLICT', message)
    }
    if (record.known && waiting.length + again.length === 0)
      throw new LifeboatError('CONFLICT', `Incident ${id} has no instance that Lifeboat could start`)
    const base = { incident: id, host: record.host, actor: `operator:${by}` }
    context.journal.append([
      { kind: 'operator.start', ...base, data: { by, reason, ...known(via) } },
      ...again.flatMap(({ plan }): NewEntry[] => [
        {
          kind: 'recipe.entered',
          ...base,
          instance: plan.instanceId,
          data: { recipe: plan.recipe ?? '', because: `${by}: ${reason}` },
        },
        {
          kind: 'outcome.recorded',
          ...base,
          instance: plan.instanceId,
          data: { outcome: 'left', code: plan.reason, message: `${plan.message}; it is started again`, after: null },
        },
      ]),
    ])
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    const underWay = [...this.#watches.values()].flatMap(({ busy, starts }) => [busy ?? [], starts ?? []].flat())
    await Promise.allSettled(underWay)
  }

  #looking(): number {
    return [...this.#watches.values()].filter(({ busy }) => busy !== null).length
  }

  /**
   * A host whose incident a person cancelled may come back hours later, and go away once more under our flags, which opens no incident. What Nova shows
   * of its guests says nothing before it has beaten for long enough.
   */
  #followBeat({ host, known: isKnown }: WatchedReturn, watch: Watch): void {
    const { context, monitor } = this.#parts
    const verdict = monitor.verdict(host)
    watch.unlistedSince = verdict === undefined ? (watch.unlistedSince ?? context.clock.now()) : null
    if (isKnown || verdict === undefined || isUnread(verdict)) return
    if (isSilent(verdict) || verdict.kind === 'forced-down-before') watch.backAt = null
    else if (watch.backAt === null && isBeating(verdict)) {
      watch.backAt = context.clock.now()
      watch.isUntold = true
    }
  }

  /** Its return is on record: a restarted daemon would count from that. */
  #goesAway({ host, incident, off }: WatchedReturn): Promise<void> {
    const message = `nova-compute of ${host} is silent: once it beats, Lifeboat can tell which of its instances are off`
    const data = { to: 'watching' as const, instances: 0, off, started: 0, message, backAt: null }
    return this.#tell({ kind: 'instances.watched', incident, host, data })
  }

  /** Its record in Nova is gone for good: nobody waits for what ran there. */
  #endUnlisted({ host, incident }: WatchedReturn): Promise<void> {
    const message = `Nova no longer lists nova-compute on ${host}: Lifeboat stops checking what ran there`
    const data = { to: 'known' as const, instances: 0, off: 0, started: 0, message, backAt: null }
    return this.#tell({ kind: 'instances.watched', incident, host, data })
  }

  /** Rejects where the journal cannot be written: it is told at the next poll. */
  #tell(entry: NewEntry): Promise<void> {
    return new Promise((resolve) => {
      this.#parts.context.journal.append([entry])
      resolve()
    })
  }

  #watchOf({ host, incident, backAt }: WatchedReturn): Watch {
    const existing = this.#watches.get(host)
    if (existing?.incident === incident) return existing
    const { clock } = this.#parts.context
    const over = new AbortController()
    const watch: Watch = {
      incident,
      backAt: backAt === null ? null : onOurClock(clock, backAt),
      nextLookAt: clock.now(),
      ...{
        isUntold: false,
        unlistedSince: null,
        busy: null,
        starts: null,
        over,
        signal: AbortSignal.any([over.signal, this.#parts.signal]),
        started: 0,
        cleared: new Map(),
      },
    }
    this.#watches.set(host, watch)
    return watch
  }

  /** @param signal what ends the work in order */
  #work({ host }: WatchedReturn, watch: Watch, signal: AbortSignal, work: () => Promise<void>): void {
    const { observer } = this.#parts.context
    watch.busy = work()
      .catch((thrown: unknown) => {
        const error = ensureError(thrown)
        if (!isItsEnd(error, signal)) observer.log?.('warn', 'after_return.look_failed', { host }, error)
      })
      .finally(() => (watch.busy = null))
  }

  async #look(record: WatchedReturn, watch: Watch, backAt: number): Promise<void> {
    const { clock, cloud, journal, settings } = this.#parts.context
    watch.nextLookAt = clock.now() + pauseBeforeLook(clock.now() - backAt)
    const incident = this.#parts.store.get(record.incident)
    const policy = this.#parts.monitor.segment(record.host).policy
    const seen = await lookAtReturned({
      ...{ cloud, host: record.host, incident, policy, cleared: watch.cleared, signal: watch.signal },
      lastSign: lastSignOf(incident),
      earlier: (id) => earlierRecovery(journal, this.#parts.store, id, record.incident),
      nowMs: clock.wall(),
      requestLastsMs: settings.longestRequestMs,
      // By the cloud's clock, as Nova's stamps are: ours may have been far behind when the host came back.
      backAt: this.#parts.monitor.cloudNow() - (clock.now() - backAt),
      // What is being started just now is followed there.
      isBusy: () => watch.starts !== null,
    })
    // Reading took time: the host may have failed again meanwhile.
    const now = this.#recordOf(record)
    if (now === undefined || now.supersededBy !== null) return
    journal.append(seen.entries)
    // It may have gone away meanwhile.
    this.#say(now, watch, seen, watch.backAt === backAt && clock.now() - backAt >= shownWithinMs)
  }

  /** Says how many are off when that is news, and that it is known for good when it is. */
  #say(record: WatchedReturn, watch: Watch, { instances, settled, pending }: Returned, late: boolean): void {
    const { store, context } = this.#parts
    const incident = store.get(record.incident)
    const off = offAfterReturn(incident).length
    const starting = watch.starts !== null || (this.#mayStart(record) && waitingForStart(incident).length > 0)
    // Anyone who is told now that they are off would be told in a moment that they run.
    if (starting && !late) return
    const isKnown = record.known || late || pending === 0
    if (isKnown === record.known && off === record.off && !watch.isUntold) return
    const to = isKnown ? 'known' : 'watching'
    const { started } = watch
    watch.started = 0
    const isNew = watch.isUntold && !isKnown && off === 0
    const message = isNew
      ? backAndUnknown(record.host)
      : sentence(record.host, to, { instances, settled, off, started })
    const backAgoMs = watch.isUntold && watch.backAt !== null ? context.clock.now() - watch.backAt : null
    const backAt = backAgoMs === null ? {} : { backAt: new Date(context.clock.wall() - backAgoMs).toISOString() }
    watch.isUntold = false
    context.journal.append([
      {
        kind: 'instances.watched',
        ...{ incident: record.incident, host: record.host },
        data: { to, instances, off, started, message, ...backAt },
      },
    ])
  }

  /** Who cancelled the incident decides what is started: nobody knows whether the host is well. */
  #mayStart({ host, incident, order }: WatchedReturn): boolean {
    const isOurs = this.#parts.store.get(incident).cancelled === null
    return order !== null || (isOurs && this.#parts.monitor.segment(host).return.startStopped === 'always')
  }

  #startWhatMay(record: WatchedReturn, watch: Watch): void {
    if (watch.starts !== null || !this.#mayStart(record) || this.#isBlocked(record)) return
    const waiting = waitingForStart(this.#parts.store.get(record.incident))
    if (waiting.length === 0) return
    const { context } = this.#parts
    watch.starts = this.#startAll(record, watch, waiting, watch.signal)
      .catch((thrown: unknown) => {
        const error = ensureError(thrown)
        if (!isItsEnd(error, watch.signal))
          context.observer.log?.('warn', 'after_return.start_failed', { host: record.host }, error)
      })
      .finally(() => {
        watch.starts = null
        // How many are off now is said by the next look.
        watch.nextLookAt = context.clock.now()
      })
  }

  async #startAll(
    record: WatchedReturn,
    watch: Watch,
    waiting: readonly InstanceRecovery[],
    signal: AbortSignal,
  ): Promise<void> {
    const { context, queue, monitor } = this.#parts
    const { host, incident: id } = record
    const { clock, cloud, observer, settings, journal } = context
    const run = runOnLivingHost(context, id, host, signal)
    const { maxParallelPerHost, priority } = monitor.segment(host)
    const slots = new Slots(queue, maxParallelPerHost, priority)
    const cloudTime = { cloudTimeMs: monitor.cloudNow() }
    const hostWatch = new HostWatch({ cloud, clock, observer, host, signal, tickMs: settings.tickMs, ...cloudTime })
    const gate = this.#gate(record, signal)
    const trouble = new CloudTrouble(run, this.#logged(record))
    hostWatch.tells(trouble)
    const results = await Promise.allSettled(
      waiting.map(async (recovery) => {
        const data = await startAgain(run, hostWatch, recovery, gate, slots, trouble)
        if (data.code === 'STARTED_AFTER_RETURN') watch.started += 1
        journal.append([{ kind: 'outcome.recorded', incident: id, host, instance: recovery.plan.instanceId, data }])
      }),
    )
    const broken = results.find((result) => result.status === 'rejected')
    if (broken !== undefined) throw ensureError(broken.reason)
  }

  /** The incident is over and waits for nothing: what Nova refuses is in the log, and tried again. */
  #logged({ host, incident }: WatchedReturn): Said {
    const { context, store } = this.#parts
    return {
      get incident() {
        return store.get(incident)
      },
      hold: (code, message, error) =>
        context.observer.log?.('warn', 'after_return.refused', { host, incident, reason: code, message }, error),
      goOn: () => undefined,
    }
  }

  /** Opens while the host is well and nothing forbids writes. */
  #gate(record: WatchedReturn, signal: AbortSignal): Passage {
    const isOpen = (): boolean => !isAborted(signal) && !this.#isBlocked(record)
    return {
      isOpen,
      lastMoment: () => lastMoment(this.#parts.context.clock, isOpen),
      pass: async () => {
        while (!isOpen()) {
          if (isAborted(signal))
            throw new LifeboatError('SHUTDOWN', 'no longer to be started', { certainty: 'unknown' })
          await sleep(this.#parts.context.clock, askAgainMs, signal)
        }
      },
    }
  }

  /** Whether nothing may be written to instances of the host now. */
  #isBlocked({ host }: WatchedReturn): boolean {
    const { context, mode, monitor, orders, store, standstill, reading } = this.#parts
    if (mode() === 'observe' || monitor.frozen() !== null || store.openOn(host) !== undefined) return true
    if (staleness(monitor.lastRead(), standstill.last(), context.clock.now(), reading()) !== null) return true
    const verdict = monitor.verdict(host)
    return verdict?.kind !== 'healthy' || orderHolds(host, orders, [verdict.segment]) !== null
  }

  /** The host failed again: what was not started is the next incident's, and what became of a start that was sent nobody knows. */
  async #giveUp(record: WatchedReturn, watch: Watch): Promise<void> {
    const { store, context } = this.#parts
    await watch.starts
    const { host, incident: id, supersededBy } = record
    const base = { incident: id, host }
    const entries = offAfterReturn(store.get(id)).flatMap(({ plan, steps }): NewEntry[] => [
      ...[...steps.values()]
        .filter(({ status }) => status === 'intended' || status === 'issued')
        .map(({ key }): NewEntry => {
          const error = errorRecord(
            new LifeboatError('DESTINATION_DIED', 'its host failed again while it was being started', {
              certainty: 'unknown',
            }),
          )
          return { kind: 'step.failed', ...base, instance: plan.instanceId, step: key, data: { error } }
        }),
      {
        kind: 'outcome.recorded',
        ...base,
        instance: plan.instanceId,
        data: {
          ...{ outcome: 'left', code: 'HOST_FAILED_AGAIN', after: null },
          message: `its host failed again: incident ${supersededBy} is about it now`,
        },
      },
    ])
    context.journal.append(entries)
  }

  #recordOf({ host, incident }: WatchedReturn): WatchedReturn | undefined {
    return this.#parts.store.watchedReturns().find((record) => record.host === host && record.incident === incident)
  }
}

/** It was ended in order. What the journal refuses is no part of that. */
function isItsEnd({ code }: LifeboatError, signal: AbortSignal): boolean {
  return isAborted(signal) && code !== 'JOURNAL_UNAVAILABLE'
}

/** Cloud time, ms since the epoch. */
function lastSignOf({ verdict, openedAt }: Incident): number {
  const seen = cloudTimeMs(verdict?.evidence.updatedAt ?? '')
  return Number.isNaN(seen) ? Date.parse(openedAt) : seen
}

function sentence(
  host: HostName,
  to: 'watching' | 'known',
  { instances, settled, off, started }: { instances: number; settled: number; off: number; started: number },
): string {
  if (instances === 0) return `${host} is back, and no instance is on it`
  const ours = started === 0 ? '' : `; Lifeboat started ${started}`
  if (off === 0)
    return `${host} is back, and everything ${settled === 0 ? '' : 'else '}that ran on it before runs${ours}`
  const soFar = to === 'known' ? '' : ' so far'
  const which = off === 1 ? 'one instance that ran on it before is' : `${off} instances that ran on it before are`
  return `${host} is back, and ${which} off${soFar}${ours}`
}
