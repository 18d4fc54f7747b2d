/**
 * Incidents that are over and not done with. Asked for every few seconds by each overview, so what the journal's index says is
 * kept until an entry changes it. Owns that; what an incident looks like in a list is incident-listing.ts's.
 */
import type { Entry } from '../domain/entry.ts'
import type { IncidentFilter, IncidentSummary, UnreviewedCounts } from '../domain/operations.ts'
import type { IncidentLine } from '../journal/listing.ts'
import { defaultLimit, summaryOfLine, type ReviewedJournal } from './incident-listing.ts'

/** More than any cloud has: none of them may be left out. */
const all = 1_000_000

export class UnreviewedIncidents {
  readonly #journal: Pick<ReviewedJournal, 'incidents' | 'isBehind'>
  /** The newest first, some kB each; null: to be read. */
  #lines: readonly IncidentLine[] | null = null

  constructor(journal: Pick<ReviewedJournal, 'incidents' | 'isBehind' | 'onDurable'>) {
    this.#journal = journal
    journal.onDurable((entry) => {
      if (this.#changes(entry)) this.#lines = null
    })
  }

  counts(): UnreviewedCounts {
    const counts = { incidents: 0, left: 0, lost: 0 }
    for (const { instances } of this.#read()) {
      counts.incidents += 1
      counts.left += instances.left
      counts.lost += instances.failed + instances.stuck
    }
    return counts
  }

  /** The newest first. None of them is open. */
  list({ open, host, instance, limit = defaultLimit }: IncidentFilter): IncidentSummary[] {
    if (open === true) return []
    const lines =
      instance === undefined ? this.#read() : this.#journal.incidents({ unreviewed: true, instance, limit: all })
    return lines
      .filter((line) => host === undefined || line.host === host)
      .slice(0, limit)
      .map((line) => ({ ...summaryOfLine(line), signedOff: null }))
  }

  #read(): readonly IncidentLine[] {
    if (this.#lines !== null) return this.#lines
    const lines = this.#journal.incidents({ unreviewed: true, limit: all })
    // Kept, it would lack what the journal catches up with.
    if (this.#journal.isBehind?.() !== true) this.#lines = lines
    return lines
  }

  /** Whatever is written of an incident that is in the list may end that; nothing else but an end brings one in. */
  #changes({ kind, incident }: Entry): boolean {
    if (kind === 'incident.closed' || kind === 'instances.watched') return true
    return incident !== null && this.#lines?.some(({ id }) => id === incident) === true
  }
}
