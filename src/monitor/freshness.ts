/** Whether what was read of Nova is recent enough to act on. Pure. */
import type { Reading } from './report.ts'
import { holeMs, type MonitorSettings } from './settings.ts'
import { span } from '../domain/text/span.ts'

/** Polls that may be missing. More: acts on what was true that much earlier. Fewer: one slow answer of Nova holds every recovery. */
const pollsMissing = 3

/** However often Nova is read, so much may pass: no machine is so idle that its polls are never late by a second. */
const alwaysGoodForMs = 3_000

/**
 * Why nothing may be done on what is known, or null. A poll lasts as long as its slowest witness, and a Nova that takes long for
 * each answer is given that time: for the reading itself, and for the next one that takes its place.
 *
 * @param standstill the last time for which our own process did not run
 */
export function staleness(
  reading: Reading | null,
  standstill: { endedAt: number; ms: number } | null,
  now: number,
  { pollIntervalMs, probeLimitMs }: { pollIntervalMs: number; probeLimitMs: number },
): string | null {
  if (reading === null) return 'Nova has not been read yet'
  if (standstill !== null && reading.askedAt < standstill.endedAt)
    return `this process stood still for ${span(standstill.ms)}, and Nova was not read since`
  const ageMs = now - reading.askedAt
  const goodForMs = Math.max(pollsMissing * pollIntervalMs, alwaysGoodForMs) + 2 * (probeLimitMs + reading.usuallyMs)
  if (ageMs <= goodForMs) return null
  return `Nova was last read ${span(ageMs)} ago: what is known of the host may be untrue by now`
}

/**
 * Why a silent nova-compute on a living host proves nothing yet, or null. A fault of the control plane that began and ended while this process
 * stood still froze no verdict, and agents need as long to beat again as after one that it saw.
 */
export function quietAfterStandstill(
  lastOver: (ms: number) => { endedAt: number; ms: number } | null,
  now: number,
  settings: Pick<MonitorSettings, 'pollIntervalMs' | 'defaultIntervalMs' | 'quietAfterFreezeMs'>,
): string | null {
  const { quietAfterFreezeMs: quietMs } = settings
  // A shorter one hides no fault, for the polls around it see that; nor does it end the quiet after a longer one.
  const standstill = lastOver(holeMs(settings))
  if (standstill === null || now - standstill.endedAt >= quietMs) return null
  return `this process stood still for ${span(standstill.ms)}; nova-compute may be about to beat again, so no living host is fenced until ${span(quietMs)} after that`
}
