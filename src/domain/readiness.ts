/**
 * Readiness: what would happen to each host, and to the cloud, if a host died now; and what is missing for that. Plain JSON: review/
 * makes it, api/ serves it, web/ and cli/ show it.
 *
 * Times are ISO text of our wall clock. What is read of a host is read beside everything else, so each reading carries its time.
 */
import type { IncidentId } from './entry.ts'
import type { PowerReading } from './fencing.ts'
import type { ReturnState } from './host-return.ts'
import type { InstancePlan } from './plan.ts'
import type { HostName } from './service.ts'
import type { ProbeReading, VerdictKind } from './verdict.ts'
import type { VerdictReason } from './verdict-reasons.ts'

/** Whether a fencing method could prove a host dead now, as far as its device answers. */
export const fencingStates = {
  answers: 'The device of a fencing method answered',
  silent: 'No fencing device of the host answered',
  unread: 'The fencing devices of the host were not read yet',
  none: 'No fencing method is configured for the host',
} as const

export type FencingState = keyof typeof fencingStates

/** The last reading of one method's device. */
export interface FenceReading {
  method: string
  /** Null: not read yet, or the method is not configured for the host. */
  power: PowerReading['power'] | null
  detail: string
  /** Null: not read. */
  at: string | null
}

/** Instances that would not come back by themselves, for one reason. */
export interface LeftGroup {
  decision: Exclude<InstancePlan['decision'], 'recover'>
  reason: string
  message: string
  instances: number
  /** The first of them. */
  names: string[]
}

/** The plan of a host in numbers. */
export interface PlanCounts {
  /** When Nova was read. */
  at: string
  instances: number
  /** Those that would be recovered. */
  back: number
  /** The others, the largest group first. */
  left: LeftGroup[]
  /** Of the others, those whose disks are local to the host. */
  onLocalDisks: number
}

/** Why nothing would begin for the host by itself, although it could be proven dead. */
export type ReadinessHold = 'MAINTENANCE' | 'PAUSED' | 'FROZEN' | 'BRAKE'

export const gapCodes = {
  NO_FENCING: 'No fencing method is configured for it: a person must attest its death',
  FENCING_SILENT: 'A fencing device does not answer',
  FENCING_READS_OFF: 'A fencing device reads off though the host beats: it may be that of another machine',
  FENCING_UNREAD: 'Its fencing devices were not read yet',
  NO_PROBES: 'No probe watches it: only Nova says whether it lives',
  NO_PLAN: 'Its instances were not read yet',
  PLAN_FAILED: 'Its instances could not be read the last time',
} as const

export type GapCode = keyof typeof gapCodes

export interface HostReadiness {
  host: HostName
  segment: string
  verdict: VerdictKind
  reason: VerdictReason
  /** How far its return is, while something of ours is still set on it. */
  returning?: ReturnState | null
  /** Its open incident. */
  incident: IncidentId | null
  /** Null: not read yet. */
  plan: PlanCounts | null
  fencing: { state: FencingState; methods: FenceReading[] }
  /** Each probe of its segment, with its last reading; a host that beats is not probed. */
  probes: { probe: string; last: ProbeReading | null }[]
  holds: { code: ReadinessHold; message: string }[]
  /** From the verdict until the last of its instances is back, as earlier recoveries took, ms; null: unknown. */
  estimateMs: number | null
  missing: { code: GapCode; message: string }[]
}

/** What decided how many failures can be taken. */
export interface ReadinessLimit {
  scope: string
  title: string
  down: number
  allowed: number
}

export interface SegmentReadiness {
  name: string
  hosts: number
  /** Hosts that a fencing method can prove dead, as far as is known. */
  fenceable: number
  /** Instances on local disks that would be left. */
  onLocalDisks: number
}

export interface CloudReadiness {
  at: string
  /** For people, one thought a sentence; the first says how many failures can be taken now. */
  sentences: string[]
  /** Hosts that may fail now, wherever they are, and be recovered without a person. In observe mode: if it were armed. */
  failures: number
  /** Null: no scope of the brake limits it. */
  limit: ReadinessLimit | null
  segments: SegmentReadiness[]
}

export interface Readiness extends CloudReadiness {
  hosts: HostReadiness[]
}
