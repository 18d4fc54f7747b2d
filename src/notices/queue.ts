/**
 * What waits for each receiver, and what may be tried now. Folded from the journal at a start, and kept by the same steps
 * afterwards. Pure: times are given in, monotonic ms.
 *
 * Order: what concerns one project (or the operators) reaches a receiver in the order in which it happened. A receiver
 * that answers gets several projects' notices at once; one that failed is tried with a single notice, less and less often, and
 * each project's first in turn: a receiver that fails on one project's notice keeps no other project's waiting.
 */
import { pauseAfter } from '../domain/back-off.ts'
import type { Entry } from '../domain/entry.ts'
import type { Notice } from '../domain/notice.ts'

/** Tries at once at one receiver that answers. More: a burst that a small receiver refuses; fewer: many owners wait for each other. */
const parallel = 8

/** The first pause after a failure; it doubles. Shorter: a receiver that restarts is hammered; longer: news is late. */
const firstPauseMs = 1_000

/** The longest pause. Longer: a receiver that is well again waits; shorter: one that is down for a day fills the journal. */
const longestPauseMs = 300_000

export interface Waiting {
  notice: Notice
  queuedAt: number
  attempts: number
  inFlight: boolean
  /** Failures of its own: the receiver took others meanwhile, so they say nothing of the receiver. */
  ownFailures: number
  /** Because of them. */
  notBefore: number
  /** How many others had arrived when it was tried first; null: it was not yet. */
  arrivedBefore: number | null
}

interface Line {
  waiting: Waiting[]
  /** Of this run. */
  arrived: number
  /** Failures in a row. */
  failures: number
  notBefore: number
}

export class NoticeQueue {
  readonly #lines = new Map<string, Line>()

  /** Adds what was queued, sent, tried or given up, from the journal; `at` is when, monotonic. */
  apply(entry: Entry, at: number): void {
    switch (entry.kind) {
      case 'notice.queued':
        this.add(entry.data, at)
        break
      case 'notice.sent':
      case 'notice.dead-lettered':
        this.#remove(entry.data.receiver, entry.data.notice)
        break
      case 'notice.failed': {
        const found = this.#find(entry.data.receiver, entry.data.notice)
        if (found !== undefined) found.attempts = entry.data.attempt
        break
      }
      default:
        break
    }
  }

  add(notice: Notice, at: number): void {
    const fresh = { attempts: 0, inFlight: false, ownFailures: 0, notBefore: 0, arrivedBefore: null }
    for (const receiver of notice.receivers) this.#line(receiver).waiting.push({ notice, queuedAt: at, ...fresh })
  }

  receivers(): string[] {
    return [...this.#lines.keys()]
  }

  /** Whether it is yet to arrive. */
  waits(receiver: string, id: string): boolean {
    return this.#find(receiver, id) !== undefined
  }

  /** How many wait, those under way included. */
  size(receiver: string): number {
    return this.#lines.get(receiver)?.waiting.length ?? 0
  }

  /** What must be given up: not the receiver's own any more, too old, or in the way of newer ones. Never what is under way. */
  overdue(
    receiver: string,
    now: number,
    { giveUpAfterMs, limit, isItsOwn }: { giveUpAfterMs: number; limit: number; isItsOwn: (notice: Notice) => boolean },
  ): Record<'notItsOwn' | 'tooOld' | 'tooMany', Waiting[]> {
    const { waiting, failures } = this.#line(receiver)
    const idle = waiting.filter(({ inFlight }) => !inFlight)
    // One that was never tried, because no daemon ran, gets its one try; not behind one that just failed there.
    const mayGo = ({ attempts }: Waiting): boolean => attempts > 0 || failures > 0
    const notItsOwn = idle.filter(({ notice }) => !isItsOwn(notice))
    const own = idle.filter((one) => !notItsOwn.includes(one))
    const tooOld = own.filter((one) => mayGo(one) && now - one.queuedAt >= giveUpAfterMs)
    const left = own.filter((one) => !tooOld.includes(one))
    const kept = this.size(receiver) - notItsOwn.length - tooOld.length
    return { notItsOwn, tooOld, tooMany: left.slice(0, Math.max(0, kept - limit)) }
  }

  /** What may be tried now, in order. */
  due(receiver: string, now: number): Waiting[] {
    const line = this.#line(receiver)
    const flying = line.waiting.filter(({ inFlight }) => inFlight)
    const ready = firstIdle(line).filter(({ notBefore }) => notBefore <= now)
    if (line.failures === 0) return ready.slice(0, Math.max(0, parallel - flying.length))
    if (flying.length > 0 || now < line.notBefore) return []
    return ready.toSorted((a, b) => a.attempts - b.attempts).slice(0, 1)
  }

  /** Ms until something may be tried or must be given up by itself; null when nothing waits for the time. */
  pauseMs(receiver: string, now: number): number | null {
    const line = this.#line(receiver)
    const times = firstIdle(line).map(({ notBefore }) => notBefore)
    const waits = line.failures === 0 ? times.filter((time) => time > now) : times
    if (waits.length === 0) return null
    return Math.max(0, line.notBefore - now, Math.min(...waits) - now)
  }

  begin(receiver: string, one: Waiting): void {
    one.arrivedBefore ??= this.#line(receiver).arrived
    one.inFlight = true
    one.attempts += 1
  }

  /** It arrived, so the receiver answers. */
  delivered(receiver: string, one: Waiting): void {
    this.#remove(receiver, one.notice.id)
    const line = this.#line(receiver)
    line.arrived += 1
    line.failures = 0
    line.notBefore = 0
  }

  /** It stays first. Gives the pause until the receiver is tried again. `began`: when this try did. */
  failed(receiver: string, one: Waiting, now: number, began: number): number {
    one.inFlight = false
    const line = this.#line(receiver)
    // The first time it may be the receiver.
    if (one.attempts > 1 && line.arrived > (one.arrivedBefore ?? 0)) {
      one.ownFailures += 1
      one.notBefore = now + pauseAfter(one.ownFailures, firstPauseMs, longestPauseMs)
      return Math.max(one.notBefore, line.notBefore) - now
    }
    // Of several that failed together only the first counts: they tell the same.
    if (line.failures === 0 || began >= line.notBefore) {
      line.failures += 1
      line.notBefore = now + pauseAfter(line.failures, firstPauseMs, longestPauseMs)
    }
    return Math.max(0, line.notBefore - now)
  }

  givenUp(receiver: string, one: Waiting): void {
    this.#remove(receiver, one.notice.id)
  }

  #line(receiver: string): Line {
    const known = this.#lines.get(receiver)
    if (known !== undefined) return known
    const line: Line = { waiting: [], arrived: 0, failures: 0, notBefore: 0 }
    this.#lines.set(receiver, line)
    return line
  }

  #find(receiver: string, id: string): Waiting | undefined {
    return this.#lines.get(receiver)?.waiting.find(({ notice }) => notice.id === id)
  }

  #remove(receiver: string, id: string): void {
    const line = this.#line(receiver)
    line.waiting = line.waiting.filter(({ notice }) => notice.id !== id)
  }
}

/** The first of each project, in order, that are not under way: what comes behind them waits for them. */
function firstIdle({ waiting }: Line): Waiting[] {
  const projects = new Set<string | null>()
  const first = waiting.filter(({ notice: { project } }) => !projects.has(project) && projects.add(project))
  return first.filter(({ inFlight }) => !inFlight)
}
