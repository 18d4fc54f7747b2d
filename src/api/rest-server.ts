/**
 * The REST API over Operations and Review: routes, validation, and who may use them. The same on the operators' socket and on
 * TCP; what differs is how a caller is known (`identify`).
 */
import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import { LifeboatError } from '../domain/errors.ts'
import { mayDo, roleNeeded } from './access.ts'
import { actRoutes } from './routes/acts.ts'
import { daemonRoutes } from './routes/daemon.ts'
import { noticeRoutes } from './routes/notices.ts'
import { maintenanceRoutes } from './routes/maintenance.ts'
import { readRoutes } from './routes/reads.ts'
import type { Identify, RestServer, RestSources } from './rest.ts'
import { named } from './schemas/named-answers.ts'
import { createServer } from './server.ts'
import { EventStreams } from './event-stream.ts'
import { eventRoutes } from './routes/events.ts'
import { sessionRoutes } from './routes/session.ts'
import { simulationRoutes } from './routes/simulation.ts'
import { singleSignOnRoutes } from './routes/single-sign-on.ts'

/** Anyone who may open the socket may act. Its file mode and group are the login. */
export const onSocket: Identify = () => ({
  caller: { name: 'socket', role: 'admin', by: 'socket' },
  via: null,
  keystoneRoles: [],
})

/** The routes on a server of their own, not yet listening. */
export function restServer(sources: RestSources, identify: Identify): FastifyInstance {
  const server = createServer({ observer: sources.observer, recorded: sources.recorded })
  addRest(server, sources, identify)
  return server
}

/** Adds the routes, and with them who may use each. `login`: how people log in, where there is such a thing. */
export function addRest(
  plain: FastifyInstance,
  sources: RestSources,
  identify: Identify,
  login?: (server: RestServer) => void,
): void {
  const server = plain.withTypeProvider<ZodTypeProvider>() as unknown as RestServer
  server.setValidatorCompiler<z.ZodType>(
    ({ schema, httpPart }) =>
      (data: unknown) =>
        validated(schema, data, httpPart),
  )
  // The schemas of answers describe them, and tests hold them to that; checking each answer would cost more than making it.
  server.setSerializerCompiler(() => (data) => JSON.stringify(data))
  server.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) roleNeeded(each, url)
  })
  server.decorateRequest('via', null)
  // The rate limit is the route's own onRequest, which comes after all others: made-up tokens must not get past it to Keystone.
  server.addHook('preParsing', async (request) => {
    const { url } = request.routeOptions
    if (url === undefined) return
    const needed = roleNeeded(request.method, url)
    if (needed === 'nobody') return
    const { caller, via, keystoneRoles } = await identify(request)
    request.caller = caller
    request.via = via
    request.keystoneRoles = keystoneRoles
    if (!mayDo(caller.role, needed))
      throw new LifeboatError('AUTH_FORBIDDEN', `This needs the role ${needed}; ${caller.name} is ${caller.role}`)
  })
  const streams = new EventStreams(sources.review, sources.clock)
  // Before the listener waits for its connections to end: a stream ends only when someone ends it.
  server.addHook('preClose', async () => {
    streams.close()
    return Promise.resolve()
  })
  server.get(
    '/v1/me',
    { schema: { tags: ['login'], summary: 'Who you are here', response: { 200: named('welcome') } } },
    ({ caller, via, keystoneRoles }) => ({
      ...caller,
      ...{ scope: via?.scope ?? null, keystoneRoles },
      lastSeq: sources.review.journal({ limit: 1 }).head.seq,
      ...(sources.simulation !== undefined && { simulated: true as const }),
    }),
  )
  server.get(
    '/v1/openapi.json',
    { schema: { tags: ['api'], summary: 'This description', response: { 200: named('document') } } },
    async () => openApi(),
  )
  readRoutes(server, sources)
  actRoutes(server, sources)
  daemonRoutes(server, sources)
  maintenanceRoutes(server, sources)
  noticeRoutes(server, sources)
  eventRoutes(server, sources, streams, identify)
  if (sources.simulation !== undefined) simulationRoutes(server, sources.simulation)
  login?.(server)
}

/** Made once, when it is asked for: it is the same for every daemon of a release. */
let document: Promise<Record<string, unknown>> | null = null

/** The OpenAPI document of these routes, login included. */
export function openApi(): Promise<Record<string, unknown>> {
  document ??= describeRoutes()
  return document
}

async function describeRoutes(): Promise<Record<string, unknown>> {
  // Seldom asked for, and what makes it is larger than all that answers otherwise.
  const { describe } = await import('./openapi.ts')
  const server = createServer()
  const nobody = (): never => {
    throw new LifeboatError('INVARIANT', 'this server only describes its routes')
  }
  const unused = new Proxy({}, { get: nobody }) as never
  await describe(server, (scope) =>
    addRest(scope, { operations: unused, review: unused, clock: unused }, nobody, (own) => {
      sessionRoutes(own, unused)
      singleSignOnRoutes(own, unused)
    }),
  )
  await server.ready()
  const described = server.swagger() as unknown as Record<string, unknown>
  await server.close()
  return described
}

function validated(schema: z.ZodType, data: unknown, part: string | undefined): { value: unknown } | { error: Error } {
  // A body may be left out altogether; then every field is missing.
  const parsed = schema.safeParse(part === 'body' ? (data ?? {}) : data)
  if (parsed.success) return { value: parsed.data }
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  )
  return {
    error: new LifeboatError('USAGE', `The request is not valid: ${problems.join('; ')}`, { details: { problems } }),
  }
}
