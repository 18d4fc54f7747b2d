/** A segment: the hosts that are recovered under one set of rules. */
import { defaultReturnRules, type ReturnRules } from './host-return.ts'
import { defaultRestartRules, type RestartRules } from './instance-failure.ts'
import type { HostName } from './service.ts'

/** Knobs of the instance table (design: which instance, how). Conditions in the workflows read them as `policy.*`. */
export interface InstancePolicy {
  /** An instance that was stopped: bring it elsewhere stopped, or leave it where it is. */
  stopped: 'evacuate' | 'leave'
  /** An instance that was in ERROR before the host died. */
  errorBefore: 'leave' | 'evacuate'
  /** Paused, suspended and rescued instances lose their memory: leave them stopped, or start them. */
  memoryLost: 'stopped' | 'start'
  /** Instances whose owners set no policy. */
  unasked: 'recover' | 'leave'
}

export interface Segment {
  name: string
  /** Where disks that are not volumes live. `local` is the safe default: evacuation would rebuild them from the image. */
  storage: 'shared' | 'local'
  /** Names of fencing methods, tried in this order. Empty: only a person's attestation. */
  fencing: string[]
  /** Names of probes. */
  probes: string[]
  onDeclaredDown: 'recover' | 'hold' | 'ignore'
  /** A host that a person disabled and that then falls silent. */
  onDisabledDown: 'hold' | 'recover'
  /**
   * A host that lives but whose nova-compute is silent (cut off, or its agent dead). `fence`: it is fenced first, and its
   * instances are evacuated only when that is proven.
   */
  onServiceDown: 'hold' | 'fence'
  /** The whole fencing chain, ms. Null: the deadline of the workflow's fence step. */
  fencingLimitMs: number | null
  policy: InstancePolicy
  brake: BrakeLimits
  /** Hosts of a segment with a higher number are begun first, and their instances go before all others'. */
  priority: number
  /** Evacuations in flight at once from one host of this segment. */
  maxParallelPerHost: number
  return: ReturnRules
  restart: RestartRules
}

export interface BrakeLimits {
  maxHosts: number
  /** 0 to 1: share of the segment's hosts. One host is always within the share: a segment of three must be recoverable. */
  maxShare: number
}

/** Which segment a host belongs to. Built from the configuration by daemon/. */
export type SegmentOf = (host: HostName, zone: string | null, aggregates: string[]) => Segment

/** The name of the segment of hosts that no segment of the configuration takes in. */
export const implicitSegment = 'default'

/** Of hosts in no segment: `default`, or `default:ZONE`. */
export function isImplicit(name: string): boolean {
  return name === implicitSegment || name.startsWith(`${implicitSegment}:`)
}

/** What holds where nobody says anything: each the choice that destroys nothing. */
export const builtInSettings: Omit<Segment, 'name'> = {
  storage: 'local',
  fencing: [],
  probes: [],
  onDeclaredDown: 'recover',
  onDisabledDown: 'hold',
  onServiceDown: 'hold',
  fencingLimitMs: null,
  policy: { stopped: 'evacuate', errorBefore: 'leave', memoryLost: 'stopped', unasked: 'recover' },
  brake: { maxHosts: 2, maxShare: 0.25 },
  priority: 0,
  maxParallelPerHost: 32,
  return: defaultReturnRules,
  restart: defaultRestartRules,
}
