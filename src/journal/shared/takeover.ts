/** Whether a standby may take over now, and whether the active one gives up. Pure: what it saw and its own clock in, a value with a reason out. */
import type { KnownDaemon } from '../../domain/tenure.ts'
import { nameIn } from './identity.ts'
import type { TenureRow } from './store.ts'

/** The active's lease and a margin for two quartzes: its own clock began when it sent, ours when we saw. */
const marginMs = 300

/** For so long the standby's own commits must have come through: while the group stands still nobody can renew, and nobody may take over. */
export const flowMs = 1_500
/** A commit that took longer counts as standing still. */
export const slowCommitMs = 1_000

/** A standby that cannot read Nova itself leaves the tenure to another one for so long. Longer: a cloud whose Nova is away waits for nothing. */
const unfitMs = 5_000

/**
 * A process with our copy's identity that lives renews within so long: a renewal's pause, and the longest commit that is no standing still. Shorter:
 * where someone copied this daemon's directory to another machine, both would be active for a moment.
 */
const oursMs = 2_000

export interface Seen {
  tenure: TenureRow
  /** Since when the holder, its epoch and its beat are as they are, by our clock; the moment in which we saw it first. */
  unchangedSince: number
  /** The copy holds all that the look showed. */
  complete: boolean
  /** Since when each of our own writes came through in time; null: the last one did not. */
  flowingSince: number | null
  /** Our own last reading of Nova was good. */
  readsNova: boolean
  /** The tenure is that of an earlier process with our copy, whose lock we hold, and was not renewed since: it is not alive. */
  ours: boolean
}

export type Takeover = { take: true; why: string; silentMs: number } | { take: false; why: string }

/** @param knownFormat the newest entry format that this release can go on with */
export function takeover(
  seen: Seen,
  now: number,
  { leaseMs, knownFormat }: { leaseMs: number; knownFormat: number },
): Takeover {
  const { tenure, unchangedSince, complete, flowingSince, readsNova, ours } = seen
  const silentMs = now - unchangedSince
  if (tenure.format > knownFormat)
    return { take: false, why: `the journal is in format ${tenure.format}, this release knows ${knownFormat}` }
  if (!complete) return { take: false, why: 'the copy is not complete' }
  if (flowingSince === null || now - flowingSince < flowMs)
    return { take: false, why: 'its own writes to the shared journal do not come through' }
  if (ours && silentMs >= oursMs) return { take: true, why: 'it held the tenure before its restart', silentMs }
  const unfit = readsNova ? 0 : unfitMs
  if (tenure.holder === '')
    return silentMs < unfit
      ? { take: false, why: 'it cannot read Nova, and lets other daemons go first for a moment' }
      : { take: true, why: 'nobody was active', silentMs }
  const needed = leaseMs + marginMs + unfit
  if (silentMs < needed) return { take: false, why: `${nameIn(tenure.holder)} is active` }
  return { take: true, why: `${nameIn(tenure.holder)} did not renew its lease`, silentMs }
}

/** The active one is blind after so long without an answer of Nova's. Longer: nobody recovers for so long; shorter: one slow answer hands over. */
const blindAfterMs = 30_000
/** A standby sees when Nova answered it within so long. */
const seesWithinMs = 10_000
/** At most one hand-over for blindness within so long: a Nova that answers by turns would else pass the tenure round. */
const handOverAtMostEveryMs = 600_000

export interface Sight {
  /** Age of our own last good reading of Nova, ms; null before the first. */
  goodPollAgeMs: number | null
  /** For how long we have been active, ms. */
  activeForMs: number
  /** Age of the last tenure that was given up, ms; null when there was none. */
  lastHandOverAgoMs: number | null
  others: readonly Pick<KnownDaemon, 'name' | 'present' | 'goodPollAgeMs'>[]
}

/** Why the active daemon gives the tenure up although it could keep it; null: it keeps it. */
export function blindness({ goodPollAgeMs, activeForMs, lastHandOverAgoMs, others }: Sight): string | null {
  if (Math.min(goodPollAgeMs ?? Infinity, activeForMs) < blindAfterMs) return null
  if (lastHandOverAgoMs !== null && lastHandOverAgoMs < handOverAtMostEveryMs) return null
  const seeing = others.find((it) => it.present && it.goodPollAgeMs !== null && it.goodPollAgeMs < seesWithinMs)
  return seeing === undefined ? null : `it cannot read Nova, and ${seeing.name} can`
}
