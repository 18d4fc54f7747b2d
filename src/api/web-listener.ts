/**
 * The listener for people and their programs on TCP: the REST API behind a login, and the pages. Owns what a hostile client meets
 * first: TLS, limits, headers. Metrics and health are elsewhere (public-listener.ts), without a login.
 */
import { randomUUID } from 'node:crypto'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LifeboatError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import type { TokenCheck } from '../domain/token-holder.ts'
import { compressAnswers } from './compression.ts'
import { Logins, type LoginRules } from './logins.ts'
import { pageFallback, servePages } from './pages.ts'
import { addRest } from './rest-server.ts'
import type { RestSources } from './rest.ts'
import { sessionRoutes } from './routes/session.ts'
import { doorRoute, type Door } from './routes/simulation.ts'
import { signOnCallback, singleSignOnRoutes } from './routes/single-sign-on.ts'
import {
  listenSecurely,
  secureExtras,
  type ListenerOptions,
  type ListenerPlace,
  type SecureListener,
} from './secure-listener.ts'
import { createServer } from './server.ts'
import { SingleSignOn } from './single-sign-on.ts'

export interface WebRules extends LoginRules {
  /** Requests from one address in a minute. */
  requestsAMinute: number
}

export interface WebOptions extends ListenerOptions {
  /** What holds now: asked for each request. */
  rules: () => WebRules
  /** The built pages; they may be missing. */
  pages: string
  /** Of the demo: a link that lets its visitor in once, without a login. */
  door?: Door
}

export interface WebParts extends RestSources {
  people: TokenCheck
  observer: Observer
}

/** Listens; port 0 takes a free one. Throws API_UNAVAILABLE when the address is taken, CONFIG_INVALID for a bad certificate. */
export async function listenForPeople(parts: WebParts, options: WebOptions): Promise<SecureListener> {
  return listenSecurely(await webServer(parts, options), parts, options, pagesPlace)
}

const pagesPlace: ListenerPlace = { option: 'web', name: 'the pages' }

/** The server, not yet listening. Throws CONFIG_INVALID when certificate or key cannot be read. */
export async function webServer(parts: WebParts, options: WebOptions): Promise<FastifyInstance> {
  const server = createServer({
    ...secureExtras(options, pagesPlace),
    observer: parts.observer,
    recorded: parts.recorded,
    genReqId: requestIdOf,
    fallback: pageFallback(options.pages),
  })
  const logins = new Logins(parts.people, parts.clock, options.rules)
  const signOn = new SingleSignOn(logins, parts.clock, parts.observer, () => options.rules().sso)
  await server.register(helmet, headers(options.tls !== null))
  await server.register(rateLimit, {
    max: () => options.rules().requestsAMinute,
    // Orders have requests of their own: pages that load on must not keep a person from stopping anything.
    keyGenerator: ({ method, ip }) => (isRead(method) ? '' : 'orders ') + rateLimit.normalizeIP(ip),
    timeWindow: 60_000,
    errorResponseBuilder: (_request, { after }) =>
      new LifeboatError('API_THROTTLED', `Too many requests; try again in ${after}`),
  })
  server.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id)
    done()
  })
  server.addHook('onResponse', (request, reply, done) => {
    logRequest(parts.observer, request, reply)
    done()
  })
  await server.register(async (scope) => {
    await compressAnswers(scope)
    scope.addHook('onSend', (_request, reply, payload, next) => {
      void reply.header('cache-control', 'no-store')
      next(null, payload)
    })
    addRest(scope, parts, logins.identify, (own) => {
      sessionRoutes(own, logins)
      singleSignOnRoutes(own, signOn)
    })
  })
  await signOnCallback(server, signOn)
  if (options.door !== undefined) doorRoute(server, logins, options.door)
  await servePages(server, options.pages)
  return server
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Everything from this host alone, no inline script, in nobody's frame. */
function headers(secure: boolean): Parameters<typeof helmet>[1] {
  const own = ["'self'"]
  return {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: own,
        styleSrc: own,
        imgSrc: ["'self'", 'data:'],
        fontSrc: own,
        connectSrc: own,
        manifestSrc: own,
        formAction: own,
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    strictTransportSecurity: secure ? { maxAge: 31_536_000, includeSubDomains: false } : false,
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
  }
}

/** The caller's own id where it is a plain word: one id then finds the request in their log and in ours. */
function requestIdOf({ headers: sent }: { headers: Record<string, string | string[] | undefined> }): string {
  const own = sent['x-request-id'] ?? sent['x-openstack-request-id']
  return typeof own === 'string' && /^[\w-]{8,64}$/.test(own) ? own : `req-${randomUUID()}`
}

/** Never the query nor a header: tokens and names are in them. */
function logRequest(observer: Observer, request: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): void {
  const reads = request.method === 'GET' || request.method === 'HEAD'
  const level = statusCode >= 500 ? 'error' : statusCode >= 400 ? 'warn' : reads ? 'debug' : 'info'
  const path = request.routeOptions.url ?? 'unknown'
  observer.log?.(level, 'web.request', {
    message: `${request.method} ${path} answered ${statusCode}`,
    httpRequestId: request.id,
    method: request.method,
    route: path,
    status: statusCode,
    tookMs: Math.round(elapsedTime),
    address: request.ip,
    // Before the caller is known there is none, whatever the type says.
    who: (request.caller as { name: string } | undefined)?.name ?? null,
  })
}
