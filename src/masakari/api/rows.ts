/** What Lifeboat knows now, as rows of Masakari's API. */
import { LifeboatError } from '../../domain/errors.ts'
import type { HostStatus, IncidentDetail } from '../../domain/operations.ts'
import type { ReportView } from '../../domain/report.ts'
import { isImplicit } from '../../domain/segment.ts'
import type { Row } from './lists.ts'
import type { MasakariOptions, MasakariParts } from './parts.ts'
import {
  configuredHost,
  configuredSegment,
  isOnMaintenance,
  madeHost,
  madeSegment,
  moveRows,
  notificationRow,
  ownReport,
  uuidOf,
  type HostView,
  type SegmentView,
} from './views.ts'

/** Incidents that Lifeboat found by itself are listed for as long as reports are. */
const incidentsListedForMs = 30 * 86_400_000

/** At most this many of them: the most rows of one answer. */
const incidentsListed = 1_000

export class Rows {
  readonly #parts: MasakariParts
  readonly #rules: MasakariOptions['rules']
  #began: string | undefined

  constructor(parts: MasakariParts, rules: MasakariOptions['rules']) {
    this.#parts = parts
    this.#rules = rules
  }

  /** The segments of the configuration and those made through the API. Hosts in neither are protected all the same, and not shown. */
  segments(): SegmentView[] {
    const { operations, review, failover } = this.#parts
    const { standingOrders } = operations.status()
    const isEnabled = (name: string): boolean =>
      !standingOrders.some(
        ({ kind, scope }) => kind === 'maintenance' && scope.kind === 'segment' && scope.name === name,
      )
    const { uuids } = this.#rules()
    const uuidOfSegment = (name: string): string => uuids.segments.get(name) ?? uuidOf('segment', name)
    const configured = review
      .segments()
      .filter(({ name }) => !isImplicit(name))
      .map(({ name }) => configuredSegment(name, uuidOfSegment(name), isEnabled(name), this.#since()))
    return [...configured, ...failover.segments().map((made) => madeSegment(made, isEnabled(made.name)))]
  }

  /** When the journal begins: the same in every run and on every controller, and no reload changes the order of a list. */
  #since(): string {
    const { operations, review } = this.#parts
    this.#began ??= review.journal({ limit: 1 }).entries[0]?.at
    return this.#began ?? operations.status().configuration.loadedAt
  }

  /** Throws NOT_FOUND. */
  segment(id: string): SegmentView {
    const found = this.segments().find(({ row }) => row['uuid'] === id)
    if (found === undefined) throw new LifeboatError('NOT_FOUND', `Failover segment with id ${id} could not be found.`)
    return found
  }

  /** Throws NOT_FOUND for an unknown segment. */
  hosts(segmentId: string): HostView[] {
    const segment = this.segment(segmentId)
    const { operations, failover } = this.#parts
    const known = new Map(operations.hosts().map((host) => [host.host, host]))
    if (segment.made === null)
      return [...known.values()]
        .filter((host) => host.segment === segment.name)
        .map((host) => configuredHost(host.host, this.#uuidOfHost(host.host), isOnMaintenance(host), segment.row))
    return failover
      .hosts()
      .filter((host) => host.segment === segmentId)
      .map((host) => madeHost(host, this.#isOut(host.name, known), segment.row))
  }

  /** Throws NOT_FOUND. */
  host(segmentId: string, id: string): HostView {
    const found = this.hosts(segmentId).find(({ row }) => row['uuid'] === id)
    if (found !== undefined) return found
    const message = `Host '${id}' under failover_segment '${segmentId}' could not be found.`
    throw new LifeboatError('NOT_FOUND', message)
  }

  notifications(): Row[] {
    const segments = this.#segmentOfHosts()
    return this.#reports().map((report) => this.#notificationRow(report, segments))
  }

  notification(report: ReportView): Row {
    return this.#notificationRow(report, this.#segmentOfHosts())
  }

  /** Throws NOT_FOUND. */
  report(id: string): ReportView {
    const found = this.#reports().find(({ uuid }) => uuid === id)
    if (found === undefined) throw new LifeboatError('NOT_FOUND', `Notification with id ${id} could not be found.`)
    return found
  }

  /** Throws NOT_FOUND, and USAGE for a report that is not of a host. */
  async moves(id: string): Promise<Row[]> {
    const report = this.report(id)
    if (report.about !== 'COMPUTE_HOST') throw new LifeboatError('USAGE', `This notification ${id} without vm moves.`)
    const incident = await this.incidentOf(report)
    return incident === null ? [] : moveRows(id, incident)
  }

  async incidentOf({ incident }: ReportView): Promise<IncidentDetail | null> {
    if (incident === null) return null
    await this.#parts.review.load(incident)
    return this.#parts.operations.incident(incident)
  }

  /** Every failure: those that were reported, and those that Lifeboat found before anyone reported them. */
  #reports(): ReportView[] {
    const { operations, reports, clock } = this.#parts
    const sent = reports.list()
    const since = new Date(clock.wall() - incidentsListedForMs).toISOString()
    const isDisabled = new Map(operations.hosts().map(({ host, status }) => [host, status === 'disabled']))
    const found = operations
      .incidents({ limit: incidentsListed })
      // Lifeboat knows of a guest's crash only from a report.
      .filter(({ openedAt, crashed }) => openedAt >= since && crashed === null)
      .filter(({ id, openedAt }) => !sent.some(({ incident, receivedAt }) => incident === id && receivedAt <= openedAt))
    return [...sent, ...found.map((incident) => ownReport(incident, isDisabled.get(incident.host) ?? false))]
  }

  #notificationRow(report: ReportView, segments: ReadonlyMap<string, Row>): Row {
    return notificationRow(report, { host: this.#uuidOfHost(report.host), segment: segments.get(report.host) ?? null })
  }

  /** The UUID that the API gave the host, else that of the configuration, else one made from its name. */
  #uuidOfHost(name: string): string {
    return this.#parts.failover.uuidOfHost(name) ?? this.#rules().uuids.hosts.get(name) ?? uuidOf('host', name)
  }

  /** If Nova no longer lists the host, only an order keeps it out. */
  #isOut(name: string, known: ReadonlyMap<string, HostStatus>): boolean {
    const host = known.get(name)
    if (host !== undefined) return isOnMaintenance(host)
    return this.#parts.operations
      .status()
      .standingOrders.some(({ kind, scope }) => kind === 'maintenance' && scope.kind === 'host' && scope.name === name)
  }

  #segmentOfHosts(): Map<string, Row> {
    const { operations, failover } = this.#parts
    const byName = new Map(this.segments().map(({ name, row }) => [name, row]))
    const byUuid = new Map([...byName.values()].map((row) => [row['uuid'], row]))
    const found = new Map<string, Row>()
    for (const { host, segment } of operations.hosts()) {
      const row = byName.get(segment)
      if (row !== undefined) found.set(host, row)
    }
    for (const { name, segment } of failover.hosts()) {
      const row = byUuid.get(segment)
      if (row !== undefined && !found.has(name)) found.set(name, row)
    }
    return found
  }
}
