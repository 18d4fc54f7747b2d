/**
 * The hosts whose nova-compute Nova lists, from one look to the next: takes in their rows, counts their silence, keeps their segments and
 * what their probes said. Concludes nothing: the judge does. No I/O; time comes in as arguments.
 */
import type { Segment, SegmentOf } from '../domain/segment.ts'
import type { HostName, ServiceRecord } from '../domain/service.ts'
import { asKnown, type ProbeReading, type Verdict, type VerdictKind } from '../domain/verdict.ts'
import type { Aggregates } from './aggregates.ts'
import {
  firstSight,
  intervalOf,
  movedUnseen,
  ownWrite,
  restart,
  stoodStill,
  take,
  type Pulse,
  ownDisable,
} from './heartbeat.ts'
import type { MonitorRules } from './report.ts'
import { notListed, type Track } from './track.ts'
import { deadInARow, witnessesIn } from './witnesses.ts'

/** A service that Nova no longer lists is forgotten after this. Shorter: a flapping cell loses what was learnt. */
const forgetAfterMs = 600_000

export class Tracks {
  readonly #rules: () => MonitorRules
  readonly #aggregates: Pick<Aggregates, 'names'>
  readonly #hosts = new Map<HostName, Track>()

  constructor(rules: () => MonitorRules, aggregates: Pick<Aggregates, 'names'>) {
    this.#rules = rules
    this.#aggregates = aggregates
  }

  get(host: HostName): Track | undefined {
    return this.#hosts.get(host)
  }

  all(): Iterable<Track> {
    return this.#hosts.values()
  }

  /** What another one learnt of the hosts' heartbeats, as of now. No verdict comes with it: nothing was concluded here. */
  learnFrom(other: Tracks): void {
    const { defaultIntervalMs } = this.#rules().settings
    for (const track of other.all()) {
      const { host, segment, verdict, row, pulse } = track
      const unknown = notListed(host, segment.name, verdict.at, defaultIntervalMs)
      // A person may speak before the first reading, and their word is compared with what was known.
      Object.assign(unknown.evidence, asKnown(row), { watched: pulse.watched })
      this.#hosts.set(host, { ...track, readings: [], deadInARow: 0, lastBeatOfDead: null, verdict: unknown })
    }
  }

  /**
   * The rules changed. What was learnt of the hosts stays; what their witnesses said does not, for other ones may be asked from now
   * on.
   */
  placeAgain(): void {
    for (const track of this.#hosts.values()) {
      track.segment = this.#segmentOf(track.row)
      track.readings = []
      track.deadInARow = 0
      track.verdict = { ...track.verdict, segment: track.segment.name }
    }
  }

  /**
   * Takes in a whole reading. `blind`: what was before it could not be watched, so silence counts from here. `late`: the pause
   * was too short to restart the silence, but long enough to miss a beat. `at`: ISO time, for the verdict of a host that is new.
   */
  take(rows: readonly ServiceRecord[], now: number, how: { blind: boolean; late: boolean; at: string }): void {
    const seen = new Set<HostName>()
    for (const row of rows) {
      if (row.binary !== 'nova-compute') continue
      seen.add(row.host)
      const track = this.#hosts.get(row.host)
      if (track) this.#takeRow(track, row, now, how)
      else this.#hosts.set(row.host, this.#begin(row, now, how.at))
    }
    if (seen.size > 0) this.#missing(seen, now)
  }

  /** An earlier run saw these hosts silent, since the time given with each. Gives those whose silence became longer by that. */
  standStill(since: ReadonlyMap<HostName, number>): HostName[] {
    return [...since].flatMap(([host, silentSince]) => {
      const track = this.#hosts.get(host)
      const pulse = track && stoodStill(track.pulse, silentSince)
      if (track === undefined || pulse === undefined || pulse === track.pulse) return []
      track.pulse = pulse
      return [host]
    })
  }

  /** Silence counts from `now` on, but for those that beat in this very reading. */
  restartSilence(now: number): void {
    for (const track of this.#hosts.values())
      if (track.pulse.lastBeatAt !== now) track.pulse = restart(track.pulse, now)
  }

  /** Our own PUT moved the row's stamp: no heartbeat. */
  noteOurWrite(host: HostName, updatedAt: string | null, sentAt?: number): void {
    const track = this.#hosts.get(host)
    if (track) track.pulse = ownWrite(track.pulse, updatedAt, sentAt)
  }

  /** Nova took our disable of its service. */
  noteOurDisable(host: HostName): void {
    const track = this.#hosts.get(host)
    if (track) track.pulse = ownDisable(track.pulse)
  }

  /**
   * The hosts whose silence is long enough to ask their probes, in the order in which they are asked: first those about which something is
   * yet to be decided, for a round has no room for all of many hosts that have long been down.
   */
  silent(now: number): Set<HostName> {
    // When its recovery is over, only a host's heartbeat speaks of its return. While one goes on, a witness may find it alive again.
    const silent = [...this.#hosts.values()].filter(
      (track) => track.verdict.kind !== 'returning' && this.#isSilent(track, now),
    )
    return new Set(silent.toSorted((a, b) => rankOf(a.verdict) - rankOf(b.verdict)).map(({ host }) => host))
  }

  /** The names of the probes of these hosts, by the segment each is in; nothing of hosts that are not known. */
  probesOf(hosts: Iterable<HostName>): Map<HostName, readonly string[]> {
    return new Map(
      [...hosts].flatMap((host) => {
        const track = this.#hosts.get(host)
        return track ? [[host, track.segment.probes] as const] : []
      }),
    )
  }

  /**
   * Takes in what the probes said. A look at one host (`only`) leaves what was said of the others while they stay silent: nobody
   * asked them.
   */
  takeProbes(readings: ReadonlyMap<HostName, ProbeReading[]>, now: number, only: HostName | null): void {
    const kindsNeeded = this.#rules().settings.minDeadProbeKinds
    for (const track of this.#hosts.values()) {
      const silent = this.#isSilent(track, now)
      if (only !== null && track.host !== only && silent) continue
      track.readings = readings.get(track.host) ?? []
      track.deadInARow = deadInARow(track.deadInARow, witnessesIn(track.readings), { silent, kindsNeeded })
    }
  }

  /** How many heartbeats are missing, as silence is counted. */
  missed(pulse: Pulse, now: number): number {
    return Math.max(0, now - pulse.silentSince) / intervalOf(pulse, this.#rules().settings)
  }

  /** The rules a host is under, by what is known of its zone and aggregates. */
  segment(host: HostName): Segment {
    return this.#hosts.get(host)?.segment ?? this.#segmentOf({ host, zone: null })
  }

  /**
   * The same by `rules`, where the host's row has been read since the start; else null, for its zone is not known yet.
   */
  placed(host: HostName, rules: SegmentOf): Segment | null {
    const row = this.#hosts.get(host)?.row
    // Of a cell that cannot be reached Nova lists the row without its zone.
    if (row === undefined || row.status === 'unknown') return null
    return this.#segmentOf(row, rules)
  }

  /** Every segment that has hosts. */
  segments(): Segment[] {
    return [...new Map([...this.#hosts.values()].map(({ segment }) => [segment.name, segment])).values()]
  }

  #begin(row: ServiceRecord, now: number, at: string): Track {
    const segment = this.#segmentOf(row)
    return {
      host: row.host,
      row,
      pulse: firstSight(row, now, at),
      segment,
      readable: row.status !== 'unknown',
      missingSince: null,
      readings: [],
      deadInARow: 0,
      lastBeatOfDead: null,
      verdict: notListed(row.host, segment.name, at, this.#rules().settings.defaultIntervalMs),
    }
  }

  #takeRow(track: Track, row: ServiceRecord, now: number, how: { blind: boolean; late: boolean; at: string }): void {
    track.missingSince = null
    if (row.status === 'unknown') {
      track.readable = false
      return
    }
    // The zone of a row that was UNKNOWN at first is learnt here, and aggregates may have changed.
    track.segment = this.#segmentOf(row)
    const wasUnknown = track.pulse.status === 'unknown'
    const isAfterHole = how.blind || !track.readable
    const watched = isAfterHole ? restart(track.pulse, now) : track.pulse
    const before = isAfterHole || how.late ? { ...watched, readSince: now } : watched
    track.pulse = wasUnknown ? firstSight(row, now, how.at) : movedUnseen(before, take(before, row, now), now)
    track.row = row
    track.readable = true
  }

  #missing(seen: ReadonlySet<HostName>, now: number): void {
    for (const track of this.#hosts.values()) {
      if (seen.has(track.host)) continue
      track.readable = false
      track.missingSince ??= now
      if (now - track.missingSince >= forgetAfterMs) this.#hosts.delete(track.host)
    }
  }

  #isSilent({ pulse }: Track, now: number): boolean {
    return this.missed(pulse, now) >= this.#rules().settings.suspectAfterBeats
  }

  #segmentOf({ host, zone }: Pick<ServiceRecord, 'host' | 'zone'>, rules = this.#rules().segmentOf): Segment {
    return rules(host, zone, this.#aggregates.names(host))
  }
}

/**
 * Hosts are asked in this order, and a round may have no time for the last. First those that count as alive by the word of a witness alone: it
 * answers at once. Last those about which a witness decides nothing.
 */
const ranks: Partial<Record<VerdictKind, number>> = { 'service-down': 0, maintenance: 2, 'forced-down-before': 2 }

function rankOf({ kind }: Verdict): number {
  return ranks[kind] ?? 1
}
