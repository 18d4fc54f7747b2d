/**
 * What an owner ordered since the survey, where the task of the instance does not tell it any more: while its host lived again, and since our last
 * look before the first evacuation; and what others evacuated since then. The history of the instance tells it. Reads only.
 */
import { cloudTimeMs } from '../../domain/cloud-time.ts'
import { ensureError } from '../../domain/errors.ts'
import type { InstanceAction } from '../../domain/instance.ts'
import { isLateOrder } from '../../domain/late-power-order.ts'
import type { PowerOrder } from '../../domain/step-payloads.ts'
import { isCloudTrouble } from '../cloud-trouble.ts'
import { lastOrderSince, orderedSince, powerOrderOf, powerOrderSince, wasShelvedSince } from '../power-order.ts'
import { retryRead } from '../retry.ts'
import type { StepScene } from '../step-driver.ts'
import { attempts } from './recheck.ts'
import { evacuationsOfOthers } from './two-evacuations.ts'

interface Ordered {
  ordered?: PowerOrder
  shelved?: boolean
  acted?: true
}

/** With the evacuations that others ordered. */
interface Meanwhile extends Ordered {
  evacuations?: InstanceAction[]
}

/**
 * To be asked once a host has taken our order: by then the history has whatever came before it, and Nova refuses another while the host
 * rebuilds the instance. And once more before a start, which may have waited for hours since. Where the history may not be read nothing is
 * known of it, and the instance goes on all the same. Throws SHUTDOWN, and the cloud's own trouble: then it is read once that is over.
 *
 * @param follows an evacuation is followed: while Nova is silent the history is read on, and that is said. It counts against the step's time,
 *   for the evacuation itself can be seen
 */
export async function orderedMeanwhile(scene: StepScene, { follows }: { follows: boolean }): Promise<Meanwhile> {
  const { plan, recovery, trouble } = scene
  const since = attempts(recovery)[0]?.before?.cloudTime
  const isKnown = plan.expected === null || powerOrderOf(recovery) !== null
  if (since === undefined || (isKnown && !follows)) return {}
  const others = await ordersOfOthers(scene, (read) =>
    follows ? trouble.reading(scene, read, { only: 'silence' }) : read(),
  )
  if (others === null) return {}
  const evacuations = follows ? evacuationsOfOthers(scene, since, others) : []
  return {
    ...(evacuations.length > 0 && { evacuations }),
    ...(isKnown ? {} : powerOrdered(scene, { since, others, follows })),
  }
}

function powerOrdered(
  { plan }: StepScene,
  { since, others, follows }: { since: string; others: InstanceAction[]; follows: boolean },
): Ordered {
  const ordered = powerOrderSince(since, others, plan)
  const acted = follows && orderedSince(since, others).some(({ action }) => isLateOrder(action))
  if (ordered === null) return acted ? { acted } : {}
  return { ordered, ...(ordered === 'stop' && wasShelvedSince(since, others) && { shelved: true }) }
}

/**
 * The last that others ordered since the incident began, where their host has lived again since the proof of its death. It carries out then what
 * they order, so no task tells of that when it dies the next time, and nova-compute sets tasks of its own. Null: it has not lived, or the history
 * may not be read. To be asked before each evacuation. Throws as `orderedMeanwhile`.
 */
export async function orderedWhileItLived(scene: StepScene): Promise<PowerOrder | 'nothing' | null> {
  const { run, watch } = scene
  const { revoked, openedAt, verdict } = run.permissions.incident(run.id)
  if (revoked === null) return null
  const others = await ordersOfOthers(scene, (read) => read())
  if (others === null) return null
  const sinceOpened = watch.cloudNow() - (run.clock.wall() - Date.parse(openedAt))
  // Our clock may have been set back since, or be another daemon's. Its last beat is told by the cloud's.
  const lastBeat = cloudTimeMs(verdict?.evidence.updatedAt ?? '')
  const since = Number.isNaN(lastBeat) ? sinceOpened : Math.min(sinceOpened, lastBeat)
  return lastOrderSince(new Date(since).toISOString(), others) ?? 'nothing'
}

/** Null: the history may not be read. */
async function ordersOfOthers(
  { run, plan, recovery, signal }: StepScene,
  reading: (read: () => Promise<InstanceAction[]>) => Promise<InstanceAction[]>,
): Promise<InstanceAction[] | null> {
  try {
    const actions = await reading(() =>
      retryRead(run.clock, signal, () => run.cloud.listActions(plan.instanceId, { signal })),
    )
    const ours = new Set([...recovery.steps.values()].map(({ requestId }) => requestId))
    return actions.filter(({ requestId }) => !ours.has(requestId))
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || isCloudTrouble(error)) throw error
    run.observer.log?.(
      'warn',
      'evacuation.history_unread',
      { incident: run.id, host: run.host, instance: plan.instanceId },
      error,
    )
    return null
  }
}
