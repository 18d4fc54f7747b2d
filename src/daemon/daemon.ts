/**
 * The composition root of a running daemon: monitor, incident store, executor and people's acts, wired to each other. Takes
 * its adapters ready-made, so that the demo and the tests run exactly this with a simulated cloud.
 */
import { setMaxListeners } from 'node:events'
import { isAborted, sleep, type Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { NewEntry } from '../domain/entry.ts'
import type { FailoverSegments } from '../domain/failover-segment.ts'
import type { Incident } from '../domain/incident.ts'
import type { Observer } from '../domain/observer.ts'
import type { HostPlan, PlanSubject } from '../domain/plan.ts'
import type { Operations, TryAgain } from '../domain/operations.ts'
import type { Reports } from '../domain/report.ts'
import type { Review } from '../domain/review.ts'
import type { Segment } from '../domain/segment.ts'
import { notActive, type TenureView } from '../domain/tenure.ts'
import type { EarlierRecovery } from '../domain/survey.ts'
import type { ExecutorContext } from '../executor/context.ts'
import { runIncident } from '../executor/run-incident.ts'
import { Slots, type SharedQueue } from '../executor/slots.ts'
import { Monitor } from '../monitor/monitor.ts'
import type { MonitorParts } from '../monitor/report.ts'
import type { CountedGroup } from '../domain/brake.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { ReceiverHealth } from '../domain/notice.ts'
import { NoticeService } from '../notices/index.ts'
import { AfterReturns } from '../control/after-returns.ts'
import { BrakeWatch } from '../control/brake-watch.ts'
import { createPermissions } from '../control/permissions.ts'
import { earlierRecovery } from '../control/earlier-recoveries.ts'
import { freezeBefore } from '../control/freeze-record.ts'
import { HostReturns } from '../control/host-returns.ts'
import { IncidentStore } from '../control/incident-store.ts'
import { IncidentRuns } from '../control/incident-runs.ts'
import { keepsOrders, tellOfOrdersWithoutHosts } from '../control/order-segments.ts'
import { segmentChanges, segmentOfIncident } from '../control/incident-segments.ts'
import { guardedJournal } from '../control/journal-guard.ts'
import { LogLevelInForce } from '../operations/log-level.ts'
import { MemoryWatch, processMemory, type Memory } from '../control/memory-watch.ts'
import { FailoverWrites } from '../operations/failover-writes.ts'
import { createOperations, type OperationsAbout } from '../operations/operations.ts'
import { maintenanceOf, withoutPlanned } from '../orders/order-holds.ts'
import type { MaintenanceWindow } from '../orders/maintenance-window.ts'
import { OrderScheduler } from '../orders/order-scheduler.ts'
import { pinnedWorkflow, pinnedWorkflows, type PinnedWorkflows } from '../control/pinned-workflows.ts'
import { planFailure } from '../preflight/plan-host.ts'
import { Reloads, type ConfigurationSource } from '../operations/reloads.ts'
import type { ReviewedJournal } from '../review/incident-listing.ts'
import { IncidentRecords } from '../review/incident-records.ts'
import { ReadinessReads, type ReadsParts } from '../review/readiness-reads.ts'
import { createReview } from '../review/review.ts'
import { UnreviewedIncidents } from '../review/unreviewed.ts'
import { InstanceFailures } from '../control/instance-failures.ts'
import { ProcessFailures } from '../control/process-failures.ts'
import { ReportBook } from '../control/reports.ts'
import { RulesInForce, type Mode, type Rules } from '../control/rules.ts'
import { SetAsides } from '../control/set-asides.ts'
import { LateEvacuations } from '../control/late-evacuations.ts'
import { StaleOrders } from '../control/stale-orders.ts'
import { Orders } from '../orders/orders.ts'
import { Standstill } from '../control/standstill.ts'
import { loopAlarm, restartLoop, silenceBefore, startsBefore, type Starts } from '../control/starts-record.ts'
import { againFacts, tryAgainOf } from '../operations/try-again.ts'
import { WatchLoop } from '../control/watch-loop.ts'

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
  /** The one of this process that only watched until now: what it learnt of heartbeats, and that it stood still. Default: none did. */
  watched?: Pick<Daemon, 'monitor' | 'standstill'>
  /** Where it stands among the daemons that share its journal. Default: the journal is its own. */
  tenure?: () => TenureView
  /** Stops the process in order once what was recorded is durable: another daemon takes over. Default: nothing, for there is no other. */
  handOver?: (why: string) => void
}

/** A closed incident stays in memory for so long: who tells of its end would else fold its journal. Longer keeps thousands of plans. */
const closedKeptMs = 500

export class Daemon {
  readonly store: IncidentStore
  readonly orders: Orders
  readonly monitor: Monitor
  readonly operations: Operations
  readonly review: Review
  readonly notices: NoticeService | null
  readonly reports: Reports
  readonly failover: FailoverSegments
  readonly #reportBook: ReportBook
  readonly #parts: DaemonParts
  readonly #rules: RulesInForce
  readonly #reloads: Reloads
  readonly #logLevel: LogLevelInForce
  readonly #context: ExecutorContext
  readonly #queue: SharedQueue
  readonly #watch: WatchLoop
  readonly #scheduler: OrderScheduler
  readonly #returns: HostReturns
  readonly #setAsides: SetAsides
  readonly #staleOrders: StaleOrders
  readonly #lateEvacuations: LateEvacuations
  readonly #afterReturns: AfterReturns
  readonly #instanceFailures: InstanceFailures
  readonly #stopping = new AbortController()
  readonly standstill: Standstill
  readonly #runs: IncidentRuns
  readonly #starts: Starts
  readonly #reads: ReadinessReads
  #workflows: PinnedWorkflows['byDigest']
  readonly #pin: NewEntry[]
  #polling: Promise<void> | null = null
  /** False while it only watches, for another daemon acts. */
  #acts = false
  #scheduling: Promise<void> | null = null

  constructor(parts: DaemonParts) {
    const { clock, observer } = parts
    const { signal } = this.#stopping
    const rules = new RulesInForce(parts)
    this.standstill = parts.watched?.standstill ?? new Standstill(clock)
    this.#rules = rules
    const { cloud, fencer } = rules
    const mode = (): Mode => rules.now.mode
    const journal = guardedJournal(parts.journal, { clock, observer, signal })
    const memory = new MemoryWatch(parts.memory ?? processMemory(), journal)
    this.#parts = { ...parts, journal }
    // Every step under way listens for the stop: thousands are no leak.
    setMaxListeners(0, signal)
    this.orders = new Orders(journal, clock)
    this.store = new IncidentStore(journal)
    journal.onDurable((entry) => {
      // What another daemon recorded is that one's to log and to count.
      if (!this.#acts) return
      observer.entry?.(entry)
      if (entry.incident !== null) observer.incidents?.(this.store.openOfAnyKind())
    })
    this.#starts = startsBefore(journal, clock)
    const monitored: MonitorParts = {
      cloud,
      clock,
      segmentOf: parts.segmentOf,
      probes: parts.probes,
      settings: parts.monitorSettings,
      // One that only waits has set nothing: what is forced down then, someone else forced down.
      ours: (host) => this.store.hasOurFlags(host) || (this.store.openOn(host)?.proof ?? null) !== null,
      hasOurFlags: (host) => this.store.hasOurFlags(host),
      setAside: (host) => this.store.returnOf(host).setAside !== null,
      planned: (host, segment) => maintenanceOf(this.orders, host, segment),
      incidentOver: (host) => this.store.isReturning(host),
      frozenBefore: freezeBefore(journal, clock),
      amongStarts: this.#starts.amongOthers ? { before: silenceBefore(journal) } : null,
      // What stands by says that it reads Nova; what becomes of hosts is the active one's to say.
      observer: {
        ...observer,
        poll: (seen) => observer.poll?.(this.#acts ? seen : { ...seen, frozen: null, verdicts: [] }),
      },
    }
    this.monitor = new Monitor(monitored, parts.watched?.monitor ?? null)
    const { byDigest, pin } = pinnedWorkflows(journal, this.store, parts)
    this.#workflows = byDigest
    this.#pin = pin
    const { notices } = parts
    const incident = (id: string): Incident | undefined => this.store.find(id)
    const heldGroups = (): CountedGroup[] | null =>
      this.monitor.lastPoll() === null ? null : this.review.counted(this.operations.heldGroups())
    this.notices =
      notices === undefined
        ? null
        : new NoticeService({ clock, journal, cloud, observer, mode, incident, heldGroups, ...notices })
    const segmentOf = (it: Incident): Segment => segmentOfIncident(it, this.monitor)
    const earlier = (instance: string, except: string | null): EarlierRecovery | null =>
      earlierRecovery(journal, this.store, instance, except)
    const noteSegments = (): void => {
      const entries = segmentChanges(this.store.openOfAnyKind(), this.monitor)
      if (entries.length > 0) journal.append(entries)
    }
    const brake = new BrakeWatch({
      clock,
      journal,
      store: this.store,
      monitor: this.monitor,
      segmentOfIncident: segmentOf,
      withoutPlanned: (verdicts) => withoutPlanned(verdicts, this.orders),
      rules: () => rules.now.cloudBrake,
      confirmAfterBeats: () => rules.now.monitorSettings.confirmAfterBeats,
    })
    const freshness = { reading: () => rules.now.monitorSettings, standstill: this.standstill }
    const permissions = createPermissions({
      clock,
      store: this.store,
      orders: this.orders,
      monitor: this.monitor,
      ...{ mode, ...freshness, brake },
      segmentOfIncident: segmentOf,
      noteSegments,
      earlier,
      workflows: () => this.#workflows,
      memory,
      setSilentAside: () => this.#setAsides.setSilentAside(),
    })
    const processes = new ProcessFailures({
      ...{ clock, journal, observer, mode, brake, signal },
      ...{ monitor: this.monitor, store: this.store, orders: this.orders },
      workflow: () => rules.now.workflows.process,
    })
    this.#setAsides = new SetAsides({
      ...{ processes, clock, cloud, journal, observer, mode, brake, settings: rules.executorSettings },
      ...{ monitor: this.monitor, store: this.store, orders: this.orders, signal, ...freshness },
      permission: (it) => permissions.of(it),
      confirmAfterBeats: () => rules.now.monitorSettings.confirmAfterBeats,
    })
    const rulesInForce = (): object => rules.now
    this.#context = {
      cloud,
      journal,
      fencer,
      clock,
      observer,
      permissions,
      settings: rules.executorSettings,
      rulesInForce,
    }
    this.#queue = Slots.shared(parts.executorSettings.maxParallel)
    this.#runs = new IncidentRuns({
      ...{ clock, journal, observer, signal, store: this.store },
      run: (id) => runIncident(this.#context, id, this.#queue, signal),
      ended: (id) => void sleep(clock, closedKeptMs, signal).then(() => this.store.forgetClosed(id)),
    })
    this.#returns = new HostReturns({
      ...{ clock, cloud, journal, observer, mode, settings: rules.executorSettings },
      monitor: this.monitor,
      store: this.store,
      orders: this.orders,
      signal: this.#stopping.signal,
      ...freshness,
    })
    this.#staleOrders = new StaleOrders({
      ...{ clock, cloud, journal, observer, mode, settings: rules.executorSettings },
      monitor: this.monitor,
      store: this.store,
      orders: this.orders,
      signal: this.#stopping.signal,
      ...freshness,
    })
    this.#lateEvacuations = new LateEvacuations({ context: this.#context, monitor: this.monitor, signal })
    this.#afterReturns = new AfterReturns({
      ...{ context: this.#context, queue: this.#queue, monitor: this.monitor, store: this.store, orders: this.orders },
      ...{ mode, signal: this.#stopping.signal, ...freshness },
    })
    this.#instanceFailures = new InstanceFailures({
      ...{ context: this.#context, queue: this.#queue, monitor: this.monitor, store: this.store, mode, signal },
      ownerPolicy: () => rules.now.ownerPolicy,
      workflow: (pinned) =>
        pinned === null ? rules.now.workflows.instance : pinnedWorkflow(this.#workflows, pinned, 'instance'),
    })
    const reports = new ReportBook({
      ...{ clock, journal, observer, monitor: this.monitor, store: this.store, orders: this.orders },
      ...{ processes, instances: this.#instanceFailures },
      wake: () => this.#watch.wake(),
    })
    this.#reportBook = reports
    this.reports = reports
    this.#watch = new WatchLoop({
      clock,
      journal,
      monitor: this.monitor,
      store: this.store,
      brake,
      followers: [
        ...[
          processes,
          this.#setAsides,
          this.#returns,
          this.#staleOrders,
          this.#lateEvacuations,
          this.#afterReturns,
          reports,
        ],
        tellOfOrdersWithoutHosts({ orders: this.orders, monitor: this.monitor, journal }),
      ],
      observer,
      pollIntervalMs: () => rules.now.monitorSettings.pollIntervalMs,
      mode,
      workflowDigest: () => rules.now.workflows.host.digest,
      segmentFor: (host) => this.#segmentFor(host),
      inMaintenance: ({ host, segment }) => maintenanceOf(this.orders, host, segment) !== null,
      run: (id) => this.#runs.start(id),
      afterPoll: () => memory.look(),
    })
    const windows = (): readonly MaintenanceWindow[] => rules.now.maintenanceWindows ?? []
    this.#scheduler = new OrderScheduler({ clock, journal, observer, orders: this.orders, windows })
    const logLevel = parts.logLevel ?? new LogLevelInForce(clock, 'info', () => undefined)
    this.#logLevel = logLevel
    this.#reloads = new Reloads({
      ...{ clock, journal, observer, logLevel, signal, mode },
      source: parts.configuration ?? null,
      records: () => this.#acts || parts.tenure === undefined,
      prepare: (next) => this.#prepare(next),
    })
    const startedAt = new Date(clock.wall()).toISOString()
    const began = clock.now()
    const receivers = (): ReceiverHealth[] => this.notices?.health() ?? []
    const about = (): OperationsAbout => {
      const { name, revision, digest } = rules.now.workflows.host
      return {
        version: parts.version,
        mode: mode(),
        pid: parts.pid ?? process.pid,
        startedAt,
        restartLoop: restartLoop(this.#starts, clock.now() - began),
        cloud: parts.cloudName,
        workflow: { name, revision, digest },
        tenure: parts.tenure?.() ?? null,
        receivers: receivers(),
      }
    }
    const records = new IncidentRecords(journal, () => sleep(clock, 0))
    const again = (it: Incident): TryAgain | null =>
      tryAgainOf(it, againFacts(it.host, { journal, store: this.store, monitor: this.monitor, mode, earlier }))
    this.operations = createOperations({
      clock,
      journal,
      journalPath: parts.journalPath,
      handOver: (why) => parts.handOver?.(why),
      store: this.store,
      records,
      unreviewed: new UnreviewedIncidents(journal),
      orders: this.orders,
      monitor: this.monitor,
      brake,
      windows,
      watch: this.#watch,
      afterReturns: this.#afterReturns,
      again,
      reloads: this.#reloads,
      logLevel,
      testReceiver: async (test) => {
        const tenure = parts.tenure?.() ?? null
        // A standby sends nothing, and what it cannot send says nothing of the receiver.
        if (tenure !== null && tenure.state !== 'active') throw notActive(tenure)
        if (this.notices === null) throw new LifeboatError('NOT_FOUND', 'No receiver is configured')
        return this.notices.test(test)
      },
      about,
    })
    this.failover = new FailoverWrites({
      ...{ clock, journal, store: this.store, orders: this.orders, monitor: this.monitor, reports },
    })
    const plan = (read: Cloud, subject: PlanSubject): Promise<HostPlan> => {
      const { workflows, segmentOf, ownerPolicy } = rules.now
      const settings = rules.executorSettings
      return planFailure({ cloud: read, clock, workflows, segmentOf, ownerPolicy, earlier, settings }, subject)
    }
    const planHost: ReadsParts['plan'] = (read, host) => plan(read, { host, failure: 'host' })
    this.#reads = new ReadinessReads({
      ...{ clock, cloud, fencer, journal, plan: planHost, monitor: this.monitor, store: this.store },
    })
    this.review = createReview({
      ...{ clock, cloud, journal, records, again, plan, brake, mode, reads: this.#reads },
      store: this.store,
      orders: this.orders,
      monitor: this.monitor,
      settings: rules.executorSettings,
      receivers,
      pages: () => rules.now.pages ?? null,
    })
  }

  /** Watches, and picks up what is unfinished once Nova has been read: before that a host's segment is not known. */
  start(): void {
    const { journal, version, pid = process.pid } = this.#parts
    const { mode } = this.#rules.now
    this.#acts = true
    if (this.#pin.length > 0) journal.append(this.#pin)
    // Before anything new is on record: it looks at what the last run left behind.
    this.notices?.start()
    const alarm = loopAlarm(this.#starts, journal)
    journal.append([{ kind: 'daemon.started', data: { version, mode, pid } }, ...alarm])
    this.#parts.observer.starts?.({ deaths: this.#starts.deaths })
    // One that is held as before writes nothing: until then it would be missed, and its alert would end.
    this.#parts.observer.incidents?.(this.store.openOfAnyKind())
    void this.standstill.watch(this.#stopping.signal)
    // Before the first poll: what a daemon starts inside of, or what ended while none ran, decides about its verdicts.
    this.#scheduling = this.#scheduler.run(this.#stopping.signal)
    // First: a run goes on with its incident in the same moment, and may end it at once, with the reports that it has by then.
    this.#reportBook.start()
    this.#instanceFailures.start()
    this.#polling = this.#watch.run(this.#stopping.signal)
  }

  /**
   * From `afterMs` on reads what readiness is made of. Not part of `start`: it is nothing that a recovery needs, and what is rehearsed asks
   * the cloud for that alone.
   */
  watchReadiness(afterMs = 0): void {
    const { signal } = this.#stopping
    void sleep(this.#parts.clock, afterMs, signal).then(() => this.#reads.run(signal))
  }

  /**
   * Watches until `signal` aborts, and neither records nor sends anything: it learns how the hosts' heartbeats come. It is of no use after
   * that: another one acts, built of what is on record by then, and nothing of this one may go on beside it.
   */
  async standBy(signal: AbortSignal): Promise<void> {
    const { clock, journal } = this.#parts
    signal.addEventListener('abort', () => this.#stopping.abort(), { once: true })
    void this.standstill.watch(signal)
    // A daemon that acts lets go of an incident when its run ends; here nothing runs, and it goes on to hear of them when another one acts.
    journal.onAppend(({ kind, incident }) => {
      // Where its instances were watched after its end, the last word of that comes later.
      if ((kind === 'incident.closed' || kind === 'instances.watched') && incident !== null)
        void sleep(clock, closedKeptMs, signal).then(() => this.store.forgetClosed(incident))
    })
    while (!isAborted(signal)) {
      await this.monitor.poll(signal)
      await sleep(clock, this.#rules.now.monitorSettings.pollIntervalMs, signal)
    }
  }

  /** As `lifeboat reload`, asked for by the process itself. Never rejects: what went wrong is on record, of a standby in the log. */
  async reloadBySignal(name: string): Promise<void> {
    await this.#reloads.reload({ by: name, actor: `signal:${name}`, reason: '' }).catch(() => undefined)
  }

  /** Another daemon of this process took its place: nothing that it still reads is put in force. */
  supersede(): void {
    this.#stopping.abort()
  }

  /** Stops new work, lets writes in flight be answered and recorded, and leaves open incidents for the next start. */
  async stop(reason: string): Promise<void> {
    this.#logLevel.end()
    if (this.#stopping.signal.aborted) return
    this.#stopping.abort()
    await Promise.allSettled([this.#polling, this.#scheduling, this.#runs.idle()])
    // A start that failed half way (a port that is taken) has nothing on record that could end.
    if (this.#polling === null) return
    await this.#returns.idle()
    await this.#setAsides.idle()
    await this.#staleOrders.idle()
    await this.#lateEvacuations.idle()
    await this.#afterReturns.idle()
    await this.#instanceFailures.idle()
    await this.notices?.stop()
    this.#parts.journal.append([{ kind: 'daemon.stopped', data: { reason } }])
  }

  /** Resolves when no incident is being run. */
  async idle(): Promise<void> {
    await this.#runs.idle()
  }

  #segmentFor(host: string): Segment {
    return this.monitor.segment(host)
  }

  /** The exchange of the rules, as one synchronous act once its entries are on record. Throws CONFLICT where an order would be left without hosts. */
  #prepare(next: Rules): { entries: NewEntry[]; adopt: () => void } {
    keepsOrders(this, next.segmentOf)
    const { byDigest, pin } = pinnedWorkflows(this.#parts.journal, this.store, next)
    const adopt = (): void => {
      this.#rules.replace(next)
      this.#workflows = byDigest
      this.#queue.concurrency = next.executorSettings.maxParallel
      const { segmentOf, probes, monitorSettings: settings } = next
      this.monitor.adopt({ segmentOf, probes, settings })
      if (next.notices !== undefined) this.notices?.configure(next.notices.rules, next.notices.deliver)
      this.#watch.wake()
      this.#scheduler.wake()
    }
    return { entries: [...pin, ...segmentChanges(this.store.openOfAnyKind(), this.monitor, next.segmentOf)], adopt }
  }
}
