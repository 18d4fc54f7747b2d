/** What the monitor is given to judge by, and what it says of each poll. */
import type { SegmentOf } from '../domain/segment.ts'
import type { HostName } from '../domain/service.ts'
import type { SilenceOnRecord } from '../domain/silence.ts'
import type { Probe, Verdict, VerdictKind } from '../domain/verdict.ts'
import type { MonitorSettings } from './settings.ts'

export interface Frozen {
  reason: string
  message: string
  /** Our monotonic clock, ms. */
  since: number
}

/** Nova was asked for its services, and answered. */
export interface Reading {
  /** Our monotonic clock, ms. */
  askedAt: number
  /** The shorter of the last two, witnesses included: one in which the process stood still says nothing of Nova. */
  usuallyMs: number
}

export interface Alarm {
  code: string
  message: string
  host?: HostName
  evidence?: Verdict['evidence']
}

/** What the monitor judges by. */
export interface MonitorRules {
  segmentOf: SegmentOf
  probes: ReadonlyMap<string, Probe>
  settings: MonitorSettings
}

export interface PollReport {
  /** Whether Nova gave a usable answer. */
  ok: boolean
  frozen: Frozen | null
  /** The freeze began since the last report. */
  froze?: Frozen
  thawed?: { reason: string; frozenForMs: number }
  changed: (Verdict & { from: VerdictKind })[]
  verdicts: Verdict[]
  alarms: Alarm[]
  /** What is to be put on record of silent hosts, for the next run. */
  silence?: SilenceOnRecord
  tookMs: number
}
