/** What incidents before this one did with an instance, as the journal tells it: an index over its plans. */
import type { IncidentId } from '../domain/entry.ts'
import { foldIncidents, type InstanceRecovery } from '../domain/incident.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { Journal } from '../domain/journal.ts'
import type { EarlierRecovery } from '../domain/survey.ts'
import type { IncidentStore } from './incident-store.ts'

/** Plans of one instance that are looked through for the last that was begun. More reads an instance's years for nothing. */
const plansAtMost = 50

/**
 * The last recovery of an instance that was begun, by any incident but `except`; or the one that an open incident of another host still
 * works on. Null: there was none.
 */
export function earlierRecovery(
  journal: Pick<Journal, 'read'>,
  store: Pick<IncidentStore, 'open'>,
  instance: InstanceId,
  except: IncidentId | null,
): EarlierRecovery | null {
  for (const { id, mode, openedAt, instances } of store.open()) {
    const recovery = instances.get(instance)
    if (id === except || mode === 'observe' || recovery === undefined || recovery.outcome !== null) continue
    return { ...told(id, recovery), plannedAt: openedAt, endedAt: null, provenDeadSince: () => false }
  }
  const plans = journal.read({ instance, kinds: ['plan.made'], newestFirst: true, limit: plansAtMost })
  for (const { incident, at: plannedAt } of plans) {
    if (incident === null || incident === except) continue
    const own = journal.read({ incident, instance })
    const opened = journal.read({ incident, kinds: ['incident.opened'], limit: 1 })
    const recovery = foldIncidents([...opened, ...own])
      .get(incident)
      ?.instances.get(instance)
    const end = own.at(-1)
    // A plan alone leaves no traces in Nova.
    if (recovery === undefined || end === undefined || (recovery.steps.size === 0 && recovery.round === 0)) continue
    const provenDeadSince = (host: string): boolean =>
      journal.read({ host, kinds: ['proof.recorded'], after: end.seq, limit: 1 }).length > 0
    return { ...told(incident, recovery), plannedAt, endedAt: end.at, provenDeadSince }
  }
  return null
}

function told(
  incident: IncidentId,
  { plan, outcome, steps }: InstanceRecovery,
): Pick<EarlierRecovery, 'incident' | 'original' | 'outcome' | 'steps'> {
  const brief = [...steps.values()].map(({ kind, status, requestId, error }) => ({ kind, status, requestId, error }))
  return { incident, original: plan.original, outcome, steps: brief }
}
