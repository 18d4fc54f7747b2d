/** The journal for the command line: beside a running daemon or without one, read-only. */
import type { JournalAccess } from '../cli/composition.ts'
import { LifeboatError } from '../domain/errors.ts'
import { foldIncidents } from '../domain/incident.ts'
import { exportLines } from '../journal/export.ts'
import { openJournalReader } from '../journal/reader.ts'
import { incidentReport } from '../journal/report.ts'
import { sentenceOf } from '../journal/report-sentences.ts'
import { incidentDetail, incidentSummary } from './incident-views.ts'
import { IncidentRecord } from './review/incident-record.ts'

/** Throws JOURNAL_UNAVAILABLE when there is no journal at `path`. */
export function openJournalAccess(path: string): JournalAccess {
  const reader = openJournalReader(path)
  const entriesOf = (id: string): ReturnType<typeof reader.read> => {
    const entries = reader.read({ incident: id })
    if (entries.length === 0) throw noIncident(id)
    return entries
  }
  return {
    read: (filter) => reader.read(filter),
    each: (filter) => reader.each(filter),
    verify: () => reader.verify(),
    sentence: sentenceOf,
    close: () => reader.close(),
    incidents: ({ open, host, limit }) => {
      const lines = reader.incidents({
        ...(host !== undefined && { host }),
        ...(limit !== undefined && { limit }),
        openOnly: open === true,
      })
      return lines.flatMap(({ id }) => [...foldIncidents(entriesOf(id)).values()].map(incidentSummary))
    },
    incident: (id) => {
      const record = new IncidentRecord(id)
      for (const entry of entriesOf(id)) record.take(entry)
      if (!record.begun) throw new LifeboatError('JOURNAL_CORRUPT', `The journal does not say how incident ${id} began`)
      return incidentDetail(record)
    },
    *export(format, incident) {
      // An empty export of a mistyped incident would look like one that was made.
      if (incident !== null && reader.read({ incident, limit: 1 }).length === 0) throw noIncident(incident)
      if (format === 'json') yield* exportLines(reader, incident === null ? {} : { incident })
      else
        for (const { id } of incident === null
          ? reader.incidents({ limit: 1_000_000 }).toReversed()
          : [{ id: incident }])
          yield `${incidentReport(id, entriesOf(id))}\n`
    },
  }
}

function noIncident(id: string): LifeboatError {
  return new LifeboatError('NOT_FOUND', `There is no incident ${id} (lifeboat incident list shows them)`)
}
