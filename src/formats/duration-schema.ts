/** A duration in a file, for every file that has one: the same forms are taken everywhere, and a mistake reads the same. */
import { z } from 'zod'
import { durationHelp, durationPattern, formatDuration, parseDuration } from './duration.ts'

/** Text such as "30s" or "1h30m" within these bounds, as milliseconds. */
export function duration(least = '1ms', most = '30d') {
  const leastMs = parseDuration(least) ?? 0
  const mostMs = parseDuration(most) ?? Infinity
  const error = `must be a duration (${durationHelp})`
  return z
    .string({ error })
    .regex(durationPattern, { error })
    .transform((text, context) => {
      const ms = parseDuration(text)
      if (ms === null || ms < leastMs || ms > mostMs) {
        const message = `is out of range (${formatDuration(leastMs)} to ${formatDuration(mostMs)})`
        context.addIssue({ code: 'custom', message })
      }
      return ms ?? 0
    })
}
