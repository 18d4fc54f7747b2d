/**
 * The effects of one look: reads the services, and the aggregates when they are due, and asks probes beside it. Gives what was read with
 * when it was asked. Knows no verdicts, never writes to the cloud, and a failing cloud never makes it throw.
 */
import type { Clock } from '../domain/clock.ts'
import type { CallOptions, Cloud } from '../domain/cloud.ts'
import { ensureError, type LifeboatError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import type { HostName, ServicesReading } from '../domain/service.ts'
import type { ProbeReading } from '../domain/verdict.ts'
import type { Aggregates } from './aggregates.ts'
import { probeRound } from './probe-round.ts'
import type { MonitorRules, Reading } from './report.ts'

/** A look that has begun. */
export interface Look {
  /** Our monotonic clock, ms. */
  askedAt: number
  /** Aborted once the caller stops or the rules change: nothing may be concluded from this look then. */
  signal: AbortSignal
  /** Everything is read. From here on the signal stays as it is. */
  end: () => void
}

/** What one look brought. */
export interface Found {
  /** Our monotonic clock, ms. */
  askedAt: number
  /** When Nova and the probes asked beside it had answered. */
  answeredAt: number
  /** Nova's answer, or why there is none. */
  services: ServicesReading | LifeboatError
  /** What the probes said of each host that they were asked about. */
  witnesses: Map<HostName, ProbeReading[]>
}

/** The names of the probes to ask about each host. */
export type ProbesOfHosts = ReadonlyMap<HostName, readonly string[]>

export class Reader {
  readonly #cloud: Pick<Cloud, 'listServices'>
  readonly #aggregates: Aggregates
  readonly #clock: Clock
  readonly #observer: Observer
  readonly #rules: () => MonitorRules
  /** The look under way: cut off when the rules change. */
  #underWay: AbortController | null = null
  #lastRead: Reading | null = null
  #tookMs = 0
  #cloudOffsetMs: number | null = null
  #error: string | null = null

  constructor(parts: {
    cloud: Pick<Cloud, 'listServices'>
    aggregates: Aggregates
    clock: Clock
    observer: Observer
    rules: () => MonitorRules
  }) {
    this.#cloud = parts.cloud
    this.#aggregates = parts.aggregates
    this.#clock = parts.clock
    this.#observer = parts.observer
    this.#rules = parts.rules
  }

  /** The rules changed: cuts off the look under way. */
  cutOff(): void {
    this.#underWay?.abort()
  }

  /** The last reading of the services that was good, of a poll or of a look at one host; null before the first. */
  lastRead(): Reading | null {
    return this.#lastRead
  }

  /**
   * The cloud's own time by the last reading, ms since the epoch; null where no reading told. At most as long behind as that answer took,
   * and a second more, for it tells whole seconds.
   */
  cloudNow(): number | null {
    return this.#cloudOffsetMs === null ? null : this.#clock.now() + this.#cloudOffsetMs
  }

  /** Why the last look that ended read nothing; null: it did, or there was none. */
  error(): string | null {
    return this.#error
  }

  /** Begins a look, which is cut off when `stop` says so or the rules change. */
  begin(stop: AbortSignal | undefined): Look {
    const cut = new AbortController()
    const follow = (): void => cut.abort()
    if (stop?.aborted) follow()
    else stop?.addEventListener('abort', follow, { once: true })
    this.#underWay = cut
    const end = (): void => {
      this.#underWay = null
      stop?.removeEventListener('abort', follow)
    }
    return { askedAt: this.#clock.now(), signal: cut.signal, end }
  }

  /** Reads services and asks probes side by side, so that probing costs no time of its own. */
  async read({ askedAt, signal }: Look, probes: ProbesOfHosts): Promise<Found> {
    const [services, witnesses] = await Promise.all([
      this.#readServices({ signal }).catch((thrown: unknown) => ensureError(thrown)),
      this.ask({ signal }, probes),
    ])
    return { askedAt, answeredAt: this.#clock.now(), services, witnesses }
  }

  /** Asks probes alone: of hosts that the reading itself called into question. */
  ask({ signal }: Pick<Look, 'signal'>, probes: ProbesOfHosts): Promise<Map<HostName, ProbeReading[]>> {
    const { probes: known, settings } = this.#rules()
    const orders = [...probes].flatMap(([host, names]) => {
      const asked = names.flatMap((name) => known.get(name) ?? [])
      return asked.length > 0 ? [{ host, probes: asked }] : []
    })
    const { probeLimitMs, maxParallelProbes } = settings
    return probeRound(orders, { clock: this.#clock, limitMs: probeLimitMs, atOnce: maxParallelProbes, signal })
  }

  /** Keeps how a look ended that was not cut off. */
  note({ services, askedAt, answeredAt }: Found): void {
    if (services instanceof Error) {
      this.#error = services.message
      this.#observer.log?.('warn', 'monitor.read-failed', { code: services.code }, services)
      return
    }
    this.#error = null
    // An empty list says of no host how it stands.
    if (services.services.length === 0) return
    const tookMs = answeredAt - askedAt
    this.#lastRead = { askedAt, usuallyMs: Math.min(tookMs, this.#tookMs) }
    this.#tookMs = tookMs
  }

  async #readServices(options: CallOptions): Promise<ServicesReading> {
    const [services] = await Promise.all([this.#listServices(options), this.#aggregates.readWhenDue(options)])
    return services
  }

  async #listServices(options: CallOptions): Promise<ServicesReading> {
    const services = await this.#cloud.listServices(options)
    if (services.serverTimeMs !== null) this.#cloudOffsetMs = services.serverTimeMs - this.#clock.now()
    return services
  }
}
