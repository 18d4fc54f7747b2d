/** Reads a host's power until it was off twice in a row, within a time limit. One reading may fall into a restart. */
import { deadline, sleep, type Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { PowerReading } from '../domain/fencing.ts'
import type { HostName } from '../domain/service.ts'
import { span } from '../domain/text/span.ts'

export interface VerifySettings {
  /** Between two readings. Too short: both fall into the gap of a restart, where the power is off for a moment. */
  pauseMs: number
  /** From the accepted order to the second reading of off. Too short: slow BMCs are never verified. */
  limitMs: number
}

/** Readings kept as evidence. */
const evidenceKept = 20

/** Gives the readings, oldest first. Throws FENCE_UNVERIFIED when off was not seen twice in time. */
export async function verifiedOff(
  host: HostName,
  look: (signal: AbortSignal) => Promise<PowerReading>,
  clock: Clock,
  settings: VerifySettings,
  signal?: AbortSignal,
): Promise<string[]> {
  const limit = deadline(clock, settings.limitMs, signal)
  const evidence: string[] = []
  let offInARow = 0
  try {
    while (!limit.signal.aborted) {
      const reading = await look(limit.signal)
      const at = new Date(clock.wall()).toISOString()
      evidence.push(`${at} ${reading.power}: ${reading.detail}`)
      if (evidence.length > evidenceKept) evidence.shift()
      offInARow = reading.power === 'off' ? offInARow + 1 : 0
      if (offInARow >= 2) return evidence
      await sleep(clock, settings.pauseMs, limit.signal)
    }
  } finally {
    limit.release()
  }
  throw new LifeboatError('FENCE_UNVERIFIED', `${host} was not seen off twice within ${span(settings.limitMs)}`, {
    certainty: 'unknown',
    retry: 'backoff',
    details: { host, evidence },
  })
}
