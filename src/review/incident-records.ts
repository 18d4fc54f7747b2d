/**
 * The records of the incidents that people looked at last, kept current by reading what was written since. Bounded: a record of
 * thousands of instances holds tens of megabytes.
 */
import type { IncidentId } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import { IncidentRecord } from './incident-record.ts'

/** Records kept, and how many instances they may have together; the one looked at last is always kept. */
const recordsKept = 8
const instancesKept = 5_000

/** Entries read, and lines of instances made, before others get their turn: 20 ms at most. More would hold up heartbeats and steps. */
const pieceSize = 250

export class IncidentRecords {
  readonly #journal: Pick<Journal, 'read'>
  readonly #pause: () => Promise<void>
  /** The one looked at last is the last. */
  readonly #records = new Map<IncidentId, IncidentRecord>()
  readonly #loading = new Map<IncidentId, Promise<void>>()

  /** @param pause awaited between pieces of a long read */
  constructor(journal: Pick<Journal, 'read'>, pause: () => Promise<void>) {
    this.#journal = journal
    this.#pause = pause
  }

  /** Reads a record in pieces, so that `get` has nothing left to read. Does nothing for an id that nobody knows. */
  async load(id: IncidentId): Promise<void> {
    const loading = this.#loading.get(id) ?? this.#load(id).finally(() => this.#loading.delete(id))
    this.#loading.set(id, loading)
    await loading
  }

  /** Current as of now. Throws NOT_FOUND. */
  get(id: IncidentId): IncidentRecord {
    const record = this.#records.get(id) ?? new IncidentRecord(id)
    for (const entry of this.#journal.read({ incident: id, after: record.lastSeq })) record.take(entry)
    if (!record.begun) throw new LifeboatError('NOT_FOUND', `There is no incident ${id}`)
    this.#keep(record)
    return record
  }

  async #load(incident: IncidentId): Promise<void> {
    const record = this.#records.get(incident) ?? new IncidentRecord(incident)
    for (;;) {
      const piece = this.#journal.read({ incident, after: record.lastSeq, limit: pieceSize })
      for (const entry of piece) record.take(entry)
      if (piece.length < pieceSize) break
      await this.#pause()
    }
    if (!record.begun) return
    this.#keep(record)
    while (record.makeLines(pieceSize)) await this.#pause()
  }

  #keep(record: IncidentRecord): void {
    this.#records.delete(record.id)
    this.#records.set(record.id, record)
    let instances = 0
    for (const [place, known] of [...this.#records.values()].toReversed().entries()) {
      instances += known.incident.instances.size
      if (place > 0 && (place >= recordsKept || instances > instancesKept)) this.#records.delete(known.id)
    }
  }
}
