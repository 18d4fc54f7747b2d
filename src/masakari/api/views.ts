/** What Lifeboat knows, in the shapes of Masakari's API. Pure. */
import { createHash } from 'node:crypto'
import type { FailoverSegment, SegmentHost } from '../../domain/failover-segment.ts'
import { honouredMethod } from '../../domain/failover-words.ts'
import type { HostStatus, IncidentDetail, IncidentSummary } from '../../domain/operations.ts'
import { judgeReport, type ReportView } from '../../domain/report.ts'
import type { Row } from './lists.ts'

/** The namespace of our UUIDs (version 5): each name has the same one in every run and on every controller. */
const namespace = Buffer.from('6d6173616b6172692d6c696665626f61', 'hex')

/** The UUID of a segment or host, which Lifeboat knows by its name. */
export function uuidOf(...names: readonly string[]): string {
  const hash = createHash('sha1').update(namespace).update(names.join('\u0000')).digest()
  hash[6] = (hash.readUInt8(6) & 0x0f) | 0x50
  hash[8] = (hash.readUInt8(8) & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

/** A number that never changes for a name: clients page lists by it. */
function numberOf(uuid: string): number {
  return Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16)
}

/** Masakari's time: microseconds, UTC, no zone. */
export function timeOf(iso: string): string {
  const [seconds = '', fraction = ''] = iso.replace('Z', '').split('.')
  return `${seconds}.${fraction.padEnd(6, '0')}`
}

const notDeleted = { deleted: false, deleted_at: null, updated_at: null }

/** A segment as clients see it, with what a write must know of it. */
export interface SegmentView {
  row: Row
  name: string
  /** On record; null: the configuration's. */
  made: FailoverSegment | null
}

export interface HostView {
  row: Row
  name: string
  made: SegmentHost | null
}

/** Of the configuration. @param since ISO, shown as the time at which it was made, which nobody knows */
export function configuredSegment(name: string, uuid: string, enabled: boolean, since: string): SegmentView {
  const description = 'Kept in the configuration of Lifeboat'
  const row = {
    ...{ id: numberOf(uuid), uuid, name, description, enabled },
    ...{ service_type: 'COMPUTE', recovery_method: honouredMethod, created_at: timeOf(since), ...notDeleted },
  }
  return { row, name, made: null }
}

export function madeSegment(made: FailoverSegment, enabled: boolean): SegmentView {
  const { number: id, uuid, name, description, serviceType, recoveryMethod } = made
  const row = {
    ...{ id, uuid, name, description, enabled, service_type: serviceType, recovery_method: recoveryMethod },
    ...{ ...notDeleted, ...timesOf(made) },
  }
  return { row, name, made }
}

/** Of the configuration. */
export function configuredHost(name: string, uuid: string, onMaintenance: boolean, segment: Row): HostView {
  const row = {
    ...{ id: numberOf(uuid), uuid, name, type: 'COMPUTE', control_attributes: 'SSH', reserved: false },
    ...{ on_maintenance: onMaintenance, failover_segment_id: segment['uuid'], failover_segment: segment },
    ...{ created_at: segment.created_at, ...notDeleted },
  }
  return { row, name, made: null }
}

export function madeHost(made: SegmentHost, onMaintenance: boolean, segment: Row): HostView {
  const { number: id, uuid, name, type, controlAttributes, reserved } = made
  const row = {
    ...{ id, uuid, name, type, control_attributes: controlAttributes, reserved, on_maintenance: onMaintenance },
    ...{ failover_segment_id: made.segment, failover_segment: segment, ...notDeleted, ...timesOf(made) },
  }
  return { row, name, made }
}

function timesOf({ createdAt, updatedAt }: FailoverSegment | SegmentHost): {
  created_at: string
  updated_at: string | null
} {
  return { created_at: timeOf(createdAt), updated_at: updatedAt === null ? null : timeOf(updatedAt) }
}

/** True while people keep the host out, and while Lifeboat itself does. */
export function isOnMaintenance({ standingOrders, incident, setAside, returning }: HostStatus): boolean {
  const ordered = standingOrders.some(({ kind }) => kind === 'maintenance')
  return ordered || incident !== null || setAside !== null || returning !== null
}

/**
 * The report of an incident that Lifeboat found by itself, so that lists of notifications show every failure.
 *
 * @param isDisabled its nova-compute's service, now
 */
export function ownReport(incident: IncidentSummary, isDisabled: boolean): ReportView {
  const { id, host, process, mode, held, ended, outcomes, openedAt, openedBy } = incident
  const about = process === null ? 'COMPUTE_HOST' : 'PROCESS'
  const payload: Record<string, string> =
    process === null
      ? { event: 'STOPPED', host_status: 'NORMAL', cluster_status: 'OFFLINE' }
      : { event: 'STOPPED', process_name: process }
  const closed = ended === null ? null : { ...ended, counts: outcomes }
  const known = { id, mode, held, closed }
  const facts = {
    ageMs: 0,
    waitsFor: null,
    verdict: undefined,
    hasBeatSince: false,
    isDisabled,
    host: undefined,
    process: undefined,
  }
  const judged = judgeReport({ about, payload }, { ...facts, [process === null ? 'host' : 'process']: known })
  const uuid = uuidOf('notification', id)
  return {
    ...{ number: numberOf(uuid), uuid, about, host, payload, by: openedBy, settled: null },
    ...{ generatedAt: openedAt, receivedAt: openedAt, updatedAt: ended?.at ?? null, ...judged, incident: id },
  }
}

/** @param of the UUID of its host, and the segment that the host is in now, if any */
export function notificationRow(report: ReportView, of: { host: string; segment: Row | null }): Row {
  return {
    id: report.number,
    notification_uuid: report.uuid,
    type: report.about,
    source_host_uuid: of.host,
    generated_time: timeOf(report.generatedAt),
    payload: report.payload,
    status: report.status,
    failover_segment_uuid: of.segment?.['uuid'] ?? null,
    message: `${report.message}${otherName(report)}${withoutMethod(of.segment)}`,
    created_at: timeOf(report.receivedAt),
    updated_at: report.updatedAt === null ? null : timeOf(report.updatedAt),
    deleted: false,
    deleted_at: null,
  }
}

function otherName({ host, sentAs }: ReportView): string {
  return sentAs === undefined ? '' : `; it was sent for ${sentAs}, which Nova lists as ${host}`
}

function withoutMethod(segment: Row | null): string {
  const method = segment?.['recovery_method']
  if (typeof method !== 'string' || method === honouredMethod) return ''
  return `; Lifeboat does not follow ${method}: Nova's scheduler chooses the destination, as with ${honouredMethod}`
}

const moveStatus = { recovered: 'succeeded', left: 'ignored', failed: 'failed', stuck: 'failed' } as const

/** The instances of an incident, each as a move. */
export function moveRows(notification: string, incident: IncidentDetail): Row[] {
  return incident.instanceList.map(({ id, name, outcome, steps, endedAt, message }) => {
    const uuid = uuidOf('vmove', incident.id, id)
    const startedAt = steps[0]?.intendedAt ?? null
    const underWay = startedAt === null ? 'pending' : 'ongoing'
    const at = outcome?.after?.host ?? null
    return {
      ...{ id: numberOf(uuid), uuid, notification_uuid: notification, instance_uuid: id, instance_name: name },
      // One that was not moved has no destination.
      ...{ source_host: incident.host, dest_host: at === incident.host ? null : at },
      ...{
        start_time: startedAt === null ? null : timeOf(startedAt),
        end_time: endedAt === null ? null : timeOf(endedAt),
      },
      ...{ type: 'evacuation', status: outcome === null ? underWay : moveStatus[outcome.outcome] },
      ...{ message: outcome?.message ?? message, created_at: timeOf(incident.openedAt), ...notDeleted },
    }
  })
}

/** What Lifeboat did, step by step, in the shape of Masakari's tasks. */
export function progressOf(incident: IncidentDetail | null): object[] {
  if (incident === null) return []
  return incident.instanceList.map(({ name, outcome, steps }) => ({
    name,
    state:
      outcome === null
        ? 'RUNNING'
        : outcome.outcome === 'failed' || outcome.outcome === 'stuck'
          ? 'FAILURE'
          : 'SUCCESS',
    progress: outcome === null ? 0 : 1,
    progress_details: steps.map(({ kind, status, intendedAt, endedAt }) => ({
      timestamp: timeOf(endedAt ?? intendedAt).replace('T', ' '),
      message: `${kind}: ${status}`,
      progress: endedAt === null ? '0.0' : '1.0',
    })),
  }))
}
