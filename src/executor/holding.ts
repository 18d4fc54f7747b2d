/**
 * How the executor's own code makes an incident wait: held with a reason on record, looking again, ending its wait at once when the daemon
 * stops or a person cancels. Of a refusal it decides which hold it is; every other reason comes from its caller. The gate writes its own rows.
 */
import { sleep } from '../domain/clock.ts'
import { ensureError, errorRecord, LifeboatError, type ErrorCode } from '../domain/errors.ts'
import { holdsWith, type HoldCode } from '../domain/incident-phases.ts'
import type { Incident } from '../domain/incident.ts'
import { pauseAfter } from '../domain/back-off.ts'
import type { Run } from './context.ts'
import { retryRead, silence } from './retry.ts'

/** How often an incident that waits looks again. */
export const lookAgainMs = 500

/**
 * The longest pause between two looks at a host that would not be seen dead. Each look lists every service of the cloud, and a
 * host may be held for days: shorter asks Nova without need; longer delays the recovery after the reason is gone.
 */
export const rarestLookMs = 5_000

/**
 * Pauses after a refusal that reading again cannot cure. Shorter fills the journal while a policy is being corrected;
 * longer delays the recovery after it was.
 */
export const firstRefusalPauseMs = 10_000
export const longestRefusalPauseMs = 300_000

/** The longest pause where a call was not answered: nobody need correct anything. Longer notices the API's return late. */
const longestSilencePauseMs = 60_000

/** Pause before an unanswered reading is tried again. It writes no rows. Longer notices the API's return late. */
const unreadPauseMs = 5_000

/** What a person must correct before trying again can help. Everything else is a bug or ends the run. */
const refusals = new Set<ErrorCode>([
  'AUTH_FAILED',
  'AUTH_FORBIDDEN',
  'CATALOG_MISSING',
  'MICROVERSION_UNSUPPORTED',
  'API_UNAVAILABLE',
  'API_THROTTLED',
  'API_FAULT',
  'API_TIMEOUT',
  'API_MALFORMED',
  'API_REFUSED',
  'CONNECTION_LOST',
  'NOT_FOUND',
  'STATE_MISMATCH',
])

type Held = HoldCode | undefined

export const callHolds: ReadonlySet<Held> = holdsWith('ends-with-a-call')

/** What a trouble with Nova may be said over. Other holds are said again by their own code: two would overwrite each other without end. */
export const mayBeReplaced: ReadonlySet<Held> = new Set<Held>([undefined, 'LATE_LOCK', ...callHolds])

export class Holding {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  get incident(): Incident {
    return this.#run.permissions.incident(this.#run.id)
  }

  /** Once for each code: the same reason again is no news. */
  hold(code: HoldCode, message: string, error?: LifeboatError): void {
    if (this.incident.held?.code !== code) this.holdAnew(code, message, error)
  }

  /** Also when it is held for that already: what a person said before this does not answer it. */
  holdAnew(code: HoldCode, message: string, error?: LifeboatError): void {
    const { id, host, journal } = this.#run
    const data = { code, message, ...(error && { error: errorRecord(error) }) }
    journal.append([{ kind: 'incident.held', incident: id, host, data }])
  }

  goOn(because: string): void {
    if (this.incident.held === null) return
    const { id, host, journal } = this.#run
    journal.append([{ kind: 'incident.continued', incident: id, host, data: { because } }])
  }

  /** Waits, or less when `until` comes true. Throws SHUTDOWN and CANCELLED. */
  async wait(pauseMs: number, until: () => boolean = () => false): Promise<void> {
    const { clock, signal } = this.#run
    const endsAt = clock.now() + pauseMs
    for (;;) {
      await sleep(clock, Math.min(lookAgainMs, Math.max(0, endsAt - clock.now())), signal)
      if (signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
      const { cancelled } = this.incident
      if (cancelled !== null) throw new LifeboatError('CANCELLED', `cancelled by ${cancelled.by}: ${cancelled.reason}`)
      if (clock.now() >= endsAt || until()) return
    }
  }

  /**
   * Reads on while Nova does not answer, and says so once that lasts. Throws SHUTDOWN and CANCELLED, and what Nova refuses.
   */
  async read<T>(read: () => Promise<T>): Promise<T> {
    const { clock, signal } = this.#run
    for (let held = false; ;) {
      try {
        const value = await retryRead(clock, signal, read)
        if (held && this.incident.held?.code === 'CLOUD_UNAVAILABLE') this.goOn('CLOUD_UNAVAILABLE is over')
        return value
      } catch (thrown) {
        const error = ensureError(thrown)
        if (!silence.has(error.code)) throw error
        held = true
        const code = this.incident.held?.code
        // Of what Nova refused a person must hear for as long as it does.
        if (mayBeReplaced.has(code) && code !== 'NOVA_REFUSED')
          this.hold('CLOUD_UNAVAILABLE', `${error.message}. It is read again by itself`, error)
        await this.wait(unreadPauseMs)
      }
    }
  }

  /**
   * Does what Nova may refuse. A refusal for good holds the incident, and the work is tried again less and less often: it
   * must not write rows every few seconds for as long as nobody corrects the policy. `failed`: tries that failed before.
   */
  async persist<T>(failed: number, work: () => Promise<T>): Promise<T> {
    let held = false
    for (let failures = failed + 1; ; failures++) {
      try {
        const value = await work()
        // While instances are recovered, what one of them waits for is not over because something else went through.
        const ours = held || this.incident.phase !== 'recovering'
        if (ours && callHolds.has(this.incident.held?.code)) this.goOn(`${this.incident.held?.code} is over`)
        return value
      } catch (thrown) {
        const error = ensureError(thrown)
        if (!refusals.has(error.code)) throw error
        held = true
        const isSilent = silence.has(error.code)
        this.hold(isSilent ? 'CLOUD_UNAVAILABLE' : 'NOVA_REFUSED', error.message, error)
        const longestMs = isSilent ? longestSilencePauseMs : longestRefusalPauseMs
        await this.wait(pauseAfter(failures, firstRefusalPauseMs, longestMs))
      }
    }
  }
}
