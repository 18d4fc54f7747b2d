/**
 * The fencing chain: method after method, each as often and as long as it may, until one has proven the host dead. Owns
 * the order, the limits and the report of each try; the methods own how.
 *
 * A method that does not end is left behind at its limit, whatever it still does: what it may have done is unknown, and
 * said so. Powering off late does no harm to a host that a later method proved dead. A host that lives may be powered off by
 * nobody: before each try, and right before each act, the chain asks whether it may go on (law L10).
 */
import { deadline, isAborted, sleep, type Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError, type Certainty } from '../domain/errors.ts'
import type { ChainLimits, FenceAttempt } from '../domain/fencing.ts'
import type { Observer } from '../domain/observer.ts'
import type { HostName } from '../domain/service.ts'
import type { FencingMethod } from './method.ts'
import { span } from '../domain/text/span.ts'

export interface MethodLimits {
  /**
   * One try, verification included. Too short: a slow power-off is cut off before it was seen; too long: instances wait
   * for a board that hangs before the next method is tried.
   */
  limitMs: number
  /** Tries before the next method. More: a flaky board gets its chance, and a dead one delays the next method. */
  attempts: number
}

/** Of a method that says nothing itself. */
export const defaultLimits: MethodLimits = { limitMs: 180_000, attempts: 1 }

/** Between two tries of one method. Shorter meets the board in the same hiccup. */
export const attemptPauseMs = 1_000

export interface ChainOptions extends ChainLimits {
  clock: Clock
  observer: Observer
  limitsOf: (method: string) => MethodLimits
  onAttempt: (attempt: FenceAttempt) => void
}

export interface ChainEnd {
  method: FencingMethod
  evidence: string[]
}

/** Throws FENCE_FAILED, FENCE_UNVERIFIED, and why it was stopped when `signal` aborts or `mayGoOn` throws. */
export async function runChain(host: HostName, chain: FencingMethod[], options: ChainOptions): Promise<ChainEnd> {
  const { clock, signal, limitMs = Infinity } = options
  const failures: LifeboatError[] = []
  const endsAt = clock.now() + limitMs
  for (const [index, method] of chain.entries()) {
    const limits = options.limitsOf(method.name)
    for (let attempt = 1; attempt <= limits.attempts; attempt++) {
      if (attempt > 1) await sleep(clock, Math.min(attemptPauseMs, endsAt - clock.now()), signal)
      stopIfForbidden(host, failures, options)
      if (clock.now() >= endsAt) throw allFailed(host, failures, `${span(limitMs)} for the whole chain are over`)
      const about = {
        method: method.name,
        position: index + 1,
        of: chain.length,
        attempt,
        attempts: limits.attempts,
        limitMs: Math.min(limits.limitMs, endsAt - clock.now()),
        startedAt: new Date(clock.wall()).toISOString(),
      }
      const evidence = await tryOnce(host, method, about, options)
      if (!(evidence instanceof LifeboatError)) return { method, evidence }
      failures.push(evidence)
    }
  }
  stopIfForbidden(host, failures, options)
  throw allFailed(host, failures, null)
}

type About = Omit<FenceAttempt, 'phase' | 'message'> & { limitMs: number }

/** The evidence, or why there is none. Throws what `onAttempt` throws: nothing is tried without a record (law L2). */
async function tryOnce(
  host: HostName,
  method: FencingMethod,
  about: About,
  options: ChainOptions,
): Promise<string[] | LifeboatError> {
  const { clock, observer, onAttempt } = options
  onAttempt({ ...about, phase: 'trying', message: `Fencing ${host} by ${method.name}` })
  const ended = (): { endedAt: string } => ({ endedAt: new Date(clock.wall()).toISOString() })
  let evidence: string[]
  try {
    evidence = await withinLimit(host, method, about.limitMs, options)
  } catch (thrown) {
    const error = ensureError(thrown)
    const { code, message, certainty } = error
    onAttempt({ ...about, phase: 'failed', message, certainty, ...ended() })
    observer.log?.('warn', 'fencing.failed', { host, method: method.name, code }, error)
    return error
  }
  onAttempt({ ...about, phase: 'succeeded', message: evidence.at(-1) ?? 'seen off', ...ended() })
  return evidence
}

/** Does not wait for a method that ignores its signal: a board may hold a connection open for ever. */
async function withinLimit(
  host: HostName,
  method: FencingMethod,
  limitMs: number,
  options: ChainOptions,
): Promise<string[]> {
  const { clock, signal } = options
  const limit = deadline(clock, limitMs, signal)
  let certainty: Certainty = 'not-applied'
  // Asked also by a method that was left behind: what was cut off does nothing any more.
  const mayAct = (): void => {
    if (limit.expired()) throw cutOffError(host, method.name, limitMs)
    if (isAborted(limit.signal)) throw stopped(host, 'not-applied', signal?.reason)
    ask(host, 'not-applied', options)
    certainty = 'unknown'
  }
  try {
    const work = method.off(host, limit.signal, mayAct)
    const cutOff = new Promise<never>((_resolve, reject) => {
      const cut = (): void =>
        reject(limit.expired() ? cutOffError(host, method.name, limitMs) : stopped(host, certainty, signal?.reason))
      if (isAborted(limit.signal)) cut()
      else limit.signal.addEventListener('abort', cut, { once: true })
    })
    return await Promise.race([work, cutOff])
  } catch (thrown) {
    // What the method throws because of the cut says less than the cut itself.
    throw limit.expired() ? cutOffError(host, method.name, limitMs, thrown) : thrown
  } finally {
    limit.release()
  }
}

function cutOffError(host: HostName, method: string, limitMs: number, cause?: unknown): LifeboatError {
  const message = `${method} did not end within ${span(limitMs)} and was cut off: nobody knows whether it fenced ${host}`
  return new LifeboatError('FENCE_UNVERIFIED', message, {
    certainty: 'unknown',
    retry: 'backoff',
    details: { host, method },
    ...(cause instanceof LifeboatError && cause.code !== 'FENCE_UNVERIFIED' && { cause }),
  })
}

/** What methods before it may have done stays unknown, whatever ends the chain. */
function stopIfForbidden(host: HostName, failures: LifeboatError[], options: ChainOptions): void {
  const certainty = failures.some((error) => error.certainty === 'unknown') ? 'unknown' : 'not-applied'
  if (options.signal?.aborted === true) throw stopped(host, certainty, options.signal.reason)
  ask(host, certainty, options)
}

function ask(host: HostName, certainty: Certainty, { mayGoOn }: ChainOptions): void {
  try {
    mayGoOn?.()
  } catch (thrown) {
    throw stopped(host, certainty, thrown)
  }
}

function stopped(host: HostName, certainty: Certainty, reason: unknown): LifeboatError {
  const did = certainty === 'unknown' ? '; nobody knows whether it was fenced' : ''
  const { code, message } =
    reason instanceof LifeboatError ? reason : { code: 'SHUTDOWN' as const, message: 'the daemon is stopping' }
  return new LifeboatError(code, `Fencing of ${host} was stopped: ${message}${did}`, {
    certainty,
    retry: 'after',
    details: { host },
  })
}

/** Unverified wins over failed: the host may be off by now, and a person must know. */
function allFailed(host: HostName, failures: LifeboatError[], late: string | null): LifeboatError {
  const worst = failures.find((error) => error.certainty === 'unknown') ?? failures.at(-1)
  const unverified = failures.some((error) => error.code === 'FENCE_UNVERIFIED')
  const tried = failures.map((error) => error.message)
  const what = unverified ? `${host} was fenced but not seen off` : `${host} could not be fenced`
  return new LifeboatError(
    unverified ? 'FENCE_UNVERIFIED' : 'FENCE_FAILED',
    [what, ...tried, ...(late === null ? [] : [late])].join('; '),
    { certainty: worst?.certainty ?? 'not-applied', retry: 'backoff', cause: worst, details: { host, tried } },
  )
}
