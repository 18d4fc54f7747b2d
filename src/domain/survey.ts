/** The survey: everything the engine may know about a dead host when it decides. Collected by executor/, read-only. */
import type { Capabilities } from './cloud.ts'
import type { ErrorRecord } from './errors.ts'
import type { Aggregate, Instance, InstanceAction, InstanceId, Migration, ServerGroup, Volume } from './instance.ts'
import type { Outcome } from './outcome.ts'
import type { HostName, ServiceRecord } from './service.ts'
import type { StepStatus } from './step-states.ts'

export interface Survey {
  host: HostName
  /** ISO, our wall clock. */
  takenAt: string
  /** When the host had last shown life as its incident opened, ISO, the cloud's time; missing or null where that is not known. */
  lastSeenAt?: string | null
  capabilities: Capabilities
  instances: Instance[]
  /** Instances that are elsewhere, and a move that binds them to the host. */
  bound?: Bound[]
  /** Every migration with the host at either end. */
  migrations: Migration[]
  services: ServiceRecord[]
  serverGroups: ServerGroup[]
  aggregates: Aggregate[]
  volumes: Record<string, Volume>
  /** Only for instances whose initial state needs the history: stopped and resized ones. Newest first. */
  actions: Record<InstanceId, InstanceAction[]>
  /** Projects with encrypted volumes here -> may we act in their name. */
  mayActFor: Record<string, boolean>
  /** Initial states that are on record already: they are taken once (law L4). */
  recorded?: Record<InstanceId, InitialState>
  /** Of instances that an earlier incident touched: their histories are in `actions` too. */
  earlier?: Record<InstanceId, SeenEarlier>
  /** Parts that could not be read, by name, with why. The engine decides cautiously where it needs them. */
  missing: Record<string, string>
}

/** Moves into the host that had not ended, and evacuations from it by others that arrived while its incident was open. */
export interface Bound {
  instance: Instance
  migration: Migration
}

/** An instance's state before we touched it: taken once, before the first write, never derived again (law L4). */
export interface InitialState {
  instance: Instance
  /** Whether its owner had it running. */
  wanted: 'running' | 'stopped' | 'unknown'
  /** How `wanted` was found, for people; disagreements are said here. */
  wantedBecause: string
  /** True when the sources disagreed. */
  flagged: boolean
  locked: boolean
  lockedReason: string | null
  /** Evacuation records of this instance that were there before ours (uuids): anything else is ours. */
  knownEvacuations: string[]
  /** It is what an earlier incident recorded; `traces`: Nova shows what that incident did to it. */
  earlier?: { incident: string; traces: boolean }
  /** A resize waiting for its confirmation, or null. */
  resize: { migrationUuid: string; sourceHost: HostName; destHost: HostName; sourceUp: boolean } | null
}

/** What an incident before this one did with an instance, and how that ended. */
export interface EarlierRecovery {
  incident: string
  original: InitialState
  outcome: Outcome | null
  /** Its steps, in the order in which they were begun. None: it was planned, and nothing was done. */
  steps: { kind: string; status: StepStatus; requestId: string | null; error: ErrorRecord | null }[]
  /** What its owner ordered meanwhile, as its rows have it; null: nothing. */
  ordered: 'stop' | 'start' | null
  /**
   * Of the last look before its first evacuation, ISO, cloud time. What its owner ordered since then is in the history alone. Null: it was
   * not evacuated.
   */
  lookedAt: string | null
  /** Of a guest that crashed on its living host; null: its host had failed. */
  ofCrash: EarlierCrash | null
  /** Its host had come back by itself, and it was off since then. */
  isOffAfterReturn: boolean
  /** ISO, our wall clock. */
  plannedAt: string
  /** Null: that incident is open and still works on the instance. */
  endedAt: string | null
  /** Whether a host was proven dead after it ended. */
  provenDeadSince: (host: HostName) => boolean
}

export interface EarlierCrash {
  /** Of the last look before its last reboot, ISO, cloud time. What its owner ordered since then may have crossed the reboot. Null: it was not rebooted. */
  lookedAt: string | null
  /** Its owner's stop had crossed the reboot, and was given again, or was to be. */
  stoppedAgain: boolean
}

/** The same, with what Nova tells of the time since. */
export interface SeenEarlier {
  before: EarlierRecovery
  /** All evacuations of the instance. */
  evacuations: Migration[]
  /** Someone else has acted on the guest since, and that succeeded. */
  actedOnGuest: boolean
  /** How long Nova may still serve a request whose answer was lost, ms (`executor.longest_request`). Missing: as long as by default. */
  requestLastsMs?: number
}
