/** The journal for the command line: beside a running daemon or without one, read-only. */
import type { Entry, EntryKind, IncidentId } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import { foldIncidents, type Incident } from '../domain/incident.ts'
import type { IncidentComparison } from '../domain/incident-comparison.ts'
import type { EntryFilter, JournalReader } from '../domain/journal.ts'
import type { HostReturnDetail, IncidentDetail, IncidentFilter, IncidentSummary } from '../domain/operations.ts'
import type { InstanceId } from '../domain/instance.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import type { PeriodReport } from '../domain/period-report.ts'
import type { Readiness } from '../domain/readiness.ts'
import type { Advice, FoundInstance, InstanceHistory, ReportFormat } from '../domain/review.ts'
import { applyToReturns, incidentOf, returnEntryKinds, type ReturnRecord } from '../domain/return-record.ts'
import { exportLines } from '../journal/export.ts'
import type { IncidentLine } from '../journal/listing.ts'
import { openJournalReader, type JournalView } from '../journal/reader.ts'
import { periodKinds, periodReport } from './period-report.ts'
import { briefText, periodText } from './period-report-text.ts'
import { postMortem } from './post-mortem.ts'
import { incidentReport } from './report.ts'
import { lineOf } from '../domain/text/entry-sentence.ts'
import { compareIncidents, courseKinds, type Compared } from './incident-comparison.ts'
import { incidentDetail, incidentSummary } from './incident-views.ts'
import { returnDetail } from './host-views.ts'
import { adviceFor, type FenceRetry } from './advice.ts'
import { signOffs, summaryOfLine } from './incident-listing.ts'
import { IncidentRecord } from './incident-record.ts'
import { instanceRecord } from './instance-record.ts'
import { foundInstance } from './search.ts'

/** The journal beside a running daemon, or without one. */
export interface JournalAccess extends JournalReader {
  /** Oldest first, one by one: a journal may be bigger than memory. */
  each(filter?: Omit<EntryFilter, 'newestFirst' | 'limit'>): Iterable<Entry>
  incidents(filter: IncidentFilter): IncidentSummary[]
  /** By a part of their name or the beginning of their UUID, the best match first. */
  instances(text: string, limit: number): FoundInstance[]
  /** Throws NOT_FOUND when no incident is about it. */
  instance(id: InstanceId): InstanceHistory
  /** Throws NOT_FOUND; of the name of a host it names the incidents of that. */
  incident(id: IncidentId): IncidentDetail
  /** Two incidents side by side. Throws NOT_FOUND. */
  compare(first: IncidentId, second: IncidentId): IncidentComparison
  /** What a person must do about it, most urgent first, as its page says it. Throws NOT_FOUND. */
  advice(id: IncidentId): Advice[]
  /** What a period showed, with what holds for the hosts now; null: that is not known. */
  period(period: { from: string; to: string }, readiness: Readiness | null): PeriodReport
  /** The same in Markdown. */
  periodText(report: PeriodReport): string
  /** The same in a few sentences, a line each; plain text, unescaped. */
  briefText(report: PeriodReport): string
  /** The entry as one sentence; null when its kind says it all. */
  sentence(entry: Entry): string | null
  /** The pieces of an export, in order. Null: the whole journal. */
  export(format: ReportFormat, incident: IncidentId | null): Iterable<string>
}

/** What says how far fencing has come. Few, however many instances there are. */
const fencingKinds: EntryKind[] = ['incident.opened', 'fence.attempt', 'proof.recorded', 'proof.voided']

/** Of one that is over nothing is read: a list folds no incident. */
function fencingOf(journal: JournalReader, { id, closedAt }: IncidentLine): string | null {
  if (closedAt !== null) return null
  const incident = foldIncidents(journal.read({ incident: id, kinds: fencingKinds })).get(id)
  return incident === undefined ? null : incidentSummary(incident).fencing
}

/** Of the configuration in force. */
export interface JournalAccessSettings extends FenceRetry {
  /** Missing: nobody said where the pages are. */
  notices?: { link: string | null }
}

/** Throws JOURNAL_UNAVAILABLE when there is no journal at `path`. */
export function openJournalAccess(path: string, settings: JournalAccessSettings): JournalAccess {
  const reader = openJournalReader(path)
  const entriesOf = (id: string): ReturnType<typeof reader.read> => {
    const entries = reader.read({ incident: id })
    if (entries.length === 0) throw noIncident(id, reader)
    return entries
  }
  const reportOf = (id: string, format: 'markdown' | 'post-mortem'): string =>
    format === 'markdown'
      ? incidentReport(id, entriesOf(id))
      : postMortem(id, entriesOf(id), { retry: settings, pages: settings.notices?.link ?? null })
  // The one looked at last: one of thousands of instances is not read twice for one page.
  let known: IncidentRecord | null = null
  const recordOf = (id: string): IncidentRecord => {
    if (known?.id === id) {
      for (const entry of reader.read({ incident: id, after: known.lastSeq })) known.take(entry)
      return known
    }
    const record = new IncidentRecord(id)
    for (const entry of entriesOf(id)) record.take(entry)
    if (!record.begun) throw new LifeboatError('JOURNAL_CORRUPT', `The journal does not say how incident ${id} began`)
    known = record
    return record
  }
  return {
    read: (filter) => reader.read(filter),
    each: (filter) => reader.each(filter),
    verify: () => reader.verify(),
    sentence: lineOf,
    close: () => reader.close(),
    instances: (text, limit) => reader.instances(text, limit).map(foundInstance),
    instance: (id) => instanceRecord(reader, id),
    incidents: ({ open, unsettled, host, instance, limit }) => {
      const lines = reader.incidents({
        ...omitUndefined({ host, instance, limit }),
        openOnly: open === true,
        unreviewed: unsettled === true,
      })
      const signed = signOffs(reader, lines.at(-1)?.openedAt)
      return lines.map((line) => ({
        ...summaryOfLine(line),
        fencing: fencingOf(reader, line),
        signedOff: signed.get(line.id) ?? null,
      }))
    },
    incident: (id) => incidentDetail(recordOf(id)),
    compare: (first, second) => {
      const compared = (id: string): Compared => ({
        record: recordOf(id),
        course: reader.read({ incident: id, kinds: [...courseKinds] }),
      })
      return compareIncidents(compared(first), compared(second))
    },
    advice: (id) => {
      const record = recordOf(id)
      return adviceFor(record.incident, returnAfter(reader, record.incident), record.signOff !== null, settings)
    },
    period: ({ from, to }, readiness) => {
      const lines = reader.incidents({ limit: 1_000_000 }).filter(({ openedAt }) => openedAt < to)
      return periodReport({
        ...{ from, to, readiness, modeBefore: modeAt(reader, from) },
        entries: reader.each({ kinds: periodKinds, since: from, until: to }),
        lines: lines.filter(({ openedAt }) => openedAt >= from),
        openBefore: lines.filter(({ openedAt, closedAt, process, crashed }) => {
          const isOfHost = process === null && crashed === null
          return isOfHost && openedAt < from && (closedAt === null || closedAt >= from)
        }),
      })
    },
    periodText,
    briefText,
    *export(format, incident) {
      // An empty export of a mistyped incident would look like one that was made.
      if (incident !== null && reader.read({ incident, limit: 1 }).length === 0) throw noIncident(incident, reader)
      if (format === 'json') yield* exportLines(reader, incident === null ? {} : { incident })
      else
        for (const { id } of incident === null
          ? reader.incidents({ limit: 1_000_000 }).toReversed()
          : [{ id: incident }])
          yield `${reportOf(id, format)}\n`
    },
  }
}

/** The mode in which the daemon was then; null: it had not run before. */
function modeAt(journal: Pick<JournalReader, 'read'>, until: string): 'observe' | 'armed' | null {
  const [last] = journal.read({ kinds: ['daemon.started', 'mode.changed'], until, newestFirst: true, limit: 1 })
  if (last?.kind === 'daemon.started') return last.data.mode
  return last?.kind === 'mode.changed' ? last.data.to : null
}

/** How the host stands after the incident; null when another incident set our flags on it, or none did. */
function returnAfter(journal: Pick<JournalReader, 'read'>, { id, host }: Incident): HostReturnDetail | null {
  const records = new Map<string, ReturnRecord>()
  for (const entry of journal.read({ host, kinds: [...returnEntryKinds] })) applyToReturns(records, entry)
  const record = records.get(host)
  return record !== undefined && incidentOf(record) === id ? returnDetail(record) : null
}

/** Incidents offered to who named their host. An older one is found in the list. */
const offered = 3

/** Who is called at night knows the host: its incidents, the newest first. */
function noIncident(id: string, reader: Pick<JournalView, 'incidents'>): LifeboatError {
  const ofHost = reader.incidents({ host: id, limit: offered })
  if (ofHost.length === 0)
    return new LifeboatError('NOT_FOUND', `There is no incident ${id} (lifeboat incident list shows them)`)
  const problems = ofHost.map(
    (line) => `${line.id}, opened ${line.openedAt}: ${line.closedAt === null ? 'open' : (line.outcome ?? 'over')}`,
  )
  const message = `There is no incident ${id}; these are of the host of that name, the newest first (lifeboat incident list --host ${id})`
  return new LifeboatError('NOT_FOUND', message, { details: { problems } })
}
