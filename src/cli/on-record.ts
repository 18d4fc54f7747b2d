/** What is on record of incidents and instances, read from the journal of this machine or asked of a daemon elsewhere. */
import type { IncidentComparison } from '../domain/incident-comparison.ts'
import type { IncidentDetail, IncidentFilter, IncidentSummary } from '../domain/operations.ts'
import type { FoundInstance, InstanceHistory } from '../domain/review.ts'
import type { JournalAccess } from '../review/journal-access.ts'
import type { DaemonClient } from './daemon-client.ts'
import { reviewedIncident, type ReviewedIncident } from './incident-fields.ts'

export interface OnRecord {
  incidents(filter: IncidentFilter): Promise<IncidentSummary[]>
  /** Throws NOT_FOUND. */
  incident(id: string): Promise<IncidentDetail>
  /** With what its reviewers said. Throws NOT_FOUND. */
  reviewed(id: string): Promise<ReviewedIncident>
  /** Two side by side. Throws NOT_FOUND. */
  compare(first: string, second: string): Promise<IncidentComparison>
  /** By a part of their name or the beginning of their UUID, the best match first. */
  instances(text: string, limit: number): Promise<FoundInstance[]>
  /** Throws NOT_FOUND. */
  instance(id: string): Promise<InstanceHistory>
}

export function recordOfJournal(withJournal: <T>(use: (journal: JournalAccess) => T) => T): OnRecord {
  const read = async <T>(use: (journal: JournalAccess) => T): Promise<T> => Promise.resolve(withJournal(use))
  return {
    incidents: (filter) => read((journal) => journal.incidents(filter)),
    incident: (id) => read((journal) => journal.incident(id)),
    reviewed: (id) => read((journal) => reviewedIncident(journal, id)),
    compare: (first, second) => read((journal) => journal.compare(first, second)),
    instances: (text, limit) => read((journal) => journal.instances(text, limit)),
    instance: (id) => read((journal) => journal.instance(id)),
  }
}

export function recordOfDaemon(daemon: DaemonClient): OnRecord {
  return {
    incidents: (filter) => daemon.incidents(filter),
    incident: (id) => daemon.incident(id),
    reviewed: async (id) => {
      const [detail, { advice, notes, signOff }] = await Promise.all([daemon.incident(id), daemon.review(id)])
      return { ...detail, advice, notes, signOff }
    },
    compare: (first, second) => daemon.compare(first, second),
    instances: async (text, limit) => (await daemon.search(text, limit)).instances,
    instance: (id) => daemon.instance(id),
  }
}
