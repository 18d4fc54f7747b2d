/**
 * Writes on the instance's record alone: lock, unlock, reset-state. They reach no host and may be repeated, so a lost
 * answer is reconciled by one look.
 */
import type { IncidentId } from '../../domain/entry.ts'
import { LifeboatError } from '../../domain/errors.ts'
import { isOver, type Instance, type Migration } from '../../domain/instance.ts'
import type { RecordState } from '../../domain/step-payloads.ts'
import { retryRead } from '../retry.ts'
import type { StepDriver, StepScene } from '../step-driver.ts'
import { refuseDeleted } from './deleted-meanwhile.ts'
import { isRevived, isTaken, recordsOf } from './evacuation-records.ts'
import { listEvacuations, mayHaveLeft, recheck } from './recheck.ts'
import { refuseReverted } from './reverted-meanwhile.ts'

/** How our locks are told from everybody else's (law L6): the reason that an owner sees. */
const lockMark = 'lifeboat: instance is being recovered'

/** What the owner reads. @param incident the one that locks: another one's lock is not to be taken off */
export function lockReason(incident: IncidentId): string {
  return `${lockMark} (${incident})`
}

export const lock: StepDriver<'lock'> = mark({
  reached: (instance) => instance.locked,
  send: ({ run, plan }, as) => run.cloud.lock(plan.instanceId, lockReason(run.id), as),
  wanted: 'locked',
})

export const unlock: StepDriver<'unlock'> = mark({
  // Someone else's lock stays: unlocked by its owner and locked again in between, it is not ours to take.
  reached: (instance) => !instance.locked || instance.lockedReason?.startsWith(lockMark) !== true,
  send: ({ run, plan }, as) => run.cloud.unlock(plan.instanceId, as),
  wanted: 'without our lock',
})

export const resetState: StepDriver<'reset-state'> = mark({
  reached: (instance) => instance.vmState === 'active' && instance.taskState === null,
  send: ({ run, plan }, as) => run.cloud.resetState(plan.instanceId, as),
  wanted: 'active without a task',
  // It takes an instance out of any task: an evacuation under way would fail half way, and its guest run where Nova does not have it.
  passesOver: async (scene, seen) => {
    const { run, plan, recovery } = scene
    // On a living host there is nothing to be reset for. Whether ours arrived there is seen before the next evacuation.
    if (seen.host !== run.host) return true
    refuseReverted(seen, run.host)
    refuseDeleted(seen)
    const known = plan.original.knownEvacuations
    const earlier = mayHaveLeft(recovery)
    if (earlier.length === 0) {
      await recheck(scene, known)
      return false
    }
    const records = await listEvacuations(scene)
    const made = records.filter(({ uuid }) => earlier.flatMap(recordsOf).includes(uuid))
    // The evacuation step takes it up, or waits for a person.
    if (made.some((record) => isRevived(record, earlier, run.permissions) || isTaken(record, run.permissions)))
      return true
    return isAtWork(records, [...known, ...earlier.flatMap(recordsOf)])
  },
})

/**
 * Whether an evacuation beside those moves the instance, or has moved it since it was read: an order of ours that was given up as lost,
 * or a person's, who made room between two of our rounds. The evacuation step follows it.
 */
function isAtWork(records: readonly Migration[], known: readonly string[]): boolean {
  return records.some((record) => !known.includes(record.uuid) && (!isOver(record) || hasArrived(record)))
}

function hasArrived({ status }: Migration): boolean {
  return status === 'done' || status === 'completed'
}

function mark<K extends 'lock' | 'unlock' | 'reset-state'>(kind: {
  reached: (instance: Instance) => boolean
  send: StepDriver['send']
  wanted: string
  /** Whether nothing is to be done to what was seen. Throws where nothing may be done. */
  passesOver?: (scene: StepScene, seen: Instance) => Promise<boolean>
}): StepDriver<K> {
  return {
    before: async (scene) => {
      const seen = await read(scene)
      const isDone = kind.reached(seen) || (await kind.passesOver?.(scene, seen)) === true
      return isDone ? { nothingToDo: state(seen) } : { before: state(seen), request: kind.wanted }
    },
    send: kind.send,
    follow: async (scene) => {
      const seen = await read(scene)
      if (kind.reached(seen)) return state(seen)
      throw new LifeboatError('STATE_MISMATCH', `accepted, but it is not ${kind.wanted}`, {
        certainty: 'applied',
        retry: 'backoff',
      })
    },
    reconcile: async (scene) => ({ applied: kind.reached(await read(scene)), requestId: null }),
  }
}

function read({ run, watch, plan, signal }: StepScene): Promise<Instance> {
  return retryRead(run.clock, signal, () => watch.read(plan.instanceId))
}

function state(instance: Instance): RecordState {
  const { vmState, taskState, locked, lockedReason } = instance
  return { vmState, taskState, locked, lockedReason }
}
