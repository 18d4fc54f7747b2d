/**
 * HTTP to OpenStack: one request in, one answer or one LifeboatError out.
 *
 * Owns sockets, TLS, deadlines, the size limit and the repetition of calls that change nothing. Knows no tokens' meaning
 * and no JSON. A call that changes something is sent at most once from here (docs/nova.md fact 11).
 */
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import axios from 'axios'
import type { AxiosAdapter, AxiosInstance } from 'axios'
import { sleep } from '../domain/clock.ts'
import type { Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import { openExit, type Exit } from '../domain/tenure.ts'
import { span } from '../domain/text/span.ts'
import type { Wire } from '../domain/wire.ts'
import { ResettableAgent, resetConnection, watchedTransport, type RequestTransport } from '../system/connections.ts'
import { readNamedFile } from '../system/regular-file.ts'
import type { TlsChoice } from './cloud-config.ts'
import type { Guard, HttpAnswer, HttpAsk } from './http-exchange.ts'
import { brokenConnection } from './broken-connection.ts'

export interface TransportOptions {
  clock: Clock
  observer: Observer
  tls: TlsChoice
  userAgent: string
  /** Larger answers are refused; too small and a listing of a large host cannot be read, too large and memory goes. */
  largestAnswerBytes: number
  /** For a cloud in this process. Default: sockets. */
  wire?: Wire | undefined
  /** 0 to 1, for the jitter of pauses. Default: Math.random. */
  random?: (() => number) | undefined
  /** What every write asks in the tick in which its bytes leave. Default: nothing. */
  exit?: Exit | undefined
}

/** Enough for a big recovery's read-backs without drowning a small API server. */
const readSockets = 32
/** Pauses before the second and third try of a read; longer and a poll would miss its own interval. */
const pausesMs = [200, 800]
/** Worth asking again: the first two mean "not now", the others come from a proxy that lost its backend. */
const passing = new Set([429, 502, 503, 504])

export class Transport {
  readonly #options: TransportOptions
  readonly #client: AxiosInstance
  readonly #agents: Record<'read' | 'write', { http: http.Agent; https: https.Agent }>

  constructor(options: TransportOptions) {
    this.#options = options
    const tls = tlsOptions(options.tls)
    const pool = { keepAlive: true, maxSockets: readSockets, maxFreeSockets: 8 }
    // A write takes a fresh connection: on a kept one, a server that just closed it for idleness looks exactly like a
    // server that died while it acted, and every such race would have to be reconciled by reading back.
    const fresh = { keepAlive: false }
    this.#agents = {
      read: { http: new http.Agent(pool), https: new https.Agent({ ...pool, ...tls }) },
      write: { http: new http.Agent(fresh), https: new ResettableAgent({ ...fresh, ...tls }) },
    }
    this.#client = axios.create({
      adapter: (options.wire as AxiosAdapter | undefined) ?? 'http',
      proxy: false,
      maxRedirects: 0,
      validateStatus: () => true,
      responseType: 'text',
      transformRequest: [(data: unknown) => data],
      transformResponse: [(data: unknown) => data],
      maxContentLength: options.largestAnswerBytes,
    })
  }

  /** Sends; reads are repeated on passing trouble within the guard. @throws LifeboatError for anything but an answer */
  async send(ask: HttpAsk): Promise<HttpAnswer> {
    // One for all tries: to anyone who reads the services' logs they are one request.
    const globalRequestId = ask.globalRequestId ?? `req-${randomUUID()}`
    for (let tries = 0; ; tries += 1) {
      const pauseMs = ask.call.write ? undefined : pausesMs[tries]
      const outcome = await this.#attempt(ask, globalRequestId)
      if (pauseMs === undefined || isOver(ask.guard)) return unwrapped(outcome)
      if (outcome instanceof LifeboatError) {
        if (outcome.code !== 'API_UNAVAILABLE' && outcome.code !== 'CONNECTION_LOST') throw outcome
      } else if (!passing.has(outcome.status)) {
        return outcome
      }
      const asked = outcome instanceof LifeboatError ? null : outcome.retryAfterMs
      // The answer of a service that asks for a longer pause is passed on: the caller knows better what can wait.
      if (asked !== null && asked > longestPauseMs) return unwrapped(outcome)
      await sleep(
        this.#options.clock,
        Math.max(asked ?? 0, pauseMs * (0.75 + (this.#options.random ?? Math.random)() / 2)),
        ask.guard.signal,
      )
      if (isOver(ask.guard)) return unwrapped(cancelledOr(outcome, ask))
    }
  }

  /** Closes idle connections; calls under way still end. (An agent's own destroy would cut those off too.) */
  close(): void {
    for (const { http, https } of Object.values(this.#agents)) {
      for (const agent of [http, https]) {
        for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy()
      }
    }
  }

  async #attempt(ask: HttpAsk, globalRequestId: string): Promise<HttpAnswer | LifeboatError> {
    const { clock } = this.#options
    const { call } = ask
    const started = clock.now()
    const agents = this.#agents[call.write ? 'write' : 'read']
    const mayLeave = (): void => {
      const connectingMs = clock.now() - started
      if (ask.mayLeave !== undefined && connectingMs > connectsWithinMs) throw tooSlow(ask, connectingMs)
      ask.mayLeave?.(connectingMs)
    }
    const wire = watchedWire(call.write ? (this.#options.exit ?? openExit) : openExit, mayLeave, ask.guard.signal)
    // Before the library's own: it would end the connection in order, and the kernel would go on to deliver what was given up.
    if (call.write) ask.guard.signal.addEventListener('abort', wire.cut, { once: true })
    let outcome: HttpAnswer | LifeboatError
    try {
      const response = await this.#client.request<string>({
        url: ask.url,
        method: call.method,
        headers: {
          Accept: 'application/json',
          'User-Agent': this.#options.userAgent,
          'X-OpenStack-Request-ID': globalRequestId,
          ...(ask.body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...ask.headers,
        },
        ...(ask.body === undefined ? {} : { data: JSON.stringify(ask.body) }),
        signal: ask.guard.signal,
        httpAgent: agents.http,
        httpsAgent: agents.https,
        transport: wire.transport,
      })
      outcome = answerOf(response.status, response.headers, response.data, clock.now() - started)
    } catch (thrown) {
      outcome =
        wire.refusal() ??
        brokenConnection(thrown, {
          call,
          sent: this.#options.wire !== undefined || wire.sent(),
          guard: ask.guard,
          target: originOf(ask.url),
        })
    } finally {
      ask.guard.signal.removeEventListener('abort', wire.cut)
      wire.over()
    }
    this.#options.observer.request?.({
      service: call.service,
      method: call.method,
      route: call.route,
      result: outcome instanceof LifeboatError ? outcome.code : String(outcome.status),
      tookMs: clock.now() - started,
      requestId: outcome instanceof LifeboatError ? null : outcome.requestId,
      globalRequestId,
    })
    return outcome
  }
}

/**
 * How long the connection of a write may take. Longer: it goes out on what was true so long ago. Shorter: a slow resolver, or a proxy that is short of
 * CPU, makes Nova count as away.
 */
const connectsWithinMs = 10_000

function tooSlow({ call, url }: HttpAsk, connectingMs: number): LifeboatError {
  const message = `${call.method} ${call.route} at ${originOf(url)}: not sent, for the connection took ${span(connectingMs)}`
  return new LifeboatError('API_UNAVAILABLE', message, { retry: 'backoff', details: { service: call.service } })
}

/** The longest Retry-After that is waited out here. */
const longestPauseMs = 5_000

function isOver(guard: Guard): boolean {
  return guard.signal.aborted
}

/** A read given up during a pause: a person's cancel is told as such, a time limit as what the service last said. */
function cancelledOr(outcome: HttpAnswer | LifeboatError, ask: HttpAsk): HttpAnswer | LifeboatError {
  if (ask.guard.expired()) return outcome
  return brokenConnection(outcome, { call: ask.call, sent: true, guard: ask.guard, target: originOf(ask.url) })
}

function unwrapped(outcome: HttpAnswer | LifeboatError): HttpAnswer {
  if (outcome instanceof LifeboatError) throw outcome
  return outcome
}

/** One request on its way. */
interface WatchedWire {
  transport: RequestTransport
  sent: () => boolean
  /** Why it was not sent, once its connection stood. */
  refusal: () => LifeboatError | null
  /** Resets its connection if it was sent. */
  cut: () => void
  over: () => void
}

/**
 * Node's own request, watched: only once the connection stands can anything have reached the service. In that tick the exit and `mayLeave` are
 * asked, for the process may have been stopped while it was made. Once the exit lapses an unanswered connection is reset, so that the kernel
 * delivers nothing after a partition heals.
 */
function watchedWire(exit: Exit, mayLeave: () => void, givenUp: AbortSignal): WatchedWire {
  let sent = false
  let refusal: LifeboatError | null = null
  let cut = (): void => undefined
  let over = (): void => undefined
  const leave = (socket: Socket): void => {
    if (!exit.held()) {
      socket.destroy(new Error('not sent: this daemon may not act any more'))
      return
    }
    try {
      mayLeave()
    } catch (thrown) {
      refusal = ensureError(thrown)
      socket.destroy()
      return
    }
    sent = true
    cut = () => resetConnection(socket)
    over = exit.onLapse(cut)
  }
  return {
    transport: watchedTransport(leave, givenUp),
    sent: () => sent,
    refusal: () => refusal,
    cut: () => cut(),
    over: () => over(),
  }
}

function answerOf(status: number, headers: Record<string, unknown>, text: unknown, tookMs: number): HttpAnswer {
  const header = (name: string): string | null => {
    const value = headers[name]
    return typeof value === 'string' && value !== '' ? value : null
  }
  const date = Date.parse(header('date') ?? '')
  const serverTimeMs = Number.isNaN(date) ? null : date
  return {
    status,
    text: typeof text === 'string' ? text : '',
    requestId: header('x-openstack-request-id') ?? header('x-compute-request-id'),
    serverTimeMs,
    retryAfterMs: retryAfter(header('retry-after'), serverTimeMs),
    subjectToken: header('x-subject-token'),
    tookMs,
  }
}

/** Seconds, or a date: that one is measured against the service's own clock, never against ours. */
function retryAfter(value: string | null, serverTimeMs: number | null): number | null {
  if (value === null) return null
  if (/^\d{1,6}$/.test(value.trim())) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) || serverTimeMs === null ? null : Math.max(0, date - serverTimeMs)
}

function tlsOptions(tls: TlsChoice): https.AgentOptions {
  const read = (file: string | null, what: string): Buffer | undefined =>
    file === null ? undefined : readNamedFile(what, file)
  const ca = tls.verify ? read(tls.cacert, 'cacert') : undefined
  const cert = read(tls.cert, 'cert')
  // openstacksdk takes a cert without key for a file that holds both.
  const key = read(tls.key, 'key') ?? cert
  return { rejectUnauthorized: tls.verify, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
}

function originOf(url: string): string {
  return URL.parse(url)?.host ?? 'an address that is no URL'
}
