/**
 * How hard it is to believe that a host as silent as this one lives: an accrual detector. Owns what is learnt of a host's
 * pauses and the number that comes of it. Pure; decides nothing (verdict-rules.ts does).
 *
 * Phi-accrual (Hayashibara et al., SRDS 2004) with one change. It takes gaps for normally distributed, and the tail of a
 * normal distribution knows no pauses: after two missed beats it is sure, whatever the host did an hour ago. Here a gap is
 * either a beat (normal about the interval) or, now and then, a pause (a beat and a half-normal excess). How often a host
 * pauses and for how long is learnt; a prior stands in until then and fades as gaps are seen.
 */

/** What is remembered of a host's gaps, as decayed sums: no list, so that rare pauses cost no memory. */
export interface Rhythm {
  /** Gaps that were judged, pauses included. */
  gaps: number
  pauses: number
  /** Sum over the pauses of (excess beyond one interval)², in intervals². */
  excessSquared: number
}

export const newRhythm: Rhythm = { gaps: 0, pauses: 0, excessSquared: 0 }

/**
 * What one more gap leaves of the older ones: about the last 128 count, 20 minutes at 10 s. Less: a host that pauses every
 * quarter of an hour is taken for regular. More: one bad hour keeps the next deaths of that host waiting.
 */
const kept = 1 - 1 / 128
/**
 * A gap is a pause when it is longer than the interval by this share of it, and by so many deviations. Less: what polling
 * and jitter add to a beat (half an interval, when polls are half as long) is taken for pauses. More: lost beats teach
 * nothing, and two of them in a row look like a death.
 */
const pauseShareFrom = 0.6
const pauseDeviationsFrom = 3
/** Excess that counts, in intervals. More: one hang of minutes would ask for the longest wait for an hour. */
const longestExcess = 5

/**
 * The prior, as if so many gaps with so few pauses had been seen, of an excess of so many intervals (root mean square).
 * More pauses or longer ones: a fresh host is confirmed after more than three beats. Fewer: its first pauses are taken for
 * death before they can be learnt.
 */
const priorGaps = 16
const priorPauses = 0.03
const priorExcess = 0.9

/** Nova stamps whole seconds: two beats within one are seen as one. */
const stampMs = 1_000
/** No host beats more evenly than this share of its interval: nova-compute's loop waits for its database and its RPC. */
const leastDeviation = 0.05
/** Beyond this the model says nothing any more, and JSON knows no infinity. */
const mostSuspicion = 15

/** Takes in a gap. `before`: the gaps before it, at least one, and their median. */
export function learn(rhythm: Rhythm, gapMs: number, before: readonly number[], medianMs = medianOf(before)): Rhythm {
  const beats = before.filter((gap) => gap <= 2 * medianMs)
  const mean = beats.reduce((sum, gap) => sum + gap, 0) / beats.length
  const late = Math.max(pauseShareFrom * mean, pauseDeviationsFrom * spread(beats, mean))
  const pause = gapMs > mean + late
  const excess = Math.min(gapMs / mean - 1, longestExcess)
  return {
    gaps: rhythm.gaps * kept + 1,
    pauses: rhythm.pauses * kept + (pause ? 1 : 0),
    excessSquared: rhythm.excessSquared * kept + (pause ? excess * excess : 0),
  }
}

/** The lower of the two in the middle when they are an even number: a pause must not pull it up. */
export function medianOf(gaps: readonly number[]): number {
  const sorted = [...gaps].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
}

/** Standard deviation about `mean`; 0 for fewer than two. */
function spread(gaps: readonly number[], mean: number): number {
  if (gaps.length < 2) return 0
  return Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / (gaps.length - 1))
}

/** How far usual gaps lie from the interval, ms; never below what polling and whole-second stamps add by themselves. */
export function deviationOf(gaps: readonly number[], intervalMs: number, pollIntervalMs: number): number {
  // The lag of a poll is uniform; a gap is the difference of two lags: p²/6. A stamp is off by up to a second: s²/12.
  const quantisation = (pollIntervalMs * pollIntervalMs) / 6 + (stampMs * stampMs) / 12
  const floor = Math.max(Math.sqrt(quantisation), leastDeviation * intervalMs)
  const beats = gaps.filter((gap) => gap <= 2 * intervalMs)
  return Math.max(floor, spread(beats, intervalMs))
}

/**
 * Suspicion: minus the decimal logarithm of the chance that a living host is silent for so long. 4 means one gap in ten
 * thousand. 0 to 15; grows with the silence, never shrinks.
 */
export function suspicionOf(silence: {
  silentMs: number
  intervalMs: number
  deviationMs: number
  rhythm: Rhythm
}): number {
  const { silentMs, intervalMs, deviationMs, rhythm } = silence
  const pauseShare = (rhythm.pauses + priorPauses) / (rhythm.gaps + priorGaps)
  const excess = Math.sqrt((rhythm.excessSquared + priorExcess * priorExcess) / (rhythm.pauses + 1))
  const beyondMs = silentMs - intervalMs
  const beat = upperTail(beyondMs / deviationMs)
  const pause = beyondMs <= 0 ? 1 : 2 * upperTail(beyondMs / Math.hypot(excess * intervalMs, deviationMs))
  const chance = (1 - pauseShare) * beat + pauseShare * pause
  return Math.min(Math.max(0, -Math.log10(chance)), mostSuspicion)
}

/** Chance that a normal variable lies more than `deviations` above its mean. */
export function upperTail(deviations: number): number {
  const z = Math.abs(deviations) / Math.SQRT2
  // Chebyshev fit of erfc (Press et al., Numerical Recipes, 6.2): within 1.2e-7 of the value itself, far out too.
  const t = 1 / (1 + z / 2)
  const series = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
  ].reduceRight((sum, coefficient) => sum * t + coefficient, 0)
  const half = (t * Math.exp(-z * z + series)) / 2
  return deviations >= 0 ? half : 1 - half
}
