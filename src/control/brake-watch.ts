/**
 * The brake in the running daemon: looks at every poll and before every act of an incident whose host is not yet proven dead,
 * journals each scope that trips or opens, and says what holds an incident. Counting and judging are in monitor/brake*.ts.
 */
import type { BrakeScope, CloudBrake, ScopeId } from '../domain/brake.ts'
import type { Clock } from '../domain/clock.ts'
import type { NewEntry } from '../domain/entry.ts'
import type { Incident } from '../domain/incident.ts'
import type { Journal } from '../domain/journal.ts'
import type { BrakeLimits, Segment } from '../domain/segment.ts'
import type { HostName } from '../domain/service.ts'
import type { Verdict } from '../domain/verdict.ts'
import { scopesOf, type BrakeFacts, type BrakeRules } from '../monitor/brake.ts'
import {
  holding,
  readBrake,
  roomFor,
  type BrakeReading,
  type ScopeReading,
  type Trips,
} from '../monitor/brake-trips.ts'
import type { Monitor } from '../monitor/monitor.ts'
import { brakeFacts } from './brake-facts.ts'
import { BrakeRecord } from './brake-record.ts'
import type { IncidentStore } from './incident-store.ts'

export interface BrakeWatchParts {
  clock: Clock
  journal: Journal
  store: Pick<IncidentStore, 'open' | 'hasOurFlags' | 'returnOf'>
  monitor: Pick<Monitor, 'verdicts' | 'segments' | 'domains' | 'frozen' | 'lastPoll'>
  segmentOfIncident: (incident: Incident) => Segment
  /** The verdicts as the brake counts them: a host that is silent by plan is no sign of a mass failure. Default: as they are. */
  withoutPlanned?: (verdicts: readonly Verdict[]) => readonly Verdict[]
  /** What holds now; a reload changes it. */
  rules: () => CloudBrake
  confirmAfterBeats: () => number
}

export class BrakeWatch {
  readonly #parts: BrakeWatchParts
  readonly #record: BrakeRecord
  readonly #startedAt: number
  #trips: Trips
  #last: { verdicts: readonly Verdict[]; revision: number; rules: CloudBrake; reading: BrakeReading } | null = null

  constructor(parts: BrakeWatchParts) {
    this.#parts = parts
    this.#record = new BrakeRecord(parts.journal, parts.clock)
    const now = parts.clock.now()
    this.#startedAt = now
    // Nobody watched since the last run: the time that it needs to open begins again.
    this.#trips = new Map(
      [...this.#record.tripped].map(([scope, since]) => [scope, { since, changedAt: now, hosts: [], waiting: 0 }]),
    )
  }

  /**
   * Judges what is known now, and journals what tripped or opened. Throws JOURNAL_UNAVAILABLE when it cannot: then nothing
   * opened. While the control plane is not believed nothing trips, and nothing opens.
   */
  look(): BrakeReading {
    const { monitor, journal, clock } = this.#parts
    const verdicts = monitor.verdicts()
    const blind = monitor.frozen() !== null || monitor.lastPoll() === null
    const last = this.#last
    const rules = this.#parts.rules()
    const same = last?.verdicts === verdicts && last.revision === this.#record.revision && last.rules === rules
    if (!blind && same) return last.reading
    const reading = readBrake(this.#trips, this.#facts(verdicts, blind), this.#rules(), clock.now())
    const entries = [...reading.tripped.map(trippedEntry), ...reading.released.map(releasedEntry)]
    if (entries.length > 0) journal.append(entries)
    this.#trips = reading.trips
    this.#last = blind ? null : { verdicts, revision: this.#record.revision, rules, reading }
    return reading
  }

  /** Why the brake holds this incident, naming each scope that does; null when none does or a person let it through. */
  holds(incident: Incident): string | null {
    if (incident.override !== null) return null
    const { host, segment } = incident
    const scopes = holding({ host, segment, domains: this.#domains(host) }, this.look())
    return scopes.length === 0 ? null : scopes.map(({ message }) => message).join('; ')
  }

  /**
   * Of hosts that are only silent, those that it would let through if all of them were dead. `aside`: hosts that count with them
   * because they were taken out of scheduling before.
   */
  roomFor(hosts: readonly HostName[], aside: readonly HostName[]): HostName[] {
    this.look()
    const { monitor, clock } = this.#parts
    const verdicts = monitor.verdicts()
    const counted = new Set([...hosts, ...aside])
    const silent = verdicts
      .filter(({ host }) => counted.has(host))
      .map(({ host, segment }) => ({ host, segment, domains: this.#domains(host) }))
    const blind = monitor.frozen() !== null || monitor.lastPoll() === null
    const room = new Set(roomFor(silent, this.#facts(verdicts, blind), this.#rules(), this.#trips, clock.now()))
    return hosts.filter((host) => room.has(host))
  }

  /** Every scope as it stands, the cloud first, for people and machines. */
  scopes(): BrakeScope[] {
    return [...this.look().scopes.values()].map((reading) => this.#view(reading))
  }

  /** The scopes that a host counts in, the cloud first. */
  scopeIdsOf({ host, segment }: { host: HostName; segment: string }): ScopeId[] {
    return scopesOf({ host, segment, domains: this.#domains(host) })
  }

  #view({ scope, kind, title, hosts, cooling, allowed, fleet, trip, message }: ScopeReading): BrakeScope {
    const { clock } = this.#parts
    const trippedSince = trip === null ? null : new Date(clock.wall() - (clock.now() - trip.since)).toISOString()
    return { scope, kind, title, down: hosts.length, cooling, allowed, fleet, hosts, trippedSince, message }
  }

  #facts(verdicts: readonly Verdict[], blind: boolean): BrakeFacts {
    const { store, monitor, confirmAfterBeats, withoutPlanned } = this.#parts
    return brakeFacts({
      blind,
      verdicts: withoutPlanned?.(verdicts) ?? verdicts,
      openIncidents: store.open(),
      recoveries: this.#record.recoveries,
      startedAt: this.#startedAt,
      hasOurFlags: (host) => store.hasOurFlags(host),
      isSetAside: (host) => store.returnOf(host).setAside !== null,
      domains: (host) => this.#domains(host),
      confirmAfterBeats: confirmAfterBeats(),
      fencesIsolated: (name) => monitor.segments().some((it) => it.name === name && it.onServiceDown === 'fence'),
    })
  }

  #domains(host: string): string[] {
    const { monitor } = this.#parts
    const { failureDomain } = this.#parts.rules()
    return failureDomain === null ? [] : monitor.domains(host, failureDomain.key)
  }

  /** Right after a start no host is known yet; the segments of open incidents always are. */
  #rules(): BrakeRules {
    const { store, monitor, rules, segmentOfIncident } = this.#parts
    const segments = new Map<string, BrakeLimits>()
    for (const incident of store.open()) segments.set(incident.segment, segmentOfIncident(incident).brake)
    for (const { name, brake } of monitor.segments()) segments.set(name, brake)
    return { ...rules(), segments }
  }
}

function trippedEntry({ scope, hosts, allowed, fleet, message }: ScopeReading): NewEntry {
  return { kind: 'brake.tripped', data: { scope, down: hosts.length, allowed, fleet, hosts, message } }
}

function releasedEntry(reading: BrakeReading['released'][number]): NewEntry {
  const { scope, hosts, allowed, fleet, message, trippedForMs } = reading
  return { kind: 'brake.released', data: { scope, down: hosts.length, allowed, fleet, message, trippedForMs } }
}
