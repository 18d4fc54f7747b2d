/** What became of an order that Nova took and that nothing of the instance tells: its action says whether nova-compute failed it. */
import { ensureError, LifeboatError } from '../../domain/errors.ts'
import type { InstanceAction } from '../../domain/instance.ts'
import { retryRead } from '../retry.ts'
import type { StepScene } from '../step-driver.ts'

/**
 * Throws STATE_MISMATCH (applied) where its action says that the order failed. An action that Nova does not show says nothing.
 * @param what for people, as `reboot`
 */
export async function throwIfFailed(scene: StepScene, requestId: string, what: string): Promise<void> {
  const action = await actionOf(scene, requestId)
  const failed = action?.events.find(({ result }) => result === 'Error')
  if (failed === undefined && action?.message !== 'Error') return
  const why = failed?.details ?? 'Nova gives no reason'
  throw new LifeboatError('STATE_MISMATCH', `its ${what} failed: ${why}`, { certainty: 'applied' })
}

async function actionOf({ run, plan, signal }: StepScene, requestId: string): Promise<InstanceAction | null> {
  try {
    return await retryRead(run.clock, signal, () => run.cloud.getAction(plan.instanceId, requestId, { signal }))
  } catch (thrown) {
    if (ensureError(thrown).code !== 'NOT_FOUND') throw thrown
    return null
  }
}
