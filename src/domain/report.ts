/**
 * Reports of failures that other programs send (the monitors of Masakari): of a host, of a process on it, of a guest. A report makes
 * Lifeboat look; it proves nothing. It never stands for a heartbeat, a probe or fencing.
 *
 * Pure: which report repeats an earlier one, and what became of each.
 */
import type { EntryData, IncidentId, Via } from './entry.ts'
import type { Incident } from './incident.ts'
import { crashedInstance } from './instance-failure.ts'
import { novaCompute } from './process-failure.ts'
import type { HostName } from './service.ts'
import type { ReportClass, ReportEnd, ReportStatus } from './report-words.ts'
import { isBeating, type Verdict } from './verdict.ts'

/** As it was sent. */
export interface ReportOrder {
  about: ReportClass
  host: HostName
  /** ISO, by the sender's clock: shown and compared, never used to measure time. */
  generatedAt: string
  payload: Readonly<Record<string, string>>
  by: string
  via: Via | null
}

export interface Report extends Omit<ReportOrder, 'via'> {
  /** Rising, never used twice: lists are paged by it. */
  number: number
  uuid: string
  /** The name that the sender has for the host, if it is not Nova's. */
  sentAs?: string
  /** ISO, by our clock. */
  receivedAt: string
  settled: { status: ReportEnd; message: string; incident: IncidentId | null; at: string } | null
}

/** A report with how it stands now. */
export interface ReportView extends Report {
  status: ReportStatus
  message: string
  incident: IncidentId | null
  /** ISO; null: nothing became of it yet. */
  updatedAt: string | null
}

/** What the API of Masakari needs of the daemon. */
export interface Reports {
  /**
   * Puts a report on record. Throws USAGE unless its name means one host of Nova's, REPORT_REPEATED, REPORT_UNWANTED for a host in
   * maintenance, JOURNAL_UNAVAILABLE.
   */
  receive(order: ReportOrder): ReportView
  /** The newest first. */
  list(): ReportView[]
}

/** If the same report comes twice within this time, the second says nothing new, as in Masakari; ms. */
const repeatedWithinMs = 180_000

/** How long a report of a dead host waits for the verdict. Longer: a monitor's mistake stays open; shorter: it ends before Nova says down. */
const hostVerdictWithinMs = 600_000

/** How long a report of a process stays open while nothing keeps Lifeboat from it, and still nothing comes of it. */
const processWithinMs = 600_000

/**
 * Whether `order` repeats `known`. As in Masakari, `known` may carry a `generatedAt` that is later by any amount. If a guest crashes again
 * once its first crash is dealt with, that is no repetition, however soon it is.
 *
 * @param isOver whether the failure that `known` told of is over: then only a report with the same time repeats it, since a later one is new
 */
export function repeats(order: ReportOrder, known: Report, isOver: () => boolean): boolean {
  // The cheapest first: each report is compared with all those of a month.
  if (!isAboutTheSame(order, known) || (known.settled !== null && crashedInstance(known) !== null)) return false
  if (Date.parse(known.generatedAt) < Date.parse(order.generatedAt) - repeatedWithinMs) return false
  return known.generatedAt === order.generatedAt || !isOver()
}

/** Whether it is the very report once more: its sender did not get the answer. */
export function isSentAgain(order: ReportOrder, known: Report): boolean {
  return known.generatedAt === order.generatedAt && isAboutTheSame(order, known)
}

function isAboutTheSame(order: ReportOrder, known: Report): boolean {
  return known.host === order.host && known.about === order.about && samePayload(known.payload, order.payload)
}

function samePayload(some: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(some)
  return keys.length === Object.keys(other).length && keys.every((key) => some[key] === other[key])
}

/** A nova-compute that its monitor cannot keep alive. */
export function reportsDeadProcess({ about, payload }: Pick<Report, 'about' | 'payload'>): boolean {
  return about === 'PROCESS' && payload['event'] === 'STOPPED' && payload['process_name'] === novaCompute
}

/** The disk of a guest fails, and QEMU was asked to report that. */
export function tellsOfDisk(payload: Report['payload']): boolean {
  return payload['event'] === 'IO_ERROR' && payload['vir_domain_event'] === 'IO_ERROR_REPORT'
}

/** An incident as far as a report tells of it. */
export interface ReportedIncident extends Pick<Incident, 'id' | 'mode' | 'held'> {
  closed: EntryData['incident.closed'] | null
}

/** What Lifeboat knows now of the host of a report. */
export interface ReportFacts {
  /** For how long Lifeboat could have dealt with it, ms, by our monotonic clock. */
  ageMs: number
  /** Why nothing is begun about it now, though it will be; null: nothing keeps Lifeboat from it. */
  waitsFor: string | null
  verdict: Verdict | undefined
  /** Its nova-compute was seen to beat after the report came. */
  hasBeatSince: boolean
  /** Of the host itself, and of its nova-compute: open, or ended since the report came. */
  host: ReportedIncident | undefined
  process: ReportedIncident | undefined
  /** Nova schedules nothing there now. */
  isDisabled: boolean
}

export interface Judgement {
  status: ReportStatus
  message: string
  incident: IncidentId | null
}

/** How a report of a host or of a process stands. */
export function judgeReport(report: Pick<Report, 'about' | 'payload'>, facts: ReportFacts): Judgement {
  const { about, payload } = report
  if (payload['event'] !== 'STOPPED') return say('finished', 'Noted: Lifeboat sees for itself what comes back')
  if (facts.host !== undefined) return ofIncident(facts.host)
  if (about === 'COMPUTE_HOST') return ofHost(payload, facts)
  if (!reportsDeadProcess(report))
    return say('finished', 'Lifeboat told the operators, and does nothing else about this process')
  return ofProcess(facts)
}

function ofHost(payload: Report['payload'], { ageMs, verdict, hasBeatSince }: ReportFacts): Judgement {
  if (payload['host_status'] === 'UNKNOWN')
    return say('finished', 'Noted: the sender does not know the state of the host')
  if (verdict !== undefined && isBeating(verdict) && hasBeatSince)
    return say('ignored', `Its nova-compute beats: ${verdict.message}`)
  if (ageMs >= hostVerdictWithinMs)
    return say('ignored', `Lifeboat did not find the host dead: ${verdict?.message ?? 'nothing is known of it'}`)
  return say('running', verdict === undefined ? 'Lifeboat is looking at the host' : verdict.message)
}

function ofProcess({ ageMs, waitsFor, process, isDisabled }: ReportFacts): Judgement {
  if (process === undefined) {
    if (isDisabled) return say('finished', 'Its service is disabled already')
    if (waitsFor !== null) return say('error', waitsFor)
    if (ageMs < processWithinMs) return say('running', 'Lifeboat is looking at the host')
    return say('ignored', 'Lifeboat disabled nothing: see the alarms, or the orders on this host')
  }
  if (process.mode === 'observe') return { status: 'ignored', message: 'Lifeboat only observes', incident: process.id }
  if (!isDisabled && process.closed?.outcome === 'left-to-people')
    return { status: 'ignored', message: process.closed.message, incident: process.id }
  if (isDisabled || process.closed !== null)
    return { status: 'finished', message: process.closed?.message ?? 'Its service is disabled', incident: process.id }
  if (process.held !== null) return { status: 'error', message: process.held.message, incident: process.id }
  return { status: 'running', message: 'Its service is being disabled', incident: process.id }
}

function ofIncident({ id, held, closed }: ReportedIncident): Judgement {
  if (closed === null)
    return {
      status: held === null ? 'running' : 'error',
      message: held?.message ?? 'The host is being recovered',
      incident: id,
    }
  if (closed.outcome === 'observed') return { status: 'ignored', message: closed.message, incident: id }
  const lost = (closed.counts['failed'] ?? 0) + (closed.counts['stuck'] ?? 0) > 0
  return {
    status: closed.outcome === 'cancelled' || lost ? 'failed' : 'finished',
    message: closed.message,
    incident: id,
  }
}

/** How a report of a guest that has not crashed stands: nothing follows from it. */
export function judgeUncrashed({ payload }: Pick<Report, 'payload'>): Judgement {
  const { event } = payload
  if (tellsOfDisk(payload))
    return say('ignored', 'Lifeboat told the operators, and restarts no guest because a disk fails')
  if (event === 'IO_ERROR') return say('ignored', 'Lifeboat restarts no guest because a disk fails')
  if (event === 'QEMU_GUEST_AGENT_ERROR')
    return say('ignored', 'The guest runs, although its agent is silent: Lifeboat leaves it alone')
  return say('ignored', 'Lifeboat restarts only guests whose QEMU died (LIFECYCLE, STOPPED_FAILED)')
}

function say(status: ReportStatus, message: string): Judgement {
  return { status, message, incident: null }
}
