/** The routes of segments and their hosts. Those of the configuration can be read and given orders; those of the API also written. */
import type { FastifyRequest } from 'fastify'
import { LifeboatError } from '../../domain/errors.ts'
import type { HostChange, Writer } from '../../domain/failover-segment.ts'
import { equal, isTrue, listed, type Query, type Row } from './lists.ts'
import type { MasakariParts } from './parts.ts'
import { param, type Answer, type Routes } from './route-table.ts'
import type { Rows } from './rows.ts'
import { hostChangeOf, newHostOf, newSegmentOf, segmentChangeOf, type SegmentChange } from './segment-request.ts'

const keptInFile = (what: string): LifeboatError =>
  new LifeboatError(
    'CONFLICT',
    `${what} is kept in the configuration of Lifeboat: change it there, then run lifeboat reload`,
  )

const segmentList = {
  keys: ['uuid', 'name', 'service_type', 'recovery_method', 'description', 'enabled'],
  filters: {
    name: equal('name'),
    recovery_method: equal('recovery_method'),
    service_type: equal('service_type'),
    enabled: isTrue('enabled'),
  },
}

const hostList = {
  keys: ['uuid', 'name', 'type', 'control_attributes', 'reserved', 'on_maintenance', 'failover_segment_id'],
  filters: {
    name: equal('name'),
    type: equal('type'),
    control_attributes: equal('control_attributes'),
    on_maintenance: isTrue('on_maintenance'),
    reserved: isTrue('reserved'),
  },
}

export function segmentRoutes({ route, reads, writes }: Routes, rows: Rows, { failover }: MasakariParts): void {
  const segmentId = (request: FastifyRequest): string => param(request, 'segment')
  route('/segments', {
    GET: reads('segments', 'index', ({ query }) => ({
      segments: listed(rowsOf(rows.segments()), query as Query, segmentList),
    })),
    POST: writes('segments', 'create', ({ body, microversion }, reply, writer) => {
      const { fields, enabled } = newSegmentOf(body, microversion)
      const { uuid } = failover.createSegment(fields, enabled, writer)
      return reply.code(201).send({ segment: rows.segment(uuid).row })
    }),
  })
  route('/segments/:segment', {
    GET: reads('segments', 'detail', (request) => ({ segment: rows.segment(segmentId(request)).row })),
    PUT: writes('segments', 'update', (request, _reply, writer) => {
      const change = segmentChangeOf(request.body, request.microversion)
      changeSegment(rows, failover, segmentId(request), change, writer)
      return { segment: rows.segment(segmentId(request)).row }
    }),
    DELETE: writes('segments', 'delete', (request, reply, writer) => {
      const { made, name } = rows.segment(segmentId(request))
      if (made === null) throw keptInFile(`Failover segment ${name}`)
      failover.deleteSegment(made.uuid, writer)
      return reply.code(204).send()
    }),
  })
  // Masakari has this path, but no method answers there.
  route('/segments/:segment/action', {})
  hostRoutes({ route, reads, writes }, rows, failover)
}

function hostRoutes(
  { route, reads, writes }: Pick<Routes, 'route' | 'reads' | 'writes'>,
  rows: Rows,
  failover: MasakariParts['failover'],
): void {
  const ids = (request: FastifyRequest): [string, string] => [param(request, 'segment'), param(request, 'host')]
  const update: Answer = writes('os-hosts', 'update', (request, _reply, writer) => {
    const change = hostChangeOf(request.body)
    const [segment, id] = ids(request)
    changeHost(rows, failover, { segment, id }, change, writer)
    return { host: rows.host(segment, id).row }
  })
  route('/segments/:segment/hosts', {
    GET: reads('os-hosts', 'index', (request) => ({
      hosts: listed(rowsOf(rows.hosts(param(request, 'segment'))), request.query as Query, hostList),
    })),
    POST: writes('os-hosts', 'create', (request, reply, writer) => {
      const { fields, onMaintenance } = newHostOf(request.body)
      const { made, name, row } = rows.segment(param(request, 'segment'))
      if (made === null) throw keptInFile(`The list of hosts in failover segment ${name}`)
      const { uuid } = failover.addHost(made.uuid, fields, onMaintenance, writer)
      return reply.code(201).send({ host: rows.host(String(row['uuid']), uuid).row })
    }),
  })
  route('/segments/:segment/hosts/:host', {
    GET: reads('os-hosts', 'detail', (request) => ({ host: rows.host(...ids(request)).row })),
    PUT: update,
    DELETE: writes('os-hosts', 'delete', (request, reply, writer) => {
      const { made, name } = rows.host(...ids(request))
      if (made === null) throw keptInFile(`The membership of host ${name} in this failover segment`)
      failover.removeHost(made.uuid, writer)
      return reply.code(204).send()
    }),
  })
}

function rowsOf(views: readonly { row: Row }[]): Row[] {
  return views.map(({ row }) => row)
}

/** Only `enabled` of a segment of the configuration may change: that is an order. */
function changeSegment(
  rows: Rows,
  failover: MasakariParts['failover'],
  id: string,
  { enabled: wanted, ...fields }: SegmentChange,
  writer: Writer,
): void {
  const { made, name, row } = rows.segment(id)
  // A form sends back what it was shown, also for maintenance that ends by itself: nobody means to make that one last.
  const isForm = fields.name !== undefined && fields.recoveryMethod !== undefined
  const enabled = isForm && wanted === row['enabled'] ? undefined : wanted
  if (isForm && enabled === true) failover.refuseUnseen({ kind: 'segment', name })
  if (made !== null) {
    failover.updateSegment(id, { ...fields, ...(enabled !== undefined && { enabled }) }, writer)
    return
  }
  const { serviceType: service_type, recoveryMethod: recovery_method, ...others } = fields
  refuseChange(row, { service_type, recovery_method, ...others }, `Failover segment ${name}`)
  if (enabled !== undefined) failover.enableSegment(name, enabled, writer)
}

/** Only `on_maintenance` of a host of the configuration may change. */
function changeHost(
  rows: Rows,
  failover: MasakariParts['failover'],
  { segment, id }: { segment: string; id: string },
  change: HostChange,
  writer: Writer,
): void {
  const { made, name, row } = rows.host(segment, id)
  const { onMaintenance: wanted, ...fields } = change
  // A new name takes along what its form shows as ordered; one that shows nothing says nothing of the host of that name.
  const isSentBack = isForm(change) && wanted === row['on_maintenance'] && (change.name === name || wanted === false)
  const onMaintenance = isSentBack ? undefined : wanted
  if (onMaintenance === false && isForm(change)) failover.refuseUnseen({ kind: 'host', name: change.name ?? name })
  if (made !== null) {
    failover.updateHost(id, { ...fields, ...(onMaintenance !== undefined && { onMaintenance }) }, writer)
    return
  }
  const { controlAttributes: control_attributes, ...others } = fields
  refuseChange(row, { control_attributes, ...others }, `Host ${name}`)
  if (onMaintenance !== undefined) failover.maintainHost(name, onMaintenance, writer)
}

/**
 * A form sends every field back as it was shown. `on_maintenance` is shown as true also for an incident, a service that Lifeboat disabled and
 * the maintenance of a whole segment, and nobody who saves another field means to order maintenance of the host that outlives those. Nor does
 * anyone mean to end what was ordered elsewhere after the form was opened.
 */
function isForm({ name, type, controlAttributes, reserved }: HostChange): boolean {
  return [name, type, controlAttributes, reserved].every((field) => field !== undefined)
}

/** Clients send back every field that they were shown, changed or not. */
function refuseChange(row: Row, fields: Record<string, unknown>, what: string): void {
  const changed = Object.entries(fields).some(([field, value]) => value !== undefined && value !== row[field])
  if (changed) throw keptInFile(what)
}
