/** What a Daemon is made of, from the configuration: the one place where an option becomes a part's setting. */
import type { Clock } from '../domain/clock.ts'
import type { Observer } from '../domain/observer.ts'
import type { Workflow } from '../domain/plan.ts'
import { parseWorkflow } from '../engine/workflow.ts'
import type { Adapters } from './adapters.ts'
import type { Config } from './config/index.ts'
import type { DaemonParts } from './daemon.ts'
import { noticeRules } from './notice-receivers.ts'
import type { ReviewedJournal } from './review/incident-listing.ts'

export interface DaemonSurroundings {
  clock: Clock
  observer: Observer
  version: string
  workflow: Workflow
  adapters: Adapters
  journal: ReviewedJournal
  journalPath: string
  /** Default: this process's. */
  pid?: number
}

export function daemonParts(config: Config, { adapters, ...surroundings }: DaemonSurroundings): DaemonParts {
  return {
    ...adapters,
    ...surroundings,
    mode: config.mode,
    parsePinned: (source) => parseWorkflow(source, 'journal', { wishes: config.wishes }),
    monitorSettings: config.monitor,
    cloudBrake: config.brake,
    executorSettings: {
      ...config.executor,
      fenceRetryMs: config.fenceRetryMs,
      fenceRetryMaxMs: config.fenceRetryMaxMs,
    },
    cloudName: config.cloud,
    maintenanceWindows: config.maintenanceWindows,
    notices: { rules: noticeRules(config), deliver: adapters.receivers },
  }
}
