/**
 * Keeps every open incident running: each once, again when its run breaks. A run that breaks on what cannot be is a bug of ours: at
 * the second break in a row the incident is held, so that people hear of it, and it is tried less and less often. Owns which
 * incidents run; what a run does is the executor's.
 */
import { sleep, type Clock } from '../domain/clock.ts'
import type { Entry, EntryKind, IncidentId } from '../domain/entry.ts'
import { ensureError, errorRecord, type LifeboatError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import type { Observer } from '../domain/observer.ts'
import { pauseAfter } from '../domain/back-off.ts'
import type { IncidentStore } from './incident-store.ts'

/** Pause before an incident whose run broke (journal full, a bug) is picked up again. Shorter would spin on a full disk. */
const rerunAfterMs = 10_000

/** The longest such pause: it doubles with each break. Longer delays the recovery once what broke it is gone; shorter fills the log. */
const rarestRerunMs = 300_000

/** Breaks in a row after which it is held. One alone may be chance; more would leave people without a word for longer. */
const breaksBeforeHold = 2

/** What a run writes only when it got further than where it broke. */
const progress: ReadonlySet<EntryKind> = new Set([
  'incident.phase',
  'incident.closed',
  'proof.recorded',
  'plan.made',
  'step.confirmed',
  'outcome.recorded',
])

/** What a person does that is worth another try at once. */
const answers: ReadonlySet<EntryKind> = new Set(['operator.cancelled', 'operator.statement', 'operator.override'])

export interface IncidentRunsParts {
  clock: Clock
  journal: Pick<Journal, 'append' | 'onAppend'>
  store: Pick<IncidentStore, 'inMemory'>
  observer: Observer
  signal: AbortSignal
  /** Runs an incident until it is over, or until the daemon stops. */
  run: (id: IncidentId) => Promise<void>
  /** Told when a run has ended by itself. */
  ended: (id: IncidentId) => void
}

export class IncidentRuns {
  readonly #parts: IncidentRunsParts
  readonly #running = new Map<IncidentId, Promise<void>>()
  /** Breaks in a row, without any progress in between. */
  readonly #breaks = new Map<IncidentId, number>()
  readonly #pauses = new Map<IncidentId, AbortController>()

  constructor(parts: IncidentRunsParts) {
    this.#parts = parts
    parts.journal.onAppend((entry) => this.#follow(entry))
  }

  /** Runs an incident unless it runs already. */
  start(id: IncidentId): void {
    const { signal, run, ended } = this.#parts
    if (this.#running.has(id) || signal.aborted) return
    // Before the run: its first entries are written while it is being called.
    this.#running.set(id, Promise.resolve())
    this.#running.set(
      id,
      run(id).then(
        () => {
          this.#running.delete(id)
          this.#breaks.delete(id)
          ended(id)
        },
        (thrown: unknown) => {
          this.#running.delete(id)
          void this.#again(id, ensureError(thrown))
        },
      ),
    )
  }

  /** Resolves when no incident is being run. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values())
  }

  async #again(id: IncidentId, error: LifeboatError): Promise<void> {
    const { clock, observer, signal } = this.#parts
    observer.log?.('error', 'incident.broke', { incident: id }, error)
    // A journal that cannot be written is no bug, and cannot be told of it either.
    const breaks = error.code === 'JOURNAL_UNAVAILABLE' ? 1 : (this.#breaks.get(id) ?? 0) + 1
    this.#breaks.set(id, breaks)
    if (breaks >= breaksBeforeHold) this.#hold(id, error)
    const pause = new AbortController()
    const stop = (): void => pause.abort()
    this.#pauses.set(id, pause)
    signal.addEventListener('abort', stop, { once: true })
    // The rows say where it stands: a run that broke is picked up like one that crashed.
    await sleep(clock, pauseAfter(breaks, rerunAfterMs, rarestRerunMs), pause.signal)
    signal.removeEventListener('abort', stop)
    this.#pauses.delete(id)
    this.start(id)
  }

  #hold(id: IncidentId, error: LifeboatError): void {
    const { journal, store, observer } = this.#parts
    const incident = store.inMemory(id)
    if (incident === undefined || incident.closed !== null || incident.held?.code === 'INTERNAL_ERROR') return
    const message = `a bug in Lifeboat stops its recovery: ${error.message}. Lifeboat tries again by itself, less and less often`
    const data = { code: 'INTERNAL_ERROR' as const, message, error: errorRecord(error) }
    try {
      journal.append([{ kind: 'incident.held', incident: id, host: incident.host, data }])
    } catch (thrown) {
      observer.log?.('error', 'incident.hold_not_recorded', { incident: id }, ensureError(thrown))
    }
  }

  #follow({ kind, incident: id }: Entry): void {
    if (id === null) return
    if (answers.has(kind)) this.#pauses.get(id)?.abort()
    if (!progress.has(kind) || !this.#running.has(id)) return
    this.#breaks.delete(id)
    // Not from inside of the append that is being told of.
    if (this.#isHeld(id)) queueMicrotask(() => this.#goOn(id))
  }

  #goOn(id: IncidentId): void {
    const { journal, store, observer } = this.#parts
    const incident = store.inMemory(id)
    if (incident === undefined || !this.#isHeld(id)) return
    const data = { because: 'it got past the internal error' }
    try {
      journal.append([{ kind: 'incident.continued', incident: id, host: incident.host, data }])
    } catch (thrown) {
      observer.log?.('error', 'incident.hold_not_recorded', { incident: id }, ensureError(thrown))
    }
  }

  #isHeld(id: IncidentId): boolean {
    return this.#parts.store.inMemory(id)?.held?.code === 'INTERNAL_ERROR'
  }
}
