/** From what a person wrote of a planned maintenance to its beginning and its end. Pure, but for the machine's zone. */
import { LifeboatError } from '../domain/errors.ts'
import { instantOf, localText, type Timezone } from '../domain/local-time.ts'

const dayMs = 86_400_000

/** Further ahead is a slip of the year. Shorter: next year's move of a hall cannot be planned. */
const furthestMs = 366 * dayMs

export interface WrittenTimes {
  /** Local time of the daemon's machine, or with an offset. */
  from: string
  /** ISO; null: until a person ends it. */
  until: string | null
  /** The length instead of an end. */
  forMs?: number | undefined
}

/**
 * @returns ISO, UTC
 * Throws USAGE for what cannot be read, begins in the past or more than a year ahead, or ends before it begins.
 */
export function plannedTimes(
  written: WrittenTimes,
  wallMs: number,
  timezone: Timezone = null,
): { from: string; until: string | null } {
  const fromMs = instantOf(written.from, timezone)
  const from = new Date(fromMs).toISOString()
  const both = `${localText(from, timezone)}, ${from}`
  if (fromMs <= wallMs)
    throw new LifeboatError(
      'USAGE',
      `It would begin in the past (${both}); give a time later than now (${localText(new Date(wallMs).toISOString(), timezone)})`,
    )
  if (fromMs > wallMs + furthestMs)
    throw new LifeboatError(
      'USAGE',
      `It would begin more than a year ahead (${both}); it may begin within the next year`,
    )
  const untilMs = written.forMs === undefined ? endOf(written.until) : fromMs + written.forMs
  if (untilMs !== null && untilMs <= fromMs)
    throw new LifeboatError('USAGE', `It would end before it begins (${both}); give a later end`)
  return { from, until: untilMs === null ? null : new Date(untilMs).toISOString() }
}

function endOf(until: string | null): number | null {
  return until === null ? null : Date.parse(until)
}
