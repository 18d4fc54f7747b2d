/** What an instance's recovery leaves in Nova without having planned it, as leftovers for the journal. */
import type { NewEntry } from '../domain/entry.ts'
import type { LifeboatError } from '../domain/errors.ts'
import type { InstanceRecovery, StepRecord } from '../domain/incident.ts'
import type { HostName } from '../domain/service.ts'
import { staleOrderCode } from '../domain/stale-order.ts'
import type { Run } from './context.ts'
import { beforeOf, waitsAt } from './steps/evacuation-records.ts'

/** Those that are not on record yet: before anything else is sent for the instance (law L2). */
export function staleOrders(run: Pick<Run, 'id' | 'host'>, { plan, steps, leftovers }: InstanceRecovery): NewEntry[] {
  const all = [...steps.values()]
  return all.flatMap((step): NewEntry[] => {
    const waits = waitsAt(step)
    if (waits === null || leftovers.some((one) => one.waitsAt?.migration === waits.migration)) return []
    if (all.some((other) => broughtBy(other) === waits.migration)) return []
    const { destination: host, migration } = waits
    const older = step.kind === 'evacuate' ? (beforeOf(step).waitingEvacuations ?? []) : []
    const where = {
      host,
      migration,
      requestId: step.requestId,
      ...(older.length > 0 && { older: older.map((record) => record.migration) }),
    }
    const data = { code: staleOrderCode, message: whatWaits(run, step, host), waitsAt: where }
    return [{ kind: 'debt.recorded', incident: run.id, host: run.host, instance: plan.instanceId, data }]
  })
}

/** The record of the order that brought the instance back; null: this step did not. */
function broughtBy({ kind, result }: StepRecord): string | null {
  return kind === 'evacuate' && result !== null && 'migration' in result ? result.migration : null
}

function whatWaits(run: Pick<Run, 'host'>, { kind }: StepRecord, host: HostName): string {
  const waits = `waits for nova-compute on ${host} and breaks the instance when nova-compute starts; purge the queue compute.${host} before that`
  return kind === 'evacuate'
    ? `Its first evacuation order ${waits}. Until nova-compute on ${run.host} has started, a record of it stays accepted`
    : `The confirmation of its resize ${waits}`
}

/**
 * What people must know where Nova does not tell which orders of its owner wait at the dead host: nobody else will, before that host is started
 * and carries them out. An instance that is gone has none.
 */
export function unreadOrders(
  run: Pick<Run, 'id' | 'host'>,
  { plan }: Pick<InstanceRecovery, 'plan'>,
  error: LifeboatError,
): NewEntry[] {
  if (error.code === 'INSTANCE_GONE') return []
  const base = { incident: run.id, host: run.host, instance: plan.instanceId }
  const code = 'ORDERS_UNREAD'
  const message = `Nova does not tell which orders of its owner wait for nova-compute on ${run.host} (${error.message}). Purge the queue compute.${run.host} before nova-compute starts there; if it runs already, look there for guests that run elsewhere too: virsh list --all`
  return [
    { kind: 'debt.recorded', ...base, data: { code, message } },
    { kind: 'alarm.raised', ...base, data: { code, message: `${plan.name}: ${message}` } },
  ]
}

const resizeLeftoverCode = 'RESIZE_LEFTOVER'

/**
 * What stays of a resize whose confirmation Nova took and nobody carried out, where the recovery went on without it. The plan knew nothing
 * of it: the source was alive then.
 */
export function unconfirmedResize(
  run: Pick<Run, 'id' | 'host'>,
  { plan, steps, leftovers }: InstanceRecovery,
): NewEntry[] {
  const { resize } = plan.original
  const confirmations = [...steps.values()].filter(({ kind }) => kind === 'confirm-resize')
  const wentOn = [...steps.values()].some(({ kind, status }) => kind === 'reset-state' && status === 'confirmed')
  const isKnown = [...plan.debts, ...leftovers].some(({ code }) => code === resizeLeftoverCode)
  if (resize === null || isKnown || !wentOn || confirmations.at(-1)?.error?.code !== 'INSTANCE_BUSY') return []
  const { migrationUuid, sourceHost } = resize
  const message = `The record of its resize (migration ${migrationUuid}) never ends and holds capacity on ${sourceHost}. Delete that allocation in Placement, remove the switched-off guest of the resize and ${plan.instanceId}_resize on ${sourceHost}, and set the record to error in Nova's database`
  const data = { code: resizeLeftoverCode, message }
  return [{ kind: 'debt.recorded', incident: run.id, host: run.host, instance: plan.instanceId, data }]
}
