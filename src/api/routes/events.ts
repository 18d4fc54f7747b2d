/** GET /v1/events: where a reader begins, and the head of the answer. What is written is event-stream.ts's. */
import type { FastifyRequest } from 'fastify'
import { LifeboatError } from '../../domain/errors.ts'
import type { EventStreams } from '../event-stream.ts'
import type { Identify, RestServer, RestSources } from '../rest.ts'
import * as requests from '../schemas/requests.ts'
import { named } from '../schemas/named-answers.ts'

export function eventRoutes(
  server: RestServer,
  { review }: Pick<RestSources, 'review'>,
  streams: EventStreams,
  identify: Identify,
): void {
  server.get(
    '/v1/events',
    {
      exposeHeadRoute: false,
      schema: {
        tags: ['journal'],
        summary: 'Journal entries as they are written (server-sent events)',
        querystring: requests.eventsQuery,
        response: { 200: named('eventStream') },
      },
    },
    (request, reply) => {
      // On the operators' socket nothing tells people apart, and anyone who is there may stop the daemon: no share.
      const reader = request.via?.userId ?? null
      streams.refuseTooMany(reader)
      const head = review.journal({ limit: 1 }).head.seq
      // A reader of another journal, such as the one before a backup was put back, would wait for sequences that are far away.
      const after = Math.min(lastEvent(request) ?? request.query.after ?? head, head)
      reply.hijack()
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // nginx would keep events back until its buffer is full.
        'x-accel-buffering': 'no',
      })
      streams.open(reply.raw, { reader, after, mayGoOn: () => stillKnown(request, identify) })
    },
  )
}

/** The header that a browser sends when it comes back. Throws USAGE for what is no sequence. */
function lastEvent({ headers }: FastifyRequest): number | null {
  const said = headers['last-event-id']
  if (said === undefined || said === '') return null
  if (typeof said !== 'string' || !/^\d{1,15}$/.test(said))
    throw new LifeboatError('USAGE', 'The request is not valid: Last-Event-ID: must be the sequence of an entry')
  return Number(said)
}

/** A revoked token, a lost role, a session that ended: none may go on reading. */
function stillKnown(request: FastifyRequest, identify: Identify): Promise<boolean> {
  return Promise.resolve(identify(request)).then(
    () => true,
    () => false,
  )
}
