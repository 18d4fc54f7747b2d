/**
 * When the host of each incident was proven dead last. Asked for with every list of recoveries, and a proof carries its whole evidence:
 * they are read once, and kept current by what is written.
 */
import type { Entry, IncidentId } from '../domain/entry.ts'
import type { Journal } from '../domain/journal.ts'

export class ProvenTimes {
  readonly #journal: Pick<Journal, 'read'>
  /** ISO times, some 100 bytes each; null: not asked for yet. */
  #times: Map<IncidentId, string> | null = null

  constructor(journal: Pick<Journal, 'read' | 'onAppend'>) {
    this.#journal = journal
    journal.onAppend((entry) => {
      if (this.#times !== null) take(this.#times, entry)
    })
  }

  /** Null: it was never proven. */
  of(incident: IncidentId): string | null {
    return this.#read().get(incident) ?? null
  }

  #read(): Map<IncidentId, string> {
    if (this.#times !== null) return this.#times
    const times = new Map<IncidentId, string>()
    for (const entry of this.#journal.read({ kinds: ['proof.recorded'] })) take(times, entry)
    this.#times = times
    return times
  }
}

function take(times: Map<IncidentId, string>, entry: Entry): void {
  if (entry.kind === 'proof.recorded' && entry.incident !== null) times.set(entry.incident, entry.data.proof.provenAt)
}
