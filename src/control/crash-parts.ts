/** What is needed to deal with guests that crash on hosts that live. */
import type { CrashWorkflow } from '../engine/crash.ts'
import type { OwnerPolicySettings } from '../engine/owner-policy.ts'
import type { ExecutorContext } from '../executor/context.ts'
import type { SharedQueue } from '../executor/slots.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { Hypervisors } from './crash-look.ts'
import type { CrashRecord } from './crash-record.ts'
import type { IncidentStore } from './incident-store.ts'

export interface InstanceFailuresParts {
  context: ExecutorContext
  queue: SharedQueue
  monitor: Pick<Monitor, 'verdict' | 'segment' | 'frozen' | 'cloudNow'>
  store: IncidentStore
  mode: () => 'observe' | 'armed'
  ownerPolicy: () => OwnerPolicySettings
  /** The one that an incident began with; null: of new incidents. Throws WORKFLOW_INVALID for one that is lost or cannot be read. */
  workflow: (digest: string | null) => CrashWorkflow
  signal: AbortSignal
}

/** What a run may see and do. */
export interface CrashParts extends InstanceFailuresParts {
  record: CrashRecord
  hypervisors: Hypervisors
}
