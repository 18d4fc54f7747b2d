/**
 * What a workflow may decide about a guest that was reported crashed on a host that lives, and what it may not (`whyNotRestart`). Pure.
 *
 * Nova's own record is stale after a crash (docs/nova.md §1.8): it shows the instance active until its power sync comes by, and then
 * calls `stop` for it in nobody's name. So an active instance is judged by its hypervisor's answer, and a stopped one by its history:
 * only a stop in nobody's name is undone.
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { RestartRules } from '../domain/instance-failure.ts'
import type { Aggregate, Instance, InstanceAction } from '../domain/instance.ts'
import type { InstancePlan, Recipe, StepKind, WorkflowRecord } from '../domain/plan.ts'
import { byPowerSync, lastOrder, lastStartMs, lastStartOrderMs, powerActions } from '../domain/power-history.ts'
import type { InstancePolicy } from '../domain/segment.ts'
import type { HostName } from '../domain/service.ts'
import type { OwnerPolicySettings } from './owner-policy.ts'
import { span } from '../domain/text/span.ts'

/** What the hypervisor said. `forbidden`: we may not ask; `silent`: its nova-compute did not answer. Null: it was not asked. */
export type LiveLook = 'running' | 'off' | 'forbidden' | 'silent' | null

export interface CrashFacts {
  /** Where the report came from. */
  host: HostName
  /** Null: Nova no longer knows it. */
  instance: Instance | null
  live: LiveLook
  /** Newest first. Null: they were not read. */
  actions: readonly InstanceAction[] | null
  /** Those of its host. */
  aggregates: Aggregate[]
  /** Unread volumes count as encrypted. */
  encrypted: boolean
  mayActForProject: boolean
  /** When it crashed, as the report tells, by the cloud's clock, ms since the epoch. */
  crashedAt: number
  /** When the last report of it came, by the cloud's clock, ms since the epoch. */
  reportedAt: number
  /** Ids of what Lifeboat itself has ordered for it, after its host's return too; null: that of a restart because of this crash is not known. */
  requests: readonly string[] | null
  /** Other hosts whose open incidents are still to bring it back. */
  evacuatedFrom: readonly HostName[]
  /** Its last crash on this host, if a person cancelled the incident. Then `actions` were read. */
  cancelled: CancelledCrash | null
  /** Time since the report came, by our monotonic clock. */
  sinceMs: number
}

/** Times are the cloud's, in ms since the epoch. */
export interface CancelledCrash {
  openedAt: number
  closedAt: number
  /** Ids of what Lifeboat had sent for it before it was cancelled. */
  requests: readonly string[]
}

export interface CrashRules {
  segment: string
  restart: RestartRules
  policy: InstancePolicy
  owner: OwnerPolicySettings
}

/** What follows, by which rule. `code` and `message` go on record. */
interface Decided {
  /** Empty: no rule decided. */
  rule: string
  message: string
}

export type CrashDecision =
  /** Not ours to restart (`ignored`), or as it should be (`finished`): no incident begins. `runs`: its guest does. */
  | (Decided & { do: 'nothing'; status: 'ignored' | 'finished'; runs: boolean; code: string })
  /** Nova is between two states: look again. */
  | (Decided & { do: 'wait' })
  /** Lifeboat tells people and does nothing. */
  | (Decided & { do: 'leave'; code: string })
  | (Decided & {
      do: 'restart'
      code: string
      recipe: string
      /** The one step of that recipe. */
      step: RestartStep
      /** Every recipe of the workflow: Nova may stop it before its turn, and then another one fits. */
      recipes: Record<string, Recipe>
    })

export type RestartStep = Extract<StepKind, 'reboot' | 'start'>

/** A workflow document for crashed guests. */
export interface CrashWorkflow extends WorkflowRecord {
  failure: 'instance'
  decide(facts: CrashFacts, rules: CrashRules): CrashDecision
  /** As `decide`, as long as no rule asks for what the hypervisor, the history or the volumes say. Null: one does. */
  decideUnread(facts: CrashFacts, rules: CrashRules): CrashDecision | null
}

/**
 * A crash that is reported within this time after a cancel is taken for the cancelled one: clocks differ, and a monitor that gets no answer
 * reports for two minutes. Until so long after a report, another crash may be on record as a repetition of it alone (domain/report.ts): a
 * start counts as one after the crash only then. Longer: a guest that was started and shut down meanwhile is restarted; shorter: one that
 * was started and crashed once more stays off.
 */
const clockMarginMs = 180_000

/** States that may hold a guest, and are not judged by the history. */
const judged: ReadonlySet<string> = new Set(['active', 'error', 'resized', 'paused', 'suspended', 'rescued'])

/** Whether the decision depends on the hypervisor: the caller asks it only then. */
export function isJudgedByHypervisor({ vmState, taskState }: Instance): boolean {
  return taskState === null && judged.has(vmState)
}

/** Why no workflow may have an instance restarted so, in words; null: it may. */
export function whyNotRestart(facts: CrashFacts, instance: Instance, step: RestartStep): string | null {
  const { live, actions, encrypted, mayActForProject } = facts
  if (instance.taskState !== null) return `Nova is working on it (${instance.taskState})`
  if (isOfCancelled(facts)) return 'a person cancelled its incident'
  if (isStartedSince(facts)) return 'a person has started it since its last crash was reported'
  if (encrypted && !mayActForProject) return 'Lifeboat may not fetch the key of its encrypted volume'
  if (step === 'reboot') {
    if (instance.vmState !== 'active' && instance.vmState !== 'error') return `Nova shows it ${instance.vmState}`
    return live === 'off' ? null : 'its hypervisor has not said that it does not run'
  }
  if (instance.vmState !== 'stopped') return `Nova shows it ${instance.vmState}`
  if (lastOrder(actions ?? []) === 'stop') return 'its owner stopped it'
  const [newest] = powerActions(actions ?? [])
  return newest !== undefined && byPowerSync(newest) ? null : 'its history does not say that Nova itself stopped it'
}

/**
 * Whether the report tells of the crash whose incident a person cancelled: reports come late and repeatedly. Once anyone has started the
 * instance after the cancel, it can only be another crash.
 */
export function isOfCancelled({ cancelled, actions, instance, crashedAt }: CrashFacts): boolean {
  if (cancelled === null) return false
  const known = actions ?? []
  const byOthers = known.filter(({ requestId }) => !cancelled.requests.includes(requestId))
  if (lastStartMs(byOthers) >= cancelled.closedAt) return false
  if (crashedAt - clockMarginMs <= cancelled.closedAt) return true
  // Off without a break since that crash, however late the report is.
  return instance?.vmState === 'stopped' && lastStartMs(known) < cancelled.openedAt
}

/**
 * Whether a person has had its guest run since the last report came, and Nova found it off only after that: what turned it off was not what
 * was reported. An order that nobody carried out is on record as well, so the stop of the power sync must be newer.
 */
export function isStartedSince({ instance, actions, requests, reportedAt }: CrashFacts): boolean {
  const [newest] = powerActions(actions ?? [])
  if (instance?.vmState !== 'stopped' || requests === null || newest === undefined || !byPowerSync(newest)) return false
  const byPeople = (actions ?? []).filter(({ requestId }) => !requests.includes(requestId))
  const startedAt = lastStartOrderMs(byPeople)
  return startedAt > reportedAt + clockMarginMs && cloudTimeMs(newest.startedAt) > startedAt
}

/** The plan of an instance whose guest crashed. The run enters the recipe that fits then. */
export function planOfCrash(
  instance: Instance,
  decision: Extract<CrashDecision, { do: 'leave' | 'restart' }>,
  { encrypted, mayActForProject }: Pick<CrashFacts, 'encrypted' | 'mayActForProject'>,
): InstancePlan {
  const isRestart = decision.do === 'restart'
  return {
    ...{ instanceId: instance.id, name: instance.name, projectId: instance.projectId, rule: decision.rule },
    decision: isRestart ? 'recover' : 'leave',
    reason: decision.code,
    message: `Its guest crashed: ${decision.message}`,
    original: {
      ...{ instance, wanted: 'running', wantedBecause: 'its guest crashed, and nobody had stopped it', flagged: false },
      ...{ locked: instance.locked, lockedReason: instance.lockedReason, knownEvacuations: [], resize: null },
    },
    recipe: isRestart ? decision.recipe : null,
    recipes: isRestart ? decision.recipes : {},
    expected: isRestart ? 'running' : null,
    asProject: encrypted && mayActForProject ? instance.projectId : null,
    ...{ priority: 0, exclusive: null, debts: [], notes: [] },
  }
}

/** What the journal knows of earlier crashes. Times are milliseconds on the clock of `now`. */
export interface RestartRecord {
  /** Restarts of this instance by Lifeboat, in any order. */
  restarts: readonly number[]
  /** When it crashed last. */
  crashedAt: number
  /** Instances whose guests crashed on its host within `crashesWithinMs`, this one included. */
  crashesOnHost: number
  /** After a hold, a person allowed one more restart. */
  released: boolean
}

export type RestartTurn =
  | { go: true }
  | {
      go: false
      hold: 'RESTART_PAUSE' | 'RESTARTS_SPENT' | 'CRASHES_ON_HOST'
      message: string
      /** Of this instance, within the time that its segment counts. */
      restarts: number
      until: number | null
    }

/** Whether earlier crashes allow the restart to be sent now. */
export function restartTurn(
  record: RestartRecord,
  rules: RestartRules,
  pauseMs: (n: number) => number,
  now: number,
): RestartTurn {
  const { restarts, crashedAt, crashesOnHost, released } = record
  if (released) return { go: true }
  const recent = restarts.filter((at) => now - at < rules.withinMs).length
  if (crashesOnHost > rules.maxPerHost)
    return {
      go: false,
      hold: 'CRASHES_ON_HOST',
      restarts: recent,
      message: `${crashesOnHost} instances crashed on this host within ten minutes: check its memory, its storage and its hypervisor`,
      until: null,
    }
  if (recent >= rules.maxRestarts)
    return {
      go: false,
      hold: 'RESTARTS_SPENT',
      restarts: recent,
      message: `it crashed again after ${counted(recent)} within ${span(rules.withinMs)}`,
      until: null,
    }
  const dueAt = crashedAt + pauseMs(recent)
  if (now >= dueAt) return { go: true }
  const message = `it crashed again after ${counted(recent)}: Lifeboat restarts it ${span(pauseMs(recent))} after the crash`
  return { go: false, hold: 'RESTART_PAUSE', message, restarts: recent, until: dueAt }
}

function counted(restarts: number): string {
  return restarts === 1 ? 'one restart' : `${restarts} restarts`
}
