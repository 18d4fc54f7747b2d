/**
 * Reads one thing of each host again and again, a few hosts at once and with pauses, so that a large cloud is never asked in a storm. Owns
 * the order and the pace; what is read, and when a host must be left alone, is the caller's.
 */
import { isAborted, sleep, type Clock } from '../domain/clock.ts'
import { ensureError } from '../domain/errors.ts'
import type { HostName } from '../domain/service.ts'
import type { Seen } from './readiness.ts'

export interface RoundsParts<T> {
  clock: Clock
  hosts: () => readonly HostName[]
  /** Asked right before each reading. */
  mayRead: (host: HostName) => boolean
  read: (host: HostName, signal: AbortSignal) => Promise<T>
  pace: Pace
}

export interface Pace {
  /** Until a host is read again, ms. */
  everyMs: number
  /** The same after a reading that failed, ms. */
  retryMs: number
  atOnce: number
  /** After a reading that took so long, ms. */
  pauseMs: (tookMs: number) => number
}

/** Until the hosts are looked through again when none is due, ms. */
const idleMs = 1_000

const nothing: Seen<never> = { value: null, failure: null }

export class HostRounds<T> {
  readonly #parts: RoundsParts<T>
  readonly #seen = new Map<HostName, Seen<T> & { notBefore: number }>()
  readonly #reading = new Map<HostName, AbortController>()

  constructor(parts: RoundsParts<T>) {
    this.#parts = parts
  }

  of(host: HostName): Seen<T> {
    return this.#seen.get(host) ?? nothing
  }

  /** It was read elsewhere. */
  note(host: HostName, value: T): void {
    const { clock, pace } = this.#parts
    this.#seen.set(host, { value, failure: null, notBefore: clock.now() + pace.everyMs })
  }

  /** What was read of any host may be over: each is read again in its turn, and until then stands with its age. */
  readAgain(): void {
    const now = this.#parts.clock.now()
    for (const seen of this.#seen.values()) seen.notBefore = Math.min(seen.notBefore, now)
  }

  /** Breaks off the reading of a host. What it would have said is not taken in. */
  cutOff(host: HostName): void {
    this.#reading.get(host)?.abort()
  }

  /** Until `stop` aborts. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock, pace } = this.#parts
    const cutAll = (): void => {
      for (const cut of this.#reading.values()) cut.abort()
    }
    stop.addEventListener('abort', cutAll, { once: true })
    const work = async (): Promise<void> => {
      while (!isAborted(stop)) {
        const host = this.#next()
        const began = clock.now()
        if (host !== null) await this.#read(host)
        await sleep(clock, host === null ? idleMs : pace.pauseMs(clock.now() - began), stop)
      }
    }
    await Promise.all(Array.from({ length: pace.atOnce }, work))
  }

  /** The one that has waited for longest; null: none is due. */
  #next(): HostName | null {
    const { clock, hosts, mayRead } = this.#parts
    const listed = hosts()
    if (this.#seen.size > listed.length) this.#forget(new Set(listed))
    let next: HostName | null = null
    let least = clock.now()
    for (const host of listed) {
      const { notBefore } = this.#seen.get(host) ?? { notBefore: -Infinity }
      if (notBefore > least || (next !== null && notBefore === least)) continue
      if (this.#reading.has(host) || !mayRead(host)) continue
      next = host
      least = notBefore
      if (notBefore === -Infinity) break
    }
    return next
  }

  #forget(listed: ReadonlySet<HostName>): void {
    for (const host of this.#seen.keys()) if (!listed.has(host)) this.#seen.delete(host)
  }

  async #read(host: HostName): Promise<void> {
    const { clock, read, pace } = this.#parts
    const cut = new AbortController()
    this.#reading.set(host, cut)
    try {
      const value = await read(host, cut.signal)
      if (!cut.signal.aborted) this.note(host, value)
    } catch (thrown) {
      const failure = { message: ensureError(thrown).message, at: new Date(clock.wall()).toISOString() }
      if (!cut.signal.aborted)
        this.#seen.set(host, { value: this.of(host).value, failure, notBefore: clock.now() + pace.retryMs })
    } finally {
      this.#reading.delete(host)
    }
  }
}
