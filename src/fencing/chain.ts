/**
 * The fencing chain: method after method, each as often and as long as it may, until one has proven the host dead. Owns
 * the order, the limits and the report of each try; the methods own how.
 *
 * A method that does not end is left behind at its limit, whatever it still does: what it may have done is unknown, and
 * said so. Powering off late does no harm to a host that a later method proved dead.
 */
import { deadline, isAborted, sleep, type Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError, type Certainty } from '../domain/errors.ts'
import type { FenceAttempt } from '../domain/fencing.ts'
import type { Observer } from '../domain/observer.ts'
import type { HostName } from '../domain/service.ts'
import type { FencingMethod } from './method.ts'

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

export interface ChainOptions {
  clock: Clock
  observer: Observer
  limitsOf: (method: string) => MethodLimits
  onAttempt: (attempt: FenceAttempt) => void
  signal?: AbortSignal | undefined
  /** The whole chain, ms. */
  limitMs?: number | undefined
}

export interface ChainEnd {
  method: FencingMethod
  evidence: string[]
}

/** Throws FENCE_FAILED, FENCE_UNVERIFIED, and SHUTDOWN when `signal` aborts. */
export async function runChain(host: HostName, chain: FencingMethod[], options: ChainOptions): Promise<ChainEnd> {
  const { clock, signal, limitMs = Infinity } = options
  const failures: LifeboatError[] = []
  const endsAt = clock.now() + limitMs
  for (const [index, method] of chain.entries()) {
    const limits = options.limitsOf(method.name)
    for (let attempt = 1; attempt <= limits.attempts; attempt++) {
      if (attempt > 1) await sleep(clock, Math.min(attemptPauseMs, endsAt - clock.now()), signal)
      stopIfAborted(host, failures, signal)
      if (clock.now() >= endsAt) throw allFailed(host, failures, `${limitMs} ms for the whole chain are over`)
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
  stopIfAborted(host, failures, signal)
  throw allFailed(host, failures, null)
}

type About = Omit<FenceAttempt, 'phase' | 'message'> & { limitMs: number }

/** The evidence, or why there is none. Throws what `onAttempt` throws: nothing is tried without a record (law L2). */
async function tryOnce(
  host: HostName,
  method: FencingMethod,
  about: About,
  { clock, observer, onAttempt, signal }: ChainOptions,
): Promise<string[] | LifeboatError> {
  onAttempt({ ...about, phase: 'trying', message: `Fencing ${host} by ${method.name}` })
  const ended = (): { endedAt: string } => ({ endedAt: new Date(clock.wall()).toISOString() })
  let evidence: string[]
  try {
    evidence = await withinLimit(host, method, about.limitMs, clock, signal)
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
  clock: Clock,
  signal?: AbortSignal,
): Promise<string[]> {
  const limit = deadline(clock, limitMs, signal)
  try {
    const work = method.off(host, limit.signal)
    const cutOff = new Promise<never>((_resolve, reject) => {
      const cut = (): void =>
        reject(limit.expired() ? cutOffError(host, method.name, limitMs) : stopped(host, 'unknown'))
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
  const message = `${method} did not end within ${limitMs} ms and was cut off: nobody knows whether it fenced ${host}`
  return new LifeboatError('FENCE_UNVERIFIED', message, {
    certainty: 'unknown',
    retry: 'backoff',
    details: { host, method },
    ...(cause instanceof LifeboatError && cause.code !== 'FENCE_UNVERIFIED' && { cause }),
  })
}

function stopIfAborted(host: HostName, failures: LifeboatError[], signal?: AbortSignal): void {
  if (signal?.aborted === true) throw stopped(host, failures.length > 0 ? 'unknown' : 'not-applied', failures.at(-1))
}

function stopped(host: HostName, certainty: Certainty, cause?: LifeboatError): LifeboatError {
  return new LifeboatError('SHUTDOWN', `Fencing of ${host} was stopped`, { certainty, retry: 'after', cause })
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
