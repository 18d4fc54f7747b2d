/** The routes of the operators' socket: validation and nothing else. What they do is behind the Operations port. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { LifeboatError } from '../domain/errors.ts'
import type { Operations, RecoverOrder } from '../domain/operations.ts'
import { createServer, longestId } from './server.ts'

const person = z.string().trim().min(1).max(255)
const sentence = z.string().trim().min(1).max(4_000)
const noQuery = z.strictObject({})
const reasoned = z.strictObject({ by: person, reason: sentence })
const recovery = z.strictObject({
  host: z.string().trim().min(1).max(255),
  by: person,
  proof: sentence,
  unixUser: person.optional(),
})
const named = z.string().trim().min(1).max(255)
const scope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('cloud'), name: z.null() }),
  z.strictObject({ kind: z.enum(['segment', 'host']), name: named }),
])
const until = z.iso.datetime({ offset: true }).nullable().default(null)
const pausing = z.strictObject({ by: person, reason: sentence, until, scope: scope.optional() })
const resuming = reasoned.extend({ scope: scope.optional() })
const maintaining = z.strictObject({ by: person, reason: sentence, until, scope })
const maintained = reasoned.extend({ scope })
const filter = z.strictObject({
  open: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  host: z.string().min(1).max(255).optional(),
  limit: z.coerce.number().int().min(1).max(10_000).optional(),
})
const hostName = z.strictObject({ host: z.string().min(1).max(255) })
const returning = z.strictObject({
  by: person,
  reason: z.string().trim().max(4_000).default(''),
  keepOut: z.boolean().default(false),
})
const one = z.strictObject({ id: z.string().min(1).max(longestId) })

/** The routes, not yet listening. `now` is wall time in ms: a pause or maintenance that ends in the past is refused. */
export function operatorRoutes(operations: Operations, now: () => number): FastifyInstance {
  const server = createServer()
  server.get('/v1/status', (request) => {
    parse(noQuery, request.query)
    return operations.status()
  })
  server.get('/v1/hosts', (request) => {
    parse(noQuery, request.query)
    return operations.hosts()
  })
  server.get('/v1/hosts/:host', (request) => {
    parse(noQuery, request.query)
    return operations.host(parse(hostName, request.params).host)
  })
  server.post('/v1/hosts/:host/return', async (request, reply) => {
    const { host } = parse(hostName, request.params)
    return reply.code(202).send(await operations.returnHost({ host, ...parse(returning, request.body) }))
  })
  server.get('/v1/incidents', (request) => operations.incidents(withoutUndefined(parse(filter, request.query))))
  server.get('/v1/incidents/:id', (request) => operations.incident(parse(one, request.params).id))
  server.post('/v1/recover', async (request, reply) =>
    reply.code(202).send(await operations.recover(recoverOrder(parse(recovery, request.body)))),
  )
  server.post('/v1/pause', (request) => operations.pause(inFuture(parse(pausing, request.body), now())))
  server.post('/v1/resume', async (request, reply) => {
    await operations.resume(parse(resuming, request.body))
    return reply.code(204).send()
  })
  server.post('/v1/maintenance', (request) =>
    operations.startMaintenance(inFuture(parse(maintaining, request.body), now())),
  )
  server.post('/v1/maintenance/end', async (request, reply) => {
    await operations.endMaintenance(parse(maintained, request.body))
    return reply.code(204).send()
  })
  for (const act of ['override', 'cancel'] as const) {
    server.post(`/v1/incidents/:id/${act}`, async (request, reply) => {
      await operations[act](parse(one, request.params).id, parse(reasoned, request.body))
      return reply.code(202).send()
    })
  }
  return server
}

function inFuture<T extends { until: string | null }>(order: T, nowMs: number): T {
  if (order.until !== null && Date.parse(order.until) <= nowMs)
    throw new LifeboatError('USAGE', `It would end in the past (until ${order.until})`)
  return order
}

/** exactOptionalPropertyTypes: what was not given is not there at all. */
function recoverOrder({ unixUser, ...order }: z.output<typeof recovery>): RecoverOrder {
  return { ...order, ...(unixUser !== undefined && { unixUser }) }
}

function parse<T>(schema: z.ZodType<T>, given: unknown): T {
  const parsed = schema.safeParse(given ?? {})
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  )
  throw new LifeboatError('USAGE', `The request is not valid: ${problems.join('; ')}`, { details: { problems } })
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
