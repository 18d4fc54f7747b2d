/**
 * The open incidents as the journal tells them, kept current as entries are appended: the only state of a running daemon.
 * Closed ones stay in the journal and are read when somebody asks: a daemon that lives for years must not hold them all.
 */
import { applyEntry, foldIncidents, type Incident } from '../domain/incident.ts'
import type { Entry, IncidentId } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'

export class IncidentBook {
  readonly #journal: Journal
  readonly #incidents: Map<IncidentId, Incident>
  /** Hosts whose service we marked, with the incident that did. */
  readonly #marked = new Map<string, IncidentId>()

  /** Reads what is open and follows the journal from then on. */
  constructor(journal: Journal) {
    this.#journal = journal
    const closed = new Set(journal.read({ kinds: ['incident.closed'] }).map((entry) => entry.incident))
    const opened = journal.read({ kinds: ['incident.opened'] }).filter((entry) => !closed.has(entry.incident))
    this.#incidents = foldIncidents(
      opened.flatMap((entry) => (entry.incident === null ? [] : journal.read({ incident: entry.incident }))),
    )
    for (const entry of journal.read({ kinds: ['service.marked'] })) this.#follow(entry)
    journal.onAppend((entry) => {
      applyEntry(this.#incidents, entry)
      this.#follow(entry)
    })
  }

  /** Whether the flags on the host's service are ours, set by an incident that is open or over. */
  isMarked(host: string): boolean {
    return this.#marked.has(host)
  }

  /** The incident that set our flags on the host's service, open or over, or undefined. */
  markedBy(host: string): IncidentId | undefined {
    return this.#marked.get(host)
  }

  /** Throws INVARIANT for an id that was never opened. */
  get(id: IncidentId): Incident {
    const incident = this.find(id)
    if (incident === undefined) throw new LifeboatError('INVARIANT', `there is no incident ${id}`)
    return incident
  }

  /** The host was seen alive without our flags: they are gone, whoever took them back. */
  forgetMark(host: string): void {
    this.#marked.delete(host)
  }

  /** Any incident, open or closed, or undefined. */
  find(id: IncidentId): Incident | undefined {
    return this.#incidents.get(id) ?? foldIncidents(this.#journal.read({ incident: id })).get(id)
  }

  /** Lets go of an incident that is closed; whoever asks for it later reads the journal. Open ones stay. */
  forgetClosed(id: IncidentId): void {
    if (this.#incidents.get(id)?.closed !== null) this.#incidents.delete(id)
  }

  /** Incidents held in memory. */
  get size(): number {
    return this.#incidents.size
  }

  open(): Incident[] {
    return [...this.#incidents.values()].filter((incident) => incident.closed === null)
  }

  openOn(host: string): Incident | undefined {
    return this.open().find((incident) => incident.host === host)
  }

  #follow(entry: Entry): void {
    if (entry.kind === 'service.marked' && entry.host !== null && entry.incident !== null)
      this.#marked.set(entry.host, entry.incident)
  }
}
