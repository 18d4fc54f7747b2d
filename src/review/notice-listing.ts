/** Notices as people read them, by receiver: the newest on record, and how each receiver stands. */
import type { Entry } from '../domain/entry.ts'
import type { JournalReader } from '../domain/journal.ts'
import type { ReceiverHealth } from '../domain/notice.ts'
import type { NoticeFilter, NoticeLine, ReceiverNotices } from '../domain/notice-listing.ts'
import { byReceiver, noticeEntryKinds, noticeRecords, type NoticeRecord } from '../domain/notice-record.ts'

/** Rows about notices that are read, the newest. More hold up the daemon; fewer, and a dead receiver's tries are all that is listed. */
const rowsRead = 5_000

const defaultLimit = 20

interface ListingParts {
  journal: Pick<JournalReader, 'read'>
  receivers: () => ReceiverHealth[]
}

/** The receivers of the configuration first, in its order, then those that only the journal knows. */
export function noticeListing(
  { journal, receivers }: ListingParts,
  { receiver, state, incident, limit = defaultLimit }: NoticeFilter,
): ReceiverNotices[] {
  const told = noticeRecords(readRows(journal, incident))
  const concerns = incident === undefined ? () => true : about(incident, told, timesOf(journal, incident))
  const records = told.filter((record) => (state === undefined || record.state === state) && concerns(record))
  const found = new Map(byReceiver(records, limit).map((group) => [group.receiver, group]))
  const health = new Map(receivers().map((one) => [one.receiver, one]))
  return [...new Set([...health.keys(), ...found.keys()])]
    .filter((name) => receiver === undefined || name === receiver)
    .map((name) => ({
      receiver: name,
      health: health.get(name) ?? null,
      counts: countsOf(records.filter((record) => record.receiver === name)),
      notices: (found.get(name)?.records ?? []).map(lineOf).toReversed(),
      more: found.get(name)?.more ?? 0,
    }))
}

/** Oldest first. Of one incident also those that are about several, which are under no incident's name. */
function readRows(journal: ListingParts['journal'], incident: string | undefined): Entry[] {
  const newest = { kinds: [...noticeEntryKinds], newestFirst: true, limit: rowsRead }
  const rows = journal.read(newest)
  if (incident === undefined) return rows.toReversed()
  const bySeq = new Map([...journal.read({ ...newest, incident }), ...rows].map((row) => [row.seq, row]))
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq)
}

/** What was told of the host shortly before its incident was opened led to it. */
const ledToItMs = 600_000

interface IncidentTimes {
  host: string | null
  fromMs: number
  untilMs: number
}

/** Null: it was never opened. */
function timesOf(journal: ListingParts['journal'], incident: string): IncidentTimes | null {
  const [opened] = journal.read({ incident, limit: 1 })
  if (opened === undefined) return null
  const [closed] = journal.read({ incident, kinds: ['incident.closed'], newestFirst: true, limit: 1 })
  const untilMs = closed === undefined ? Infinity : Date.parse(closed.at)
  return { host: opened.host, fromMs: Date.parse(opened.at) - ledToItMs, untilMs }
}

function isOfHost({ notice }: NoticeRecord, times: IncidentTimes | null): boolean {
  if (times === null || notice.incident !== null || notice.host === null || notice.host !== times.host) return false
  const atMs = Date.parse(notice.at)
  return atMs >= times.fromMs && atMs <= times.untilMs
}

/** Its own, those of its host while it failed, those of a group that the brake holds with it, and what was told of that group later: it names nobody any more. */
function about(
  incident: string,
  all: readonly NoticeRecord[],
  times: IncidentTimes | null,
): (record: NoticeRecord) => boolean {
  const isNamed = ({ notice }: NoticeRecord): boolean =>
    notice.incident === incident || notice.held?.incidents.includes(incident) === true
  const first = all.find((record) => isNamed(record) && record.notice.held !== undefined)
  const troubles = new Set(all.flatMap((record) => (isNamed(record) ? (record.notice.alert?.key ?? []) : [])))
  return (record) =>
    isNamed(record) ||
    isOfHost(record, times) ||
    (first !== undefined &&
      record.notice.cause > first.notice.cause &&
      record.notice.held !== undefined &&
      troubles.has(record.notice.alert?.key ?? ''))
}

function countsOf(records: readonly NoticeRecord[]): ReceiverNotices['counts'] {
  const counts: ReceiverNotices['counts'] = {}
  for (const { state } of records) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

function lineOf({ notice, state, attempts, queuedAt, endedAt, detail }: NoticeRecord): NoticeLine {
  const { id, topic, severity, code, message, host, incident, project } = notice
  return { id, topic, severity, code, message, host, incident, project, state, attempts, queuedAt, endedAt, detail }
}
