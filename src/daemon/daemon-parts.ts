/** What a Daemon is made of, from the configuration: the one place where an option becomes a part's setting. */
import type { Clock } from '../domain/clock.ts'
import type { Observer } from '../domain/observer.ts'
import type { TenureView } from '../domain/tenure.ts'
import { parseAnyWorkflow, type Workflows } from '../engine/workflow.ts'
import type { Adapters } from '../adapters/adapters.ts'
import type { Config } from '../config/index.ts'
import type { DaemonParts } from './daemon.ts'
import type { Memory } from '../control/memory-watch.ts'
import type { LogLevelInForce } from '../operations/log-level.ts'
import type { ConfigurationSource } from '../operations/reloads.ts'
import { noticeRules } from '../adapters/notice-receivers.ts'
import type { ReviewedJournal } from '../review/incident-listing.ts'
import type { Rules } from '../control/rules.ts'

export interface DaemonSurroundings {
  clock: Clock
  observer: Observer
  version: string
  workflows: Workflows
  adapters: Adapters
  journal: ReviewedJournal
  journalPath: string
  configuration?: ConfigurationSource
  logLevel?: LogLevelInForce
  /** Default: this process's. */
  memory?: Memory
  /** Default: this process's. */
  pid?: number
  watched?: NonNullable<DaemonParts['watched']>
  tenure?: () => TenureView
  handOver?: (why: string) => void
}

export function daemonParts(config: Config, { adapters, workflows, ...surroundings }: DaemonSurroundings): DaemonParts {
  return { ...surroundings, ...rulesOf(config, adapters, workflows), cloudName: config.cloud }
}

/** What holds while this configuration does. */
export function rulesOf(config: Config, adapters: Adapters, workflows: Workflows): Rules {
  const { cloud, fencer, probes, segmentOf } = adapters
  return {
    ...{ cloud, fencer, probes, segmentOf, workflows },
    mode: config.mode,
    parsePinned: (source) => parseAnyWorkflow(source, 'journal', { ownerPolicy: config.ownerPolicy }),
    ownerPolicy: config.ownerPolicy,
    monitorSettings: config.monitor,
    cloudBrake: config.brake,
    executorSettings: {
      ...config.executor,
      fenceRetryMs: config.fenceRetryMs,
      fenceRetryMaxMs: config.fenceRetryMaxMs,
    },
    maintenanceWindows: config.maintenanceWindows,
    notices: { rules: noticeRules(config), deliver: adapters.receivers },
    pages: config.notices.link,
  }
}
