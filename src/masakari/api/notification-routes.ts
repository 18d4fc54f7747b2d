/** The routes of notifications, and of their vmoves. */
import { LifeboatError } from '../../domain/errors.ts'
import { equal, listed, since, type Query } from './lists.ts'
import { isAtLeast } from './microversion.ts'
import { notificationRequest } from './notification-request.ts'
import type { MasakariParts } from './parts.ts'
import { param, type Routes } from './route-table.ts'
import type { Rows } from './rows.ts'
import { progressOf } from './views.ts'

const notificationList = {
  keys: ['notification_uuid', 'type', 'status', 'source_host_uuid', 'generated_time', 'payload'],
  filters: {
    status: equal('status'),
    type: equal('type'),
    source_host_uuid: equal('source_host_uuid'),
    failover_segment_uuid: equal('failover_segment_uuid'),
    'generated-since': since('generated_time', 'generated-since'),
  },
}

const moveList = {
  keys: [
    ...['uuid', 'notification_uuid', 'instance_uuid', 'instance_name', 'source_host', 'dest_host'],
    ...['start_time', 'end_time', 'type', 'status', 'message'],
  ],
  filters: { status: equal('status'), type: equal('type') },
}

export function notificationRoutes({ route, reads, mayDo }: Routes, rows: Rows, { reports }: MasakariParts): void {
  route('/notifications', {
    GET: reads('notifications', 'index', ({ query }) => ({
      notifications: listed(rows.notifications(), query as Query, notificationList),
    })),
    POST: async (request, reply) => {
      const { caller, via } = await mayDo(request, { rule: 'notifications:create', by: 'reporters' })
      const report = reports.receive({ ...notificationRequest(request.body), by: caller.name, via })
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
    GET: reads('vmoves', 'index', async (request) => ({
      vmoves: listed(await rows.moves(param(request, 'notification')), request.query as Query, moveList),
    })),
  })
  route('/notifications/:notification/vmoves/:vmove', {
    GET: reads('vmoves', 'detail', async (request) => {
      const id = param(request, 'vmove')
      const found = (await rows.moves(param(request, 'notification'))).find(({ uuid }) => uuid === id)
      if (found === undefined) throw new LifeboatError('NOT_FOUND', `VM move with id ${id} could not be found.`)
      return { vmove: found }
    }),
  })
}
