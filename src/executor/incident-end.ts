/** The last rows of an incident: an outcome for each instance that nothing was begun for, and how the incident closed. */
import type { EntryData } from '../domain/entry.ts'
import type { Run } from './context.ts'
import { leftAlone } from './left-alone.ts'

/**
 * Gives each instance its outcome (law L9) that was planned while a person cancelled: nothing was begun for them.
 *
 * @param why the person's word, for those that would have been recovered
 */
export function leaveTheRest({ permissions, journal, id, host }: Run, why: string): void {
  const rest = [...permissions.incident(id).instances.values()].filter(({ outcome }) => outcome === null)
  journal.append(
    rest.map(({ plan }) => ({
      kind: 'outcome.recorded',
      ...{ incident: id, host },
      instance: plan.instanceId,
      data: leftAlone(plan, why),
    })),
  )
}

/** Closes an incident that was only observed, and says how much it would have recovered. */
export function closeObserved(run: Run): void {
  const { instances } = run.permissions.incident(run.id)
  const would = [...instances.values()].filter((recovery) => recovery.plan.decision === 'recover').length
  closeIncident(
    run,
    'observed',
    `observed only, nothing was sent: ${would} of ${instances.size} instances would have been recovered`,
  )
}

/**
 * Closes the incident with the count of its outcomes. When its host came back by itself it is watched on, also when a person cancelled
 * the incident for that reason: guests that nothing moved may be off. Where a person cancelled it otherwise, that is so once the host is back.
 */
export function closeIncident(run: Run, outcome: EntryData['incident.closed']['outcome'], message: string): void {
  const counts: Record<string, number> = {}
  const { instances, revoked, mode } = run.permissions.incident(run.id)
  for (const { outcome: ended } of instances.values()) {
    const name = ended?.outcome ?? 'none'
    counts[name] = (counts[name] ?? 0) + 1
  }
  const isBack = outcome === 'returned' || (outcome === 'cancelled' && revoked !== null)
  const onceBack = outcome === 'cancelled' && mode === 'armed' ? { watched: 'once-back' as const } : {}
  const data = { outcome, message, counts, ...(isBack ? { watched: true as const } : onceBack) }
  run.journal.append([{ kind: 'incident.closed', incident: run.id, host: run.host, data }])
}
