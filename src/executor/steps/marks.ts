/**
 * Writes on the instance's record alone: lock, unlock, reset-state. They reach no host and may be repeated, so a lost
 * answer is settled by one look.
 */
import { LifeboatError } from '../../domain/errors.ts'
import type { Instance } from '../../domain/instance.ts'
import { patiently } from '../patience.ts'
import type { StepDriver, StepScene } from '../step-driver.ts'

/** How our locks are told from everybody else's (law L6): the reason that an owner sees. */
const lockMark = 'lifeboat: instance is being recovered'

export const lock: StepDriver = mark({
  reached: (instance) => instance.locked,
  send: ({ run, plan }, as) => run.cloud.lock(plan.instanceId, `${lockMark} (${run.id})`, as),
  wanted: 'locked',
})

export const unlock: StepDriver = mark({
  // Somebody else's lock stays: unlocked by its owner and locked anew in between, it is not ours to take.
  reached: (instance) => !instance.locked || instance.lockedReason?.startsWith(lockMark) !== true,
  send: ({ run, plan }, as) => run.cloud.unlock(plan.instanceId, as),
  wanted: 'without our lock',
})

export const resetState: StepDriver = mark({
  reached: (instance) => instance.vmState === 'active' && instance.taskState === null,
  send: ({ run, plan }, as) => run.cloud.resetState(plan.instanceId, as),
  wanted: 'active without a task',
})

function mark(kind: {
  reached: (instance: Instance) => boolean
  send: StepDriver['send']
  wanted: string
}): StepDriver {
  return {
    before: async (scene) => {
      const seen = await read(scene)
      return kind.reached(seen) ? { nothingToDo: state(seen) } : { before: state(seen), request: kind.wanted }
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
    settle: async (scene) => ({ applied: kind.reached(await read(scene)), requestId: null }),
  }
}

function read({ run, watch, plan, signal }: StepScene): Promise<Instance> {
  return patiently(run.clock, signal, () => watch.read(plan.instanceId))
}

function state(instance: Instance): {
  vmState: string
  taskState: string | null
  locked: boolean
  lockedReason: string | null
} {
  const { vmState, taskState, locked, lockedReason } = instance
  return { vmState, taskState, locked, lockedReason }
}
