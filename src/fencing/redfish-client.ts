/**
 * A small Redfish client: read one system's power, and force it off. It knows no other action, so it can never turn a
 * host on. Owns the HTTP of BMCs; decides nothing. Errors carry no request, for a request carries the password.
 */
import type { Socket } from 'node:net'
import axios, { isAxiosError, type AxiosAdapter } from 'axios'
import { deadline, type Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import type { Wire } from '../domain/wire.ts'
import { ResettableAgent, resetConnection, watchedTransport, type RequestTransport } from '../system/connections.ts'
import { readNamedFile } from '../system/regular-file.ts'
import { span } from '../domain/text/span.ts'

export interface RedfishSystem {
  /** The system's own URL, e.g. https://bmc/redfish/v1/Systems/1 */
  url: string
  username: string
  password: string
  /** Path of a PEM bundle. */
  caFile?: string
  /** False accepts any certificate: most BMCs ship with a self-signed one. */
  verifyTls?: boolean
}

export interface RedfishOptions {
  clock: Clock
  observer: Observer
  /** Per request. Too short: slow BMCs (some take ten seconds) look unreachable. */
  requestLimitMs: number
  /** For BMCs in this process. Default: sockets. */
  wire?: Wire | undefined
}

export interface SystemReading {
  powerState: string
  resetUrl: string
}

/** A BMC's answer is small; more is not a BMC. */
const largestAnswer = 1_000_000

export class RedfishClient {
  readonly #system: RedfishSystem
  readonly #options: RedfishOptions
  readonly #agent: ResettableAgent | undefined

  /** Throws CONFIG_INVALID when the CA file cannot be read. */
  constructor(system: RedfishSystem, options: RedfishOptions) {
    this.#system = { ...system, url: system.url.replace(/\/+$/, '') }
    this.#options = options
    if (system.url.startsWith('https:')) {
      const ca = system.caFile === undefined ? {} : { ca: readNamedFile('The CA file of the BMC', system.caFile) }
      this.#agent = new ResettableAgent({ rejectUnauthorized: system.verifyTls ?? true, ...ca })
    }
  }

  /** Throws API_UNAVAILABLE, AUTH_FAILED, API_REFUSED, API_TIMEOUT, API_MALFORMED. */
  async read(signal?: AbortSignal): Promise<SystemReading> {
    const { status, body } = await this.#send('GET', this.#system.url, undefined, signal)
    if (status === 401 || status === 403) {
      throw new LifeboatError('AUTH_FAILED', `The BMC refused the credentials (${status})`)
    }
    if (status >= 500) throw new LifeboatError('API_UNAVAILABLE', `The BMC answered ${status}`, { retry: 'backoff' })
    if (status !== 200) throw new LifeboatError('API_REFUSED', `The BMC answered ${status}`)
    const powerState = field(body, 'PowerState')
    if (typeof powerState !== 'string') {
      throw new LifeboatError('API_MALFORMED', 'The BMC gave no PowerState; is the URL that of a system?')
    }
    return { powerState, resetUrl: this.#resetUrl(body) }
  }

  /**
   * Asks for ForceOff and gives the HTTP status. Any 2xx means accepted, not done. `mayLeave` is asked in the tick in which its bytes leave.
   * Throws as `read` does, and what `mayLeave` throws.
   */
  async forceOff(resetUrl: string, signal?: AbortSignal, mayLeave?: () => void): Promise<number> {
    const { status } = await this.#send('POST', resetUrl, { ResetType: 'ForceOff' }, signal, mayLeave)
    return status
  }

  /** The BMC names the address of its action; one on another origin would get our password, so it is refused. */
  #resetUrl(body: unknown): string {
    const usual = `${this.#system.url}/Actions/ComputerSystem.Reset`
    const target = field(field(field(body, 'Actions'), '#ComputerSystem.Reset'), 'target')
    if (typeof target !== 'string') return usual
    const url = URL.canParse(target, this.#system.url) ? new URL(target, this.#system.url) : null
    if (url?.origin !== new URL(this.#system.url).origin) {
      throw new LifeboatError('API_MALFORMED', 'The BMC names a reset action at another address')
    }
    return url.href
  }

  async #send(
    method: 'GET' | 'POST',
    url: string,
    data: unknown,
    parent?: AbortSignal,
    mayLeave: () => void = () => undefined,
  ): Promise<{ status: number; body: unknown }> {
    const { clock, observer, requestLimitMs, wire } = this.#options
    const limit = deadline(clock, requestLimitMs, parent)
    const { refusal, ...cutting } = cutOffBy(limit.signal, mayLeave)
    const startedAt = clock.now()
    let result = 'failed'
    try {
      const answer = await axios.request<unknown>({
        method,
        url,
        ...(data === undefined ? {} : { data }),
        auth: { username: this.#system.username, password: this.#system.password },
        headers: { accept: 'application/json' },
        ...(this.#agent ? { httpsAgent: this.#agent } : {}),
        ...(wire ? { adapter: wire as AxiosAdapter } : {}),
        ...cutting,
        // A redirect or a proxy would carry the password elsewhere.
        maxRedirects: 0,
        proxy: false,
        maxContentLength: largestAnswer,
        validateStatus: () => true,
      })
      result = String(answer.status)
      return { status: answer.status, body: answer.data }
    } catch (thrown) {
      const error = refusal() ?? connectionError(thrown, method, limit.expired(), requestLimitMs)
      result = error.code
      throw error
    } finally {
      limit.release()
      const route =
        method === 'GET' ? '/redfish/v1/Systems/{id}' : '/redfish/v1/Systems/{id}/Actions/ComputerSystem.Reset'
      observer.request?.({ service: 'bmc', method, route, result, tookMs: clock.now() - startedAt, requestId: null })
    }
  }
}

/**
 * What keeps a request from leaving when `mayLeave` throws as its connection stands, and resets that once `signal` aborts. First: the library ends a
 * connection in order, and the BMC would get the request after a partition heals.
 */
function cutOffBy(
  signal: AbortSignal,
  mayLeave: () => void,
): { transport: RequestTransport; signal: AbortSignal; refusal: () => LifeboatError | null } {
  const cut = new AbortController()
  let refusal: LifeboatError | null = null
  let reset = (): void => undefined
  const leaves = (socket: Socket): void => {
    reset = () => resetConnection(socket)
    try {
      mayLeave()
    } catch (thrown) {
      refusal = ensureError(thrown)
      socket.destroy()
    }
  }
  const end = (): void => {
    reset()
    cut.abort()
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return { transport: watchedTransport(leaves, cut.signal), signal: cut.signal, refusal: () => refusal }
}

/** A clean error in place of axios's own, which holds the request with its password. */
function connectionError(thrown: unknown, method: string, late: boolean, limitMs: number): LifeboatError {
  const certainty = method === 'GET' ? 'not-applied' : 'unknown'
  if (late)
    return new LifeboatError('API_TIMEOUT', `The BMC did not answer within ${span(limitMs)}`, {
      certainty,
      retry: 'backoff',
    })
  const why = isAxiosError(thrown) ? (thrown.code ?? 'no connection') : 'no connection'
  return new LifeboatError('API_UNAVAILABLE', `The BMC could not be reached (${why})`, { certainty, retry: 'backoff' })
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value as unknown
}
