/**
 * Masakari's REST API over what Lifeboat knows, so that the monitors and clients that clouds already use work with it. It answers reads,
 * takes reports, and writes segments and their hosts; all other orders go through Lifeboat's own API. docs/masakari-api.md says what is the
 * same and what differs.
 */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { identified } from '../../api/caller-rules.ts'
import { createServer, type ServerExtras } from '../../api/server.ts'
import { TokenCache } from '../../api/token-cache.ts'
import { ensureError, LifeboatError } from '../../domain/errors.ts'
import type { TokenHolder } from '../../domain/token-holder.ts'
import { faultBody, faultType, noSuchRoute, statusOf } from './faults.ts'
import { highest, lowest, microversionOf, versionDocument, versionList } from './microversion.ts'
import type { MasakariOptions, MasakariParts } from './parts.ts'
import type { Act } from './route-table.ts'
import { masakariRoutes } from './routes.ts'

/**
 * How many logins may wait for their turn at Keystone: the monitors of a fleet start together. Fewer: some are told to try again in ten
 * seconds, and see nothing meanwhile. More: a flood of made-up tokens holds memory for ten seconds.
 */
const mostWaiting = 1_000

/** Masakari's own. */
const bodyLimitBytes = 114_688

/** The server, not yet listening. */
export async function masakariServer(
  parts: MasakariParts,
  options: MasakariOptions,
  extras: ServerExtras = {},
): Promise<FastifyInstance> {
  const server = createServer({
    ...extras,
    bodyLimit: bodyLimitBytes,
    observer: parts.observer,
    recorded: parts.recorded,
    genReqId: () => `req-${randomUUID()}`,
    fallback: (request, reply) => noRoute(request, reply, options),
  })
  server.decorateRequest('microversion', lowest)
  server.decorateRequest('holder', null)
  server.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-openstack-request-id', request.id).header('vary', 'OpenStack-API-Version')
    void reply.header('openstack-api-version', `instance-ha ${lowest}`)
    done()
  })
  // Masakari names a charset in its faults alone; the framework's own is in small letters.
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.getHeader('content-type') === 'application/json; charset=utf-8')
      void reply.header('content-type', 'application/json')
    done(null, payload)
  })
  const tokens = new TokenCache(parts.people, parts.clock, mostWaiting)
  // As Masakari's filter of tokens, which comes before its routes.
  server.addHook('onRequest', async (request, reply) => {
    if (!request.is404 || !isVersioned(request)) return undefined
    try {
      await holderOf(request, tokens)
      return undefined
    } catch (thrown) {
      return refuse(thrown, request, reply, parts)
    }
  })
  await server.register(async (scope) => {
    scope.setErrorHandler((thrown, request, reply) => refuse(thrown, request, reply, parts))
    scope.get('/', (request) => versionList(addressOf(request, options)))
    scope.get('/healthcheck', (_request, reply) => reply.type('text/plain; charset=UTF-8').send('OK'))
    for (const path of ['/v1', '/v1/']) scope.get(path, (request) => versionDocument(addressOf(request, options)))
    await scope.register((own, _options, done) => {
      own.addHook('onRequest', async (request, reply) => {
        request.holder = await holderOf(request, tokens)
        const header = request.headers['openstack-api-version']
        request.microversion = microversionOf([header].flat()[0])
        void reply.header('openstack-api-version', `instance-ha ${request.microversion}`)
        refuseForeignProject(request, request.holder)
        // What a standby knows is a moment old: a report that it refused as repeated, or took and forgot, would be lost to the active daemon.
        if (request.method !== 'GET' && request.method !== 'HEAD') parts.mayWrite?.()
        // A list's address with a slash behind it: of an object without a name.
        if (Object.values(request.params as object).includes('')) return reply.code(404).send(noSuchRoute)
        return undefined
      })
      masakariRoutes(own, parts, options.rules, (request, act) => callerOf(request, act, parts, options))
      done()
    })
  })
  return server
}

async function holderOf(request: FastifyRequest, tokens: TokenCache): Promise<TokenHolder> {
  const token = request.headers['x-auth-token']
  // A write must be allowed now; for a read Keystone's answer of a moment ago will do.
  const holder = typeof token === 'string' ? await tokens.holder(token, { fresh: request.method !== 'GET' }) : null
  if (holder === null) throw new LifeboatError('AUTH_FAILED', 'The request you have made requires authentication.')
  return holder
}

/** A project's id in the address must be that of the token. */
function refuseForeignProject(request: FastifyRequest, { scope }: TokenHolder): void {
  const { project } = request.params as { project?: string }
  if (
    project === undefined ||
    (scope.kind === 'project' && project.replaceAll('-', '') === scope.id.replaceAll('-', ''))
  )
    return
  const own = scope.kind === 'project' ? scope.id : 'None'
  const message = `Malformed request URL: URL's project_id '${project}' doesn't match Context's project_id '${own}'`
  throw new LifeboatError('USAGE', message)
}

/** Who may do that. Throws AUTH_FORBIDDEN. */
async function callerOf(
  request: FastifyRequest,
  act: Act,
  { people }: MasakariParts,
  { rules }: MasakariOptions,
): Promise<ReturnType<typeof identified>> {
  const { holder } = request
  if (holder === null) throw new LifeboatError('INVARIANT', 'nobody asked who the caller is')
  const { projects, [act.by]: roles } = rules()
  const own = projects.length > 0 ? projects : [{ id: (await people.ownProject()).id }]
  try {
    return identified(
      holder,
      { roles: Object.fromEntries(roles.map((role) => [role, 'reader'])), projects: own },
      'token',
    )
  } catch (thrown) {
    const { message, code } = ensureError(thrown)
    if (code !== 'AUTH_FORBIDDEN') throw thrown
    const says = `Policy doesn't allow os_masakari_api:${act.rule} to be performed. ${message}`
    throw new LifeboatError('AUTH_FORBIDDEN', says, { cause: thrown })
  }
}

function addressOf({ protocol, host }: FastifyRequest, { publicUrl }: MasakariOptions): string {
  return publicUrl ?? `${protocol}://${host}`
}

async function refuse(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { observer, people }: Pick<MasakariParts, 'observer' | 'people'>,
): Promise<FastifyReply> {
  const isOurs = thrown instanceof LifeboatError
  const framework = !isOurs && thrown instanceof Error && 'statusCode' in thrown ? Number(thrown.statusCode) : null
  const error = ensureError(thrown)
  const status = framework ?? statusOf[error.code] ?? 500
  if (status >= 500) {
    const message = `${request.method} ${request.routeOptions.url ?? 'unknown'} failed: ${error.message}`
    observer.log?.('error', 'masakari_api.failed', { message, httpRequestId: request.id }, error)
  }
  if (status === 401) void reply.header('www-authenticate', await whereTokensAre(people))
  if (status === 503) void reply.header('retry-after', '10')
  const says =
    status === 500
      ? 'The server has either erred or is incapable of performing the requested operation.'
      : error.message
  if (status !== 401) void reply.header('content-type', faultType)
  return reply.code(status).send(faultBody(status, says))
}

/** For clients that get their token where a refusal says. */
async function whereTokensAre(people: MasakariParts['people']): Promise<string> {
  const uri = await people.publicUrl().catch(() => null)
  return uri === null ? 'Keystone' : `Keystone uri="${uri}"`
}

function isVersioned({ url }: FastifyRequest): boolean {
  const path = url.split('?')[0] ?? ''
  return path === '/v1' || path.startsWith('/v1/')
}

/** Answers unknown paths: below `/v1` with a 404 of its own shape, elsewhere with the list of versions. */
function noRoute(request: FastifyRequest, reply: FastifyReply, options: MasakariOptions): FastifyReply {
  if (isVersioned(request)) return reply.code(404).send(noSuchRoute)
  const path = request.url.split('?')[0] ?? ''
  const base = addressOf(request, options)
  const choice = { id: 'v1.0', status: 'CURRENT', version: highest, min_version: lowest }
  return reply.code(300).send({ choices: [{ ...choice, links: [{ rel: 'self', href: `${base}/v1${path}` }] }] })
}
