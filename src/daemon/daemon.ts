/**
 * The composition root of a running daemon: monitor, incident book, executor and people's acts, wired to each other. Takes
 * its adapters ready-made, so that the demo and the tests run exactly this with a simulated cloud.
 */
import { setMaxListeners } from 'node:events'
import { sleep, type Clock } from '../domain/clock.ts'
import type { IncidentId, NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import type { Incident } from '../domain/incident.ts'
import type { Observer } from '../domain/observer.ts'
import type { Operations } from '../domain/operations.ts'
import type { Review } from '../domain/review.ts'
import type { Segment } from '../domain/segment.ts'
import type { ExecutorContext } from '../executor/context.ts'
import { runIncident } from '../executor/incident-runner.ts'
import { Slots, type SharedQueue } from '../executor/slots.ts'
import { Monitor } from '../monitor/monitor.ts'
import { NoticeDesk } from '../notices/index.ts'
import { BrakeWatch } from './brake-watch.ts'
import { createBridge } from './bridge.ts'
import { freezeBefore } from './freeze-record.ts'
import { HostReturns } from './host-returns.ts'
import { IncidentBook } from './incident-book.ts'
import { guardedJournal } from './journal-guard.ts'
import { LogLevelInForce } from './log-level.ts'
import { MemoryWatch, processMemory, type Memory } from './memory-watch.ts'
import { createOperations, type OperationsAbout } from './operations.ts'
import { maintenanceOf, withoutPlanned } from './order-holds.ts'
import { OrderKeeper } from './order-keeper.ts'
import { pinnedWorkflows, type PinnedWorkflows } from './pinned-workflows.ts'
import { planHost } from './plan-host.ts'
import { Reloads, type ConfigurationSource } from './reloads.ts'
import type { ReviewedJournal } from './review/incident-listing.ts'
import { IncidentRecords } from './review/incident-records.ts'
import { createReview } from './review/review.ts'
import { UnsettledIncidents } from './review/unsettled.ts'
import { RulesInForce, type Mode, type Rules } from './rules.ts'
import { StandingOrders } from './standing-orders.ts'
import { WatchLoop } from './watch-loop.ts'

export interface DaemonParts extends Rules {
  clock: Clock
  journal: ReviewedJournal
  journalPath: string
  observer: Observer
  /** Default: none, and nothing can be reloaded. */
  configuration?: ConfigurationSource
  /** Default: one that changes no log. */
  logLevel?: LogLevelInForce
  version: string
  cloudName: string | null
  /** Default: this process's. */
  memory?: Memory
  /** Default: this process's. */
  pid?: number
}

/** Pause before an incident whose run broke (journal full, a bug) is picked up again. Shorter would spin on a full disk. */
const rerunAfterMs = 10_000

/** A closed incident stays in memory for so long: who tells of its end would else fold its journal. Longer keeps thousands of plans. */
const closedKeptMs = 500

export class Daemon {
  readonly book: IncidentBook
  readonly orders: StandingOrders
  readonly monitor: Monitor
  readonly operations: Operations
  readonly review: Review
  readonly notices: NoticeDesk | null
  readonly #parts: DaemonParts
  readonly #rules: RulesInForce
  readonly #reloads: Reloads
  readonly #logLevel: LogLevelInForce
  readonly #context: ExecutorContext
  readonly #queue: SharedQueue
  readonly #watch: WatchLoop
  readonly #keeper: OrderKeeper
  readonly #returns: HostReturns
  readonly #stopping = new AbortController()
  readonly #running = new Map<IncidentId, Promise<void>>()
  #workflows: PinnedWorkflows['byDigest']
  #polling: Promise<void> | null = null
  #keeping: Promise<void> | null = null

  constructor(parts: DaemonParts) {
    const { clock, observer } = parts
    const { signal } = this.#stopping
    const rules = new RulesInForce(parts)
    this.#rules = rules
    const { cloud, fencer } = rules
    const mode = (): Mode => rules.now.mode
    const journal = guardedJournal(parts.journal, { clock, observer, signal })
    const memory = new MemoryWatch(parts.memory ?? processMemory(), journal)
    this.#parts = { ...parts, journal }
    // Every step under way listens for the stop: thousands are no leak.
    setMaxListeners(0, signal)
    this.orders = new StandingOrders(journal, clock)
    this.book = new IncidentBook(journal)
    journal.onAppend((entry) => {
      observer.entry?.(entry)
      if (entry.incident !== null) observer.incidents?.(this.book.open())
    })
    this.monitor = new Monitor({
      cloud,
      clock,
      segmentOf: parts.segmentOf,
      probes: parts.probes,
      settings: parts.monitorSettings,
      ours: (host) => this.book.openOn(host) !== undefined || this.book.isMarked(host),
      marked: (host) => this.book.isMarked(host),
      planned: (host, segment) => maintenanceOf(this.orders, host, segment),
      incidentOver: (host) => this.book.isReturning(host),
      frozenBefore: freezeBefore(journal, clock),
      observer,
    })
    const { byDigest, pin } = pinnedWorkflows(journal, this.book, parts)
    this.#workflows = byDigest
    if (pin.length > 0) journal.append(pin)
    const { notices } = parts
    const incident = (id: string): Incident | undefined => this.book.find(id)
    this.notices =
      notices === undefined ? null : new NoticeDesk({ clock, journal, cloud, observer, mode, incident, ...notices })
    // By the name on record first: right after a restart a host's zone, and so its segment, may not be known yet.
    const segmentNamed = ({ host, segment: name }: Incident): Segment =>
      this.monitor.segments().find((segment) => segment.name === name) ?? this.#segmentFor(host)
    const brake = new BrakeWatch({
      clock,
      journal,
      book: this.book,
      monitor: this.monitor,
      segmentNamed,
      withoutPlanned: (verdicts) => withoutPlanned(verdicts, this.orders),
      rules: () => rules.now.cloudBrake,
      confirmAfterBeats: () => rules.now.monitorSettings.confirmAfterBeats,
    })
    const bridge = createBridge({
      clock,
      book: this.book,
      orders: this.orders,
      monitor: this.monitor,
      mode,
      brake,
      segmentNamed,
      workflows: () => this.#workflows,
      memory,
    })
    const rulesInForce = (): object => rules.now
    this.#context = { cloud, journal, fencer, clock, observer, bridge, settings: rules.executorSettings, rulesInForce }
    this.#queue = Slots.shared(parts.executorSettings.maxParallel)
    this.#returns = new HostReturns({
      ...{ clock, cloud, journal, observer, mode, settings: rules.executorSettings },
      monitor: this.monitor,
      book: this.book,
      orders: this.orders,
      signal: this.#stopping.signal,
    })
    this.#watch = new WatchLoop({
      clock,
      journal,
      monitor: this.monitor,
      book: this.book,
      brake,
      returns: this.#returns,
      observer,
      pollIntervalMs: () => rules.now.monitorSettings.pollIntervalMs,
      mode,
      workflowDigest: () => rules.now.workflow.digest,
      segmentFor: (host) => this.#segmentFor(host),
      inMaintenance: ({ host, segment }) => maintenanceOf(this.orders, host, segment) !== null,
      run: (id) => this.#run(id),
      afterPoll: () => memory.look(),
    })
    this.#keeper = new OrderKeeper({
      clock,
      journal,
      observer,
      orders: this.orders,
      windows: () => rules.now.maintenanceWindows ?? [],
    })
    const logLevel = parts.logLevel ?? new LogLevelInForce(clock, 'info', () => undefined)
    this.#logLevel = logLevel
    this.#reloads = new Reloads({
      ...{ clock, journal, observer, logLevel, signal, mode },
      source: parts.configuration ?? null,
      prepare: (next) => this.#prepare(next),
    })
    const startedAt = new Date(clock.wall()).toISOString()
    const about = (): OperationsAbout => {
      const { name, revision, digest } = rules.now.workflow
      return {
        version: parts.version,
        mode: mode(),
        pid: parts.pid ?? process.pid,
        startedAt,
        cloud: parts.cloudName,
        workflow: { name, revision, digest },
      }
    }
    const records = new IncidentRecords(journal, () => sleep(clock, 0))
    this.operations = createOperations({
      clock,
      journal,
      journalPath: parts.journalPath,
      book: this.book,
      records,
      unsettled: new UnsettledIncidents(journal),
      orders: this.orders,
      monitor: this.monitor,
      brake,
      watch: this.#watch,
      reloads: this.#reloads,
      logLevel,
      about,
    })
    this.review = createReview({
      clock,
      cloud,
      journal,
      book: this.book,
      records,
      monitor: this.monitor,
      settings: rules.executorSettings,
      plan: (read, host) => {
        const { workflow, segmentOf } = rules.now
        return planHost({ cloud: read, clock, workflow, segmentOf }, host)
      },
    })
  }

  /** Watches, and picks up what is unfinished once Nova has been read: before that a host's segment is not known. */
  start(): void {
    const { journal, version, pid = process.pid } = this.#parts
    const { mode } = this.#rules.now
    // Before anything new is on record: it looks at what the last run left behind.
    this.notices?.start()
    journal.append([{ kind: 'daemon.started', data: { version, mode, pid } }])
    // Before the first poll: what a daemon starts inside of, or what ended while none ran, decides about its verdicts.
    this.#keeping = this.#keeper.run(this.#stopping.signal)
    this.#polling = this.#watch.run(this.#stopping.signal)
  }

  /** As `lifeboat reload`, asked for by the process itself. Never rejects: what went wrong is on record. */
  async reloadBySignal(name: string): Promise<void> {
    await this.#reloads.reload({ by: name, actor: `signal:${name}`, reason: '' }).catch(() => undefined)
  }

  /** Stops new work, lets writes in flight be answered and recorded, and leaves open incidents for the next start. */
  async stop(reason: string): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#stopping.abort()
    this.#logLevel.end()
    await Promise.allSettled([this.#polling, this.#keeping, ...this.#running.values()])
    // A start that failed half way (a port that is taken) has nothing on record that could end.
    if (this.#polling === null) return
    await this.#returns.idle()
    await this.notices?.stop()
    this.#parts.journal.append([{ kind: 'daemon.stopped', data: { reason } }])
  }

  /** Resolves when no incident is being run. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values())
  }

  #segmentFor(host: string): Segment {
    return this.monitor.segment(host)
  }

  #run(id: IncidentId): void {
    if (this.#running.has(id) || this.#stopping.signal.aborted) return
    const run = runIncident(this.#context, id, this.#queue, this.#stopping.signal).then(
      () => {
        this.#running.delete(id)
        void sleep(this.#parts.clock, closedKeptMs, this.#stopping.signal).then(() => this.book.forgetClosed(id))
      },
      (thrown: unknown) => {
        this.#running.delete(id)
        this.#parts.observer.log?.('error', 'incident.broke', { incident: id }, ensureError(thrown))
        // The rows say where it stands; a run that broke is picked up like one that crashed.
        void sleep(this.#parts.clock, rerunAfterMs, this.#stopping.signal).then(() => this.#run(id))
      },
    )
    this.#running.set(id, run)
  }

  /** The exchange of the rules, as one synchronous act once its entries are on record. */
  #prepare(next: Rules): { entries: NewEntry[]; adopt: () => void } {
    const { byDigest, pin } = pinnedWorkflows(this.#parts.journal, this.book, next)
    const adopt = (): void => {
      this.#rules.replace(next)
      this.#workflows = byDigest
      this.#queue.concurrency = next.executorSettings.maxParallel
      const { segmentOf, probes, monitorSettings: settings } = next
      this.monitor.adopt({ segmentOf, probes, settings })
      if (next.notices !== undefined) this.notices?.configure(next.notices.rules, next.notices.deliver)
      this.#watch.wake()
      this.#keeper.wake()
    }
    return { entries: pin, adopt }
  }
}
