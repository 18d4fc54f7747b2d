/** Orders that an instance's recovery gave up and that still wait in a dead host's queue, as leftovers for the journal. */
import type { NewEntry } from '../domain/entry.ts'
import type { InstanceRecovery } from '../domain/incident.ts'
import { staleOrderCode } from '../domain/stale-order.ts'
import type { Run } from './context.ts'
import { beforeOf, waitsAt } from './steps/evacuation-records.ts'

/** Those that are not on record yet: before anything else is sent for the instance (law L2). */
export function staleOrders(run: Pick<Run, 'id' | 'host'>, { plan, steps, leftovers }: InstanceRecovery): NewEntry[] {
  const evacuations = [...steps.values()].filter((step) => step.kind === 'evacuate')
  return evacuations.flatMap((step): NewEntry[] => {
    const waits = waitsAt(step)
    if (waits === null || leftovers.some((one) => one.waitsAt?.migration === waits.migration)) return []
    const { destination: host, migration } = waits
    const message = `Its first evacuation order waits for nova-compute on ${host} and breaks it when that starts; purge the queue compute.${host} before. Until nova-compute on ${run.host} has started, a record of it stays accepted`
    const older = (beforeOf(step).waitingEvacuations ?? []).map((record) => record.migration)
    const where = { host, migration, requestId: step.requestId, ...(older.length > 0 && { older }) }
    const data = { code: staleOrderCode, message, waitsAt: where }
    return [{ kind: 'debt.recorded', incident: run.id, host: run.host, instance: plan.instanceId, data }]
  })
}
