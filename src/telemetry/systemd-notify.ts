/**
 * Notifications to systemd: ready, reloading, stopping, status and the watchdog. Without NOTIFY_SOCKET (not started by systemd) nothing
 * is sent. Node cannot write to a datagram socket of the file system, so the systemd-notify program does it; the unit has
 * NotifyAccess=all, because the message comes from a child of the daemon.
 */
import { execFile } from 'node:child_process'
import process from 'node:process'
import type { Clock } from '../domain/clock.ts'
import { ensureError } from '../domain/errors.ts'
import { live, type HealthLimits, type Progress } from './health.ts'

export type RunNotify = (parameters: string[], done: (error: Error | null) => void) => void

export interface NotifyOptions {
  clock: Clock
  /** The process's environment: NOTIFY_SOCKET and WATCHDOG_USEC come from there. */
  environment: Record<string, string | undefined>
  progress: () => Progress
  limits?: HealthLimits
  /** Told when a notification could not be sent. */
  onError: (error: Error) => void
  run?: RunNotify
  /** CLOCK_MONOTONIC in microseconds, as systemd compares it with its own. Default: this machine's. */
  monotonicUsec?: () => bigint
}

export interface SystemdNotify {
  ready(status: string): void
  /** A reload begins; `ready` ends it, whatever became of it. */
  reloading(): void
  status(text: string): void
  /** Also ends the watchdog's feeding: systemd's stop time limit takes over. */
  stopping(status: string): void
  /** Starts feeding the watchdog, if the unit has one. Gives what ends that: a process that is fed does not end by itself. */
  startWatchdog(): () => void
}

/** The program must not outlive its use: a hung one would pile up at every feeding. */
const notifyTimeoutMs = 5_000

/** Whether the watchdog may be fed: only progress counts. A journal that fails is an alarm, not a reason to be killed. */
export function shouldFeed(progress: Progress, nowMs: number, limits?: HealthLimits): boolean {
  return live(progress, nowMs, limits).ok
}

/** How often to feed: a third of what systemd allows, so that one lost feeding kills nobody. Null without a watchdog. */
export function feedEveryMs(environment: Record<string, string | undefined>): number | null {
  const allowed = Number(environment['WATCHDOG_USEC'] ?? '')
  return Number.isFinite(allowed) && allowed > 0 ? Math.max(1_000, Math.floor(allowed / 3_000)) : null
}

export function createSystemdNotify(options: NotifyOptions): SystemdNotify {
  const { clock, environment, progress, limits, onError } = options
  const run = options.run ?? runSystemdNotify
  const monotonicUsec = options.monotonicUsec ?? ((): bigint => process.hrtime.bigint() / 1_000n)
  let stopFeeding = (): void => undefined
  // One after another: each is a program of its own, and a READY that overtakes its RELOADING says the wrong thing.
  const waiting: string[][] = []
  let underWay = false
  const next = (): void => {
    const assignments = underWay ? undefined : waiting.shift()
    if (assignments === undefined) return
    underWay = true
    run(assignments, (error) => {
      underWay = false
      if (error !== null) onError(error)
      next()
    })
  }
  const send = (...assignments: string[]): void => {
    if ((environment['NOTIFY_SOCKET'] ?? '') === '') return
    waiting.push(assignments)
    next()
  }
  const feedLater = (everyMs: number): void => {
    stopFeeding = clock.after(everyMs, () => {
      if (shouldFeed(progress(), clock.now(), limits)) send('WATCHDOG=1')
      feedLater(everyMs)
    })
  }
  return {
    ready: (status) => send('READY=1', `STATUS=${flat(status)}`),
    reloading: () => send('RELOADING=1', `MONOTONIC_USEC=${monotonicUsec()}`, 'STATUS=Reloading'),
    status: (text) => send(`STATUS=${flat(text)}`),
    stopping: (status) => {
      stopFeeding()
      send('STOPPING=1', `STATUS=${flat(status)}`)
    },
    startWatchdog: () => {
      const everyMs = feedEveryMs(environment)
      if (everyMs !== null && (environment['NOTIFY_SOCKET'] ?? '') !== '') feedLater(everyMs)
      return () => stopFeeding()
    },
  }
}

/** A line end would begin another assignment. */
function flat(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function runSystemdNotify(parameters: string[], done: (error: Error | null) => void): void {
  try {
    execFile('systemd-notify', parameters, { timeout: notifyTimeoutMs }, (error) => done(error))
  } catch (thrown) {
    // No memory for a child is thrown at once, from a timer: it would end the daemon that the watchdog watches over.
    done(ensureError(thrown))
  }
}
