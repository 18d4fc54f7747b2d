/**
 * Sends what stands again to receivers that forget it otherwise, each at its own pace. Beside everything else: nothing waits for a
 * renewal, and none is on record, for it tells nothing new.
 */
import { isAborted, type Clock } from '../domain/clock.ts'
import { ensureError } from '../domain/errors.ts'
import type { Notice } from '../domain/notice.ts'
import type { Observer } from '../domain/observer.ts'
import type { Deliver, Ended, Renewal } from './delivery.ts'

export interface RenewalsParts {
  clock: Clock
  observer: Observer
  deliver: () => ReadonlyMap<string, Deliver>
  /** What stands at a receiver now. */
  standing: (receiver: string) => readonly Notice[]
  /** Told of each renewal that sent something; `problem`: null when it was taken. */
  ended: (receiver: string, problem: string | null) => void
}

export class Renewals {
  readonly #parts: RenewalsParts
  #run: { stopping: AbortController; timers: Map<string, () => void> } | null = null
  readonly #underWay = new Set<Promise<void>>()
  /** Receivers that did not take the last one. */
  readonly #failing = new Set<string>()

  constructor(parts: RenewalsParts) {
    this.#parts = parts
  }

  /** With the receivers of now; at once, for nobody knows how long ago the last renewal was. */
  start(): void {
    this.#end()
    this.#run = { stopping: new AbortController(), timers: new Map() }
    for (const [receiver, { renewal }] of this.#parts.deliver())
      if (renewal !== undefined) this.#renewIn(0, receiver, renewal)
  }

  async stop(): Promise<void> {
    this.#end()
    await Promise.allSettled(this.#underWay)
  }

  #end(): void {
    this.#run?.stopping.abort()
    for (const cancel of this.#run?.timers.values() ?? []) cancel()
    this.#run = null
  }

  #renewIn(delayMs: number, receiver: string, renewal: Renewal): void {
    const run = this.#run
    if (run === null) return
    const cancel = this.#parts.clock.after(delayMs, () => {
      const work = this.#renew(receiver, renewal, run.stopping.signal).finally(() => {
        this.#underWay.delete(work)
        if (this.#run === run) this.#renewIn(renewal.everyMs, receiver, renewal)
      })
      this.#underWay.add(work)
    })
    run.timers.set(receiver, cancel)
  }

  /** Never rejects: a bug here must not end a daemon that recovers hosts. */
  async #renew(receiver: string, { send }: Renewal, signal: AbortSignal): Promise<void> {
    const { observer, standing, ended: tell } = this.#parts
    let sent = 0
    const now = (): readonly Notice[] => {
      const notices = standing(receiver)
      sent = notices.length
      return notices
    }
    const ended = await send(now, signal).catch((thrown: unknown): Ended => {
      observer.log?.('error', 'notice.broke', { receiver }, ensureError(thrown))
      return { ok: false, problem: 'a bug in Lifeboat', final: false }
    })
    if (isAborted(signal) || sent === 0) return
    tell(receiver, ended.ok ? null : ended.problem)
    if (ended.ok === !this.#failing.has(receiver)) return
    if (ended.ok) this.#failing.delete(receiver)
    else this.#failing.add(receiver)
    if (ended.ok) observer.log?.('info', 'notice.renewed_again', { receiver })
    else observer.log?.('warn', 'notice.not_renewed', { receiver, problem: ended.problem })
  }
}
