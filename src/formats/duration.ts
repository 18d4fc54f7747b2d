/** Durations as people write them at the edges ("30s", "1h30m"); inside the daemon they are milliseconds. */

/** Largest unit first, each at most once, so that "30m1h" and "1s1s" are seen as the slips they are. */
export const durationPattern = /^(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/

export const durationHelp = 'a number with a unit: 250ms, 30s, 5m, 1h30m, 2d'

const unitMs = [86_400_000, 3_600_000, 60_000, 1_000, 1] as const

/** Milliseconds, or null when `text` is not a duration. */
export function parseDuration(text: string): number | null {
  const match = durationPattern.exec(text.trim())
  if (match === null) return null
  const total = unitMs.reduce((sum, unit, index) => sum + Number(match[index + 1] ?? 0) * unit, 0)
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : null
}

/** The shortest exact text, e.g. 5400000 -> "1h30m". */
export function formatDuration(ms: number): string {
  if (ms <= 0) return '0s'
  let rest = Math.round(ms)
  let text = ''
  for (const [index, suffix] of ['d', 'h', 'm', 's', 'ms'].entries()) {
    const unit = unitMs[index] ?? 1
    const count = Math.floor(rest / unit)
    if (count > 0) text += `${count}${suffix}`
    rest -= count * unit
  }
  return text
}
