/** The routes below `/v1`, each with and without the project's id before it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Identified } from '../../api/rest.ts'
import { LifeboatError } from '../../domain/errors.ts'
import type { IncidentDetail } from '../../domain/operations.ts'
import type { ReportView } from '../../domain/report.ts'
import { faultBody } from './faults.ts'
import { equal, isTrue, listed, since, type Query, type Row } from './lists.ts'
import { isAtLeast } from './microversion.ts'
import { notificationRequest } from './notification-request.ts'
import type { MasakariParts } from './parts.ts'
import { hostRow, moveRows, notificationRow, progressOf, segmentRow } from './views.ts'

/** Throws AUTH_FORBIDDEN. */
export type MayDo = (request: FastifyRequest, act: { rule: string; by: 'readers' | 'reporters' }) => Promise<Identified>

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

const keptInFile =
  'Segments and their hosts are kept in the configuration of Lifeboat: change them there, then run lifeboat reload'

export function masakariRoutes(server: FastifyInstance, parts: MasakariParts, mayDo: MayDo): void {
  for (const base of ['/v1', '/v1/:project([0-9a-fA-F-]+)']) addRoutes(server, base, parts, mayDo)
}

function addRoutes(server: FastifyInstance, base: string, parts: MasakariParts, mayDo: MayDo): void {
  const rows = new Rows(parts)
  const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const
  const route = (path: string, own: Partial<Record<(typeof methods)[number], Answer>>): void => {
    for (const method of methods) {
      const answer = own[method] ?? wrongMethod
      server.route({ method, url: `${base}${path}`, handler: answer })
    }
  }
  const reads =
    (resource: string, act: 'index' | 'detail', answer: (request: FastifyRequest) => unknown): Answer =>
    async (request) => {
      await mayDo(request, { rule: `${resource}:${act}`, by: 'readers' })
      return answer(request)
    }
  const refuses =
    (resource: string, act: string): Answer =>
    async (request) => {
      await mayDo(request, { rule: `${resource}:${act}`, by: 'readers' })
      throw new LifeboatError('AUTH_FORBIDDEN', keptInFile)
    }

  route('/segments', {
    GET: reads('segments', 'index', ({ query }) => ({
      segments: listed(rows.segments(), query as Query, {
        recovery_method: equal('recovery_method'),
        service_type: equal('service_type'),
        enabled: isTrue('enabled'),
      }),
    })),
    POST: refuses('segments', 'create'),
  })
  route('/segments/:segment', {
    GET: reads('segments', 'detail', (request) => ({ segment: rows.segment(param(request, 'segment')) })),
    PUT: refuses('segments', 'update'),
    DELETE: refuses('segments', 'delete'),
  })
  route('/segments/:segment/hosts', {
    GET: reads('os-hosts', 'index', (request) => ({
      hosts: listed(rows.hosts(param(request, 'segment')), request.query as Query, {
        type: equal('type'),
        on_maintenance: isTrue('on_maintenance'),
        reserved: isTrue('reserved'),
      }),
    })),
    POST: refuses('os-hosts', 'create'),
  })
  route('/segments/:segment/hosts/:host', {
    GET: reads('os-hosts', 'detail', (request) => ({
      host: rows.host(param(request, 'segment'), param(request, 'host')),
    })),
    PUT: refuses('os-hosts', 'update'),
    DELETE: refuses('os-hosts', 'delete'),
  })
  route('/notifications', {
    GET: reads('notifications', 'index', ({ query }) => ({
      notifications: listed(rows.notifications(), query as Query, {
        status: equal('status'),
        type: equal('type'),
        source_host_uuid: equal('source_host_uuid'),
        'generated-since': since('generated_time', 'generated-since'),
      }),
    })),
    POST: async (request, reply) => {
      const { caller, via } = await mayDo(request, { rule: 'notifications:create', by: 'reporters' })
      const report = parts.reports.receive({ ...notificationRequest(request.body), by: caller.name, via })
      return reply.code(202).send({ notification: rows.notification(report) })
    },
  })
  route('/notifications/:notification', {
    GET: reads('notifications', 'detail', async (request) => {
      const report = rows.report(param(request, 'notification'))
      const row = rows.notification(report)
      if (!isAtLeast(request.microversion, '1.1')) return { notification: row }
      const details = progressOf(await rows.incidentOf(report))
      return { notification: { ...row, recovery_workflow_details: details } }
    }),
  })
  route('/notifications/:notification/vmoves', {
    GET: reads('vmoves', 'index', async (request) => {
      const filters = { status: equal('status'), type: equal('type') }
      return { vmoves: listed(await rows.moves(param(request, 'notification')), request.query as Query, filters) }
    }),
  })
  route('/notifications/:notification/vmoves/:vmove', {
    GET: reads('vmoves', 'detail', async (request) => {
      const id = param(request, 'vmove')
      const found = (await rows.moves(param(request, 'notification'))).find(({ uuid }) => uuid === id)
      if (found === undefined) throw new LifeboatError('NOT_FOUND', `VM move with id ${id} could not be found.`)
      return { vmove: found }
    }),
  })
  route('/extensions', { GET: reads('extensions', 'index', () => ({ extensions: extensions.map(extension) })) })
  route('/extensions/:alias', {
    GET: reads('extensions', 'detail', (request) => {
      const alias = param(request, 'alias')
      if (!extensions.includes(alias)) throw new LifeboatError('NOT_FOUND', `There is no extension ${alias}`)
      return { extension: extension(alias) }
    }),
  })
}

const extensions = ['extensions', 'notifications', 'os-hosts', 'segments', 'versions', 'vmoves']

function extension(alias: string): object {
  return { alias, name: alias, description: '', namespace: '', updated: '2016-07-01T11:33:21Z', links: [] }
}

const wrongMethod: Answer = async (_request, reply) =>
  reply.code(405).send(faultBody(405, 'The method specified is not allowed for this resource.'))

/** An id may end with `.json`. */
function param(request: FastifyRequest, name: string): string {
  return ((request.params as Record<string, string>)[name] ?? '').replace(/\.json$/, '')
}

/** What is known now, as rows. */
class Rows {
  readonly #parts: MasakariParts

  constructor(parts: MasakariParts) {
    this.#parts = parts
  }

  segments(): Row[] {
    const { operations, review } = this.#parts
    const { configuration, standingOrders } = operations.status()
    const isEnabled = (name: string): boolean =>
      !standingOrders.some(
        ({ kind, scope }) => kind === 'maintenance' && scope.kind === 'segment' && scope.name === name,
      )
    return review
      .segments()
      .map(({ name, hosts }) => segmentRow({ name, hosts, enabled: isEnabled(name) }, configuration.loadedAt))
  }

  segment(id: string): Row {
    const found = this.segments().find(({ uuid }) => uuid === id)
    if (found === undefined) throw new LifeboatError('NOT_FOUND', `Failover segment with id ${id} could not be found.`)
    return found
  }

  hosts(segmentId: string): Row[] {
    const segment = this.segment(segmentId)
    const { operations } = this.#parts
    const { loadedAt } = operations.status().configuration
    return operations
      .hosts()
      .filter((host) => host.segment === segment['name'])
      .map((host) => hostRow(host, segment, loadedAt))
  }

  host(segmentId: string, id: string): Row {
    const found = this.hosts(segmentId).find(({ uuid }) => uuid === id)
    if (found !== undefined) return found
    const message = `Host '${id}' under failover_segment '${segmentId}' could not be found.`
    throw new LifeboatError('NOT_FOUND', message)
  }

  notifications(): Row[] {
    const segments = this.#segments()
    return this.#parts.reports.list().map((report) => notificationRow(report, segments.get(report.host) ?? null))
  }

  notification(report: ReportView): Row {
    return notificationRow(report, this.#segments().get(report.host) ?? null)
  }

  /** The segment of each host. */
  #segments(): Map<string, string> {
    return new Map(
      this.#parts.review.segments().flatMap(({ name, hosts }) => hosts.map((host) => [host, name] as const)),
    )
  }

  report(id: string): ReportView {
    const found = this.#parts.reports.list().find(({ uuid }) => uuid === id)
    if (found === undefined) throw new LifeboatError('NOT_FOUND', `Notification with id ${id} could not be found.`)
    return found
  }

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
}
