/**
 * The level of the log: what the configuration says, or what a person ordered instead for a while. Owns the return to the
 * configured one. Says nothing itself.
 */
import type { Clock } from '../domain/clock.ts'
import type { LogLevel, LogLevelState } from '../domain/operations.ts'

export class LogLevelInForce {
  readonly #clock: Clock
  readonly #apply: (level: LogLevel) => void
  #configured: LogLevel
  #ordered: { level: LogLevel; until: string | null } | null = null
  #cancelReturn: () => void = () => undefined

  /** @param apply makes it so; called whenever another level holds */
  constructor(clock: Clock, configured: LogLevel, apply: (level: LogLevel) => void) {
    this.#clock = clock
    this.#configured = configured
    this.#apply = apply
  }

  state(): LogLevelState {
    const { level, until } = this.#ordered ?? { level: this.#configured, until: null }
    return { level, configured: this.#configured, until }
  }

  /** @param until ISO, wall time; null: until the next reload or start */
  order(level: LogLevel, until: string | null): LogLevelState {
    this.#cancelReturn()
    this.#ordered = { level, until }
    if (until !== null) {
      // The length is what was asked for: a wall clock that is set meanwhile does not change it.
      const lengthMs = Math.max(0, Date.parse(until) - this.#clock.wall())
      this.#cancelReturn = this.#clock.after(lengthMs, () => this.#goBack())
    }
    this.#apply(level)
    return this.state()
  }

  /** A reload: an order without an end is over, one with an end stays until then. */
  configure(level: LogLevel): void {
    this.#configured = level
    if (this.#ordered === null || this.#ordered.until === null) this.#goBack()
  }

  /** The daemon stops. */
  end(): void {
    this.#cancelReturn()
  }

  #goBack(): void {
    this.#cancelReturn()
    this.#ordered = null
    this.#apply(this.#configured)
  }
}
