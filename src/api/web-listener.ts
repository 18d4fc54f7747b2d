/**
 * The listener for people and their programs on TCP: the REST API behind a login, and the pages. Owns what a hostile client meets
 * first: TLS, limits, headers. Metrics and health are elsewhere (public-listener.ts), without a login.
 */
import { randomUUID, X509Certificate } from 'node:crypto'
import type { Server } from 'node:https'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import type { TokenCheck } from '../domain/token-holder.ts'
import { readNamedFile } from '../system/regular-file.ts'
import { compressAnswers } from './compression.ts'
import { Logins, type LoginRules } from './logins.ts'
import { pageFallback, servePages } from './pages.ts'
import { addRest } from './rest-server.ts'
import type { RestSources } from './rest.ts'
import { sessionRoutes } from './routes/session.ts'
import { createServer } from './server.ts'

export interface WebRules extends LoginRules {
  /** Requests from one address in a minute. */
  requestsAMinute: number
}

export interface WebOptions {
  host: string
  port: number
  /** Paths, or null: plain HTTP. */
  tls: { certificate: string; key: string } | null
  /** Addresses of proxies whose word on the caller's address and scheme counts. */
  trustedProxies: string[]
  /** What holds now: asked for each request. */
  rules: () => WebRules
  /** The built pages; they may be missing. */
  pages: string
}

export interface WebParts extends RestSources {
  people: TokenCheck
  observer: Observer
}

export interface WebListener {
  address: string
  /** Reads certificate and key again; the old ones stay when the new ones cannot be used. */
  reloadTls(): void
  close(): Promise<void>
}

/** How often certificates are looked at. A renewed one is taken up this late at the most. */
const certificateLookMs = 60_000

/** Connections at once. More would be someone who collects them: each costs memory and a file. */
const mostConnections = 1_000

/**
 * A client that does not finish its TLS handshake in this time is cut off. Longer (node's own is two minutes), and a thousand
 * silent connections shut everybody out for as long; shorter, and a slow line never gets in.
 */
const handshakeLimitMs = 10_000

/** Between two looks for connections that are too slow with their request. */
const slowLookMs = 2_000

/** Listens; port 0 takes a free one. Throws API_UNAVAILABLE when the address is taken, CONFIG_INVALID for a bad certificate. */
export async function listenForPeople(parts: WebParts, options: WebOptions): Promise<WebListener> {
  const server = await webServer(parts, options)
  try {
    const address = await server.listen({ host: options.host, port: options.port })
    server.server.maxConnections = mostConnections
    const reloadTls = reloader(server, parts, options)
    const stopLooking = watchCertificates(parts.clock, options, reloadTls)
    return {
      address,
      reloadTls,
      close: async () => {
        stopLooking()
        await server.close()
      },
    }
  } catch (thrown) {
    await server.close()
    const where = `${options.host}:${options.port}`
    const message = `Cannot listen on ${where} (another program has it, or the address is not ours; see web.listen)`
    throw new LifeboatError('API_UNAVAILABLE', message, { cause: thrown })
  }
}

/** The server, not yet listening. Throws CONFIG_INVALID when certificate or key cannot be read. */
export async function webServer(parts: WebParts, options: WebOptions): Promise<FastifyInstance> {
  const { tls, trustedProxies } = options
  const server = createServer({
    ...(tls !== null && { https: { ...readTls(tls), minVersion: 'TLSv1.2', handshakeTimeout: handshakeLimitMs } }),
    http: { connectionsCheckingInterval: slowLookMs },
    ...(trustedProxies.length > 0 && { trustProxy: trustedProxies }),
    observer: parts.observer,
    genReqId: requestIdOf,
    fallback: pageFallback(options.pages),
  })
  const logins = new Logins(parts.people, parts.clock, options.rules)
  await server.register(helmet, headers(tls !== null))
  await server.register(rateLimit, {
    max: () => options.rules().requestsAMinute,
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
    addRest(scope, parts, logins.identify, (own) => sessionRoutes(own, logins))
  })
  await servePages(server, options.pages)
  return server
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

function readTls({ certificate, key }: NonNullable<WebOptions['tls']>): { cert: Buffer; key: Buffer } {
  return {
    cert: readNamedFile('The certificate of the pages (web.tls.certificate)', certificate),
    key: readNamedFile('The key of the pages (web.tls.key)', key),
  }
}

/** No browser takes it, and of a host that it knows (HSTS) it lets nobody pass over that. Throws CONFIG_INVALID. */
function refuseExpired(cert: Buffer, clock: Clock): void {
  const { validTo } = new X509Certificate(cert)
  if (Date.parse(validTo) <= clock.wall())
    throw new LifeboatError('CONFIG_INVALID', `It was valid until ${validTo} (web.tls.certificate)`)
}

function reloader(server: FastifyInstance, { observer, clock }: WebParts, { tls }: WebOptions): () => void {
  return () => {
    if (tls === null) return
    try {
      const read = readTls(tls)
      refuseExpired(read.cert, clock)
      ;(server.server as unknown as Server).setSecureContext({ ...read, minVersion: 'TLSv1.2' })
      observer.log?.('info', 'web.certificate', { message: 'The certificate of the pages was read again' })
    } catch (thrown) {
      const message = 'The new certificate of the pages cannot be used; the old one stays'
      observer.log?.('error', 'web.certificate', { message }, ensureError(thrown))
    }
  }
}

/** Reads them again when either file's content is another; by content, because tools that renew them swap links. */
function watchCertificates(clock: Clock, { tls }: WebOptions, reload: () => void): () => void {
  if (tls === null) return () => undefined
  const look = (): string => {
    try {
      const { cert, key } = readTls(tls)
      return `${cert.toString('base64')} ${key.toString('base64')}`
    } catch {
      // Being replaced at this moment: the next look sees the new one.
      return known
    }
  }
  let known = ''
  known = look()
  let cancel = (): void => undefined
  const wait = (): void => {
    cancel = clock.after(certificateLookMs, () => {
      const now = look()
      if (now !== known) reload()
      known = now
      wait()
    })
  }
  wait()
  return () => cancel()
}
