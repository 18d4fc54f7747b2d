/** What people read of a freeze. Pure. */
import type { Entry } from '../entry.ts'

/** What is said beside the time from which on verdicts move again: of a freeze by the code of its fault. */
export function faultIsOver(reason: string): string {
  return reason === 'API_FAILED' ? 'Nova answers again' : 'The fault is over'
}

type FrozenEntry = Extract<Entry, { kind: 'monitor.frozen' }>

/** One that an earlier run put on record: it may be over by now, or of weeks ago. */
export function seenBefore({ at, data }: Pick<FrozenEntry, 'at' | 'data'>): string {
  return `${data.message} (seen at ${at}, before the restart)`
}
