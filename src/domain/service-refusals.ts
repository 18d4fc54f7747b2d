/** Changes of a compute service that Nova refuses: how rarely they are tried again, and when people hear of it. Pure. */
import { pauseAfter } from './back-off.ts'
import type { ErrorCode, ErrorRecord } from './errors.ts'
import type { HostName } from './service.ts'

/** Pause after a write that was refused. Shorter asks Nova again before anyone can have changed anything. */
export const afterRefusalMs = 60_000

/** The longest such pause where nothing but capacity waits: it doubles with each refusal. Longer keeps the host out after Nova allows the write. */
export const rarestRetryMs = 3_600_000

/** Refusals in a row before people hear of them: one alone may be a proxy's hiccup. More leaves them in the dark for longer. */
export const refusalsBeforeAlarm = 2

/** Failures that say nothing of what Nova allows: the write did not leave, nobody answered, or Nova was too busy. */
const noAnswer: ReadonlySet<ErrorCode> = new Set(['HELD_BACK', 'API_UNAVAILABLE', 'API_THROTTLED'])

/** Nova understood the write and does not allow it: only a person can change its mind. */
export function isRefusal({ code, certainty }: Pick<ErrorRecord, 'code' | 'certainty'>): boolean {
  return certainty !== 'unknown' && certainty !== 'applied' && !noAnswer.has(code)
}

/** Until the next try after so many refusals in a row. */
export function pauseAfterRefusals(refusals: number, mostMs = rarestRetryMs): number {
  return pauseAfter(refusals, afterRefusalMs, mostMs)
}

/** What people are told of a row of refusals, once. */
export function serviceChangeRefused(
  host: HostName,
  { message }: Pick<ErrorRecord, 'message'>,
): { code: string; message: string } {
  return {
    code: 'SERVICE_CHANGE_REFUSED',
    message: `Nova refuses to change the service of ${host}: ${message}. Correct the policy of Lifeboat's account; Lifeboat keeps trying, less and less often`,
  }
}
