/** One instance: its whole record in an incident, and in which incidents it was. Reads its own entries and no others. */
import type { Entry, IncidentId } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { InstanceRecovery } from '../domain/incident.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { InstanceReview, Review } from '../domain/review.ts'
import { IncidentRecord } from './incident-record.ts'
import type { ReviewedJournal } from './incident-listing.ts'
import { instanceLine } from './instance-lines.ts'
import { stepReview } from './step-review.ts'
import { timelineEvent } from './timeline.ts'

/** Incidents of one instance that are listed. One that was in more has an operator who knows. */
const incidentsShown = 50

type Reading = Pick<ReviewedJournal, 'read'>

/** Throws NOT_FOUND when the incident has no such instance. */
export function instanceReview(journal: Reading, incident: IncidentId, instance: InstanceId): InstanceReview {
  const entries = journal.read({ incident, instance })
  const record = recordOf(journal, incident, entries)
  const recovery = recoveryIn(record, instance)
  if (recovery === undefined) throw new LifeboatError('NOT_FOUND', `Incident ${incident} has no instance ${instance}`)
  return {
    ...instanceLine(recovery, record.span(instance)),
    incident,
    plan: recovery.plan,
    steps: [...recovery.steps.values()].map(stepReview),
    timeline: entries.map(timelineEvent),
  }
}

/** The newest first. */
export function instanceHistory(journal: Reading, instance: InstanceId): ReturnType<Review['instanceHistory']> {
  const plans = journal.read({ instance, kinds: ['plan.made'], newestFirst: true, limit: incidentsShown })
  const incidents = [...new Set(plans.flatMap(({ incident }) => incident ?? []))]
  return incidents.flatMap((id) => {
    const record = recordOf(journal, id, journal.read({ incident: id, instance }))
    const recovery = recoveryIn(record, instance)
    if (recovery === undefined) return []
    const { host, openedAt } = record.incident
    return [{ ...instanceLine(recovery, record.span(instance)), incident: id, host, openedAt }]
  })
}

function recoveryIn(record: IncidentRecord, instance: InstanceId): InstanceRecovery | undefined {
  return record.begun ? record.incident.instances.get(instance) : undefined
}

/** The incident as far as these entries tell. */
function recordOf(journal: Reading, id: IncidentId, entries: readonly Entry[]): IncidentRecord {
  const record = new IncidentRecord(id)
  for (const entry of journal.read({ incident: id, kinds: ['incident.opened'], limit: 1 })) record.take(entry)
  for (const entry of entries) record.take(entry)
  return record
}
