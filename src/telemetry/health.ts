/**
 * Whether the daemon lives and is fit to act, from the progress it makes, not from the fact that it answers. A daemon that
 * polls but cannot write its journal must do nothing, so it is not ready; a loop that stands still is not live.
 */
import { span } from '../domain/text/span.ts'
export interface Progress {
  startedMs: number
  /** The end of the last poll, whether Nova answered or not. Null before the first. Monotonic ms, as all of these. */
  lastPollMs: number | null
  /** The end of the last poll that Nova answered. */
  lastGoodPollMs: number | null
  /** The last time that the journal was written or found writable. */
  lastJournalMs: number | null
  /** Set while the last attempt to write the journal failed. */
  journalProblem: string | null
}

export interface HealthLimits {
  /**
   * The longest time without the end of a poll in a live daemon. Too short: a slow Nova (a poll may take its whole request
   * time limit) gets a working daemon killed in the middle of a recovery. Too long: a hung one is noticed late.
   */
  pollStalledMs: number
  /** The longest time without an answer of Nova's in a ready daemon. Too short: readiness flaps on one slow answer. */
  novaSilentMs: number
}

export const defaultHealthLimits: HealthLimits = { pollStalledMs: 120_000, novaSilentMs: 60_000 }

export interface Health {
  ok: boolean
  /** Why not, for people; empty when ok. */
  problems: string[]
}

/** Live: polls go on ending. A daemon that has just started gets the same time for its first one. */
export function live(progress: Progress, nowMs: number, limits: HealthLimits = defaultHealthLimits): Health {
  const idleMs = nowMs - (progress.lastPollMs ?? progress.startedMs)
  if (idleMs <= limits.pollStalledMs) return { ok: true, problems: [] }
  return { ok: false, problems: [`No poll has ended for ${span(idleMs)}`] }
}

/** Ready: live, Nova answered lately, and the journal takes entries. */
export function ready(progress: Progress, nowMs: number, limits: HealthLimits = defaultHealthLimits): Health {
  const problems = [...live(progress, nowMs, limits).problems]
  if (progress.lastGoodPollMs === null) problems.push('Nova has not answered a poll yet')
  else if (nowMs - progress.lastGoodPollMs > limits.novaSilentMs) {
    problems.push(`Nova has not answered for ${span(nowMs - progress.lastGoodPollMs)}`)
  }
  if (progress.journalProblem !== null) problems.push(`The journal cannot be written: ${progress.journalProblem}`)
  else if (progress.lastJournalMs === null) problems.push('The journal has not been opened yet')
  return { ok: problems.length === 0, problems }
}
