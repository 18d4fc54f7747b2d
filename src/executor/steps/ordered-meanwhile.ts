/** What an owner ordered since our last look before the first evacuation, as the history of the instance tells it. Reads only. */
import { ensureError } from '../../domain/errors.ts'
import type { InstanceAction } from '../../domain/instance.ts'
import { isLateOrder } from '../../domain/late-power-order.ts'
import type { PowerOrder } from '../../domain/step-payloads.ts'
import { isCloudTrouble } from '../cloud-trouble.ts'
import { orderedSince, powerOrderOf, powerOrderSince, wasShelvedSince } from '../power-order.ts'
import { retryRead } from '../retry.ts'
import type { StepScene } from '../step-driver.ts'
import { attempts } from './recheck.ts'

interface Ordered {
  ordered?: PowerOrder
  shelved?: boolean
  acted?: true
}

/**
 * To be asked once a host has taken our order: by then the history has whatever came before it, and Nova refuses another while the host
 * rebuilds the instance. And once more before a start, which may have waited for hours since. Where the history may not be read nothing is
 * known of it, and the instance goes on all the same. Throws SHUTDOWN, and the cloud's own trouble: then it is read once that is over.
 *
 * @param follows an evacuation is followed: while Nova is silent the history is read on, and that is said. It counts against the step's time,
 *   for the evacuation itself can be seen
 */
export async function orderedMeanwhile(scene: StepScene, { follows }: { follows: boolean }): Promise<Ordered> {
  const { run, plan, recovery, signal, trouble } = scene
  const since = attempts(recovery)[0]?.before?.cloudTime
  if (since === undefined || plan.expected === null || powerOrderOf(recovery) !== null) return {}
  try {
    const read = (): Promise<InstanceAction[]> =>
      retryRead(run.clock, signal, () => run.cloud.listActions(plan.instanceId, { signal }))
    const actions = await (follows ? trouble.reading(scene, read, { only: 'silence' }) : read())
    const ours = new Set([...recovery.steps.values()].map(({ requestId }) => requestId))
    const others = actions.filter(({ requestId }) => !ours.has(requestId))
    const ordered = powerOrderSince(since, others, plan)
    const acted = follows && orderedSince(since, others).some(({ action }) => isLateOrder(action))
    if (ordered === null) return acted ? { acted } : {}
    return { ordered, ...(ordered === 'stop' && wasShelvedSince(since, others) && { shelved: true }) }
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || isCloudTrouble(error)) throw error
    run.observer.log?.(
      'warn',
      'evacuation.history_unread',
      { incident: run.id, host: run.host, instance: plan.instanceId },
      error,
    )
    return {}
  }
}
