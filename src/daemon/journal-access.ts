/** The journal for the command line: beside a running daemon or without one, read-only. */
import type { JournalAccess } from '../cli/composition.ts'
import type { EntryKind } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import { foldIncidents } from '../domain/incident.ts'
import type { JournalReader } from '../domain/journal.ts'
import { exportLines } from '../journal/export.ts'
import type { IncidentLine } from '../journal/listing.ts'
import { openJournalReader } from '../journal/reader.ts'
import { incidentReport } from '../journal/report.ts'
import { sentenceOf } from '../journal/report-sentences.ts'
import { incidentDetail, incidentSummary } from './incident-views.ts'
import { signOffs, summaryOfLine } from './review/incident-listing.ts'
import { IncidentRecord } from './review/incident-record.ts'

/** What says how far fencing has come. Few, however many instances there are. */
const fencingKinds: EntryKind[] = ['incident.opened', 'fence.attempt', 'proof.recorded', 'proof.voided']

/** Of one that is over nothing is read: a list folds no incident. */
function fencingOf(journal: JournalReader, { id, closedAt }: IncidentLine): string | null {
  if (closedAt !== null) return null
  const incident = foldIncidents(journal.read({ incident: id, kinds: fencingKinds })).get(id)
  return incident === undefined ? null : incidentSummary(incident).fencing
}

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
    incidents: ({ open, unsettled, host, limit }) => {
      const lines = reader.incidents({
        ...(host !== undefined && { host }),
        ...(limit !== undefined && { limit }),
        openOnly: open === true,
        unsettled: unsettled === true,
      })
      const signed = signOffs(reader, lines.at(-1)?.openedAt)
      return lines.map((line) => ({
        ...summaryOfLine(line),
        fencing: fencingOf(reader, line),
        signedOff: signed.get(line.id) ?? null,
      }))
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
