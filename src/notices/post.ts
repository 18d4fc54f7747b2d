/**
 * One POST to a receiver. Owns the HTTP of notices: time limit, TLS, no redirects, no proxy, and what an answer means. What
 * it says of a failure never holds the URL (that of a chat room is a secret) nor the request.
 */
import { readFileSync } from 'node:fs'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import axios, { isAxiosError, type AxiosAdapter } from 'axios'
import { deadline, type Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Wire } from '../domain/wire.ts'
import type { Ended } from './delivery.ts'

export interface Target {
  url: string
  /** Path of a PEM bundle; null: the system's certificates. */
  caFile: string | null
  verify: boolean
  limitMs: number
}

/** Nobody reads the answer; one that goes on for ever must not fill the memory. */
const largestAnswer = 1_000_000

/** A connection that is still open saves its hand shake: that of TLS takes two round trips. */
const idleConnections = 2

/** Answers that are about this very notice. Anything else may be over tomorrow: a proxy, a login, a receiver being moved. */
const refusals = new Set([400, 411, 413, 414, 415, 422])

export interface Post {
  (body: string, headers: Record<string, string>, signal: AbortSignal): Promise<Ended>
}

/** Throws CONFIG_INVALID when the CA file cannot be read. */
export function poster(target: Target, { clock, wire }: { clock: Clock; wire?: Wire | undefined }): Post {
  const { url, limitMs } = target
  const httpAgent = new HttpAgent({ keepAlive: true, maxFreeSockets: idleConnections })
  const httpsAgent = url.startsWith('https:') ? secureAgent(target) : undefined
  return async (body, headers, signal) => {
    const limit = deadline(clock, limitMs, signal)
    try {
      const { status } = await axios.post<unknown>(url, body, {
        headers: { 'content-type': 'application/json', 'user-agent': 'lifeboat', ...headers },
        ...(wire === undefined ? { httpAgent, ...(httpsAgent && { httpsAgent }) } : { adapter: wire as AxiosAdapter }),
        signal: limit.signal,
        // A redirect or a proxy would carry the notice, and its signature, elsewhere.
        maxRedirects: 0,
        proxy: false,
        maxContentLength: largestAnswer,
        responseType: 'text',
        transformRequest: (data: unknown) => data,
        transformResponse: (data: unknown) => data,
        validateStatus: () => true,
      })
      return ended(status)
    } catch (thrown) {
      return { ok: false, problem: whyNot(thrown, limit.expired(), limitMs), final: false }
    } finally {
      limit.release()
    }
  }
}

function ended(status: number): Ended {
  if (status >= 200 && status < 300) return { ok: true, result: `HTTP ${status}` }
  const redirect = status >= 300 && status < 400
  const hint = redirect ? ': a redirect is not followed, give the address that it points to' : ''
  return { ok: false, problem: `HTTP ${status}${hint}`, final: refusals.has(status) }
}

/** Never the library's own message: it may name the address. */
function whyNot(thrown: unknown, late: boolean, limitMs: number): string {
  if (late) return `no answer within ${limitMs} ms`
  const code = isAxiosError(thrown) ? thrown.code : (thrown as { code?: unknown }).code
  return typeof code === 'string' ? `it could not be reached (${code})` : 'it could not be reached'
}

function secureAgent({ caFile, verify }: Target): HttpsAgent {
  return new HttpsAgent({
    keepAlive: true,
    maxFreeSockets: idleConnections,
    rejectUnauthorized: verify,
    ...(caFile !== null && { ca: readCa(caFile) }),
  })
}

function readCa(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new LifeboatError('CONFIG_INVALID', `The CA file of a notice receiver, ${path}, cannot be read`, { cause })
  }
}
