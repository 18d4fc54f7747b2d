/** Maintenance: what people order now and for later, what they withdraw and end, and what stands against it. */
import { z } from 'zod'
import { omitUndefined } from '../../domain/omit-undefined.ts'
import type { RestServer, RestSources } from '../rest.ts'
import { named } from '../schemas/named-answers.ts'
import * as requests from '../schemas/requests.ts'
import { inFuture, lasting, who } from './acts.ts'

export function maintenanceRoutes(server: RestServer, { operations, clock }: RestSources): void {
  server.get(
    '/v1/maintenance',
    {
      schema: {
        response: { 200: named('maintenanceView') },
        tags: ['cloud'],
        summary: 'Maintenance in force and planned, the calendar ahead, and what stands against it',
        querystring: requests.nothing,
      },
    },
    () => operations.maintenance(),
  )
  server.post(
    '/v1/maintenance',
    {
      schema: {
        response: { 200: named('orderOrPlan') },
        tags: ['acts'],
        summary: 'Begins maintenance, or plans it for a later time',
        body: requests.maintaining,
      },
    },
    (request) => {
      const { by, from, forSeconds, ...order } = request.body
      const ordered = { ...inFuture(order, clock.wall()), ...who(request, by) }
      if (from === undefined) return operations.startMaintenance(lasting(ordered, forSeconds, clock.wall()))
      const forMs = forSeconds === undefined ? undefined : forSeconds * 1_000
      return operations.planMaintenance({ ...ordered, from, ...omitUndefined({ forMs }) })
    },
  )
  server.post(
    '/v1/maintenance/withdraw',
    {
      schema: {
        response: { 204: z.undefined() },
        tags: ['acts'],
        summary: 'Withdraws a planned maintenance that has not begun',
        body: requests.withdrawing,
      },
    },
    async (request, reply) => {
      const { by, ...order } = request.body
      await operations.withdrawMaintenance({ ...order, ...who(request, by) })
      return reply.code(204).send()
    },
  )
  server.post(
    '/v1/maintenance/end',
    {
      schema: {
        response: { 204: z.undefined() },
        tags: ['acts'],
        summary: 'Ends maintenance',
        body: requests.maintained,
      },
    },
    async (request, reply) => {
      const { by, ...order } = request.body
      await operations.endMaintenance({ ...order, ...who(request, by) })
      return reply.code(204).send()
    },
  )
}
