/**
 * What the journal tells of the brake, kept current as entries are appended: which scopes are tripped, and when the recovery
 * of each host last began. A restarted daemon knows exactly this.
 */
import type { ScopeId } from '../domain/brake.ts'
import { onOurClock, type Clock } from '../domain/clock.ts'
import type { Entry } from '../domain/entry.ts'
import type { Journal } from '../domain/journal.ts'
import type { HostName } from '../domain/service.ts'

export class BrakeRecord {
  readonly #clock: Clock
  /** Since when, on our monotonic clock (ms): before its start for those of an earlier run. */
  readonly #tripped = new Map<ScopeId, number>()
  readonly #recoveries = new Map<HostName, number>()
  #entries = 0

  constructor(journal: Journal, clock: Clock) {
    this.#clock = clock
    for (const entry of journal.read({ kinds: ['brake.tripped', 'brake.released', 'proof.recorded'] }))
      this.#follow(entry)
    journal.onAppend((entry) => this.#follow(entry))
  }

  get tripped(): ReadonlyMap<ScopeId, number> {
    return this.#tripped
  }

  /** When the last recovery of each host began: its proof of death, whatever became of the incident. */
  get recoveries(): ReadonlyMap<HostName, number> {
    return this.#recoveries
  }

  /** Entries that were followed: as long as it is the same, so is all that the journal tells. */
  get revision(): number {
    return this.#entries
  }

  #follow(entry: Entry): void {
    this.#entries += 1
    if (entry.kind === 'brake.tripped') this.#tripped.set(entry.data.scope, onOurClock(this.#clock, entry.at))
    else if (entry.kind === 'brake.released') this.#tripped.delete(entry.data.scope)
    else if (entry.kind === 'proof.recorded' && entry.host !== null)
      this.#recoveries.set(entry.host, onOurClock(this.#clock, entry.at))
  }
}
