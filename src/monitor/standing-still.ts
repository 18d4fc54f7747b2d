/**
 * Hosts that stand still over several runs of the daemon, as a value and pure functions. A stamp that is the same in two runs
 * was not moved in between, so its silence goes on; but it counts only while other hosts are seen to beat, for with the control
 * plane away nobody's stamp moves (law L7).
 */
import type { HostName } from '../domain/service.ts'
import type { SilenceOnRecord } from '../domain/silence.ts'
import type { Fault } from './control-plane.ts'
import { span } from '../domain/text/span.ts'

export interface StandingStill {
  /** `since` on our monotonic clock: before the start of this run for those that an earlier one watched. */
  hosts: ReadonlyMap<HostName, { stamp: string; since: number }>
  /** Some of the other hosts, with their stamps at `othersSince`. */
  others: ReadonlyMap<HostName, string>
  othersSince: number
  /** Half of the others that were watched before had moved by then. */
  othersBeat: boolean
  readAt: number
}

/** A readable nova-compute that is not forced down, as one reading shows it. */
export interface HostSeen {
  host: HostName
  stamp: string
  /** Since when this run has seen it silent. */
  since: number
  /** It missed heartbeats, by our clock or by the cloud's. */
  late: boolean
  /** Whether its heartbeat says that heartbeats get through. */
  mayTestify: boolean
}

/** Other hosts that are watched. Fewer: a rack that dies looks like the whole cloud. More: each record in the journal is larger. */
const othersWatched = 16

/** The next value after a reading; null when nobody stands still. Readings further apart than `holeMs` begin again. */
export function follow(
  known: StandingStill | null,
  seen: readonly HostSeen[],
  now: number,
  holeMs: number,
): StandingStill | null {
  const before = known !== null && now - known.readAt <= holeMs ? known : null
  const hosts = new Map<HostName, { stamp: string; since: number }>()
  for (const { host, stamp, since, late } of seen) {
    const same = before?.hosts.get(host)
    if (same?.stamp === stamp) hosts.set(host, same)
    else if (late) hosts.set(host, { stamp, since })
  }
  if (hosts.size === 0) return null
  const watched = before?.others ?? new Map<HostName, string>()
  const moved = seen.filter(({ host, stamp }) => (watched.get(host) ?? stamp) !== stamp).length
  const othersBeat = moved > 0 && moved * 2 >= watched.size
  if (before !== null && watched.size > 0 && !othersBeat) return { ...before, hosts, readAt: now }
  const others = spread(seen.filter(({ host, mayTestify }) => mayTestify && !hosts.has(host)))
  return { hosts, others, othersSince: now, othersBeat, readAt: now }
}

/** Since when the host is silent, earlier runs included; null as long as no others were seen to beat since then. */
export function stillSince(known: StandingStill, host: HostName): number | null {
  const found = known.hosts.get(host)
  return found !== undefined && known.othersBeat && known.othersSince > found.since ? found.since : null
}

/** The fault when the others stand still too, for longer than a dead broker needs to show. */
export function othersStandStill(
  known: StandingStill | null,
  now: number,
  limits: { confirmAfterBeats: number; defaultIntervalMs: number; pollIntervalMs: number },
): Fault | null {
  if (known === null || known.others.size === 0) return null
  const forMs = now - known.othersSince
  const graceMs = Math.max(2, limits.confirmAfterBeats) * limits.defaultIntervalMs + 2 * limits.pollIntervalMs
  if (forMs <= graceMs) return null
  const who = `fewer than half of the ${known.others.size} others that were watched have beaten`
  const message = `${known.hosts.size} hosts are silent, and over the last restarts (${span(forMs)}) ${who}: broker or network`
  return { reason: 'MASS_SILENCE', message }
}

/**
 * What the run before left, at the first reading of this one. The time in between counts by whichever of the two wall clocks, ours
 * and that of Nova's API, says less; null when either says that it was more than `holeMs`.
 *
 * @param at ISO time of the record, ours
 */
export function takeOver(
  record: SilenceOnRecord & { at: string },
  reading: { now: number; wall: number; serverTimeMs: number },
  holeMs: number,
): StandingStill | null {
  const ours = reading.wall - Date.parse(record.at)
  const theirs = reading.serverTimeMs - Date.parse(record.cloudTime)
  if (Math.max(ours, theirs) > holeMs) return null
  // A clock that was set back makes the time shorter, never longer.
  const readAt = reading.now - Math.max(0, Math.min(ours, theirs))
  return {
    hosts: new Map(record.hosts.map(({ host, stamp, silentMs }) => [host, { stamp, since: readAt - silentMs }])),
    others: new Map(record.others.map(({ host, stamp }) => [host, stamp])),
    othersSince: readAt - record.othersForMs,
    othersBeat: record.othersBeat,
    readAt,
  }
}

/** For the next run. */
export function recordOf(known: StandingStill, now: number, serverTimeMs: number): SilenceOnRecord {
  return {
    hosts: [...known.hosts].map(([host, { stamp, since }]) => ({ host, stamp, silentMs: Math.round(now - since) })),
    others: [...known.others].map(([host, stamp]) => ({ host, stamp })),
    othersForMs: Math.round(now - known.othersSince),
    othersBeat: known.othersBeat,
    cloudTime: new Date(serverTimeMs).toISOString(),
  }
}

/** Evenly over the list, so that neighbours (a rack) are not all of them. */
function spread(seen: readonly HostSeen[]): Map<HostName, string> {
  const step = Math.max(1, seen.length / othersWatched)
  const chosen = Array.from({ length: Math.min(seen.length, othersWatched) }, (_, n) => seen[Math.floor(n * step)])
  return new Map(chosen.flatMap((one) => (one === undefined ? [] : [[one.host, one.stamp] as const])))
}
