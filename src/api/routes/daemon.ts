/** What people order of the daemon itself: to read its configuration again, to let another one take over, and how much it logs. */
import type { RestServer, RestSources } from '../rest.ts'
import { named } from '../schemas/named-answers.ts'
import * as requests from '../schemas/requests.ts'
import { inFuture, who } from './acts.ts'

export function daemonRoutes(server: RestServer, { operations, clock }: RestSources): void {
  server.post(
    '/v1/reload',
    {
      schema: {
        response: { 200: named('reloadReport') },
        tags: ['acts'],
        summary: 'Reloads the configuration; on any error the current one stays in force',
        body: requests.reloading,
      },
    },
    (request) => {
      const { by, ...order } = request.body
      return operations.reload({ ...order, ...who(request, by) })
    },
  )
  server.post(
    '/v1/hand-over',
    {
      schema: {
        response: { 202: named('handOver') },
        tags: ['acts'],
        summary: 'Has another of the daemons that share the journal take over',
        body: requests.reasoned,
      },
    },
    async (request, reply) => {
      const { by, reason } = request.body
      return reply.code(202).send(await operations.handOver({ reason, ...who(request, by) }))
    },
  )
  server.get(
    '/v1/log-level',
    {
      schema: {
        response: { 200: named('logLevelState') },
        tags: ['cloud'],
        summary: 'The level of the log',
        querystring: requests.nothing,
      },
    },
    () => operations.logLevel(),
  )
  server.post(
    '/v1/log-level',
    {
      schema: {
        response: { 200: named('logLevelState') },
        tags: ['acts'],
        summary: 'Sets the level of the log',
        body: requests.logging,
      },
    },
    (request) => {
      const { by, ...order } = request.body
      return operations.setLogLevel({ ...inFuture(order, clock.wall()), ...who(request, by) })
    },
  )
}
