/**
 * One call to the cloud from beginning to end: token, endpoint, microversion, deadline, a fresh token after a 401.
 *
 * Everything above it (servers.ts, services.ts, …) says which call and reads the answer; everything below it sends.
 */
import type { ZodType } from 'zod'
import { deadline } from '../domain/clock.ts'
import type { Clock } from '../domain/clock.ts'
import type { CallOptions, MayLeave } from '../domain/cloud.ts'
import { LifeboatError, ensureError } from '../domain/errors.ts'
import { openExit, type Exit } from '../domain/tenure.ts'
import { readAnswer } from './answers.ts'
import { calls, pathOf } from './call-table.ts'
import type { ApiCall } from './call-table.ts'
import { endpointOf } from './catalogue.ts'
import type { CloudConfig } from './cloud-config.ts'
import { computeBase, rangeIn, versionAddresses, versionDocument } from './compute-root.ts'
import type { Keystone } from './keystone.ts'
import { checkFloor, forReads, formatMicroversion } from './microversions.ts'
import type { MicroversionRange, Pick } from './microversions.ts'
import { refusal } from './refusals.ts'
import type { Token } from './token.ts'
import type { Guard, HttpAnswer } from './http-exchange.ts'
import type { Transport } from './transport.ts'

export interface Ask {
  call: ApiCall
  ids?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  /** Compute only; reads' version when it is left out. */
  pick?: Pick
  asProject?: string | undefined
  /** Sent along, for the services' logs. Default: one of its own. */
  globalRequestId?: string | undefined
  /** Asked right before each request leaves. */
  mayLeave?: MayLeave | undefined
}

export interface Answered {
  answer: HttpAnswer
  /** The minor number that was sent, 0 where there is none. */
  microversion: number
}

export interface SessionLimits {
  readMs: number
  writeMs: number
}

/** A cloud is upgraded rarely; later than this a new maximum would go unnoticed until a restart. */
const versionsKeptMs = 10 * 60_000

export class Session {
  readonly #config: CloudConfig
  readonly #transport: Transport
  readonly #keystone: Keystone
  readonly #clock: Clock
  readonly #limits: SessionLimits
  readonly #exit: Exit
  readonly #scrub = (text: string): string => this.#keystone.scrub(text)
  #versions: { range: MicroversionRange; untilMs: number } | null = null
  #discovery: Promise<MicroversionRange> | null = null

  constructor(
    config: CloudConfig,
    transport: Transport,
    keystone: Keystone,
    clock: Clock,
    limits: SessionLimits,
    exit: Exit = openExit,
  ) {
    this.#exit = exit
    this.#config = config
    this.#transport = transport
    this.#keystone = keystone
    this.#clock = clock
    this.#limits = limits
  }

  /** Sends one call. @throws LifeboatError for everything but a 2xx */
  async send(ask: Ask, options: CallOptions = {}): Promise<Answered> {
    const one = { ...ask, globalRequestId: options.globalRequestId, mayLeave: options.mayLeave }
    return this.#within(ask.call, options, async (guard) => {
      const first = await this.#once(one, guard, false)
      // 406: the cloud changed under us. Nothing was done, so with a new range the call may go again, once.
      const last =
        first.answer.status === 406 && ask.call.service === 'compute'
          ? await this.#renegotiated(one, guard, first)
          : first
      const { answer, microversion } = last
      if (answer.status >= 200 && answer.status <= 299) return { answer, microversion }
      throw refusal({ call: ask.call, answer, microversion, scrub: this.#scrub })
    })
  }

  /** Sends one call and reads its JSON. */
  async read<T>(ask: Ask, schema: ZodType<T>, options: CallOptions = {}): Promise<Answered & { data: T }> {
    const { answer, microversion } = await this.send(ask, options)
    return { data: readAnswer(ask.call, answer, schema), answer, microversion }
  }

  /** The compute microversions, from memory while they are fresh. */
  async microversions(options: CallOptions = {}): Promise<MicroversionRange> {
    return this.#within(calls.computeVersions, options, (guard) => this.#range(guard, false))
  }

  async token(projectId?: string, options: CallOptions = {}): Promise<Token> {
    return this.#within(calls.login, options, (guard) =>
      this.#waitForShared(calls.login, guard, this.#keystone.token(projectId)),
    )
  }

  async #renegotiated(ask: Ask, guard: Guard, first: Sent): Promise<Sent> {
    await this.#range(guard, true)
    const again = (ask.pick ?? forReads)(await this.#range(guard, false))
    return again === first.microversion ? first : this.#once(ask, guard, false)
  }

  async #once(ask: Ask, guard: Guard, isSecond: boolean): Promise<Sent> {
    const { call } = ask
    const token = await this.#waitForShared(call, guard, this.#keystone.token(ask.asProject))
    const headers: Record<string, string> = { 'X-Auth-Token': token.value }
    let microversion = 0
    if (call.service === 'compute') {
      microversion = (ask.pick ?? forReads)(await this.#range(guard, false))
      headers['OpenStack-API-Version'] = `compute ${formatMicroversion(microversion)}`
    }
    if (call.service === 'placement' || call.service === 'instance-ha')
      headers['OpenStack-API-Version'] = `${call.service} ${call.microversion}`
    if (guard.signal.aborted) throw interrupted(call, guard)
    const query = new URLSearchParams(ask.query ?? {}).toString()
    const url = `${this.#base(call, token)}${pathOf(call, ask.ids)}${query === '' ? '' : `?${query}`}`
    if (call.write) await this.#exit.permit(guard.signal)
    // A token, a first try or the journal may have taken half a minute. The transport asks again once its connection stands.
    ask.mayLeave?.()
    const answer = await this.#transport.send({
      call,
      url,
      headers,
      guard,
      globalRequestId: ask.globalRequestId,
      mayLeave: ask.mayLeave,
      ...(ask.body === undefined ? {} : { body: ask.body }),
    })
    if (answer.status !== 401 || isSecond) return { answer, microversion }
    // A refused token means that nothing was done, so even a write may go again, once, with a fresh one.
    this.#keystone.refused(token)
    return this.#once(ask, guard, true)
  }

  #base(call: ApiCall, token: Token): string {
    const { endpoints, authUrl } = this.#config
    if (call.service === 'identity') return authUrl
    if (call.service === 'instance-ha')
      return masakariBase(
        endpointOf('instance-ha', endpoints['instance-ha'] ?? { ...endpoints.compute, override: null }, token),
      )
    return call.service === 'volume' || call.service === 'placement'
      ? endpointOf(call.service, endpoints[call.service], token)
      : computeBase(endpointOf('compute', endpoints.compute, token))
  }

  /** One discovery for all who wait. It runs under its own limit, so that no caller's cancel can take it from the others. */
  #range(guard: Guard, again: boolean): Promise<MicroversionRange> {
    const known = this.#versions
    if (known !== null && !again && this.#clock.now() < known.untilMs) return Promise.resolve(known.range)
    this.#discovery ??= this.#discover().finally(() => (this.#discovery = null))
    return this.#waitForShared(calls.computeVersions, guard, this.#discovery)
  }

  async #discover(): Promise<MicroversionRange> {
    const guard = deadline(this.#clock, this.#limits.readMs)
    try {
      const range = await this.#ask(guard)
      this.#versions = { range, untilMs: this.#clock.now() + versionsKeptMs }
      return range
    } finally {
      guard.release()
    }
  }

  async #ask(guard: Guard): Promise<MicroversionRange> {
    const call = calls.computeVersions
    const token = await this.#keystone.token()
    let wrong: unknown = null
    for (const url of versionAddresses(endpointOf('compute', this.#config.endpoints.compute, token))) {
      const answer = await this.#transport.send({ call, url, headers: { 'X-Auth-Token': token.value }, guard })
      if (answer.status === 401) this.#keystone.refused(token)
      if (answer.status >= 500) throw refusal({ call, answer, microversion: null, scrub: this.#scrub })
      try {
        const range = answer.status < 400 ? rangeIn(readAnswer(call, answer, versionDocument)) : null
        if (range !== null) return checkFloor(range)
      } catch (thrown) {
        if (ensureError(thrown).code !== 'API_MALFORMED') throw thrown
        wrong = thrown
      }
    }
    throw new LifeboatError('API_MALFORMED', 'the compute endpoint shows no version v2.1 with microversions', {
      cause: wrong,
    })
  }

  /** Waits for shared work, but no longer than the caller does. Nothing of the caller's own was sent by then. */
  async #waitForShared<T>(call: ApiCall, guard: Guard, work: Promise<T>): Promise<T> {
    if (guard.signal.aborted) {
      work.catch(() => undefined)
      throw interrupted(call, guard)
    }
    let stop = (): void => undefined
    const cut = new Promise<never>((_resolve, reject) => {
      stop = () => reject(interrupted(call, guard))
      guard.signal.addEventListener('abort', stop, { once: true })
    })
    try {
      return await Promise.race([work, cut])
    } finally {
      guard.signal.removeEventListener('abort', stop)
    }
  }

  async #within<T>(call: ApiCall, options: CallOptions, work: (guard: Guard) => Promise<T>): Promise<T> {
    const limitMs = call.write ? this.#limits.writeMs : this.#limits.readMs
    const guard = deadline(this.#clock, limitMs, options.signal)
    try {
      return await work(guard)
    } finally {
      guard.release()
    }
  }
}

/** Masakari's endpoint with the version that some catalogues leave out. */
function masakariBase(endpoint: string): string {
  return /\/v1(\/|$)/.test(endpoint) ? endpoint : `${endpoint}/v1`
}

interface Sent {
  answer: HttpAnswer
  microversion: number
}

function interrupted(call: ApiCall, guard: Guard): LifeboatError {
  const what = `${call.method} ${call.route}`
  return guard.expired()
    ? new LifeboatError('API_TIMEOUT', `${what}: not sent within the time limit`, { retry: 'backoff' })
    : new LifeboatError('CANCELLED', `${what}: cancelled before it was sent`)
}
