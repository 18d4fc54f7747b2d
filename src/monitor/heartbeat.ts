/**
 * The heartbeat of one service row, as a value: each function takes a pulse and gives the next one. Pure.
 *
 * A beat is `updated_at` changing without a PUT that explains it, timed by our own clock (docs/nova.md §1.2, §4.1): no
 * cloud clock matters. The stamps have a resolution of one second and polling sees them late, so silence is
 * understated by up to one poll and never overstated.
 */
import { isDisabledByPerson, isOurReason, type ServiceRecord } from '../domain/service.ts'
import { isOneWrite } from '../domain/cloud-time.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import type { Watched } from '../domain/verdict.ts'
import { deviationOf, learn, medianOf, newRhythm, suspicionOf, type Rhythm } from './suspicion.ts'

/** Gaps kept for learning. Fewer: one hiccup moves the interval. More: a changed report_interval is learnt late. */
const gapsKept = 16
/** Gaps before the learnt interval is used. */
const gapsNeeded = 4
/** Bounds of a learnt interval. Nova takes whole seconds; beyond five minutes nobody could be recovered in time. */
const shortestIntervalMs = 1_000
const longestIntervalMs = 300_000
/** Stamps of our own writes to remember: a recovery makes two or three. */
const ownStampsKept = 8
/**
 * Stamps to remember that a row showed before. Fewer: a dead host beats for ever where two database nodes answer in turn and one is stuck. More:
 * as many beats can be missed after a cloud's clock was set back.
 */
const shownKept = 3
/**
 * How long a database node may be behind after a hole in the readings. Shorter: a life in that hole is missed if such a node answers first. Longer:
 * more flags that are set after a start or a hole revoke a good attestation.
 */
const behindMs = 30_000

export interface Pulse {
  stamp: string | null
  /** The stamps before it, the newest last. */
  shown: readonly string[]
  /** What a PUT changes: a stamp that moves together with one of these was moved by that PUT. */
  status: ServiceRecord['status']
  forcedDown: boolean
  disabledReason: string | null
  firstSeenAt: number
  /** When the present unbroken series of readings of its row began. */
  readSince: number
  /** What this run has seen of its life; before the first sighting nobody of it watched. */
  watched: Watched
  /** When we last saw a beat; the first sighting until there was one. Freezes do not touch it. */
  lastBeatAt: number
  everBeat: boolean
  /** Where silence is counted from: the last beat, the first sighting, or the end of a freeze. */
  silentSince: number
  /** False from a restart of the silence timer until the next beat. */
  beatSinceRestart: boolean
  gaps: readonly number[]
  /** Of `gaps`, kept because it is asked for at every poll; 0 without any. */
  medianGapMs: number
  /** What is learnt of its pauses, for the suspicion; reaches further back than `gaps`. */
  rhythm: Rhythm
  /** Whether forced_down turned true while we watched. */
  forcedWhileWatching: boolean
  /** A person had disabled it when forced_down was first seen, or did both at once: planned, not declared dead. */
  disabledBeforeForced: boolean
  /** Beats since forced_down was first seen. */
  beatsSinceForced: number
  ownStamps: readonly string[]
  /** Own writes whose stamp we were not told. */
  ownMovesExpected: number
  /** A disable of ours that Nova took and that no poll has shown yet. */
  ownDisableUnseen: boolean
  /** The pulse before the last beat, for the write of ours that is reported after the poll already saw it. */
  beforeBeat: Pulse | null
}

/**
 * The first sighting arms the timer and concludes nothing.
 *
 * @param at its ISO time by our clock; nothing for Nova's own workers: no word is said of them
 */
export function firstSight(row: ServiceRecord, now: number, at?: string): Pulse {
  return {
    stamp: row.updatedAt,
    shown: [],
    status: row.status,
    forcedDown: row.forcedDown,
    disabledReason: row.disabledReason,
    firstSeenAt: now,
    readSince: now,
    watched: { ...omitUndefined({ since: at }), first: row.updatedAt, lives: 0 },
    lastBeatAt: now,
    everBeat: false,
    silentSince: now,
    beatSinceRestart: true,
    gaps: [],
    medianGapMs: 0,
    rhythm: newRhythm,
    forcedWhileWatching: false,
    disabledBeforeForced: false,
    beatsSinceForced: 0,
    ownStamps: [],
    ownMovesExpected: 0,
    ownDisableUnseen: false,
    beforeBeat: null,
  }
}

/** Takes in a row. `now` is when the answer was complete: a beat is never dated earlier than we knew of it. */
export function take(pulse: Pulse, row: ServiceRecord, now: number): Pulse {
  const forcedTurnedOn = row.forcedDown && !pulse.forcedDown
  const forcedTurnedOff = !row.forcedDown && pulse.forcedDown
  // Enabled again before any poll saw our disable: the flags look as before, and yet someone wrote them.
  const undone = pulse.ownDisableUnseen && row.status !== 'disabled' && row.updatedAt !== pulse.stamp
  const written =
    undone ||
    forcedTurnedOn ||
    forcedTurnedOff ||
    row.status !== pulse.status ||
    (row.disabledReason ?? '') !== (pulse.disabledReason ?? '')
  // Most polls see most hosts between two beats: nothing is new, and of 5,000 hosts nothing should be copied.
  if (!written && row.updatedAt === pulse.stamp) return pulse
  const seen: Pulse = {
    ...pulse,
    stamp: row.updatedAt,
    shown: shownBefore(pulse, row),
    status: row.status,
    forcedDown: row.forcedDown,
    disabledReason: row.disabledReason,
    ownDisableUnseen: false,
    ...(forcedTurnedOn
      ? {
          forcedWhileWatching: true,
          beatsSinceForced: 0,
          disabledBeforeForced: isDisabledByPerson(pulse) || isDisabledByPerson(row),
        }
      : {}),
    ...(forcedTurnedOff ? { forcedWhileWatching: false, beatsSinceForced: 0, disabledBeforeForced: false } : {}),
  }
  if (row.updatedAt === null || row.updatedAt === pulse.stamp || written) return seen
  if (pulse.ownStamps.includes(row.updatedAt) || pulse.shown.includes(row.updatedAt)) return seen
  if (pulse.ownMovesExpected > 0) return { ...seen, ownMovesExpected: pulse.ownMovesExpected - 1 }
  const gap = now - pulse.lastBeatAt
  // The first gap began at an arbitrary moment, a gap across a freeze holds the blind time, and one under forced_down was a
  // death: none of them teaches anything. A host that died and came back is no host whose heartbeats pause.
  const wasOut = pulse.forcedDown || row.forcedDown
  const teaches = pulse.everBeat && pulse.beatSinceRestart && gap <= longestIntervalMs && !wasOut
  const gaps = teaches ? [...pulse.gaps, gap].slice(-gapsKept) : pulse.gaps
  const judged = teaches && pulse.gaps.length >= gapsNeeded
  return {
    ...seen,
    lastBeatAt: now,
    silentSince: now,
    everBeat: true,
    watched: livedOnce(pulse.watched),
    beatSinceRestart: true,
    gaps,
    medianGapMs: teaches ? medianOf(gaps) : pulse.medianGapMs,
    rhythm: judged ? learn(pulse.rhythm, gap, pulse.gaps, pulse.medianGapMs) : pulse.rhythm,
    beatsSinceForced: row.forcedDown ? seen.beatsSinceForced + 1 : 0,
    beforeBeat: { ...seen, beforeBeat: null },
  }
}

/**
 * The row moved while nobody read it. The host may have lived meanwhile, even if a flag explains the last write. For a while, a database node that is
 * behind may still show the row from before the hole. Lifeboat's own writes are no life: it reads the row right before them.
 */
export function movedUnseen(before: Pulse, after: Pulse, now: number): Pulse {
  const { stamp } = after
  if (stamp === before.stamp || after.watched !== before.watched || now - after.readSince > behindMs) return after
  const isOld = stamp !== null && before.shown.includes(stamp)
  if (isOld || before.ownStamps.some((own) => isOneWrite(own, stamp))) return after
  // A poll may see it before its answer is here.
  const isFirst = now === after.readSince
  if (!isFirst && after.disabledReason !== before.disabledReason && isOurReason(after.disabledReason)) return after
  return { ...after, watched: livedOnce(before.watched) }
}

function livedOnce(watched: Watched): Watched {
  return { ...watched, lives: watched.lives + 1 }
}

/** A stamp that shows again counts as new: another node goes on showing it for as long as the host beats. */
function shownBefore({ stamp, shown }: Pulse, row: ServiceRecord): readonly string[] {
  if (stamp === null || stamp === row.updatedAt) return shown
  return [...shown.filter((one) => one !== stamp), stamp].slice(-shownKept)
}

/**
 * A PUT of ours moved the stamp: no heartbeat, also when a poll has already taken it for one. Stamps are of whole seconds: what was read
 * before the write left is a beat of the same second.
 *
 * @param sentAt when it left, as `now` of `take`. Default: before anything was read
 */
export function ownWrite(pulse: Pulse, updatedAt: string | null, sentAt = -Infinity): Pulse {
  if (updatedAt === null) return { ...pulse, ownMovesExpected: pulse.ownMovesExpected + 1 }
  const ownStamps = [...pulse.ownStamps, updatedAt].slice(-ownStampsKept)
  const isSeenSince = pulse.stamp === updatedAt && pulse.lastBeatAt > sentAt
  if (isSeenSince && pulse.beforeBeat) return { ...pulse.beforeBeat, ownStamps, beforeBeat: null }
  return { ...pulse, ownStamps }
}

/** Nova took our disable. Who enables it before the next poll moves the stamp and nothing else that is seen. */
export function ownDisable(pulse: Pulse): Pulse {
  return pulse.status === 'disabled' ? pulse : { ...pulse, ownDisableUnseen: true }
}

/** Silence counts from `now` on: what we could not see is no silence. */
export function restart(pulse: Pulse, now: number): Pulse {
  return { ...pulse, silentSince: now, beatSinceRestart: false, beforeBeat: null }
}

/** It has stood still since before this run: an earlier one watched it. */
export function stoodStill(pulse: Pulse, since: number): Pulse {
  if (pulse.everBeat || !pulse.beatSinceRestart || since >= pulse.silentSince) return pulse
  return { ...pulse, firstSeenAt: since, lastBeatAt: since, silentSince: since }
}

/**
 * The learnt interval in ms. The mean is unbiased under polling (a 5 s beat polled every 4 s shows as 4, 4, 4, 8), so it
 * is the mean; gaps far above the median are pauses, not beats, and are left out.
 */
export function intervalOf(pulse: Pulse, settings: { defaultIntervalMs: number; pollIntervalMs: number }): number {
  if (pulse.gaps.length < gapsNeeded) return settings.defaultIntervalMs
  const beats = pulse.gaps.filter((gap) => gap <= 2 * pulse.medianGapMs + settings.pollIntervalMs)
  const mean = beats.reduce((sum, gap) => sum + gap, 0) / beats.length
  return Math.min(Math.max(mean, shortestIntervalMs), longestIntervalMs)
}

/** Suspicion (suspicion.ts) after so much silence; 0 below the suspect mark: of thousands of beating hosts nobody asks. */
export function suspicionAfter(
  pulse: Pulse,
  silentMs: number,
  settings: { defaultIntervalMs: number; pollIntervalMs: number; suspectAfterBeats: number },
): number {
  const intervalMs = intervalOf(pulse, settings)
  if (silentMs < settings.suspectAfterBeats * intervalMs) return 0
  const deviationMs = deviationOf(pulse.gaps, intervalMs, settings.pollIntervalMs)
  return suspicionOf({ silentMs, intervalMs, deviationMs, rhythm: pulse.rhythm })
}
