/**
 * The freeze that the run before left behind, as the journal tells it. A restart in the middle of a control-plane fault, or in
 * the quiet time after it, must not make its verdicts move sooner.
 */
import { onOurClock, type Clock } from '../domain/clock.ts'
import { seenBefore } from '../domain/text/freeze-sentence.ts'
import type { Journal } from '../domain/journal.ts'
import type { Frozen } from '../monitor/report.ts'

/** Null: the run before ended unfrozen, or there was none. `since` lies before the start of our clock. */
export function freezeBefore(journal: Pick<Journal, 'read'>, clock: Clock): Frozen | null {
  const [last] = journal.read({ kinds: ['monitor.frozen', 'monitor.thawed'], newestFirst: true, limit: 1 })
  if (last?.kind !== 'monitor.frozen') return null
  const { reason } = last.data
  const message = seenBefore(last)
  return { reason, message, since: onOurClock(clock, last.at) }
}
