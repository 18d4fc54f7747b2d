/**
 * The clock port. Owns what time it is and waiting; nothing else in the daemon may read a clock or set a timer.
 *
 * Two times on purpose: `now` never jumps and is what every decision and time limit uses; `wall` is for people and for
 * comparing with a cloud's own time stamps, and may jump when an administrator or NTP sets it.
 */
export interface Clock {
  /** Monotonic milliseconds since an arbitrary point. Only differences mean anything. */
  now(): number
  /** Wall-clock milliseconds since the epoch. */
  wall(): number
  /** Calls `fire` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, fire: () => void): () => void
}

/**
 * The moment of a wall-clock stamp (a journal entry's `at`) on the monotonic clock, so that its age can be compared with time limits.
 * A stamp from the future, which a clock that was set back leaves behind, counts as now: what it began lasts longer, never shorter.
 *
 * @param at ISO time
 */
export function onOurClock(clock: Clock, at: string): number {
  return clock.now() - Math.max(0, clock.wall() - Date.parse(at))
}

/** So many stamps are remembered: many times those of all hosts that return at once. The oldest is forgotten, and converted again. */
const momentsKept = 1_000

/**
 * `onOurClock` for stamps that are looked at again and again: each is converted once. Without that, a stamp that a clock set back
 * left in the future would count as now at every look, and whatever waits for its age would wait until the wall clock catches up.
 */
export class Moments {
  readonly #clock: Clock
  readonly #known = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param at ISO time */
  of(at: string): number {
    const known = this.#known.get(at)
    if (known !== undefined) return known
    const moment = onOurClock(this.#clock, at)
    this.#known.set(at, moment)
    const [oldest] = this.#known.keys()
    if (this.#known.size > momentsKept && oldest !== undefined) this.#known.delete(oldest)
    return moment
  }
}

/** Resolves after `delayMs`, or at once when `signal` aborts (never rejects: the caller looks at its signal). */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve()
      return
    }
    const finish = (): void => {
      cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const cancel = clock.after(delayMs, finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}

/** A signal that aborts after `delayMs` or with `parent`; call `release` when the guarded work is over. */
export function deadline(
  clock: Clock,
  delayMs: number,
  parent?: AbortSignal,
): { signal: AbortSignal; expired: () => boolean; release: () => void } {
  const controller = new AbortController()
  let expired = false
  const cancel = clock.after(delayMs, () => {
    expired = true
    controller.abort()
  })
  const follow = (): void => controller.abort()
  if (parent?.aborted) controller.abort()
  else parent?.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    expired: () => expired,
    release: () => {
      cancel()
      parent?.removeEventListener('abort', follow)
    },
  }
}

/** Whether the signal has aborted by now; asked again each time, for it may have changed during any await. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted
}
