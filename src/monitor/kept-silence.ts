/**
 * Keeps, in a daemon that starts again and again, what is known of silent hosts from one run to the next: takes over what the run
 * before put on record, and says what is to be put on record for the next one. Decides nothing: standing-still.ts does.
 */
import type { Clock } from '../domain/clock.ts'
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { HostName, ServicesReading } from '../domain/service.ts'
import type { SilenceOnRecord } from '../domain/silence.ts'
import type { Fault } from './control-plane.ts'
import { intervalOf, type Pulse } from './heartbeat.ts'
import { holeMs, type MonitorSettings } from './settings.ts'
import {
  follow,
  othersStandStill,
  recordOf,
  stillSince,
  takeOver,
  type HostSeen,
  type StandingStill,
} from './standing-still.ts'
import type { Track } from './track.ts'

/** Records in the time of one hole. Fewer: a run that dies right before its next one breaks the chain. More: a larger journal. */
const recordsInAHole = 4

export class KeptSilence {
  readonly #clock: Clock
  readonly #settings: () => MonitorSettings
  readonly #startedAt: number
  #before: (SilenceOnRecord & { at: string }) | null
  #known: StandingStill | null = null
  #serverTimeMs: number | null = null
  #recordedAt = -Infinity

  constructor(clock: Clock, settings: () => MonitorSettings, before: (SilenceOnRecord & { at: string }) | null) {
    this.#clock = clock
    this.#settings = settings
    this.#startedAt = clock.now()
    this.#before = before
  }

  /**
   * Takes in a reading. Gives the hosts that have been silent since before this run, and since when; the time lies before the
   * start of our clock. Nothing any more once this run is old enough to judge by itself.
   */
  take(reading: ServicesReading, tracks: Iterable<Track>, now: number): Map<HostName, number> {
    const settings = this.#settings()
    const hole = holeMs(settings)
    const aloneMs = settings.startSilenceMs + settings.confirmAfterBeats * settings.defaultIntervalMs + hole
    if (now - this.#startedAt > aloneMs) {
      this.drop()
      return new Map()
    }
    this.#takeOver(reading, now, hole)
    this.#serverTimeMs = reading.serverTimeMs
    const seen = [...tracks].flatMap((track) => hostSeen(track, reading.serverTimeMs, now, settings))
    const known = follow(this.#known, seen, now, hole)
    this.#known = known
    if (known === null) return new Map()
    return new Map([...known.hosts.keys()].flatMap((host) => sinceOf(known, host)))
  }

  /** Heartbeats do not get through, as far as the silent hosts and the others show. */
  fault(now: number): Fault | null {
    return othersStandStill(this.#known, now, this.#settings())
  }

  /** What is to be put on record now, or null: nothing, or not yet. Counts as recorded. */
  record(now: number): SilenceOnRecord | null {
    if (this.#known === null || this.#serverTimeMs === null) return null
    if (now - this.#recordedAt < holeMs(this.#settings()) / recordsInAHole) return null
    this.#recordedAt = now
    return recordOf(this.#known, now, this.#serverTimeMs)
  }

  /** Nothing of it counts any more: verdicts are frozen, and silence counts from the end of that. */
  drop(): void {
    this.#before = null
    this.#known = null
  }

  #takeOver({ serverTimeMs }: ServicesReading, now: number, hole: number): void {
    const before = this.#before
    this.#before = null
    if (before === null || serverTimeMs === null) return
    const wall = this.#clock.wall() - (this.#clock.now() - now)
    this.#known = takeOver(before, { now, wall, serverTimeMs }, hole)
    if (this.#known !== null) this.#recordedAt = this.#known.readAt
  }
}

function sinceOf(known: StandingStill, host: HostName): [HostName, number][] {
  const since = stillSince(known, host)
  return since === null ? [] : [[host, since]]
}

/** The cloud's clock only chooses who is watched: for how long, our own says. A run of a few seconds sees nobody late by it. */
function hostSeen(
  { host, row, readable, pulse }: Track,
  serverTimeMs: number | null,
  now: number,
  settings: MonitorSettings,
): HostSeen[] {
  if (!readable || row.forcedDown || row.updatedAt === null) return []
  const lateAfterMs = settings.suspectAfterBeats * intervalOf(pulse, settings)
  const ageMs = serverTimeMs === null ? 0 : serverTimeMs - cloudTimeMs(row.updatedAt)
  const late = silentMs(pulse, now) >= lateAfterMs || ageMs >= lateAfterMs
  const mayTestify = !late && row.status === 'enabled'
  return [{ host, stamp: row.updatedAt, since: pulse.silentSince, late, mayTestify }]
}

function silentMs({ silentSince }: Pulse, now: number): number {
  return now - silentSince
}
