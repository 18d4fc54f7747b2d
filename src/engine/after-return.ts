/**
 * The plan of an instance whose host came back by itself: whether it ran before and is off now, and whether Lifeboat may start it
 * where it is. Pure.
 */
import { afterReturnRule, shownWithinMs, startRecipe } from '../domain/after-return.ts'
import { cloudTimeMs } from '../domain/cloud-time.ts'
import { inDoubtEarlier, powerOrderSince } from '../domain/earlier-recovery.ts'
import type { Instance, InstanceAction } from '../domain/instance.ts'
import type { InstancePlan, Recipe } from '../domain/plan.ts'
import { lastStartMs, memoryStateBefore, powerActions } from '../domain/power-history.ts'
import type { InstancePolicy } from '../domain/segment.ts'
import type { EarlierRecovery, InitialState, SeenEarlier } from '../domain/survey.ts'
import { hostShutdownMs, stoppedBy } from './initial-state.ts'
import { doubtOf, recalledInitialState, unknownEvacuation } from './recall.ts'

/** What is asked about one instance. */
export interface ReturnedInstance {
  instance: Instance
  /** Null: its history could not be read. */
  actions: InstanceAction[] | null
  /** Unread volumes count as encrypted. */
  encrypted: boolean
  mayActForProject: boolean
  /** What an incident before this one did with it; null: none did anything. */
  earlier: EarlierRecovery | null
  /** What Nova tells of the time since then; null: that was not asked. */
  since: Omit<SeenEarlier, 'before'> | null
}

/** Nova shows it off, and nothing is under way. */
export function isOffNow({ vmState, taskState }: Instance): boolean {
  return vmState === 'stopped' && taskState === null
}

/** Changed since about the death of its host: of those that are off, only such an instance can have been switched off by it. */
export function mayHaveDiedWithHost({ updatedAt }: Instance, lastSign: number): boolean {
  return !(cloudTimeMs(updatedAt) < lastSign - hostShutdownMs)
}

/**
 * It was off since an earlier return of its host, or waited for its restart after a crash: Nova shows it as one that switched itself off, however
 * long ago. What was evacuated, or may have been, is none of these.
 */
function mayBeLeftOff({ isOffAfterReturn, ofCrash, steps }: EarlierRecovery): boolean {
  return isOffAfterReturn || (ofCrash !== null && steps.length === 0)
}

/** An earlier incident left something to be said of it, however long ago it went off: it was left off, or its guest may run elsewhere. */
export function isLeftOpen(earlier: EarlierRecovery): boolean {
  return mayBeLeftOff(earlier) || unknownEvacuation(earlier) !== null
}

/** Nova shows it running, which may be what was so before its host died. */
export function mayBeOff({ vmState }: Instance): boolean {
  return vmState === 'active'
}

/** When the host died and was back, and the time now, ms since the epoch. */
export interface Absence {
  /** Its last sign of life before it died. */
  lastSign: number
  backAt: number
  nowMs: number
}

/**
 * Null for an instance that its owner had stopped, that had switched itself off before, or that did so when the host was back. One that an
 * earlier incident left off is off because of that failure, whatever came between.
 */
export function planAfterReturn(
  returned: ReturnedInstance,
  absence: Absence,
  policy: InstancePolicy,
): InstancePlan | null {
  const { instance, actions, encrypted, mayActForProject, earlier } = returned
  if (wentOffLater(actions ?? [], absence.backAt)) return null
  const byNova = initialStateNow(returned, absence.lastSign)
  const doubt = doubtAfterReturn(returned, absence.nowMs)
  const byJournal = recalledNow(returned, byNova, doubt !== null, absence.nowMs)
  const original = byJournal ?? byNova
  if (original.wanted !== 'running') return null
  const ran =
    earlier === null || byJournal === null ? 'when its host went down' : `when incident ${earlier.incident} began`
  const base: InstancePlan = {
    ...{ instanceId: instance.id, name: instance.name, projectId: instance.projectId, rule: afterReturnRule },
    ...{ decision: 'leave', reason: 'OFF_AFTER_RETURN', message: '' },
    original,
    ...{ recipe: null, recipes: {}, expected: null, asProject: null },
    ...{ priority: 0, exclusive: null, debts: [], notes: [] },
  }
  if (doubt !== null) return { ...base, reason: inDoubtEarlier, message: doubt }
  if (encrypted && !mayActForProject) {
    const message = `It ran ${ran} and is off now. It has an encrypted volume, and Lifeboat may not fetch its key: its owner starts it`
    return { ...base, reason: 'ENCRYPTED_WITHOUT_KEY', message }
  }
  const lost = memoryStateBefore(actions ?? [])
  if (lost !== null && policy.memoryLost === 'stopped') {
    const message = `It was ${lost} ${ran}; what was in its memory is lost, and it is off: its owner starts it`
    return { ...base, reason: 'MEMORY_LOST_STOPPED', message }
  }
  return {
    ...base,
    decision: 'recover',
    message: `It ran ${ran}, and is off now`,
    ...{ recipe: startRecipe, recipes: { [startRecipe]: recipe }, expected: 'running' },
    asProject: encrypted ? instance.projectId : null,
    notes: lost === null ? [] : [`It was ${lost}; what was in its memory is lost`],
  }
}

/** Why its guest may run elsewhere, and what a person has to do; null: it does not. Started here as well, it would run twice. */
function doubtAfterReturn({ instance, earlier, since }: ReturnedInstance, nowMs: number): string | null {
  if (earlier === null) return null
  const seen = { evacuations: [], actedOnGuest: false, ...since, nowMs }
  const doubt = doubtOf(earlier, seen, instance.host ?? '')
  if (doubt === null) return null
  const first =
    doubt.mayRunOn === null
      ? 'Make sure that no evacuation of it is under way (openstack server migration list)'
      : 'Make sure that it does not run there'
  return `${doubt.told}. ${first}, then start it: openstack server start ${instance.id}`
}

/** As Nova alone tells it. */
function initialStateNow({ instance, actions }: ReturnedInstance, lastSign: number): InitialState {
  const { wanted, because, flagged } = stoppedBy(actions, lastSign)
  return {
    ...{ instance, wanted, wantedBecause: because, flagged },
    ...{ locked: instance.locked, lockedReason: instance.lockedReason, knownEvacuations: [], resize: null },
  }
}

/** As the journal tells it; null where Nova has the truth: once someone has started or stopped it since, its history says how that ended. */
function recalledNow(
  { instance, actions, earlier }: ReturnedInstance,
  original: InitialState,
  isDoubted: boolean,
  nowMs: number,
): InitialState | null {
  if (
    earlier === null ||
    !(isDoubted || mayBeLeftOff(earlier)) ||
    powerOrderSince(earlier, actions ?? []) !== undefined
  )
    return null
  const seen = { instance, original, actions, evacuations: [], actedOnGuest: false, nowMs }
  const recalled = recalledInitialState(earlier, seen)
  if (recalled === null) return null
  const { wanted, wantedBecause } = recalled
  return { ...original, wanted, wantedBecause, flagged: true }
}

/** The host's death did not end it: it was started after that, or Nova's power sync found it running at first. */
function wentOffLater(actions: InstanceAction[], backAt: number): boolean {
  const [newest] = powerActions(actions)
  return (
    lastStartMs(actions) >= backAt || (newest !== undefined && cloudTimeMs(newest.startedAt) > backAt + shownWithinMs)
  )
}

/** As the shipped workflow starts an instance on its new host. */
const recipe: Recipe = {
  name: startRecipe,
  steps: [
    {
      ...{ id: 'start', do: 'start', deadlineMs: 900_000 },
      retry: {
        on: ['API_UNAVAILABLE', 'API_THROTTLED', 'INSTANCE_BUSY'],
        ...{ attempts: 20, firstMs: 1_000, capMs: 30_000 },
      },
    },
  ],
  finally: [],
}
