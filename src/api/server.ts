/** What both listeners share: limits against hostile or broken clients, and one shape for every error. */
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import Fastify, {
  type FastifyHttpsOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { ensureError, LifeboatError, type ErrorCode } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'

/** The longest body where nobody says otherwise: an act is a name and a sentence. Too small: long proofs are refused; too large: memory for nothing. */
export const bodyLimitBytes = 16_384

/** A client that does not finish its request in this time is cut off. Too short: a person on a slow link; too long: sockets pile up. */
const requestTimeoutMs = 10_000

/**
 * A client that takes nothing of what is written to it for so long is cut off; an answer that is being made may take any time.
 * Longer: anyone who collects connections that are never read collects our memory. Shorter: a slow line loses a long report.
 */
const readingLimitMs = 30_000

/**
 * Requests of one connection under way at once. Browsers and proxies send one after another; each that is sent before the
 * answer to the one before waits with all that it holds. Fewer than some program sends, and its connection is cut.
 */
const mostAtOnce = 4

const parserOptions = {
  /** Node takes the shorter of its two limits for the head alone, and the other for the whole: with its own 60 s a body has a minute. */
  headersTimeout: requestTimeoutMs,
  /** Node would refuse a request without the header by itself, and say nothing; the hook below says why. */
  requireHostHeader: false,
}

/** An incident's id holds its host's name, up to 255 characters. Too small: nobody could cancel that incident. */
export const longestId = 300

export interface ErrorBody {
  /** `certainty`: an order that failed may have been carried out all the same. Missing: it was not. */
  error: { code: string; message: string; details: unknown; certainty?: 'unknown' }
}

/** Codes not listed are our own failures: 500. */
const httpStatus: Partial<Record<ErrorCode, number>> = {
  USAGE: 400,
  AUTH_FAILED: 401,
  AUTH_FORBIDDEN: 403,
  API_THROTTLED: 429,
  NOT_FOUND: 404,
  INSTANCE_GONE: 404,
  INCIDENT_OPEN: 409,
  CONFLICT: 409,
  NOTHING_TO_TRY: 409,
  HOST_ALIVE: 409,
  BRAKE_HELD: 409,
  MONITOR_FROZEN: 409,
  PAUSED: 409,
  OBSERVING: 409,
  NOT_ACTIVE: 409,
  FENCING_MISSING: 409,
  PROOF_INVALID: 422,
  CONFIG_INVALID: 422,
  WORKFLOW_INVALID: 422,
  API_UNAVAILABLE: 503,
  JOURNAL_UNAVAILABLE: 503,
  SHUTDOWN: 503,
}

/** What a listener adds to the limits that all share. */
export type ServerExtras = Pick<FastifyHttpsOptions<Server>, 'trustProxy' | 'genReqId' | 'bodyLimit'> & {
  https?: FastifyHttpsOptions<Server>['https']
  http?: { connectionsCheckingInterval: number }
  /** Told of our own failures, with what caused them: the caller hears one sentence. */
  observer?: Observer | undefined
  /** Resolves once what a request has put on record, or found there, is durable: no write is answered before that. Default: at once. */
  recorded?: (() => Promise<void>) | undefined
  /** Asked first about what no route answers; null: it is not there. */
  fallback?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null
}

export function createServer({
  https,
  http,
  observer,
  fallback,
  recorded,
  ...extras
}: ServerExtras = {}): FastifyInstance {
  const server = Fastify({
    bodyLimit: bodyLimitBytes,
    ...extras,
    // The type follows the transport; nothing that is done with it does.
    ...((https === undefined
      ? { http: { ...http, ...parserOptions } }
      : { https: { ...https, ...http, ...parserOptions } }) as object),
    logger: false,
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    clientErrorHandler: refuseUnread,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: true,
    // Fastify's own answer has another shape; the hook below gives ours.
    return503OnClosing: false,
    routerOptions: { maxParamLength: longestId },
    // Refusals before any route is found; they do not pass the error handler below.
    frameworkErrors: ({ code }, _request, reply) => {
      const { status, message } = unrouted[code] ?? { status: 400, message: 'its address cannot be read' }
      // Its type follows the route's, and there is no route.
      void (reply as unknown as FastifyReply).code(status).send(errorBody('USAGE', invalid(message)))
    },
  })
  // Fastify takes text as a body by itself; ours are JSON, and anything else is 415.
  server.removeContentTypeParser('text/plain')
  takeEmptyDeletes(server)
  server.server.on('checkExpectation', refuseExpectation)
  server.server.setTimeout(readingLimitMs, cutWhoReadsNothing)
  server.server.prependListener('request', cutWhoAsksWithoutReading)
  let closing = false
  server.addHook('preClose', (done) => {
    closing = true
    done()
  })
  server.addHook('onRequest', ({ headers, raw }, _reply, done) => {
    if (closing) done(new LifeboatError('SHUTDOWN', 'Lifeboat is stopping: ask again when it runs'))
    else if (headers.host === undefined && raw.httpVersion === '1.1')
      done(new LifeboatError('USAGE', invalid('the header Host is missing')))
    else done()
  })
  if (recorded !== undefined) answerOnceRecorded(server, recorded)
  server.setNotFoundHandler((request, reply) => {
    const instead = fallback?.(request, reply) ?? null
    if (instead !== null) return instead
    const message = `There is no ${request.method} ${request.url.split('?')[0]?.slice(0, 200) ?? ''}`
    return reply.code(404).send(errorBody('NOT_FOUND', message))
  })
  server.setErrorHandler((thrown, request, reply) => {
    // An answer that was begun and never sent may have said what it is: a refusal is neither a file nor compressed.
    for (const header of ['content-type', 'content-disposition', 'content-encoding']) void reply.removeHeader(header)
    const framework = frameworkRefusal(thrown)
    if (framework !== null) return reply.code(framework.status).send(errorBody('USAGE', framework.message))
    const error = ensureError(thrown)
    if (error.code === 'AUTH_FAILED') void reply.header('www-authenticate', 'Bearer realm="lifeboat"')
    const status = httpStatus[error.code] ?? 500
    if (status === 500) {
      const { method, routeOptions, id } = request
      const message = `${method} ${routeOptions.url ?? 'unknown'} failed: ${error.message}`
      observer?.log?.('error', 'http.failed', { message, httpRequestId: id }, error)
    }
    const body = errorBody(error.code, error.message, error.details)
    if (error.certainty === 'unknown' && !isRead(request.method)) body.error.certainty = 'unknown'
    return reply.code(status).send(body)
  })
  return server
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A write that puts nothing on record, and whose answer rests on nothing there: it does not wait for the journal. */
    recordsNothing?: true
  }
}

/**
 * A write is answered once all that its answer may rest on is durable. A refusal may rest on entries too: a report is refused as repeated
 * because of the one before it, and a client that takes the refusal for final does not send again what may still be lost.
 */
function answerOnceRecorded(server: FastifyInstance, recorded: () => Promise<void>): void {
  server.addHook('onSend', async ({ method, routeOptions }, reply, payload) => {
    if (!isRead(method) && reply.statusCode < 400 && routeOptions.config.recordsNothing !== true) await recorded()
    return payload
  })
  // Not when the refusal is sent: an error there would pass the route's own error handler, which gives it the shape that clients know.
  server.addHook('onRoute', (route) => {
    if ([route.method].flat().every(isRead) || route.config?.recordsNothing === true) return
    const { handler } = route
    route.handler = async function (request, reply) {
      try {
        return await handler.call(this, request, reply)
      } catch (thrown) {
        await recorded()
        throw thrown
      }
    }
  })
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/**
 * Routes with schemas bring their own compilers (rest-server.ts). Fastify's own, which it would load here even so, are three
 * copies of a compiler of JSON schemas: a tenth of a start, and some megabytes.
 */
function noCompiler(): never {
  throw new LifeboatError('INVARIANT', 'a route has a schema, and nothing that checks it')
}

type Refusals = Partial<Record<string, { status: number; message: string }>>

/** What is wrong with an address for which no route was looked up, by fastify's code for it. */
const unrouted: Refusals = {
  FST_ERR_BAD_URL: { status: 400, message: 'its address is not encoded as addresses are (%)' },
  FST_ERR_MAX_PARAM_LENGTH: { status: 414, message: `a name in its address is longer than ${longestId} characters` },
}

/** What is wrong with a request that could not be read to its end, by node's code for it. */
const unread: Refusals = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: `it did not come to its end within ${requestTimeoutMs / 1000} s` },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'the extensions of its chunks are too long' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'its headers are too long' },
}

/** Node would answer without a word, and not tell that it did. What was to follow is not waited for. */
function refuseExpectation(_request: IncomingMessage, answer: ServerResponse): void {
  const body = JSON.stringify(errorBody('USAGE', invalid('the header Expect may only ask for 100-continue')))
  answer.writeHead(417, {
    connection: 'close',
    'content-type': jsonType,
    'content-length': Buffer.byteLength(body),
  })
  answer.end(body)
}

interface AnsweringSocket extends Socket {
  _httpMessage?: ServerResponse | null
}

/** Also asked about connections that wait for their next request: there is nothing to wait for any longer. */
function cutWhoReadsNothing(socket: AnsweringSocket): void {
  const answering = socket._httpMessage !== null && socket._httpMessage !== undefined
  if (!answering || socket.writableLength > 0) socket.destroy()
}

const underWay = new WeakMap<Socket, number>()

function cutWhoAsksWithoutReading({ socket }: IncomingMessage, answer: ServerResponse): void {
  const now = (underWay.get(socket) ?? 0) + 1
  underWay.set(socket, now)
  answer.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1))
  if (now > mostAtOnce) socket.destroy()
}

/** The same shape where no route is ever reached. What the client sent is not repeated: a token may be in it. */
function refuseUnread(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  // Within an answer that has begun, a second head would be taken for a part of it.
  const { _httpMessage: begun } = socket as AnsweringSocket
  if (socket.writable && begun?.headersSent !== true) {
    const code = error.code ?? ''
    const { status, message } = unread[code] ?? { status: 400, message: `it cannot be read as HTTP/1.1 (${code})` }
    const body = JSON.stringify(errorBody('USAGE', invalid(message)))
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'Connection: close',
      `Content-Type: ${jsonType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
  socket.destroy(error)
}

/** A DELETE may name the type of a body that it does not have: some clients set it for all requests. */
function takeEmptyDeletes(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error')
  server.removeContentTypeParser('application/json')
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) =>
    body === '' && request.method === 'DELETE' ? done(null) : parse(request, body as string, done),
  )
}

const jsonType = 'application/json; charset=utf-8'

function invalid(why: string): string {
  return `The request is not valid: ${why}`
}

export function errorBody(code: string, message: string, details: unknown = {}): ErrorBody {
  return { error: { code, message, details } }
}

/** What fastify itself refuses (bad JSON, too large, wrong media type) is the client's fault and says so. */
function frameworkRefusal(thrown: unknown): { status: number; message: string } | null {
  if (thrown instanceof LifeboatError || !(thrown instanceof Error) || !('statusCode' in thrown)) return null
  const status = Number(thrown.statusCode)
  return status >= 400 && status < 500 ? { status, message: thrown.message } : null
}
