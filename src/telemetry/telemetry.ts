/**
 * Telemetry as the daemon sees it: one observer to tell, metrics to serve, health to ask. It decides nothing, and nothing in
 * the daemon waits for it.
 */
import process from 'node:process'
import type { DestinationStream } from 'pino'
import type { BrakeScope } from '../domain/brake.ts'
import type { Clock } from '../domain/clock.ts'
import type { Observer, PollSeen, RequestSeen } from '../domain/observer.ts'
import { returnStates } from '../domain/host-return.ts'
import { scopeKinds, type StandingOrderKind } from '../domain/standing-order.ts'
import { verdictKinds } from '../domain/verdict.ts'
import { lineOf } from './entry-lines.ts'
import { defaultHealthLimits, live, ready, type Health, type HealthLimits, type Progress } from './health.ts'
import { createLogger, type Level, type Logger } from './logger.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { entryMetrics } from './observe-entries.ts'

export interface TelemetryOptions {
  level: Level
  clock: Clock
  version: string
  /** Default: stdout. */
  stream?: DestinationStream
  limits?: HealthLimits
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
  metrics.buildInfo.set({ version: options.version, node: process.version }, 1)
  metrics.startTime.set(clock.wall() / 1000)
  const wallSeconds = (): number => clock.wall() / 1000

  return {
    logger,
    contentType: registry.contentType,
    metricsText: () => registry.metrics(),
    health: {
      live: () => live(progress, clock.now(), limits),
      ready: () => ready(progress, clock.now(), limits),
      progress: () => ({ ...progress }),
    },
    journalWrite: ({ tookMs, problem }) => {
      metrics.journalAppend.observe({ result: problem === null ? 'written' : 'failed' }, tookMs / 1000)
      progress.journalProblem = problem
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
        const { level, message, fields } = lineOf(entry)
        logger.log(level, entry.kind, message, fields)
      },
      incidents: (open) => {
        metrics.incidents.reset()
        for (const { phase, held } of open) metrics.incidents.inc({ phase, held: held?.code ?? 'none' })
      },
      standingOrders: (inForce) => {
        // Zeros are said too: an alert on "> 0" must see it end.
        for (const scope of scopeKinds) {
          const count = (kind: StandingOrderKind): number =>
            inForce.filter((order) => order.kind === kind && order.scope.kind === scope).length
          metrics.pauses.set({ scope }, count('pause'))
          metrics.maintenance.set({ scope }, count('maintenance'))
        }
        metrics.paused.set(inForce.some(({ kind, scope }) => kind === 'pause' && scope.kind === 'cloud') ? 1 : 0)
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
