/** What Lifeboat knows, in the shapes of Masakari's API. Pure. */
import { createHash } from 'node:crypto'
import type { HostStatus, IncidentDetail } from '../../domain/operations.ts'
import type { ReportView } from '../../domain/report.ts'
import type { Row } from './lists.ts'

/** The namespace of our UUIDs (version 5): each name has the same one in every run and on every controller. */
const namespace = Buffer.from('6d6173616b6172692d6c696665626f61', 'hex')

/** The UUID of a name; of segments and hosts, which Lifeboat knows by their names. */
export function uuidOf(...names: readonly string[]): string {
  const hash = createHash('sha1').update(namespace).update(names.join('\u0000')).digest()
  hash[6] = (hash.readUInt8(6) & 0x0f) | 0x50
  hash[8] = (hash.readUInt8(8) & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

/** A number that goes with the name for ever: lists are paged by it. */
function numberOf(uuid: string): number {
  return Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16)
}

/** Masakari's time: microseconds, UTC, no zone. */
export function timeOf(iso: string): string {
  const [seconds = '', fraction = ''] = iso.replace('Z', '').split('.')
  return `${seconds}.${fraction.padEnd(6, '0')}`
}

const notDeleted = { deleted: false, deleted_at: null, updated_at: null }

export interface SegmentView {
  name: string
  hosts: readonly string[]
  /** Nobody ordered maintenance of it. */
  enabled: boolean
}

/** @param since ISO, of when it began to be known here */
export function segmentRow({ name, enabled }: SegmentView, since: string): Row {
  const uuid = uuidOf('segment', name)
  const description = 'Kept in the configuration of Lifeboat'
  return {
    ...{ id: numberOf(uuid), uuid, name, description, enabled },
    ...{ service_type: 'COMPUTE', recovery_method: 'auto', created_at: timeOf(since), ...notDeleted },
  }
}

/** On maintenance is a host that people keep out, and one that Lifeboat keeps out itself. */
export function hostRow(host: HostStatus, segment: Row, since: string): Row {
  const uuid = uuidOf('host', host.host)
  const ordered = host.standingOrders.some(({ kind }) => kind === 'maintenance')
  const onMaintenance = ordered || host.incident !== null || host.setAside !== null || host.returning !== null
  return {
    ...{ id: numberOf(uuid), uuid, name: host.host, type: 'COMPUTE', control_attributes: 'SSH', reserved: false },
    ...{ on_maintenance: onMaintenance, failover_segment_id: segment['uuid'], failover_segment: segment },
    ...{ created_at: timeOf(since), ...notDeleted },
  }
}

/** @param segment of its host, if it is in one now */
export function notificationRow(report: ReportView, segment: string | null): Row {
  return {
    id: report.number,
    notification_uuid: report.uuid,
    type: report.about,
    source_host_uuid: uuidOf('host', report.host),
    generated_time: timeOf(report.generatedAt),
    payload: report.payload,
    status: report.status,
    failover_segment_uuid: segment === null ? null : uuidOf('segment', segment),
    message: report.message,
    created_at: timeOf(report.receivedAt),
    updated_at: report.updatedAt === null ? null : timeOf(report.updatedAt),
    deleted: false,
    deleted_at: null,
  }
}

const moveStatus = { recovered: 'succeeded', left: 'ignored', failed: 'failed', stuck: 'failed' } as const

/** The instances of an incident, each as a move. */
export function moveRows(notification: string, incident: IncidentDetail): Row[] {
  return incident.instanceList.map(({ id, name, outcome, steps, endedAt, message }) => {
    const uuid = uuidOf('vmove', incident.id, id)
    const startedAt = steps[0]?.intendedAt ?? null
    const underWay = startedAt === null ? 'pending' : 'ongoing'
    return {
      ...{ id: numberOf(uuid), uuid, notification_uuid: notification, instance_uuid: id, instance_name: name },
      ...{ source_host: incident.host, dest_host: outcome?.after?.host ?? null },
      ...{
        start_time: startedAt === null ? null : timeOf(startedAt),
        end_time: endedAt === null ? null : timeOf(endedAt),
      },
      ...{ type: 'evacuation', status: outcome === null ? underWay : moveStatus[outcome.outcome] },
      ...{ message: outcome?.message ?? message, created_at: timeOf(incident.openedAt), ...notDeleted },
    }
  })
}

/** What Lifeboat did, step by step, as Masakari tells of its tasks. */
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
