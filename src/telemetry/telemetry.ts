/**
 * Telemetry as the daemon sees it: one observer to tell, metrics to serve, health to ask. It decides nothing, and nothing in
 * the daemon waits for it.
 */
import process from 'node:process'
import type { DestinationStream } from 'pino'
import type { BrakeScope } from '../domain/brake.ts'
import type { Clock } from '../domain/clock.ts'
import type { Incident } from '../domain/incident.ts'
import type { CloudSeen, Observer, PollSeen, RequestSeen } from '../domain/observer.ts'
import { returnStates } from '../domain/host-return.ts'
import { scopeKinds, type OrderKind } from '../domain/order.ts'
import { verdictKinds } from '../domain/verdict.ts'
import { lineOf } from './entry-lines.ts'
import { defaultHealthLimits, live, ready, type Health, type HealthLimits, type Progress } from './health.ts'
import { createLogger, type Level, type LogFormat, type Logger } from './logger.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { entryMetrics } from './observe-entries.ts'

export interface TelemetryOptions {
  level: Level
  /** Default: json. */
  format?: LogFormat
  clock: Clock
  version: string
  /** Default: stdout. */
  stream?: DestinationStream
  limits?: HealthLimits
}

/** What the daemon takes of its machine, in bytes. Undefined: it could not be read. */
export interface OwnResources {
  memoryUsed: number
  memoryLimit: number
  journalSize?: number | undefined
  journalFree?: number | undefined
}

/** Where the daemon stands among those that share its journal. */
export interface Standing {
  active: number
  tenureEpoch: number
  leaseLeft: number
  standbys: number
  daemonsDiffer: number
  nameTaken: number
  journalBehind: number
  journalStaged: number
  journalPutBack: number
  /** Undefined: it could not be read. */
  journalAside: number | undefined
}

/** What the journal tells of each attempt to write. */
export interface JournalWriteSeen {
  tookMs: number
  /** Null when it was written; else why not. */
  problem: string | null
}

export interface Telemetry {
  observer: Required<Observer>
  logger: Logger
  /** To be given to the journal as `onWrite`. */
  journalWrite: (seen: JournalWriteSeen) => void
  metricsText(): Promise<string>
  /** What is asked again for each scrape. Must not throw. */
  beforeScrape(look: () => OwnResources & Partial<Standing>): void
  contentType: string
  health: { live(): Health; ready(): Health; progress(): Progress }
}

/** Makes the telemetry of one daemon. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { clock } = options
  const limits = options.limits ?? defaultHealthLimits
  const logger = createLogger(options)
  const { metrics, registry } = createMetrics()
  const progress: Progress = {
    startedMs: clock.now(),
    lastPollMs: null,
    lastGoodPollMs: null,
    lastJournalMs: null,
    journalProblem: null,
  }
  const count = entryMetrics(metrics)
  const progressOf = new Map<string, number>()
  let look: (() => OwnResources & Partial<Standing>) | null = null
  metrics.buildInfo.set({ version: options.version, node: process.version }, 1)
  metrics.startTime.set(clock.wall() / 1000)
  const wallSeconds = (): number => clock.wall() / 1000

  return {
    logger,
    contentType: registry.contentType,
    metricsText: () => {
      for (const [name, value] of Object.entries(look?.() ?? {}))
        if (value !== undefined) metrics[name as keyof (OwnResources & Standing)].set(value as number)
      return registry.metrics()
    },
    beforeScrape: (asked) => {
      look = asked
    },
    health: {
      live: () => live(progress, clock.now(), limits),
      ready: () => ready(progress, clock.now(), limits),
      progress: () => ({ ...progress }),
    },
    journalWrite: ({ tookMs, problem }) => {
      metrics.journalAppend.observe({ result: problem === null ? 'written' : 'failed' }, tookMs / 1000)
      progress.journalProblem = problem
      metrics.journalWritable.set(problem === null ? 1 : 0)
      if (problem !== null) return
      progress.lastJournalMs = clock.now()
      metrics.journalTimestamp.set(wallSeconds())
    },
    observer: {
      request: (seen) => observeRequest(metrics, logger, seen),
      poll: (seen) => {
        progress.lastPollMs = clock.now()
        if (seen.ok) {
          progress.lastGoodPollMs = progress.lastPollMs
          metrics.pollTimestamp.set(wallSeconds())
        }
        observePoll(metrics, logger, seen)
      },
      entry: (entry) => {
        count(entry)
        if (entry.incident !== null) progressOf.set(entry.incident, Date.parse(entry.at) / 1000)
        const { level, message, fields } = lineOf(entry)
        logger.log(level, entry.kind, message, fields)
      },
      incidents: (open) => {
        metrics.incidents.reset()
        for (const { phase, held } of open) metrics.incidents.inc({ phase, held: held?.code ?? 'none' })
        observeProgress(metrics, open, progressOf)
      },
      orders: (inForce) => {
        // Zeros are said too: an alert on "> 0" must see it end.
        for (const scope of scopeKinds) {
          const count = (kind: OrderKind): number =>
            inForce.filter((order) => order.kind === kind && order.scope.kind === scope).length
          metrics.pauses.set({ scope }, count('pause'))
          metrics.maintenance.set({ scope }, count('maintenance'))
        }
        metrics.paused.set(inForce.some(({ kind, scope }) => kind === 'pause' && scope.kind === 'cloud') ? 1 : 0)
      },
      cloud: (seen) => observeCloud(metrics, seen),
      starts: ({ deaths }) => metrics.deaths.set(deaths),
      report: ({ about, result }) => metrics.reports.inc({ about, result }),
      journalVerified: (whole) => {
        metrics.journalVerifyOk.set(whole ? 1 : 0)
        if (whole) metrics.journalVerifyTimestamp.set(wallSeconds())
      },
      brake: (scopes) => observeBrake(metrics, scopes),
      returns: (hosts) => {
        for (const [state, { next }] of Object.entries(returnStates))
          if (next.length > 0) metrics.returningHosts.set({ state }, hosts[state as keyof typeof hosts] ?? 0)
      },
      configuration: ({ ok }) => {
        metrics.configReloadOk.set(ok ? 1 : 0)
        if (ok) metrics.configReloadTimestamp.set(wallSeconds())
      },
      notices: (waiting) => {
        metrics.noticeQueue.reset()
        for (const [receiver, count] of waiting) metrics.noticeQueue.set({ receiver }, count)
      },
      log: (level, event, fields, error) => {
        const { message, ...rest } = fields
        logger.log(level, event, typeof message === 'string' ? message : event, rest, error)
      },
    },
  }
}

function observeRequest(metrics: Metrics, logger: Logger, seen: RequestSeen): void {
  const status = /^[1-5]\d\d$/.test(seen.result) ? `${seen.result.charAt(0)}xx` : 'none'
  metrics.requests.observe({ service: seen.service, method: seen.method, status }, seen.tookMs / 1000)
  logger.log('debug', 'api.request', `${seen.method} ${seen.route} answered ${seen.result}`, { ...seen })
}

/** What stands still longest, for each segment; segments where nothing is under way say nothing. */
function observeProgress(metrics: Metrics, open: Incident[], progressOf: Map<string, number>): void {
  metrics.recoveryProgress.reset()
  const oldest = new Map<string, number>()
  for (const { id, process, segment, held, openedAt } of open) {
    // One of a process only waits for its nova-compute, for as long as that takes.
    if (held !== null || process !== null) continue
    const last = progressOf.get(id) ?? Date.parse(openedAt) / 1000
    oldest.set(segment, Math.min(last, oldest.get(segment) ?? Infinity))
  }
  for (const [segment, at] of oldest) metrics.recoveryProgress.set({ segment }, at)
  // Those that are over are never asked for again.
  const known = new Set(open.map(({ id }) => id))
  for (const id of progressOf.keys()) if (!known.has(id)) progressOf.delete(id)
}

function observeCloud(metrics: Metrics, { maxMicroversion, landsStopped, credential }: CloudSeen): void {
  metrics.cloudInfo.reset()
  metrics.cloudInfo.set({ max_microversion: maxMicroversion }, 1)
  metrics.landsStopped.set(landsStopped ? 1 : 0)
  metrics.credentialExpiry.reset()
  if (credential !== null) metrics.credentialExpiry.set({ kind: credential.kind }, credential.expiresAt / 1000)
}

/** Zeros are said too; a scope that has no hosts any more is not said at all. */
function observeBrake(metrics: Metrics, scopes: BrakeScope[]): void {
  metrics.brakeTripped.reset()
  metrics.brakeHosts.reset()
  for (const { scope, down, allowed, trippedSince } of scopes) {
    metrics.brakeTripped.set({ scope }, trippedSince === null ? 0 : 1)
    metrics.brakeHosts.set({ scope, count: 'down' }, down)
    metrics.brakeHosts.set({ scope, count: 'allowed' }, allowed)
  }
}

function observePoll(metrics: Metrics, logger: Logger, seen: PollSeen): void {
  metrics.polls.inc({ result: seen.ok ? 'ok' : 'failed' })
  metrics.pollDuration.observe(seen.tookMs / 1000)
  metrics.frozen.set(seen.frozen === null ? 0 : 1)
  const counts: Record<string, number> = {}
  if (seen.ok) {
    const segments = new Set(seen.verdicts.map((verdict) => verdict.segment))
    metrics.hosts.reset()
    // Zeros are said too: an alert on "host-down > 0" must see it end.
    for (const segment of segments)
      for (const verdict of Object.keys(verdictKinds)) metrics.hosts.set({ segment, verdict }, 0)
    for (const { segment, kind } of seen.verdicts) {
      metrics.hosts.inc({ segment, verdict: kind })
      counts[kind] = (counts[kind] ?? 0) + 1
    }
  }
  const fields = {
    hosts: seen.hosts,
    tookMs: seen.tookMs,
    verdicts: counts,
    ...(seen.frozen === null ? {} : { reason: seen.frozen }),
  }
  if (seen.ok) logger.log('debug', 'poll.ended', `Polled ${seen.hosts} hosts`, fields)
  else logger.log('warn', 'poll.failed', 'Nova did not answer the poll', fields)
}
