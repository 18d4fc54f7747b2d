/**
 * A resize that its owner reverts after its instance was planned and before it is touched. Nova takes that although the destination of the
 * resize is dead, and the order waits there (docs/nova.md §3.2). The plan holds such an instance for people, and so does this.
 */
import { LifeboatError } from '../../domain/errors.ts'
import type { Instance } from '../../domain/instance.ts'

/** Throws INSTANCE_BUSY, as unknown as the end of the revert: no recipe goes on after it. */
export function refuseReverted({ taskState }: Pick<Instance, 'taskState'>, host: string): void {
  if (taskState !== 'resize_reverting') return
  const message = `someone reverted its resize before its turn came, and the order waits for nova-compute on ${host}: a confirmation or a reset would overrule it. Look on the hosts which disk is the good one`
  throw new LifeboatError('INSTANCE_BUSY', message, { certainty: 'unknown' })
}
