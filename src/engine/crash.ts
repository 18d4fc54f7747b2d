/**
 * What to do about a guest that was reported crashed on a host that lives. Pure: the table of docs/instance-failures.md, in its order.
 *
 * Nova's own record is stale after a crash (docs/nova.md §1.8): it shows the instance active until its power sync comes by, and then
 * calls `stop` for it in nobody's name. So an active instance is judged by its hypervisor's answer, and a stopped one by its history:
 * only a stop in nobody's name is undone.
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import { crashRule, type CrashCode, type RestartRules } from '../domain/instance-failure.ts'
import { powerState, type Aggregate, type Instance, type InstanceAction } from '../domain/instance.ts'
import type { InstancePlan, Recipe, StepKind } from '../domain/plan.ts'
import { byPowerSync, lastOrder, lastStartMs, powerActions } from '../domain/power-history.ts'
import type { InstancePolicy } from '../domain/segment.ts'
import type { HostName } from '../domain/service.ts'
import { ownerPolicyOf, type OwnerPolicySettings } from './owner-policy.ts'

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

/** Why Lifeboat begins nothing, or has nothing more to do. */
type NothingCode = Extract<
  CrashCode,
  | 'INSTANCE_GONE'
  | 'MOVED_BY_OTHERS'
  | 'NO_GUEST'
  | 'NOT_ASKED'
  | 'RUNS_AGAIN'
  | 'STOPPED_BY_OWNER'
  | 'OFF_BEFORE'
  | 'CANCELLED'
>

export type CrashDecision =
  /** Not ours to restart, or well already: no incident begins. */
  | { do: 'nothing'; status: 'ignored' | 'finished'; code: NothingCode; message: string }
  /** Nova is between two states: look again. */
  | { do: 'wait'; message: string }
  /** Lifeboat tells people and does nothing. */
  | { do: 'leave'; code: CrashCode; message: string }
  | { do: 'restart'; step: Extract<StepKind, 'reboot' | 'start'>; message: string }

/**
 * If Lifeboat may not ask the hypervisor, it gives Nova this long to notice by itself: Nova's driver holds an event back for 15 s.
 * Shorter: Lifeboat takes a dead guest for one that runs.
 */
const storedStateTellsAfterMs = 20_000

/** How long a task may last before Lifeboat tells people. Longer: a guest is off and nobody knows; shorter: a slow snapshot alarms people. */
const taskAtMostMs = 600_000

/**
 * The power sync's stop may be dated this much before the crash: clocks differ, and a monitor that gets no answer reports for two minutes.
 * Larger: Lifeboat restarts a guest that had shut itself down before; smaller: a guest that was reported late stays off. A crash that is
 * reported within this time after a cancel is taken for the cancelled one.
 */
const clockMarginMs = 180_000

/** States that hold no guest. */
const withoutGuest: ReadonlySet<string> = new Set([
  'building',
  'deleted',
  'soft-delete',
  'soft-deleted',
  'shelved',
  'shelved_offloaded',
])

export function decideCrash(facts: CrashFacts, rules: CrashRules): CrashDecision {
  const { instance, host } = facts
  if (instance === null || instance.status === 'DELETED') return nothing('INSTANCE_GONE', 'Nova has no such instance')
  // The destination of a failed live migration reports a crash too, and so does a host with a guest that an evacuation left behind.
  if (instance.host !== host)
    return nothing(
      'MOVED_BY_OTHERS',
      `Nova shows it on ${instance.host ?? 'no host'}, not on ${host}, so it did not crash there`,
    )
  if (withoutGuest.has(instance.vmState)) return nothing('NO_GUEST', `It is ${instance.vmState} and has no guest`)
  const unwanted = unlessAsked(facts, instance, rules)
  if (unwanted !== null) return nothing('NOT_ASKED', unwanted)
  if (instance.taskState !== null) return whileBusy(facts, instance.taskState)
  switch (instance.vmState) {
    case 'active':
      return whileActive(facts, instance)
    case 'stopped':
      return whileStopped(facts)
    case 'error':
      return whileInError(facts, rules)
    case 'resized':
      return unlessItRuns(facts, leave('CRASHED_RESIZED', 'its resize waits for a confirmation'))
    case 'paused':
    case 'suspended':
    case 'rescued':
      return unlessItRuns(facts, leave('CRASHED_PAUSED', `Nova shows it ${instance.vmState}`))
    default:
      return nothing('NO_GUEST', `Lifeboat does not know the state ${instance.vmState}`)
  }
}

/** Whether the decision depends on the hypervisor: the caller asks it only then. */
export function isJudgedByHypervisor({ vmState, taskState }: Instance): boolean {
  return taskState === null && vmState !== 'stopped' && !withoutGuest.has(vmState)
}

function unlessAsked({ aggregates }: CrashFacts, instance: Instance, rules: CrashRules): string | null {
  const { value, from } = ownerPolicyOf(instance, aggregates, rules.owner)
  if (value === 'leave' || value === 'stopped') return `Its owner policy is ${value} (${from})`
  if (value === 'none' && rules.restart.unasked === 'leave')
    return `Segment ${rules.segment} restarts only instances whose owners ask for it, and this one's did not`
  return null
}

function whileBusy({ sinceMs }: CrashFacts, task: string): CrashDecision {
  if (sinceMs < taskAtMostMs) return { do: 'wait', message: `Nova is working on it (${task})` }
  return leave('CRASHED_MID_TASK', `Nova is still working on it (${task})`)
}

function whileActive(facts: CrashFacts, instance: Instance): CrashDecision {
  const { live, sinceMs } = facts
  if (live === 'running') return nothing('RUNS_AGAIN', 'Its hypervisor says that it runs')
  if (live === 'silent' || live === null) return { do: 'wait', message: 'Its nova-compute does not answer' }
  if (live === 'forbidden') {
    if (sinceMs < storedStateTellsAfterMs)
      return { do: 'wait', message: 'Lifeboat may not ask its hypervisor, and waits until Nova has noticed' }
    return nothing('RUNS_AGAIN', 'Nova shows it running; Lifeboat may not ask its hypervisor')
  }
  if (instance.powerState === powerState.paused) return leave('CRASHED_PAUSED', 'Nova shows its guest paused')
  return restart(facts, 'reboot', 'its hypervisor says that it does not run')
}

function whileStopped(facts: CrashFacts): CrashDecision {
  const { actions, crashedAt } = facts
  if (actions === null) return { do: 'wait', message: 'Its history could not be read' }
  if (lastOrder(actions) === 'stop') return nothing('STOPPED_BY_OWNER', 'Its owner stopped it, so it stays off')
  const [newest] = powerActions(actions)
  if (newest === undefined || !byPowerSync(newest))
    return leave('CRASHED_UNEXPLAINED', 'Nova shows it stopped, and its history does not say who stopped it')
  if (cloudTimeMs(newest.startedAt) < crashedAt - clockMarginMs)
    return nothing('OFF_BEFORE', `It has been off since ${newest.startedAt}, long before it was reported`)
  return restart(facts, 'start', `Nova's power sync found it off at ${newest.startedAt}; nobody had stopped it`)
}

function whileInError(facts: CrashFacts, { policy, segment }: CrashRules): CrashDecision {
  if (policy.errorBefore === 'leave')
    return unlessItRuns(facts, leave('CRASHED_ERROR', `it was in ERROR, and segment ${segment} leaves such instances`))
  return unlessItRuns(facts, restart(facts, 'reboot', 'it was in ERROR, and its hypervisor says that it does not run'))
}

/** `otherwise` follows only once the hypervisor says that the guest does not run. */
function unlessItRuns({ live, sinceMs }: CrashFacts, otherwise: CrashDecision): CrashDecision {
  if (live === 'running') return nothing('RUNS_AGAIN', 'Its hypervisor says that it runs')
  if (live === 'silent' || live === null) return { do: 'wait', message: 'Its nova-compute does not answer' }
  if (live === 'forbidden' && otherwise.do === 'restart')
    return sinceMs < storedStateTellsAfterMs
      ? { do: 'wait', message: 'Lifeboat may not ask its hypervisor' }
      : leave('CRASHED_ERROR', 'it was in ERROR, and Lifeboat may not ask its hypervisor whether it runs')
  return otherwise
}

function restart(facts: CrashFacts, step: 'reboot' | 'start', why: string): CrashDecision {
  const { encrypted, mayActForProject } = facts
  if (isOfCancelled(facts))
    return nothing('CANCELLED', 'A person cancelled its incident, and nobody has started it since, so it stays off')
  if (encrypted && !mayActForProject)
    return leave(
      'ENCRYPTED_WITHOUT_KEY',
      'it has an encrypted volume, and Lifeboat may not fetch its key: its owner must start it',
    )
  return { do: 'restart', step, message: why }
}

/**
 * Whether the report tells of the crash whose incident a person cancelled: reports come late and repeatedly. Once anyone has started the
 * instance after the cancel, it can only be another crash.
 */
function isOfCancelled({ cancelled, actions, instance, crashedAt }: CrashFacts): boolean {
  if (cancelled === null) return false
  const known = actions ?? []
  const byOthers = known.filter(({ requestId }) => !cancelled.requests.includes(requestId))
  if (lastStartMs(byOthers) >= cancelled.closedAt) return false
  if (crashedAt - clockMarginMs <= cancelled.closedAt) return true
  // Off without a break since that crash, however late the report is.
  return instance?.vmState === 'stopped' && lastStartMs(known) < cancelled.openedAt
}

function leave(code: CrashCode, why: string): CrashDecision {
  return { do: 'leave', code, message: why }
}

function nothing(code: NothingCode, message: string): CrashDecision {
  const isWell = code === 'RUNS_AGAIN' || code === 'STOPPED_BY_OWNER'
  return { do: 'nothing', status: isWell ? 'finished' : 'ignored', code, message }
}

/** The plan of an instance whose guest crashed. It has both ways back as recipes; the run enters the one that fits. */
export function planOfCrash(
  instance: Instance,
  decision: Extract<CrashDecision, { do: 'leave' | 'restart' }>,
  { encrypted, mayActForProject }: Pick<CrashFacts, 'encrypted' | 'mayActForProject'>,
): InstancePlan {
  const isRestart = decision.do === 'restart'
  return {
    ...{ instanceId: instance.id, name: instance.name, projectId: instance.projectId, rule: crashRule },
    decision: isRestart ? 'recover' : 'leave',
    reason: isRestart ? 'CRASHED' : decision.code,
    message: `Its guest crashed: ${decision.message}`,
    original: {
      ...{ instance, wanted: 'running', wantedBecause: 'its guest crashed, and nobody had stopped it', flagged: false },
      ...{ locked: instance.locked, lockedReason: instance.lockedReason, knownEvacuations: [], resize: null },
    },
    recipe: isRestart ? recipeOf(decision.step).name : null,
    recipes: isRestart ? { reboot: recipeOf('reboot'), start: recipeOf('start') } : {},
    expected: isRestart ? 'running' : null,
    asProject: encrypted && mayActForProject ? instance.projectId : null,
    ...{ priority: 0, exclusive: null, debts: [], notes: [] },
  }
}

/** After a refusal the step is tried again a few times; then the run reads Nova again and does what fits then. */
function recipeOf(step: 'reboot' | 'start'): Recipe {
  const retry = {
    on: ['API_UNAVAILABLE' as const, 'API_THROTTLED' as const],
    ...{ attempts: 10, firstMs: 1_000, capMs: 30_000 },
  }
  return { name: step, steps: [{ id: step, do: step, deadlineMs: 300_000, retry }], finally: [] }
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
  | { go: false; hold: 'RESTART_PAUSE' | 'RESTARTS_SPENT' | 'CRASHES_ON_HOST'; message: string; until: number | null }

/** Whether earlier crashes allow the restart to be sent now. */
export function restartTurn(
  record: RestartRecord,
  rules: RestartRules,
  pauseMs: (n: number) => number,
  now: number,
): RestartTurn {
  const { restarts, crashedAt, crashesOnHost, released } = record
  if (released) return { go: true }
  if (crashesOnHost > rules.maxPerHost)
    return {
      go: false,
      hold: 'CRASHES_ON_HOST',
      message: `${crashesOnHost} instances crashed on this host within ten minutes: check its memory, its storage and its hypervisor`,
      until: null,
    }
  const recent = restarts.filter((at) => now - at < rules.withinMs).length
  if (recent >= rules.maxRestarts)
    return {
      go: false,
      hold: 'RESTARTS_SPENT',
      message: `it crashed again after ${counted(recent)} within ${Math.round(rules.withinMs / 60_000)} min`,
      until: null,
    }
  const dueAt = crashedAt + pauseMs(recent)
  if (now >= dueAt) return { go: true }
  const message = `it crashed again after ${counted(recent)}: Lifeboat restarts it ${Math.round(pauseMs(recent) / 1_000)} s after the crash`
  return { go: false, hold: 'RESTART_PAUSE', message, until: dueAt }
}

function counted(restarts: number): string {
  return restarts === 1 ? 'one restart' : `${restarts} restarts`
}
