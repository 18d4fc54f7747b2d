/**
 * What a reload can change of a running daemon, as one value that is replaced as a whole: anyone who acts asks for it when it
 * acts, and never sees half of the old and half of the new. Owns the exchange; what is in it is made by daemon-parts.ts.
 */
import type { CloudBrake } from '../domain/brake.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { Fencer } from '../domain/fencing.ts'
import type { SegmentOf } from '../domain/segment.ts'
import type { Probe } from '../domain/verdict.ts'
import type { OwnerPolicySettings } from '../engine/owner-policy.ts'
import type { AnyWorkflow, Workflows } from '../engine/workflow.ts'
import type { ExecutorSettings } from '../executor/context.ts'
import type { MonitorSettings } from '../monitor/settings.ts'
import type { Deliver, NoticeRules } from '../notices/index.ts'
import type { MaintenanceWindow } from '../orders/maintenance-window.ts'

export type Mode = 'observe' | 'armed'

export interface Rules {
  mode: Mode
  cloud: Cloud
  fencer: Fencer
  probes: ReadonlyMap<string, Probe>
  segmentOf: SegmentOf
  /** Those of new incidents. */
  workflows: Workflows
  /** Reads a workflow that the journal has pinned. */
  parsePinned: (source: string) => AnyWorkflow
  /** Where owners say what they want; the workflow knows it, too. */
  ownerPolicy: OwnerPolicySettings
  monitorSettings: MonitorSettings
  cloudBrake: CloudBrake
  executorSettings: ExecutorSettings
  /** Default: none. */
  maintenanceWindows?: readonly MaintenanceWindow[]
  /** Default: nobody is told of anything. */
  notices?: { rules: NoticeRules; deliver: ReadonlyMap<string, Deliver> }
  /** Where people find the pages. Default: nobody said. */
  pages?: string | null
}

export class RulesInForce {
  #rules: Rules
  readonly cloud: Cloud
  readonly fencer: Fencer
  readonly executorSettings: ExecutorSettings

  constructor(rules: Rules) {
    this.#rules = rules
    this.cloud = cloudNow(() => this.#rules.cloud)
    this.fencer = fencerNow(() => this.#rules.fencer)
    this.executorSettings = executorSettingsNow(() => this.#rules.executorSettings)
  }

  get now(): Rules {
    return this.#rules
  }

  replace(rules: Rules): void {
    this.#rules = rules
  }
}

/** A call under way ends where it began; the next one goes to the cloud of that moment. */
function cloudNow(now: () => Cloud): Cloud {
  return {
    capabilities: (options) => now().capabilities(options),
    listServices: (options) => now().listServices(options),
    updateService: (id, change, options) => now().updateService(id, change, options),
    listInstances: (host, options) => now().listInstances(host, options),
    listChangedInstances: (since, options) => now().listChangedInstances(since, options),
    getInstance: (id, options) => now().getInstance(id, options),
    listMigrations: (filter, options) => now().listMigrations(filter, options),
    listActions: (id, options) => now().listActions(id, options),
    guestRuns: (id, options) => now().guestRuns(id, options),
    getAction: (id, requestId, options) => now().getAction(id, requestId, options),
    listServerGroups: (options) => now().listServerGroups(options),
    listAggregates: (options) => now().listAggregates(options),
    getVolumes: (ids, options) => now().getVolumes(ids, options),
    allocatedHosts: (id, options) => now().allocatedHosts(id, options),
    hostTraits: (host, options) => now().hostTraits(host, options),
    mayActFor: (projectId, options) => now().mayActFor(projectId, options),
    evacuate: (id, order, options) => now().evacuate(id, order, options),
    start: (id, asProject, options) => now().start(id, asProject, options),
    stop: (id, options) => now().stop(id, options),
    reboot: (id, asProject, options) => now().reboot(id, asProject, options),
    lock: (id, reason, options) => now().lock(id, reason, options),
    unlock: (id, options) => now().unlock(id, options),
    resetState: (id, options) => now().resetState(id, options),
    confirmResize: (id, options) => now().confirmResize(id, options),
  }
}

/** A chain under way is gone through as it began; the next try takes the methods of that moment. */
function fencerNow(now: () => Fencer): Fencer {
  return {
    fence: (host, methods, onAttempt, limits) => now().fence(host, methods, onAttempt, limits),
    restore: (record, signal) => now().restore(record, signal),
    look: (host, method, limits) => now().look(host, method, limits),
    renewEveryMs: (method) => now().renewEveryMs(method),
    attest: (host, by, text) => now().attest(host, by, text),
    verify: (proof, host) => now().verify(proof, host),
  }
}

function executorSettingsNow(now: () => ExecutorSettings): ExecutorSettings {
  return {
    get maxParallel() {
      return now().maxParallel
    },
    get tickMs() {
      return now().tickMs
    },
    get reconcileQuietMs() {
      return now().reconcileQuietMs
    },
    get longestRequestMs() {
      return now().longestRequestMs
    },
    get fenceRetryMs() {
      return now().fenceRetryMs
    },
    get fenceRetryMaxMs() {
      return now().fenceRetryMaxMs
    },
  }
}
