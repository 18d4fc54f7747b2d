/** Finds the instances that are elsewhere and that a move binds to the dead host. Reads only. */
import type { CallOptions, Cloud } from '../domain/cloud.ts'
import { cloudTimeMs } from '../domain/cloud-time.ts'
import { ensureError } from '../domain/errors.ts'
import type { Instance, InstanceId, Migration } from '../domain/instance.ts'
import type { HostName } from '../domain/service.ts'
import type { Bound } from '../domain/survey.ts'

/** A move in one of these is over, or waits on its destination, where the instance is listed. */
export const over: ReadonlySet<string> = new Set([
  'done',
  'completed',
  'failed',
  'error',
  'cancelled',
  'finished',
  'confirmed',
  'reverted',
])

export interface BoundRules {
  /** ISO: evacuations from the host that began after this are told of. Null: none. */
  since: string | null
  /** Its evacuations are ours, or followed by its own incident. */
  isFenced: (host: HostName) => boolean
  /** It has its plan already. */
  isPlanned: (id: InstanceId) => boolean
}

/** @param records every migration with `host` at either end. @param listed what is on the host */
export async function findBound(
  cloud: Cloud,
  host: HostName,
  records: readonly Migration[],
  listed: ReadonlySet<InstanceId>,
  { since, isFenced, isPlanned }: BoundRules,
  options: CallOptions,
): Promise<Bound[]> {
  const newest = new Map<InstanceId, Migration>()
  for (const record of records.toSorted((a, b) => a.id - b.id))
    if (!listed.has(record.instanceId) && !isPlanned(record.instanceId)) newest.set(record.instanceId, record)
  const isIncoming = ({ type, status, sourceHost, destHost }: Migration): boolean =>
    destHost === host && !over.has(status) && !(type === 'evacuation' && isFenced(sourceHost ?? ''))
  const hasLeft = ({ type, sourceHost, createdAt }: Migration): boolean =>
    type === 'evacuation' && sourceHost === host && since !== null && cloudTimeMs(createdAt) > cloudTimeMs(since)
  const bound: Bound[] = []
  for (const migration of newest.values()) {
    if (!isIncoming(migration) && !hasLeft(migration)) continue
    const instance = await readIfThere(cloud, migration.instanceId, options)
    // Without a task it moves no more: the record was left behind by a move of long ago.
    const isMoving = instance !== null && instance.taskState !== null
    if (instance !== null && (isMoving || hasLeft(migration))) bound.push({ instance, migration })
  }
  return bound
}

async function readIfThere(cloud: Cloud, id: InstanceId, options: CallOptions): Promise<Instance | null> {
  try {
    return await cloud.getInstance(id, options)
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'INSTANCE_GONE') return null
    throw error
  }
}
