/** One instance: its whole record in an incident, and in which incidents it was. Reads its own entries and no others. */
import type { Entry, IncidentId } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import { failureOf, type InstanceRecovery } from '../domain/incident.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { InstanceReview, InstanceStay, Review } from '../domain/review.ts'
import { IncidentRecord } from './incident-record.ts'
import type { ReviewedJournal } from './incident-listing.ts'
import { instanceLine, lastBeatAt } from './instance-lines.ts'
import { stepReview } from './step-review.ts'
import { timelineEvent } from './timeline.ts'

/** Incidents of one instance that are listed. One that was in more has an operator who knows. */
const incidentsShown = 50

type Reading = Pick<ReviewedJournal, 'read'>

/** Throws NOT_FOUND when the incident has no such instance. */
export function instanceReview(journal: Reading, incident: IncidentId, instance: InstanceId): InstanceReview {
  const entries = entriesOf(journal, instance).get(incident) ?? []
  const record = recordOf(journal, incident, entries)
  const recovery = recoveryIn(record, instance)
  if (recovery === undefined) throw new LifeboatError('NOT_FOUND', `Incident ${incident} has no instance ${instance}`)
  return {
    ...instanceLine(recovery, record.span(instance), record.incident),
    incident,
    plan: recovery.plan,
    steps: [...recovery.steps.values()].map(stepReview),
    timeline: entries.map(timelineEvent),
  }
}

/** The newest first. */
export function instanceHistory(journal: Reading, instance: InstanceId): ReturnType<Review['instanceHistory']> {
  return instanceStays(journal, instance).map(
    ({ segment: _segment, mode: _mode, failure: _failure, lastBeatAt: _lastBeatAt, ...line }) => line,
  )
}

/** As `instanceHistory`, with what is known of each host. */
export function instanceStays(journal: Reading, instance: InstanceId): InstanceStay[] {
  const ofInstance = [...entriesOf(journal, instance)].toReversed().slice(0, incidentsShown)
  return ofInstance.flatMap(([id, entries]) => {
    const record = recordOf(journal, id, entries)
    const recovery = recoveryIn(record, instance)
    if (recovery === undefined) return []
    const { incident } = record
    const { host, segment, mode, openedAt } = incident
    const line = instanceLine(recovery, record.span(instance), incident)
    const known = { host, segment, mode, failure: failureOf(incident), openedAt, lastBeatAt: lastBeatAt(incident) }
    return [{ ...line, incident: id, ...known }]
  })
}

/**
 * By incident, in the order in which each began with it. Asked by instance alone: asked by both, SQLite may walk an incident of
 * thousands for the few entries of one instance.
 */
function entriesOf(journal: Reading, instance: InstanceId): Map<IncidentId, Entry[]> {
  const found = new Map<IncidentId, Entry[]>()
  for (const entry of journal.read({ instance })) {
    if (entry.incident === null) continue
    const known = found.get(entry.incident)
    if (known === undefined) found.set(entry.incident, [entry])
    else known.push(entry)
  }
  return found
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
