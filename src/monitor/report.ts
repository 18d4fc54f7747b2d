/** What the monitor is given to judge by, and what it says of each poll. */
import type { Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { Observer } from '../domain/observer.ts'
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

/** What a monitor is made of: its rules, and what it asks of the rest of the daemon. */
export interface MonitorParts extends MonitorRules {
  cloud: Pick<Cloud, 'listServices' | 'listAggregates'>
  clock: Clock
  ours: (host: HostName) => boolean
  /** What an incident of ours set there still stands, and the incident is over. Default: never. */
  incidentOver?: (host: HostName) => boolean
  observer: Observer
  /** Whether its forced_down is ours. Default: never. */
  hasOurFlags?: (host: HostName) => boolean
  /** Whether it is disabled only because we keep it out of scheduling while it is silent. Default: never. */
  setAside?: (host: HostName) => boolean
  /** Why silence of the host is expected, in words, or null. Default: never. */
  planned?: (host: HostName, segment: string) => string | null
  /** What the run before left frozen: it lasts until a good answer, and the whole quiet time after that. Default: nothing. */
  frozenBefore?: Frozen | null
  /** This start is one of several, and what the run before left of silent hosts. Default: it stands alone. */
  amongStarts?: { before: (SilenceOnRecord & { at: string }) | null } | null
}

/** What the monitor asks of the rest of the daemon about a host before it judges it. */
export type HostQuestions = Required<
  Pick<MonitorParts, 'ours' | 'incidentOver' | 'hasOurFlags' | 'setAside' | 'planned'>
>

export interface PollReport {
  /** Whether Nova gave a usable answer. */
  ok: boolean
  frozen: Frozen | null
  /** The freeze began since the last report. */
  froze?: Frozen
  unfroze?: { reason: string; frozenForMs: number }
  changed: (Verdict & { from: VerdictKind; planned?: true })[]
  verdicts: Verdict[]
  alarms: Alarm[]
  /** What is to be put on record of silent hosts, for the next run. */
  silence?: SilenceOnRecord
  tookMs: number
}
