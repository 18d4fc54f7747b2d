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
import { readRoutes } from './routes/reads.ts'
import type { Identify, RestServer, RestSources } from './rest.ts'
import { createServer } from './server.ts'

/** Whoever may open the socket may act. Its file mode and group are the login. */
export const onSocket: Identify = () => ({ asker: { name: 'socket', role: 'admin', by: 'socket' }, via: null })

/** The routes, not yet listening. */
export function restServer(sources: RestSources, identify: Identify): FastifyInstance {
  const server = createServer().withTypeProvider<ZodTypeProvider>()
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
  server.addHook('onRequest', async (request) => {
    const { url } = request.routeOptions
    if (url === undefined) return
    const needed = roleNeeded(request.method, url)
    if (needed === 'nobody') return
    const { asker, via } = await identify(request)
    if (!mayDo(asker.role, needed))
      throw new LifeboatError('AUTH_FORBIDDEN', `This needs the role ${needed}; ${asker.name} is ${asker.role}`)
    request.asker = asker
    request.via = via
  })
  server.get('/v1/me', { schema: { tags: ['login'], summary: 'Who you are here' } }, ({ asker }) => asker)
  readRoutes(server as unknown as RestServer, sources)
  actRoutes(server as unknown as RestServer, sources)
  daemonRoutes(server as unknown as RestServer, sources)
  return server as unknown as FastifyInstance
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
