/** The survey: everything the engine may know about a dead host when it decides. Collected by executor/, read-only. */
import type { Capabilities } from './cloud.ts'
import type { Aggregate, Instance, InstanceAction, InstanceId, Migration, ServerGroup, Volume } from './instance.ts'
import type { HostName, ServiceRecord } from './service.ts'

export interface Survey {
  host: HostName
  /** ISO, our wall clock. */
  takenAt: string
  capabilities: Capabilities
  instances: Instance[]
  /** Every migration with the host at either end. */
  migrations: Migration[]
  services: ServiceRecord[]
  serverGroups: ServerGroup[]
  aggregates: Aggregate[]
  volumes: Record<string, Volume>
  /** Only for instances whose original state needs the history: stopped and resized ones. Newest first. */
  actions: Record<InstanceId, InstanceAction[]>
  /** Projects with encrypted volumes here -> may we act in their name. */
  mayActFor: Record<string, boolean>
  /** Parts that could not be read, by name, with why. The engine decides cautiously where it needs them. */
  missing: Record<string, string>
}

/** An instance's state before we touched it: taken once, before the first write, never derived again (law L4). */
export interface Original {
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
  /** A resize waiting for its confirmation, or null. */
  resize: { migrationUuid: string; sourceHost: HostName; destHost: HostName; sourceUp: boolean } | null
}
