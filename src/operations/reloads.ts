/**
 * Changing the configuration of a running daemon: read and check everything as a start does, write down what changes, then
 * exchange it as a whole. Whatever fails on the way leaves what held before, and is on record. Owns what is known of the
 * configuration in force; what the options mean is elsewhere (docs/decisions/0010).
 */
import { isAborted, sleep, type Clock } from '../domain/clock.ts'
import type { NewEntry, Via } from '../domain/entry.ts'
import { ensureError, LifeboatError, problemsOf } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import type { Observer } from '../domain/observer.ts'
import type { ConfigurationState, ReloadReport } from '../domain/operations.ts'
import { changesBetween, type LoadedConfig } from '../config/index.ts'
import { detectionAdvice } from '../config/detection-advice.ts'
import type { LogLevelInForce } from './log-level.ts'
import { known } from '../orders/order-acts.ts'
import type { Mode, Rules } from '../control/rules.ts'

/** New rules beside those in force, ready to be exchanged. */
export interface BuiltRules {
  rules: Rules
  /** What changed and is no option of the files: the cloud's credentials, the workflow's document. */
  changed: string[]
  /** The same, of what waits for the next start. */
  waiting: string[]
  warnings: string[]
  /** They are in force: lets go of what they replaced. */
  adopted: () => void
  /** They are not wanted: lets go of what was built for them. */
  dropped: () => void
}

/** Where a daemon's configuration comes from. */
export interface ConfigurationSource {
  /** What the process started with. */
  loaded: LoadedConfig
  /** What is in force when the daemon is built, where a daemon before it in this process read it again. Default: `loaded`. */
  inForce?: LoadedConfig
  /** What that daemon knew of it: what waits for a restart still does, and what it refused may still be on disk. */
  state?: ConfigurationState | null
  /** Reads the files again. Throws CONFIG_INVALID. */
  read: () => LoadedConfig
  /** Throws CONFIG_INVALID, also for new credentials that Keystone refuses, and WORKFLOW_INVALID. */
  build: (next: LoadedConfig) => Promise<BuiltRules>
  /** Told what holds from now on, for what outlives the daemon or is no rule of it: who may ask it. Must not fail. */
  adopted?: (next: LoadedConfig, rules: Rules) => void
  /** Told what is known of it, for the next daemon in this process. */
  noted?: (state: ConfigurationState) => void
  /** Told when a reload begins and when it has ended, either way. */
  reloading?: () => void
  reloaded?: () => void
}

export interface ReloadsParts {
  clock: Clock
  journal: Pick<Journal, 'append'>
  observer: Observer
  /** Null: a daemon without configuration files, as in the demo. */
  source: ConfigurationSource | null
  logLevel: LogLevelInForce
  signal: AbortSignal
  mode: () => Mode
  /** False while another daemon writes the journal: what this one puts in force changes no recovery, and only the log says it. */
  records: () => boolean
  /** What has to be on record before these rules hold. Throws when they cannot hold. */
  prepare: (rules: Rules) => { entries: NewEntry[]; adopt: () => void }
}

/** Who asked for it. */
export interface ReloadOrder {
  by: string
  actor: string
  reason: string
  via?: Via
}

export class Reloads {
  readonly #parts: ReloadsParts
  #inForce: LoadedConfig | null
  #state: ConfigurationState
  /** One after another: two at once could each check against what the other replaces. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(parts: ReloadsParts) {
    this.#parts = parts
    this.#inForce = parts.source?.inForce ?? parts.source?.loaded ?? null
    const files = this.#inForce?.files ?? []
    const begins = { files, loadedAt: this.#now(), loadedBy: 'start', waiting: [], refused: null }
    this.#state = parts.source?.state ?? begins
  }

  state(): ConfigurationState {
    return this.#state
  }

  /** Throws what made it fail; then everything is as before. */
  reload(order: ReloadOrder): Promise<ReloadReport> {
    const turn = this.#queue.then(() => this.#reload(order))
    this.#queue = turn.catch(() => undefined)
    return turn
  }

  async #reload(order: ReloadOrder): Promise<ReloadReport> {
    const { source, observer, signal } = this.#parts
    // Nothing more is told to systemd either: READY after STOPPING would say that it runs on.
    if (signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
    source?.reloading?.()
    try {
      const report = await this.#exchange(order)
      observer.configuration?.({ ok: true })
      return report
    } catch (thrown) {
      this.#refused(order, ensureError(thrown))
      throw thrown
    } finally {
      if (!isAborted(signal)) source?.reloaded?.()
    }
  }

  async #exchange(order: ReloadOrder): Promise<ReloadReport> {
    const { source, signal, clock, logLevel } = this.#parts
    if (source === null || this.#inForce === null)
      throw new LifeboatError('USAGE', 'This daemon was not started from a configuration that could be read again')
    const next = source.read()
    const built = await source.build(next)
    try {
      // Alone in its moment: what a poll that has just ended found is acted on before the rules change, not between.
      await sleep(clock, 0, signal)
      if (signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
      const report = this.#report(next, source.loaded, this.#inForce, built)
      this.#putInForce(order, next, built, report)
      logLevel.configure(next.config.logLevel)
      this.#advise(next, report)
      return report
    } catch (thrown) {
      built.dropped()
      throw thrown
    }
  }

  #report(next: LoadedConfig, started: LoadedConfig, inForce: LoadedConfig, built: BuiltRules): ReloadReport {
    const { mode } = this.#parts
    const { live } = changesBetween(inForce.options, next.options)
    const { restart } = changesBetween(started.options, next.options)
    const needsRestart = new Set(next.options.flatMap(({ name, reload }) => (reload === 'restart' ? [name] : [])))
    // The content of a secret's file is read here; what uses it may have been built at the start.
    const rotated = rotatedSince(inForce, next).filter((name) => !needsRestart.has(name))
    const unused = rotatedSince(started, next).filter((name) => needsRestart.has(name))
    const from = mode()
    const to = built.rules.mode
    return {
      changed: [...new Set([...live, ...rotated, ...built.changed])],
      waiting: [...new Set([...restart, ...unused, ...built.waiting])],
      mode: from === to ? null : { from, to },
      files: next.files,
      warnings: [...next.warnings.map(({ message }) => message), ...built.warnings],
    }
  }

  /** Record before act (law L2); the exchange itself takes no time and cannot fail. */
  #putInForce(order: ReloadOrder, next: LoadedConfig, built: BuiltRules, report: ReloadReport): void {
    const { journal, prepare, source, records } = this.#parts
    const { by, actor, reason, via } = order
    const { changed, waiting, mode, files } = report
    const { entries, adopt } = prepare(built.rules)
    if (records())
      journal.append([
        { kind: 'config.reloaded', actor, data: { by, reason, changed, waiting, files, ...known(via) } },
        ...(mode === null
          ? []
          : [{ kind: 'mode.changed' as const, actor, data: { ...mode, by, reason, ...known(via) } }]),
        ...entries,
      ])
    else this.#log(order, report)
    adopt()
    this.#inForce = next
    this.#note({ files, loadedAt: this.#now(), loadedBy: by, waiting, refused: null })
    built.adopted()
    source?.adopted?.(next, built.rules)
  }

  #note(state: ConfigurationState): void {
    this.#state = state
    this.#parts.source?.noted?.(state)
  }

  /** What the journal would say: a take-over records the rules that it begins with. */
  #log({ by, reason }: ReloadOrder, { changed, waiting, files }: ReloadReport): void {
    const rest = waiting.length === 0 ? '' : `; waiting for the next start: ${waiting.join(', ')}`
    const message = `Configuration of a standby reloaded by ${by}: ${changed.join(', ') || 'nothing changed'}${rest}`
    this.#parts.observer.log?.('info', 'config.reloaded', { message, by, reason, files })
  }

  #advise({ config }: LoadedConfig, { warnings }: ReloadReport): void {
    const { observer } = this.#parts
    for (const message of warnings) observer.log?.('warn', 'config.warning', { message })
    for (const { message, advice } of detectionAdvice(config))
      observer.log?.('warn', 'detection.advice', { message, advice })
  }

  #refused({ by, actor, reason, via }: ReloadOrder, error: LifeboatError): void {
    const { journal, observer } = this.#parts
    const { code, message } = error
    // Nothing was refused: nobody came to judge it.
    if (code === 'SHUTDOWN') return
    const problems = problemsOf(error).slice(0, mostProblems)
    this.#note({ ...this.#state, refused: { at: this.#now(), by, code, message, problems } })
    observer.configuration?.({ ok: false })
    try {
      journal.append([{ kind: 'config.refused', actor, data: { by, reason, code, message, problems, ...known(via) } }])
    } catch (thrown) {
      observer.log?.(
        'error',
        'config.refused',
        { message, by, problems, unrecorded: ensureError(thrown).message },
        error,
      )
    }
  }

  #now(): string {
    return new Date(this.#parts.clock.wall()).toISOString()
  }
}

/** Kept of a refused configuration. More help nobody, and a generated file may have a problem in each of its lines. */
const mostProblems = 50

/** Options whose secret is another one, though it is named as before. */
function rotatedSince({ secrets: before }: LoadedConfig, { secrets: after }: LoadedConfig): string[] {
  return [...after].flatMap(([name, secret]) => {
    const was = before.get(name)
    return was !== undefined && was !== secret ? [name] : []
  })
}
