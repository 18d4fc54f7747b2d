/**
 * Which of Nova's records is moved by an attempt. Nova carries an order out with the oldest record of the instance that is
 * `accepted` (docs/nova.md §2.7): where an earlier order still waits for a dead destination, that one moves, and the record of
 * the new order stays as it is. Pure.
 */
import { LifeboatError } from '../../domain/errors.ts'
import type { InstanceRecovery, StepRecord } from '../../domain/incident.ts'
import { isOver, type Migration } from '../../domain/instance.ts'
import type { HostName } from '../../domain/service.ts'
import type { Permissions } from '../context.ts'
import type { BeforeEvacuation, WaitingEvacuation } from '../../domain/step-payloads.ts'

/** The records that came with this attempt, oldest first. */
export function ours(records: readonly Migration[], { spentEvacuations }: BeforeEvacuation): Migration[] {
  return records.filter((record) => !spentEvacuations.includes(record.uuid))
}

/** The record that tells how this attempt stands; undefined while there is none. */
export function recordInForce(records: readonly Migration[], before: BeforeEvacuation): Migration | undefined {
  const waited = (before.waitingEvacuations ?? []).map(({ migration, destination }) => {
    const record = records.find(({ uuid }) => uuid === migration)
    // Claimed by the host that it waited for: that is the old order, come true late.
    return record?.status === 'accepted' || record?.destHost === destination ? undefined : record
  })
  const made = ours(records, before)
  return (
    waited.find((record) => record !== undefined) ??
    (made.length > 1 ? made.find(({ status }) => status !== 'accepted') : undefined) ??
    made.at(-1)
  )
}

/**
 * Whether another order came while this attempt's was on its way: Nova takes both, moves one record for the two, and the guest may
 * be started on either destination, whatever that record says (docs/nova.md §2.7).
 */
export function hasMetAnother(records: readonly Migration[], before: BeforeEvacuation): boolean {
  return ours(records, before).length > 1
}

/** Records that earlier attempts are known to have made or moved. */
export function recordsOf(record: StepRecord): string[] {
  const migration = record.error?.details['migration']
  return [...(typeof migration === 'string' ? [migration] : []), ...sparesOf(record)]
}

/** Nova's id of the order behind an attempt, also where it was someone else's, or its answer was lost, and it was taken for lost. */
export function orderOf({ requestId, error }: StepRecord): string | null {
  const request = error?.code === 'EVACUATION_LOST' ? error.details['request'] : null
  return requestId ?? (typeof request === 'string' ? request : null)
}

/** Hosts on which orders that were taken for lost hold room: Nova gives it back to nobody. */
export function hostsOfLost(earlier: readonly StepRecord[]): HostName[] {
  return earlier.flatMap(({ error }) => {
    const host = error?.code === 'EVACUATION_LOST' ? error.details['destination'] : null
    return typeof host === 'string' ? [host] : []
  })
}

/** Those of the given records that stand at `accepted`, with the host that each waits for. */
export function waitingOf(records: readonly Migration[], earlier: readonly StepRecord[]): WaitingEvacuation[] {
  return records
    .filter(({ status }) => status === 'accepted')
    .map(({ uuid }) => ({ migration: uuid, destination: destinationGivenUp(uuid, earlier) }))
}

/** Whether a destination that may live has it and is at work on it. */
export function isTaken(record: Migration, permissions: Pick<Permissions, 'isFenced'>): boolean {
  return record.status !== 'accepted' && !isOver(record) && !permissions.isFenced(record.destHost ?? '')
}

/**
 * Whether the order was given up and has come true all the same: its destination was dead, and has come back and taken it; or it was taken for lost,
 * and someone has carried it out, to whatever end.
 */
export function isRevived(
  record: Migration,
  earlier: readonly StepRecord[],
  permissions: Pick<Permissions, 'isFenced'>,
): boolean {
  const { uuid, status, destHost } = record
  // A later order moves the oldest record that stands at `accepted`, and tells then what became of that.
  const last = earlier.findLast((attempt) => recordsOf(attempt).includes(uuid))
  if (last?.error?.code === 'EVACUATION_LOST') return status !== 'accepted'
  const isOfDead = earlier.some(({ error }) => {
    const { migration, destination } = error?.details ?? {}
    return error?.code === 'DESTINATION_DIED' && migration === uuid && destination === destHost
  })
  return isOfDead && isTaken(record, permissions)
}

export function hasFailed(status: string): boolean {
  return ['failed', 'error', 'cancelled'].includes(status)
}

/** Hosts in whose queues evacuations of this instance still wait. */
export function hostsGivenUp({ steps }: Pick<InstanceRecovery, 'steps'>): HostName[] {
  const evacuations = [...steps.values()].filter(({ kind }) => kind === 'evacuate')
  return evacuations.flatMap((record) => waitsAt(record)?.destination ?? [])
}

/** The order of a failed attempt that the host it went to never took. */
export function waitsAt({ error }: Pick<StepRecord, 'error'>): { migration: string; destination: HostName } | null {
  const { migration, destination, queued } = error?.details ?? {}
  if (queued !== true || typeof migration !== 'string' || typeof destination !== 'string') return null
  return { migration, destination }
}

function destinationGivenUp(uuid: string, earlier: readonly StepRecord[]): HostName | null {
  const failed = earlier.find(({ error }) => error?.details['migration'] === uuid)
  const destination = failed?.error?.details['destination']
  return typeof destination === 'string' ? destination : null
}

/** The state right before this attempt, which has got as far as a write. */
export function beforeOf({ key, before }: StepRecord<'evacuate'>): BeforeEvacuation {
  if (before === null) throw new LifeboatError('INVARIANT', `step ${key} has sent nothing`)
  return before
}

/** Records of this attempt that its order did not move: they stay `accepted`, and are no order of anybody's. */
export function spareOf(
  records: readonly Migration[],
  before: BeforeEvacuation,
  moved: Migration,
): { spare?: string[] } {
  const spare = ours(records, before).flatMap(({ uuid }) => (uuid === moved.uuid ? [] : [uuid]))
  return spare.length > 0 ? { spare } : {}
}

export function isSpare(earlier: readonly StepRecord[], migration: string): boolean {
  return earlier.some((record) => sparesOf(record).includes(migration))
}

function sparesOf({ error }: StepRecord): string[] {
  const spare: unknown = error?.details['spare']
  return Array.isArray(spare) ? spare.filter((uuid) => typeof uuid === 'string') : []
}
