/**
 * Carries what waits to its receivers, one line for each, and puts on record what became of it. Beside the recoveries: what
 * a receiver does or does not costs nothing but its own line.
 *
 * At least once: a notice is on record before it is sent, and what was sent is recorded shortly after. A crash in between
 * sends it again, under the same id.
 */
import { setMaxListeners } from 'node:events'
import { isAborted, sleep, type Clock } from '../domain/clock.ts'
import type { NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import { deadLetterCodes, type DeadLetterCode, type Notice } from '../domain/notice.ts'
import type { Observer } from '../domain/observer.ts'
import type { Deliver, Ended } from './delivery.ts'
import { NoticeQueue, type Waiting } from './queue.ts'
import { mayHave, type NoticeRules } from './rules.ts'

/**
 * Ends are put on record together, this long after the first: each commit holds up the whole daemon for a moment, and a
 * recovery runs. Longer: a crash sends more of them twice.
 */
const recordAfterMs = 100

/** With a journal that cannot be written ends are recorded later; shorter would busy a disk that is in trouble. */
const recordAgainMs = 5_000

/** How long a stop waits for tries under way. Shorter: what was about to arrive is sent again at the next start. */
const graceMs = 2_000

export interface DispatcherParts {
  clock: Clock
  journal: Journal
  observer: Observer
  rules: () => NoticeRules
  deliver: () => ReadonlyMap<string, Deliver>
}

export class Dispatcher {
  readonly queue = new NoticeQueue()
  readonly #parts: DispatcherParts
  readonly #stopping = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  readonly #timers = new Map<string, () => void>()
  #ends: NewEntry[] = []
  #recording: (() => void) | null = null

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    // Every try under way listens for the stop: many receivers are no leak.
    setMaxListeners(0, this.#stopping.signal)
  }

  /** Takes what is on record already. */
  take(notices: readonly Notice[]): void {
    for (const notice of notices) this.queue.add(notice, this.#parts.clock.now())
    for (const receiver of new Set(notices.flatMap(({ receivers }) => receivers))) this.#pump(receiver)
  }

  /** Tries whatever waits, for instance after a start. */
  pumpAll(): void {
    for (const receiver of this.queue.receivers()) this.#pump(receiver)
    this.#tell()
  }

  /** Lets tries under way end, for a moment; what is cut off is sent again at the next start. */
  async stop(): Promise<void> {
    const ending = Promise.allSettled(this.#underWay)
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    const grace = new AbortController()
    await Promise.race([ending, sleep(this.#parts.clock, graceMs, grace.signal)])
    grace.abort()
    this.#stopping.abort()
    await ending
    this.#record()
    this.#recording?.()
  }

  #pump(receiver: string): void {
    const { clock, deliver } = this.#parts
    if (isAborted(this.#stopping.signal)) return
    this.#timers.get(receiver)?.()
    this.#timers.delete(receiver)
    const send = deliver().get(receiver)
    this.#giveUp(receiver, send !== undefined)
    if (send !== undefined) {
      for (const one of this.queue.due(receiver, clock.now())) this.#begin(receiver, one, send)
      const pauseMs = this.queue.pauseMs(receiver, clock.now())
      if (pauseMs !== null && pauseMs > 0)
        this.#timers.set(
          receiver,
          clock.after(pauseMs, () => this.#pump(receiver)),
        )
    }
    this.#tell()
  }

  #giveUp(receiver: string, known: boolean): void {
    const { clock, rules } = this.#parts
    const { giveUpAfterMs, queueLimit, receivers } = rules()
    const rule = receivers.get(receiver)
    const isItsOwn = (notice: Notice): boolean => rule === undefined || mayHave(rule, notice)
    const limits = known ? { giveUpAfterMs, limit: queueLimit } : { giveUpAfterMs: Infinity, limit: 0 }
    const { notItsOwn, tooOld, tooMany } = this.queue.overdue(receiver, clock.now(), { ...limits, isItsOwn })
    for (const one of notItsOwn) this.#deadLetter(receiver, one, 'NOT_ITS_OWN')
    for (const one of tooOld) this.#deadLetter(receiver, one, 'TOO_OLD')
    for (const one of tooMany) this.#deadLetter(receiver, one, known ? 'QUEUE_FULL' : 'NO_RECEIVER')
  }

  #begin(receiver: string, one: Waiting, send: Deliver): void {
    const { clock } = this.#parts
    this.queue.begin(receiver, one)
    const began = clock.now()
    // Async: what a receiver throws before it waits for anything must not end the daemon either.
    const trying = async (): Promise<Ended> =>
      send({ notice: one.notice, attempt: one.attempts, signal: this.#stopping.signal })
    const work = trying()
      .catch((thrown: unknown): Ended => {
        this.#parts.observer.log?.('error', 'notice.broke', { receiver }, ensureError(thrown))
        return { ok: false, problem: 'a bug in Lifeboat', final: false }
      })
      .then((ended) => {
        this.#underWay.delete(work)
        if (isAborted(this.#stopping.signal) && !ended.ok) return
        this.#ended(receiver, one, ended, began)
        this.#pump(receiver)
      })
    this.#underWay.add(work)
  }

  #ended(receiver: string, one: Waiting, ended: Ended, began: number): void {
    const { clock } = this.#parts
    const { id } = one.notice
    const attempt = one.attempts
    if (ended.ok) {
      this.queue.delivered(receiver, one)
      const tookMs = Math.round(clock.now() - began)
      this.#note(one, { kind: 'notice.sent', data: { notice: id, receiver, attempt, result: ended.result, tookMs } })
      return
    }
    if (ended.final) {
      one.inFlight = false
      this.#deadLetter(receiver, one, 'REFUSED', ended.problem)
      return
    }
    const retryInMs = Math.round(this.queue.failed(receiver, one, clock.now(), began))
    const data = { notice: id, receiver, attempt, problem: ended.problem, retryInMs }
    this.#note(one, { kind: 'notice.failed', data })
  }

  #deadLetter(receiver: string, one: Waiting, code: DeadLetterCode, detail?: string): void {
    this.queue.givenUp(receiver, one)
    const message = detail === undefined ? deadLetterCodes[code] : `${deadLetterCodes[code]} (${detail})`
    const data = { notice: one.notice.id, receiver, attempts: one.attempts, code, message }
    this.#note(one, { kind: 'notice.dead-lettered', data })
  }

  #note({ notice }: Waiting, entry: NewEntry): void {
    this.#ends.push({ ...entry, ...aboutOf(notice) })
    this.#recording ??= this.#parts.clock.after(recordAfterMs, () => this.#record())
  }

  #record(): void {
    this.#recording?.()
    this.#recording = null
    if (this.#ends.length === 0) return
    try {
      this.#parts.journal.append(this.#ends)
      this.#ends = []
    } catch (thrown) {
      this.#parts.observer.log?.('warn', 'notice.not_recorded', { ends: this.#ends.length }, ensureError(thrown))
      this.#recording = this.#parts.clock.after(recordAgainMs, () => this.#record())
    }
  }

  #tell(): void {
    const { observer, rules } = this.#parts
    const names = new Set([...rules().receivers.keys(), ...this.queue.receivers()])
    observer.notices?.(new Map([...names].map((name) => [name, this.queue.size(name)])))
  }
}

/** Under which host and incident the journal files a notice. */
export function aboutOf({ host, incident }: Notice): { host?: string; incident?: string } {
  return { ...(host !== null && { host }), ...(incident !== null && { incident }) }
}
