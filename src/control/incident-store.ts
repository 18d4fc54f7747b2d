/**
 * The open incidents as the journal tells them, kept current as entries are appended: the only state of a running daemon.
 * Closed ones stay in the journal and are read when someone asks: a daemon that lives for years must not hold them all.
 */
import { applyEntry, failureOf, foldIncidents, type Incident } from '../domain/incident.ts'
import type { Entry, EntryData, EntryKind, IncidentId } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import {
  applyToReturns,
  nothingKnown,
  returnEntryKinds,
  returnStepEntryKinds,
  type ReturnRecord,
} from '../domain/return-record.ts'
import type { Journal } from '../domain/journal.ts'
import { applyToWatched, isUnfinished, watchedReturnKinds, type WatchedReturn } from '../domain/after-return.ts'

export class IncidentStore {
  readonly #journal: Journal
  readonly #incidents: Map<IncidentId, Incident>
  /** What we set on hosts, and how far they are on their way back. */
  readonly #returns: Map<string, ReturnRecord>
  /** Hosts that came back by themselves, and what became of their instances. */
  readonly #watched = new Map<string, WatchedReturn>()

  /** Reads what is open and follows the journal from then on. */
  constructor(journal: Journal) {
    this.#journal = journal
    const closed = new Set(journal.read({ kinds: ['incident.closed'] }).map((entry) => entry.incident))
    const opened = journal
      .read({ kinds: ['incident.opened', 'process.failed', 'instance.failed'] })
      .filter((entry) => !closed.has(entry.incident))
    for (const entry of journal.read({ kinds: [...watchedReturnKinds] })) applyToWatched(this.#watched, entry)
    const watched = [...this.#watched.values()].map(({ incident }) => incident)
    this.#incidents = foldIncidents(
      [...opened.flatMap(({ incident }) => incident ?? []), ...watched].flatMap((incident) =>
        journal.read({ incident }),
      ),
    )
    for (const incident of watched) this.forgetClosed(incident)
    this.#returns = readReturns(journal)
    journal.onAppend((entry) => {
      applyEntry(this.#incidents, entry)
      applyToReturns(this.#returns, entry)
      applyToWatched(this.#watched, entry)
    })
  }

  /** Hosts that came back by themselves and have instances that are off, or may have. Their incidents are in memory. */
  watchedReturns(): WatchedReturn[] {
    return [...this.#watched.values()].filter((record) => isUnfinished(record, this.inMemory(record.incident)))
  }

  /** Whether the flags on the host's service are ours, set by an incident that is open or over. */
  hasOurFlags(host: string): boolean {
    return this.returnOf(host).ourFlags !== null
  }

  /** Whether what we set on the host still stands while no incident of it is open: it is away, or on its way back. */
  isReturning(host: string): boolean {
    return this.hasOurFlags(host) && this.openOn(host) === undefined
  }

  /** What is known of the host's return; of one that we never touched: nothing. */
  returnOf(host: string): ReturnRecord {
    return this.#returns.get(host) ?? nothingKnown(host)
  }

  /** Every host that carries our flags and has no open incident. */
  returning(): ReturnRecord[] {
    const open = new Set(this.open().map(({ host }) => host))
    return [...this.#returns.values()].filter(({ host, ourFlags }) => ourFlags !== null && !open.has(host))
  }

  /** Every host that is kept out of scheduling because it was silent (domain/set-aside.ts). */
  setAside(): ReturnRecord[] {
    return [...this.#returns.values()].filter(({ setAside }) => setAside !== null)
  }

  /** The incident that set our flags on the host's service, open or over, or undefined. */
  flaggedBy(host: string): IncidentId | undefined {
    return this.returnOf(host).ourFlags?.incidents.at(-1)
  }

  /** Throws INVARIANT for an id that was never opened. */
  get(id: IncidentId): Incident {
    const incident = this.find(id)
    if (incident === undefined) throw new LifeboatError('INVARIANT', `there is no incident ${id}`)
    return incident
  }

  /** Whether it was ever opened. */
  has(id: IncidentId): boolean {
    return this.#incidents.has(id) || this.#journal.read({ incident: id, limit: 1 }).length > 0
  }

  /** How it ended; null while it is open, and for one that was never opened. */
  outcomeOf(id: IncidentId): EntryData['incident.closed']['outcome'] | null {
    const known = this.inMemory(id)
    if (known !== undefined) return known.closed?.outcome ?? null
    const [end] = this.#journal.read({ incident: id, kinds: ['incident.closed'], newestFirst: true, limit: 1 })
    return end?.kind === 'incident.closed' ? end.data.outcome : null
  }

  /** Whether its host was proven dead and nothing revoked that. */
  isProven(id: IncidentId): boolean {
    const known = this.inMemory(id)
    if (known !== undefined) return known.proof !== null
    const kinds: EntryKind[] = ['proof.recorded', 'proof.voided']
    return this.#journal.read({ incident: id, kinds, newestFirst: true, limit: 1 })[0]?.kind === 'proof.recorded'
  }

  /** Whether Nova had the host of that incident forced down when the entry of that number was written. */
  wasForcedDownBefore(id: IncidentId, seq: number): boolean {
    const phases = this.#journal.read({ incident: id, kinds: ['incident.phase'] })
    return phases.some((entry) => entry.kind === 'incident.phase' && entry.data.to === 'surveying' && entry.seq < seq)
  }

  /**
   * Any incident, open or closed, or undefined. One that is over and not in memory is folded in one go, which takes most of a second with
   * thousands of instances: nothing that goes on beside recoveries may ask for it.
   */
  find(id: IncidentId): Incident | undefined {
    return this.inMemory(id) ?? foldIncidents(this.#journal.read({ incident: id })).get(id)
  }

  /** One that is open, or was until just now. Undefined for what was over before: `find` reads that. */
  inMemory(id: IncidentId): Incident | undefined {
    return this.#incidents.get(id)
  }

  /**
   * Lets go of an incident that is closed; later questions read the journal. Open ones stay, and one whose instances
   * are still watched.
   */
  forgetClosed(id: IncidentId): void {
    const incident = this.#incidents.get(id)
    if (incident?.closed === null) return
    const record = this.#watched.get(incident?.host ?? '')
    if (record?.incident !== id || !isUnfinished(record, incident)) this.#incidents.delete(id)
  }

  /** Incidents held in memory. */
  get size(): number {
    return this.#incidents.size
  }

  /** Open incidents of hosts: each is recovered. */
  open(): Incident[] {
    return this.openOfAnyKind().filter((incident) => failureOf(incident) === 'host')
  }

  /** The open incident of the host itself. */
  openOn(host: string): Incident | undefined {
    return this.open().find((incident) => incident.host === host)
  }

  /** Open incidents of processes: their hosts live, and nothing of them is recovered. */
  openProcesses(): Incident[] {
    return this.openOfAnyKind().filter(({ process }) => process !== null)
  }

  /** The open incident of a process of the host. */
  openProcessOn(host: string): Incident | undefined {
    return this.openProcesses().find((incident) => incident.host === host)
  }

  /** Open incidents of instances whose guests crashed: their hosts live. */
  openCrashes(): Incident[] {
    return this.openOfAnyKind().filter(({ crashed }) => crashed !== null)
  }

  openOfAnyKind(): Incident[] {
    return [...this.#incidents.values()].filter((incident) => incident.closed === null)
  }
}

/** Steps are read only for the hosts that still carry our flags: the journal may hold years of others. */
function readReturns(journal: Journal): Map<string, ReturnRecord> {
  const entries = journal.read({ kinds: [...returnEntryKinds] })
  const marks = [...folded(entries).values()].flatMap(({ ourFlags }) => ourFlags ?? [])
  const incidents = marks.flatMap((ourFlags) => ourFlags.incidents)
  const steps = incidents.flatMap((incident) => journal.read({ incident, kinds: [...returnStepEntryKinds] }))
  return steps.length === 0 ? folded(entries) : folded([...entries, ...steps].sort((a, b) => a.seq - b.seq))
}

function folded(entries: readonly Entry[]): Map<string, ReturnRecord> {
  const records = new Map<string, ReturnRecord>()
  for (const entry of entries) applyToReturns(records, entry)
  return records
}
