/** Durations as people write them in workflow documents: "500ms", "30s", "15m", "2h". Milliseconds inside. */

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** What a duration looks like, for messages. */
export const durationForm = 'a whole number with ms, s, m or h, e.g. "30s"'

/** Milliseconds, or null when the text is no duration. Zero is none: a deadline of nothing would fail every step. */
export function durationMs(text: string): number | null {
  const found = /^([1-9]\d{0,6})(ms|s|m|h)$/.exec(text)
  if (found === null) return null
  const [, count, unit] = found as unknown as [string, string, keyof typeof unitsMs]
  return Number(count) * unitsMs[unit]
}
