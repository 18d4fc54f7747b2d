/**
 * One POST to a receiver. Owns the HTTP of notices: time limit, TLS, no redirects, no proxy, and what an answer means: its
 * status alone. What it says of a failure never holds the URL (that of a chat room is a secret) nor the request.
 */
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { Readable } from 'node:stream'
import axios, { isAxiosError, type AxiosAdapter } from 'axios'
import { deadline, type Clock } from '../domain/clock.ts'
import type { Wire } from '../domain/wire.ts'
import { watchedTransport } from '../system/connections.ts'
import type { Ended } from './delivery.ts'
import { certificateRefusal, tlsOptions, type TlsSettings } from './tls.ts'
import { span } from '../domain/text/span.ts'

export interface Target extends TlsSettings {
  url: string
  limitMs: number
}

/**
 * What is let through of an answer's body, unread, so that its connection can be used again. More is cut off: one that goes on for
 * ever would hold a connection for as long.
 */
const bodyLetThrough = 65_536

/** A connection that is still open saves its hand shake: that of TLS takes two round trips. */
const idleConnections = 2

/** Answers that are about this very notice. Anything else may be over tomorrow: a proxy, a login, a receiver being moved. */
const refusals = new Set([400, 411, 413, 414, 415, 422])

export interface Post {
  (body: string, headers: Record<string, string>, signal: AbortSignal): Promise<Ended>
}

export interface PostParts {
  clock: Clock
  /** Instead of a socket. */
  wire?: Wire | undefined
  /** Asked as the bytes leave: connecting takes its time. False: the connection is cut. Default: they may. */
  mayLeave?: (() => boolean) | undefined
}

/** Throws CONFIG_INVALID when a file of certificates or keys cannot be used. */
export function poster(target: Target, { clock, wire, mayLeave = () => true }: PostParts): Post {
  const { url, limitMs } = target
  const httpAgent = new HttpAgent({ keepAlive: true, maxFreeSockets: idleConnections })
  const httpsAgent = url.startsWith('https:') ? secureAgent(target) : undefined
  return async (body, headers, signal) => {
    const limit = deadline(clock, limitMs, signal)
    const leave = { refused: false }
    const transport = watchedTransport((socket) => {
      leave.refused = !mayLeave()
      if (leave.refused) socket.destroy()
    })
    try {
      const { status, data } = await axios.post<unknown>(url, body, {
        headers: { 'content-type': 'application/json', 'user-agent': 'lifeboat', ...headers },
        ...(wire === undefined
          ? { transport, httpAgent, ...(httpsAgent && { httpsAgent }) }
          : { adapter: wire as AxiosAdapter }),
        signal: limit.signal,
        // A redirect or a proxy would carry the notice, and its signature, elsewhere.
        maxRedirects: 0,
        proxy: false,
        // The status says it all: whatever follows it, and in whatever form, changes nothing.
        responseType: 'stream',
        decompress: false,
        transformRequest: (data: unknown) => data,
        transformResponse: (data: unknown) => data,
        validateStatus: () => true,
      })
      if (data instanceof Readable) throwAway(data, limit.release)
      else limit.release()
      return ended(status, headers['authorization'] !== undefined)
    } catch (thrown) {
      limit.release()
      if (leave.refused) return { ok: false, problem: 'this daemon may not act any more', final: false }
      return { ok: false, problem: whyNot(thrown, limit.expired(), limitMs), final: false }
    }
  }
}

/** Beside everything else: the try is over. The time limit goes on, and cuts off a body that neither ends nor grows. */
function throwAway(body: Readable, over: () => void): void {
  let bytes = 0
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bodyLetThrough) body.destroy()
  })
  // One that breaks off has said its status all the same.
  body.on('error', () => undefined)
  body.once('close', over)
}

function ended(status: number, loggedIn: boolean): Ended {
  if (status >= 200 && status < 300) return { ok: true, result: `HTTP ${status}` }
  return { ok: false, problem: `HTTP ${status}${hint(status, loggedIn)}`, final: refusals.has(status) }
}

function hint(status: number, loggedIn: boolean): string {
  if (status >= 300 && status < 400) return ': a redirect is not followed, give the address that it points to'
  if (status === 401) return loggedIn ? ': it refuses the login, check it' : ': it asks for a login'
  return status === 403 && loggedIn ? ': the login may not send there' : ''
}

/** Never the library's own message: it may name the address. */
function whyNot(thrown: unknown, late: boolean, limitMs: number): string {
  if (late) return `no answer within ${span(limitMs)}`
  const code = isAxiosError(thrown) ? thrown.code : (thrown as { code?: unknown }).code
  if (typeof code !== 'string') return 'it could not be reached'
  return `${certificateRefusal(code) ?? 'it could not be reached'} (${code})`
}

function secureAgent(target: Target): HttpsAgent {
  return new HttpsAgent({ keepAlive: true, maxFreeSockets: idleConnections, ...tlsOptions(target) })
}
