/** How fast a recovery is, and how long it will still take: from the outcomes alone. Pure. */
import type { IncidentReview, InstanceLine } from '../../../domain/review.ts'
import { counted, number } from '../../words/count.ts'
import { span } from '../../../domain/text/span.ts'

/**
 * Outcomes of so long ago still count, ms. Shorter: the rate jumps with each wave of evacuations; longer: it goes on long after they
 * have stopped.
 */
const windowMs = 60_000

/** Fewer outcomes say nothing about the next ones. */
const fewest = 3

export interface Pace {
  /** Of those that are brought back: how many have their outcome, and how many there are. */
  over: number
  all: number
  /** Outcomes a second; null: too few are known. */
  rate: number | null
  /** Ms until the last one, at that rate. */
  leftMs: number | null
}

type Line = Pick<InstanceLine, 'decision' | 'outcome' | 'startedAt' | 'endedAt'>

/** Null: it is over, it is held, or nothing of it has begun. */
export function paceOf(
  { lines, ended, held }: Pick<IncidentReview, 'ended' | 'held'> & { lines: readonly Line[] },
  nowMs: number,
): Pace | null {
  const brought = lines.filter(({ decision, startedAt }) => decision === 'recover' || startedAt !== null)
  const begun = brought.flatMap(({ startedAt }) => startedAt ?? [])
  const over = brought.filter(({ outcome }) => outcome !== 'open').length
  if (ended !== null || held !== null || begun.length === 0 || over === brought.length) return null
  const times = brought.flatMap(({ endedAt, startedAt }) =>
    endedAt === null || startedAt === null ? [] : [Date.parse(endedAt)],
  )
  // The clocks of the browser and of the daemon may differ.
  const now = times.reduce((latest, at) => Math.max(latest, at), nowMs)
  const began = begun.reduce((first, at) => Math.min(first, Date.parse(at)), now)
  const since = Math.max(began, now - windowMs)
  const recent = times.filter((at) => at >= since).length
  const known = { over, all: brought.length }
  if (recent < fewest || now <= since) return { ...known, rate: null, leftMs: null }
  const rate = (recent * 1_000) / (now - since)
  return { ...known, rate, leftMs: ((brought.length - over) * 1_000) / rate }
}

/** 128 of 400 · 5.3/s · about 50 s left */
export function paceText({ over, all, rate, leftMs }: Pace): string {
  const parts = [`${number(over)} of ${counted(all, 'instance')}`]
  if (rate !== null) parts.push(rateText(rate))
  if (leftMs !== null) parts.push(`about ${span(roughly(leftMs))} left`)
  return parts.join(' · ')
}

/** Slow ones by the minute: 0.02/s says nothing to people. */
function rateText(rate: number): string {
  return rate < 0.5 ? `${(rate * 60).toFixed(1)}/min` : `${rate.toFixed(1)}/s`
}

/** To 5 s, above two minutes to the minute: it is a guess. */
function roughly(ms: number): number {
  const step = ms > 120_000 ? 60_000 : 5_000
  return Math.max(step, Math.round(ms / step) * step)
}
