/** What both listeners share: limits against hostile or broken clients, and one shape for every error. */
import type { Server } from 'node:https'
import Fastify, {
  type FastifyHttpsOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { ensureError, LifeboatError, type ErrorCode } from '../domain/errors.ts'

/** The longest body: an act is a name and a sentence. Too small: long proofs are refused; too large: memory for nothing. */
export const bodyLimitBytes = 16_384

/** A client that does not finish its request in this time is cut off. Too short: a person on a slow link; too long: sockets pile up. */
const requestTimeoutMs = 10_000

/** Node takes the shorter of its two limits for the head alone, and the other for the whole: with its own 60 s a body has a minute. */
const headLimit = { headersTimeout: requestTimeoutMs }

/** An incident's id holds its host's name, up to 255 characters. Too small: nobody could cancel that incident. */
export const longestId = 300

export interface ErrorBody {
  error: { code: string; message: string; details: unknown }
}

/** Codes not listed are our own failures: 500. */
const httpStatus: Partial<Record<ErrorCode, number>> = {
  USAGE: 400,
  AUTH_FAILED: 401,
  AUTH_FORBIDDEN: 403,
  API_THROTTLED: 429,
  NOT_FOUND: 404,
  INSTANCE_GONE: 404,
  HOST_ALIVE: 409,
  BRAKE_HELD: 409,
  MONITOR_FROZEN: 409,
  PAUSED: 409,
  OBSERVING: 409,
  FENCING_MISSING: 409,
  PROOF_INVALID: 422,
  CONFIG_INVALID: 422,
  WORKFLOW_INVALID: 422,
  API_UNAVAILABLE: 503,
  JOURNAL_UNAVAILABLE: 503,
  SHUTDOWN: 503,
}

/** What a listener adds to the limits that all share. */
export type ServerExtras = Pick<FastifyHttpsOptions<Server>, 'trustProxy' | 'genReqId'> & {
  https?: FastifyHttpsOptions<Server>['https']
  http?: { connectionsCheckingInterval: number }
  /** Asked first about what no route answers; null: it is not there. */
  fallback?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null
}

export function createServer({ https, http, fallback, ...extras }: ServerExtras = {}): FastifyInstance {
  const server = Fastify({
    ...extras,
    // The type follows the transport; nothing that is done with it does.
    ...((https === undefined
      ? { http: { ...http, ...headLimit } }
      : { https: { ...https, ...http, ...headLimit } }) as object),
    logger: false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: longestId },
    // Refusals before any route is found; they do not pass the error handler below.
    frameworkErrors: (error, _request, reply) => {
      // Its type follows the route's, and there is no route.
      void (reply as unknown as FastifyReply).code(400).send(errorBody('USAGE', error.message))
    },
  })
  server.setNotFoundHandler((request, reply) => {
    const instead = fallback?.(request, reply) ?? null
    if (instead !== null) return instead
    const message = `There is no ${request.method} ${request.url.split('?')[0]?.slice(0, 200) ?? ''}`
    return reply.code(404).send(errorBody('NOT_FOUND', message))
  })
  server.setErrorHandler((thrown, _request, reply) => {
    const framework = frameworkRefusal(thrown)
    if (framework !== null) return reply.code(framework.status).send(errorBody('USAGE', framework.message))
    const error = ensureError(thrown)
    if (error.code === 'AUTH_FAILED') void reply.header('www-authenticate', 'Bearer realm="lifeboat"')
    return reply.code(httpStatus[error.code] ?? 500).send(errorBody(error.code, error.message, error.details))
  })
  return server
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
