/** What the executor works with. Everything comes in through ports; nothing here decides whether to recover. */
import type { Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { IncidentId } from '../domain/entry.ts'
import type { ErrorRecord, LifeboatError } from '../domain/errors.ts'
import type { Fencer, FencingProof } from '../domain/fencing.ts'
import type { HoldCode } from '../domain/incident-phases.ts'
import type { Incident, InstanceRecovery } from '../domain/incident.ts'
import type { Instance, InstanceId } from '../domain/instance.ts'
import type { Journal } from '../domain/journal.ts'
import type { Observer } from '../domain/observer.ts'
import type { InstancePlan, StepKind, Workflow } from '../domain/plan.ts'
import type { Segment } from '../domain/segment.ts'
import type { HostName, ServiceRecord } from '../domain/service.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { Earlier } from './recall.ts'

export interface ExecutorSettings {
  /** Steps under way at once over all incidents. Too high: Nova's conductor queues grow; too low: recovery is slow. */
  maxParallel: number
  /** Pause between two readings of Nova while a recovery runs. Too long adds to every recovery; too short costs requests. */
  tickMs: number
  /**
   * How long a write whose answer was lost may still show up in Nova. Too short: it is sent twice, and two evacuations
   * of one instance destroy each other (docs/nova.md fact 1).
   */
  reconcileQuietMs: number
  /**
   * How long a request may live in a front end whose client has gone: a busy worker still serves what waits in its queue. Too short: an
   * evacuation is sent again and served twice, and its guest runs on two hosts. Too long: one whose answer was lost waits for as long;
   * the others go on.
   */
  longestRequestMs: number
  /** Pause before fencing is tried again after every method failed. Too short hammers a BMC that is rebooting. */
  fenceRetryMs: number
  /** The longest such pause: it doubles with each failure. Too short fills the journal while a board is dead for a week. */
  fenceRetryMaxMs: number
}

/** What must be true for the next write to be sent. Asked before every single one. */
export type Permission =
  /** `hostIsBack`: only to be looked at once more, for its host beats again; nothing was done to it yet. */
  | { allowed: true; hostIsBack?: string }
  /** Wait here, and say so. */
  | { allowed: false; hold: HoldCode; message: string; error?: ErrorRecord }
  /** A person cancelled the incident. */
  | { allowed: false; cancelled: string }

/**
 * What a write is to the recovery of its instance. `begins`: everything is asked before it. `finishes`: it starts a guest that an
 * evacuation of ours has brought to another host and left off; only the proof of death must stand, for the guest must run nowhere
 * else. `closes`: it takes back or corrects what is ours (our lock, a guest that runs although it is to be off); nothing speaks against
 * it (docs/decisions/0021).
 */
export type Act = 'begins' | 'finishes' | 'closes'

/** What the executor asks of the rest of the daemon: above all whether an incident may write. */
export interface Permissions {
  incident(id: IncidentId): Incident
  /** Asked before every single write. */
  of(incident: Incident, act?: Act): Permission
  /** What was seen of the host last; undefined before it was seen at all. */
  verdict(host: string): Verdict | undefined
  /** A fresh look at one host, right before acting. */
  lookAgain(host: string, signal: AbortSignal): Promise<{ verdict: Verdict; frozen: string | null }>
  /** Whether a host that was taking an instance is known to be fenced by now. */
  isFenced(host: string): boolean
  /** Whether it is, and was when the entry of that number was written: nothing that was sent since then went to it. */
  wasFencedBefore(host: string, seq: number): boolean
  /** Whether an incident of that host is open: it may be proven dead yet. */
  hasIncident(host: string): boolean
  /**
   * Keeps hosts that are silent now from becoming destinations. Resolves once Nova shows it, or after a moment: no evacuation waits for
   * an answer that Nova gives only when a dead host has answered it. Never throws.
   */
  setSilentAside(): Promise<void>
  /** Our text on the host's service where it was set aside so, or null. */
  setAsideReason(host: string): string | null
  /** What incidents before this one did with an instance, or one of another host that is open. */
  earlier: Earlier
  segment(incident: Incident): Segment
  workflow(digest: string): Workflow
  /** When the process last ended standing still, on our monotonic clock; -Infinity: never. What was read before is of a while ago. */
  stoodStillUntil(): number
  /**
   * Why a silent nova-compute on a living host proves nothing yet, or null: a fault of the control plane may have ended while this process stood
   * still, and agents need time to beat again.
   */
  quiet(): string | null
  /** Our own PUT moved the service's updated_at: no heartbeat. */
  noteOurWrite(service: ServiceRecord): void
}

export interface ExecutorContext {
  cloud: Cloud
  journal: Journal
  fencer: Fencer
  clock: Clock
  observer: Observer
  permissions: Permissions
  settings: ExecutorSettings
  /** Another object once a reload put other rules in force. Without it there are no reloads. */
  rulesInForce?: () => object
}

/** Which attempt at which step is about to be made. */
export interface Attempt {
  plan: InstancePlan
  recovery: InstanceRecovery
  step: { do: StepKind }
  act: Act
  /** The instance as it was last shown, and when that was (our monotonic clock). */
  watch: {
    instance(id: InstanceId): Instance | undefined
    shownAt(id: InstanceId): number
    list(goodForMs: number): Promise<void>
  }
}

/** Whether what was planned is still to be begun, by the rules in force. */
export interface PlansInForce {
  /** To be asked in the moment of the write. */
  stands(attempt: Attempt): boolean
  /** Resolves when the plan is what the rules in force decide; throws where it is another one, or must not be begun. */
  refresh(attempt: Attempt): Promise<void>
}

/** One incident being run. */
export interface Run extends ExecutorContext {
  id: IncidentId
  host: string
  /** Aborts when the daemon stops. Reads end at once; a write that was sent is always waited for. */
  signal: AbortSignal
  proof: FencingProof | null
  /** When making or reading it began, on our monotonic clock. */
  proofAskedAt: number
  /** Why the proof could not be renewed when it expired; null while it holds. No write passes the gate meanwhile. */
  proofExpired: LifeboatError | null
  /**
   * Where Placement says that evacuations went which no destination has taken yet, by the uuid of their records. `suspect`: the one host that has room
   * for the instance, be it only from an order that was lost.
   */
  destinations: Map<string, { host: HostName } | { unread: string; suspect?: HostName }>
  /** Whether what was planned is still to be begun. */
  plans: PlansInForce
}
