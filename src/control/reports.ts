/**
 * Reports in the running daemon: this journals each one before it is answered, judges it after each poll, and journals how it ended. A
 * report only makes the monitor, process-failures.ts and instance-failures.ts look; they decide what follows.
 *
 * Most reports of guests cause nothing and come in hundreds when a host shuts down: only those of crashes are in the journal.
 */
import { randomUUID } from 'node:crypto'
import { onOurClock, type Clock } from '../domain/clock.ts'
import type { Entry, NewEntry } from '../domain/entry.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import { hostsMeant } from '../domain/host-name.ts'
import { crashedInstance } from '../domain/instance-failure.ts'
import type { Journal } from '../domain/journal.ts'
import type { Observer } from '../domain/observer.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import {
  isSentAgain,
  judgeReport,
  judgeUncrashed,
  repeats,
  reportsDeadProcess,
  tellsOfDisk,
  type Judgement,
  type Report,
  type ReportedIncident,
  type ReportOrder,
  type Reports,
  type ReportView,
} from '../domain/report.ts'
import { isEnd } from '../domain/report-words.ts'
import type { HostName } from '../domain/service.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { PollReport } from '../monitor/report.ts'
import { maintenanceOf } from '../orders/order-holds.ts'
import type { Orders } from '../orders/orders.ts'
import type { IncidentStore } from './incident-store.ts'
import type { InstanceFailures } from './instance-failures.ts'
import type { ProcessFailures } from './process-failures.ts'

/** Older reports are no longer listed; the journal keeps them. Longer: the daemon reads more of it when it starts. */
const listedForMs = 30 * 86_400_000

/** Reports of guests kept in memory, about 500 bytes each. Fewer: a burst pushes out the report that someone looks for. */
const guestsKept = 2_000

/**
 * At most one alarm about failing disks of a host, or about one process of it, in this time. Shorter: when a storage fails, each of its guests
 * raises an alarm, and a libvirtd that comes and goes raises one each time. Longer: what fails again after a repair is told late.
 */
const toldForMs = 600_000

export interface ReportBookParts {
  clock: Clock
  journal: Journal
  observer: Observer
  monitor: Pick<Monitor, 'verdict' | 'verdicts' | 'lastBeat' | 'lastPoll' | 'service' | 'segment'>
  store: IncidentStore
  orders: Orders
  processes: Pick<ProcessFailures, 'reported' | 'waitsFor'>
  instances: Pick<InstanceFailures, 'reported' | 'crashed' | 'standing'>
  /** Polls now. */
  wake: () => void
}

interface Kept {
  report: Report
  /** Monotonic ms. */
  at: number
  /**
   * When Nova was first read after it came, monotonic ms; null: not yet. A beat that this reading showed may be older than the report, as
   * one that came while Nova could not be read.
   */
  readAt: number | null
  /** Since when Lifeboat can deal with it, monotonic ms: it grows old only from then on. */
  since: number
}

export class ReportBook implements Reports {
  readonly #parts: ReportBookParts
  /** On record, by uuid, the oldest first. */
  readonly #kept = new Map<string, Kept>()
  /** Of guests. */
  readonly #guests: Kept[] = []
  /** Alarms that were raised lately, by what they are about; monotonic ms. */
  readonly #told = new Map<string, number>()
  #lastNumber = 0
  /** False while its daemon only stands by: then nobody may deal with a report. */
  #passesOn = false

  /** Reads what is on record and follows the journal from then on. */
  constructor(parts: ReportBookParts) {
    this.#parts = parts
    const { journal, clock } = parts
    const since = new Date(clock.wall() - listedForMs).toISOString()
    for (const entry of journal.read({ kinds: ['report.received', 'report.settled'], since })) this.#follow(entry)
    journal.onAppend((entry) => this.#follow(entry))
  }

  /** From now on reports are dealt with, also those of the run before: it may have ended before anything came of them. */
  start(): void {
    this.#passesOn = true
    for (const kept of this.#kept.values()) {
      kept.since = this.#parts.clock.now()
      this.#passOn(kept.report)
    }
  }

  receive(sent: ReportOrder): ReportView {
    const { monitor, orders, journal, observer, instances, processes, wake } = this.#parts
    const host = this.#hostOf(sent)
    const order = { ...sent, host }
    const { about, generatedAt, payload, by, via } = order
    const sentAs = host === sent.host ? {} : { sentAs: sent.host }
    // Even if it is refused: it may tell of a crash after the restart that is under way. A report that is only sent again says nothing new.
    if (!this.#all().some(({ report }) => isSentAgain(order, report))) instances.crashed(order)
    const maintenance = maintenanceOf(orders, host, monitor.segment(host).name)
    if (maintenance !== null) {
      observer.report?.({ about, result: 'maintenance' })
      throw new LifeboatError('REPORT_UNWANTED', `Host ${host} is under maintenance: ${maintenance}`)
    }
    const known = this.#all().find((kept) => repeats(order, kept.report, () => this.#isOver(kept)))
    if (known !== undefined) {
      // Its nova-compute may have lived and failed once more: what it has proven so far is void. A report that is only sent again says nothing new.
      if (reportsDeadProcess(order) && known.report.generatedAt !== generatedAt) processes.reported(host, by)
      observer.report?.({ about, result: 'repeated' })
      throw new LifeboatError(
        'REPORT_REPEATED',
        `Notification received from host ${host} of type ${about} is duplicate.`,
      )
    }
    const uuid = randomUUID()
    const number = this.#nextNumber()
    const crashed = crashedInstance(order)
    if (about === 'VM' && crashed === null) {
      this.#tellOfDisk(order)
      observer.report?.({ about, result: 'ignored' })
      return this.#takeGuest({ number, uuid, about, host, ...sentAs, generatedAt, payload, by })
    }
    const data = { number, uuid, about, payload, generatedAt, by, ...(via !== null && { via }), ...sentAs }
    const process = otherProcess(order)
    const rows = process === null || this.#isTold(process.about) ? [] : [process.alarm]
    const ofGuest = crashed === null ? {} : { instance: crashed }
    journal.append([{ kind: 'report.received', actor: `operator:${by}`, host, ...ofGuest, data }, ...rows])
    if (process !== null && rows.length > 0) this.#noteTold(process.about)
    const kept = this.#kept.get(uuid)
    if (kept === undefined) throw new LifeboatError('INVARIANT', `report ${uuid} left no trace`)
    observer.report?.({ about, result: 'taken' })
    this.#passOn(kept.report)
    wake()
    return this.#view(kept)
  }

  list(): ReportView[] {
    return this.#all()
      .map((kept) => this.#view(kept))
      .toSorted((a, b) => b.number - a.number)
  }

  /** Takes in a poll: what came of each report that is not settled. Never throws. */
  consider({ ok, frozen }: PollReport): void {
    const { clock, journal, observer, monitor, processes } = this.#parts
    // Those of crashes are settled with what they caused.
    const open = [...this.#kept.values()].filter(({ report }) => report.settled === null && report.about !== 'VM')
    const isBlind = !ok || frozen !== null
    for (const kept of open) if (isBlind || processes.waitsFor(kept.report.host) !== null) kept.since = clock.now()
    if (!ok) return
    const { at: readAt, tookMs } = monitor.lastPoll() ?? { at: -Infinity, tookMs: 0 }
    try {
      for (const kept of open) {
        if (kept.at <= readAt - tookMs) kept.readAt ??= readAt
        const { status, message, incident } = this.#judge(kept)
        if (!isEnd(status)) continue
        const data = { uuid: kept.report.uuid, status, message, of: incident }
        journal.append([{ kind: 'report.settled', host: kept.report.host, data }])
      }
    } catch (thrown) {
      observer.log?.('warn', 'report.not_settled', {}, ensureError(thrown))
    }
  }

  /** Nova's name of the host. Throws USAGE when no host or more than one is meant, API_UNAVAILABLE before Nova was read. */
  #hostOf({ about, host, by }: ReportOrder): HostName {
    const { monitor, observer } = this.#parts
    if (monitor.verdict(host) !== undefined) return host
    const known = monitor.verdicts().map((verdict) => verdict.host)
    // Just started: a refusal would be final to the monitor, which reports each failure once.
    if (known.length === 0) throw new LifeboatError('API_UNAVAILABLE', 'Nova has not been read yet')
    const meant = hostsMeant(host, known)
    const [only] = meant
    if (only !== undefined && meant.length === 1) return only
    // A monitor whose name for its host is not Nova's protects nothing, and learns that only from this answer.
    observer.report?.({ about, result: 'unknown-host' })
    const which = meant.length === 0 ? '' : ` It may be ${meant.slice(0, 5).join(' or ')}.`
    const message = `${by} reported a host that Nova does not list under that name.${which}`
    observer.log?.('warn', 'report.unknown_host', { message, host })
    throw new LifeboatError('USAGE', `Host with name ${host} could not be found.${which}`)
  }

  /** Makes whoever deals with it look, if it is not settled. */
  #passOn(report: Report): void {
    if (!this.#passesOn || report.settled !== null) return
    if (reportsDeadProcess(report)) this.#parts.processes.reported(report.host, report.by)
    if (report.about === 'VM') this.#parts.instances.reported(report)
  }

  /** When a storage fails, it fails for many guests at once: one alarm for each host. */
  #tellOfDisk({ host, payload, by }: ReportOrder): void {
    const about = `disks of ${host}`
    if (!tellsOfDisk(payload) || this.#isTold(about)) return
    const message = `${by} reports that a disk of instance ${payload['instance_uuid'] ?? ''} fails on ${host}. Lifeboat restarts no guest because of it: check the storage`
    this.#parts.journal.append([{ kind: 'alarm.raised', host, data: { code: 'GUEST_DISK_FAILS', message } }])
    this.#noteTold(about)
  }

  #isTold(about: string): boolean {
    return this.#parts.clock.now() - (this.#told.get(about) ?? -Infinity) < toldForMs
  }

  /** Also forgets what may be told again: senders choose the names of processes. */
  #noteTold(about: string): void {
    for (const known of this.#told.keys()) if (!this.#isTold(known)) this.#told.delete(known)
    this.#told.set(about, this.#parts.clock.now())
  }

  #takeGuest(given: Omit<Report, 'receivedAt' | 'settled'>): ReportView {
    const { clock } = this.#parts
    const receivedAt = new Date(clock.wall()).toISOString()
    const kept = { report: { ...given, receivedAt, settled: null }, at: clock.now(), readAt: null, since: clock.now() }
    this.#guests.push(kept)
    this.#guests.splice(0, this.#guests.length - guestsKept)
    return this.#view(kept)
  }

  /** It is settled, and the incident that it led to is over as well. */
  #isOver(kept: Kept): boolean {
    const { status, incident } = this.#view(kept)
    return isEnd(status) && (incident === null || this.#parts.store.inMemory(incident)?.closed !== null)
  }

  #all(): Kept[] {
    return [...this.#kept.values(), ...this.#guests]
  }

  /** The wall clock in ms: rising also over restarts, though reports of guests are on record nowhere. */
  #nextNumber(): number {
    return (this.#lastNumber = Math.max(this.#lastNumber + 1, this.#parts.clock.wall()))
  }

  #follow(entry: Entry): void {
    const { clock } = this.#parts
    if (entry.kind === 'report.received' && entry.host !== null) {
      const { number, uuid, about, payload, generatedAt, by, sentAs } = entry.data
      const report = {
        number,
        uuid,
        about,
        payload,
        generatedAt,
        by,
        host: entry.host,
        ...omitUndefined({ sentAs }),
        receivedAt: entry.at,
        settled: null,
      }
      this.#kept.set(uuid, { report, at: onOurClock(clock, entry.at), readAt: null, since: clock.now() })
      this.#lastNumber = Math.max(this.#lastNumber, number)
      this.#forgetOld()
    }
    if (entry.kind === 'report.settled') {
      const { uuid, status, message, of } = entry.data
      const known = this.#kept.get(uuid)
      if (known !== undefined)
        known.report = { ...known.report, settled: { status, message, incident: of, at: entry.at } }
    }
  }

  #forgetOld(): void {
    const until = this.#parts.clock.now() - listedForMs
    for (const [uuid, { at, report }] of this.#kept) {
      if (at >= until) return
      if (report.settled !== null) this.#kept.delete(uuid)
    }
  }

  #view(kept: Kept): ReportView {
    const { report } = kept
    const judged = report.settled ?? this.#judge(kept)
    const updatedAt = report.settled?.at ?? null
    const { status, message, incident } = judged
    return { ...report, status, message, incident, updatedAt }
  }

  #judge({ report, readAt, since }: Kept): Judgement {
    const { clock, monitor, store, instances, processes } = this.#parts
    if (crashedInstance(report) !== null) return instances.standing(report)
    if (report.about === 'VM') return judgeUncrashed(report)
    const { host } = report
    return judgeReport(report, {
      ageMs: clock.now() - since,
      waitsFor: processes.waitsFor(host),
      verdict: monitor.verdict(host),
      hasBeatSince: readAt !== null && (monitor.lastBeat(host) ?? -Infinity) > readAt,
      host: store.openOn(host) ?? this.#endedSince(report, 'incident.opened'),
      process: store.openProcessOn(host) ?? this.#endedSince(report, 'process.failed'),
      isDisabled: monitor.service(host)?.status === 'disabled',
    })
  }

  /** The newest incident of the host, if it ended since the report came. Its instances are not read: it may have had thousands. */
  #endedSince({ host, receivedAt }: Report, kind: 'incident.opened' | 'process.failed'): ReportedIncident | undefined {
    const { journal } = this.#parts
    const [opened] = journal.read({ host, kinds: [kind], newestFirst: true, limit: 1 })
    if (opened?.kind !== kind || opened.incident === null) return undefined
    const [closed] = journal.read({
      incident: opened.incident,
      kinds: ['incident.closed'],
      newestFirst: true,
      limit: 1,
    })
    if (closed?.kind !== 'incident.closed' || closed.at < receivedAt) return undefined
    return { id: opened.incident, mode: opened.data.mode, held: null, closed: closed.data }
  }
}

/** What people are told of a process that Lifeboat does nothing about, such as libvirtd; null: it is none. */
function otherProcess(order: ReportOrder): { about: string; alarm: NewEntry } | null {
  const { about, host, by, payload } = order
  if (about !== 'PROCESS' || payload['event'] !== 'STOPPED' || reportsDeadProcess(order)) return null
  const process = payload['process_name'] ?? 'a process'
  const message = `${by} reports that ${process} on ${host} is down. Lifeboat does nothing about it`
  const alarm = { kind: 'alarm.raised', host, data: { code: 'PROCESS_REPORTED', message } } as const
  return { about: `${process} on ${host}`, alarm }
}
