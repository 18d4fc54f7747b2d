/** What people order. Each act names a person and a reason; both end in the journal. */
import type { FastifyRequest } from 'fastify'
import type { Via } from '../../domain/entry.ts'
import { LifeboatError } from '../../domain/errors.ts'
import type { Failure } from '../../domain/incident.ts'
import type { PlanSubject } from '../../domain/plan.ts'
import type { RestServer, RestSources } from '../rest.ts'
import { z } from 'zod'
import { named } from '../schemas/named-answers.ts'
import { bodyLimitBytes, longestId } from '../server.ts'
import * as requests from '../schemas/requests.ts'
import { omitUndefined } from '../../domain/omit-undefined.ts'

/** Each incident is named in it, and a brake may hold a whole fleet. Read only once the caller is known for an admin. */
const groupBodyLimitBytes = bodyLimitBytes + requests.mostInGroup * (longestId + '"",'.length)

export function actRoutes(server: RestServer, { operations, review, clock }: RestSources): void {
  server.post(
    '/v1/recover',
    {
      schema: {
        response: { 202: named('opened') },
        tags: ['acts'],
        summary: 'Recovers a host on a person’s attestation that it is dead',
        body: requests.recovering,
      },
    },
    async (request, reply) => {
      const { by, unixUser, ...order } = request.body
      if (unixUser !== undefined && request.caller.by !== 'socket')
        throw new LifeboatError('USAGE', 'unixUser is only known on the operators’ socket')
      const answer = await operations.recover({ ...order, ...omitUndefined({ unixUser }), ...who(request, by) })
      return reply.code(202).send(answer)
    },
  )
  server.post(
    '/v1/pause',
    {
      schema: {
        response: { 200: named('pauseState') },
        tags: ['acts'],
        summary: 'Pauses recoveries',
        body: requests.pausing,
      },
    },
    (request) => {
      const { by, forSeconds, ...order } = request.body
      return operations.pause({
        ...inFuture(lasting(order, forSeconds, clock.wall()), clock.wall()),
        ...who(request, by),
      })
    },
  )
  server.post(
    '/v1/resume',
    { schema: { response: { 204: z.undefined() }, tags: ['acts'], summary: 'Ends a pause', body: requests.resuming } },
    async (request, reply) => {
      const { by, ...order } = request.body
      await operations.resume({ ...order, ...who(request, by) })
      return reply.code(204).send()
    },
  )
  server.post(
    '/v1/hosts/:host/return',
    {
      schema: {
        response: { 202: named('hostReturn') },
        tags: ['acts'],
        summary: 'Returns a host to service, or keeps it out',
        params: requests.hostPath,
        body: requests.returning,
      },
    },
    async (request, reply) => {
      const { by, ...order } = request.body
      const answer = await operations.returnHost({ host: request.params.host, ...order, ...who(request, by) })
      return reply.code(202).send(answer)
    },
  )
  server.post(
    '/v1/brake/override',
    {
      bodyLimit: groupBodyLimitBytes,
      schema: {
        response: { 202: named('groupOverride') },
        tags: ['acts'],
        summary: 'Overrides the brake for the hosts that one scope holds',
        body: requests.overridingGroup,
      },
    },
    async (request, reply) => {
      const { by, ...order } = request.body
      return reply.code(202).send(await operations.overrideGroup({ ...order, ...who(request, by) }))
    },
  )
  incidentActs(server, { operations, review })
  server.post(
    '/v1/plans',
    {
      config: { recordsNothing: true },
      schema: {
        response: { 202: named('planRun') },
        tags: ['plans'],
        summary: 'Starts a plan for a live host: what would happen if it, its nova-compute or a guest on it failed now',
        body: requests.planning,
      },
    },
    async (request, reply) => {
      const { waitSeconds, ...asked } = request.body
      const { id } = review.startPlan(subjectOf(asked))
      const run = await review.finishedPlan(id, waitSeconds * 1_000)
      return reply.code(202).header('location', `/v1/plans/${id}`).send(run)
    },
  )
}

/** Throws USAGE: an instance goes with its failure, and that with one. */
function subjectOf({ host, failure, instance }: { host: string; failure: Failure; instance?: string }): PlanSubject {
  if (failure === 'instance' && instance !== undefined) return { host, failure, instance }
  if (failure !== 'instance' && instance === undefined) return { host, failure }
  throw new LifeboatError('USAGE', 'instance goes with failure: instance, and that needs it')
}

function incidentActs(server: RestServer, { operations, review }: Pick<RestSources, 'operations' | 'review'>): void {
  server.post(
    '/v1/incidents/:id/again',
    {
      schema: {
        response: { 202: named('openedAgain') },
        tags: ['acts'],
        summary: 'Opens a new incident for what a closed one did not bring back',
        params: requests.incidentPath,
        body: requests.tryingAgain,
      },
    },
    async (request, reply) => {
      const { by, ...order } = request.body
      await review.load(request.params.id)
      const answer = await operations.tryAgain(request.params.id, { ...order, ...who(request, by) })
      return reply.code(202).send(answer)
    },
  )
  for (const [path, act, summary] of [
    ['override', 'override', 'Overrides the brake for one incident'],
    ['cancel', 'cancel', 'Ends an incident once Nova has answered for the writes in flight'],
    ['start', 'startInstances', 'Starts the instances that a host outage left off'],
  ] as const) {
    server.post(
      `/v1/incidents/:id/${path}`,
      {
        schema: {
          response: { 202: z.undefined() },
          tags: ['acts'],
          summary,
          params: requests.incidentPath,
          body: requests.reasoned,
        },
      },
      async (request, reply) => {
        const { by, reason } = request.body
        await operations[act](request.params.id, { reason, ...who(request, by) })
        return reply.code(202).send()
      },
    )
  }
  for (const [path, act, summary] of [
    ['notes', 'note', 'Adds a note to an incident'],
    ['sign-off', 'signOff', 'Signs off a closed incident'],
  ] as const) {
    server.post(
      `/v1/incidents/:id/${path}`,
      {
        schema: {
          response: { 201: named('reviewNote') },
          tags: ['acts'],
          summary,
          params: requests.incidentPath,
          body: requests.noting,
        },
      },
      (request, reply) => {
        const { by, text } = request.body
        void reply.code(201)
        return review[act](request.params.id, { text, ...who(request, by) })
      },
    )
  }
}

/** Who acts: with a token the token's user, never the body's; on the socket whoever the caller says they are. */
export function who({ caller, via }: FastifyRequest, by: string | undefined): { by: string; via?: Via } {
  if (caller.by === 'socket') {
    if (by === undefined) throw new LifeboatError('USAGE', 'The request is not valid: by: say who you are')
    return { by }
  }
  if (by !== undefined && by !== caller.name.trim())
    throw new LifeboatError(
      'USAGE',
      `The request is not valid: by: you are ${caller.name}, and no other name can be given`,
    )
  return { by: caller.name, ...(via !== null && { via }) }
}

/** The order with the end that its length gives it. */
export function lasting<T extends { until: string | null }>(
  order: T,
  forSeconds: number | undefined,
  nowMs: number,
): T {
  return forSeconds === undefined ? order : { ...order, until: new Date(nowMs + forSeconds * 1_000).toISOString() }
}

export function inFuture<T extends { until: string | null }>(order: T, nowMs: number): T {
  if (order.until !== null && Date.parse(order.until) <= nowMs)
    throw new LifeboatError('USAGE', `It would end in the past (until ${order.until})`)
  return order
}
