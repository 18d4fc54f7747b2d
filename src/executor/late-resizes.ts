/**
 * Which resizes and cold migrations of an instance still wait in the queue of the dead host that it has left: leftovers for the journal.
 * The host's nova-compute takes them when it starts and puts the instance in ERROR, wherever it is by then (docs/nova.md §3.5).
 */
import type { NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import type { InstanceRecovery } from '../domain/incident.ts'
import { staleOrderCode } from '../domain/stale-order.ts'
import type { CloudTrouble } from './cloud-trouble.ts'
import type { Run } from './context.ts'
import { hasLanded } from './how-far.ts'
import { retryRead } from './retry.ts'
import { unreadOrders } from './unplanned-leftovers.ts'

type LateRun = Pick<Run, 'id' | 'host' | 'cloud' | 'clock' | 'signal' | 'observer'>

/** Its source sets the next task as soon as it takes the order. */
const untaken = 'resize_prep'

/** Of records that their source has not taken. */
const waiting: ReadonlySet<string> = new Set(['accepted', 'pre-migrating'])

/**
 * Those of an instance that has landed, and are not on record yet. Reads its records only where its task told of one, and reads on while
 * Nova is silent. Throws SHUTDOWN; where the records may not be read nothing is known of them, and people are told that.
 */
export async function lateResizes(
  run: LateRun,
  recovery: InstanceRecovery,
  trouble: Pick<CloudTrouble, 'reading'>,
): Promise<NewEntry[]> {
  const { plan, leftovers } = recovery
  if (!hasLanded(recovery) || !wasOrdered(recovery)) return []
  const { clock, cloud, signal } = run
  const base = { incident: run.id, host: run.host, instance: plan.instanceId }
  const filter = { instanceId: plan.instanceId }
  try {
    const read = (): ReturnType<typeof cloud.listMigrations> =>
      retryRead(clock, signal, () => cloud.listMigrations(filter, { signal }))
    const records = await trouble.reading({ plan, signal }, read, { only: 'silence' })
    return records
      .filter(({ type, status }) => (type === 'resize' || type === 'migration') && waiting.has(status))
      .filter(({ sourceHost }) => sourceHost === run.host)
      .filter(({ uuid }) => !leftovers.some(({ waitsAt }) => waitsAt?.migration === uuid))
      .map(({ uuid, type }): NewEntry => {
        const waitsAt = { host: run.host, migration: uuid, requestId: null, resize: true }
        const message = `A ${type === 'resize' ? 'resize' : 'cold migration'} that was ordered as ${run.host} died waits for nova-compute there and puts the instance in ERROR when nova-compute starts; purge the queue compute.${run.host} before that`
        return { kind: 'debt.recorded', ...base, data: { code: staleOrderCode, message, waitsAt } }
      })
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    run.observer.log?.('warn', 'late_resizes.unread', base, error)
    return unreadOrders(run, recovery, error)
  }
}

/** Also as the order came after the plan: the evacuation has read the task once more. */
function wasOrdered({ plan, steps }: InstanceRecovery): boolean {
  const before = [...steps.values()].flatMap((step) => (step.kind === 'evacuate' ? (step.before?.taskState ?? []) : []))
  return [plan.original.instance.taskState, ...before].includes(untaken)
}
