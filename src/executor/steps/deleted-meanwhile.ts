/** An instance that its owner deletes after it was planned. A reset of its state, or an evacuation, would take the order away. */
import { LifeboatError } from '../../domain/errors.ts'
import type { Instance } from '../../domain/instance.ts'

const deleting: ReadonlySet<string | null> = new Set(['deleting', 'soft-deleting'])

/** Throws INSTANCE_GONE while Nova deletes it. */
export function refuseDeleted({ taskState }: Pick<Instance, 'taskState'>): void {
  if (deleting.has(taskState))
    throw new LifeboatError('INSTANCE_GONE', 'its owner began to delete it before its turn came')
}
