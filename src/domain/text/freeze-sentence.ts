/** What people read of a freeze that an earlier run put on record: it may be over by now, or of weeks ago. */
import type { Entry } from '../entry.ts'

type FrozenEntry = Extract<Entry, { kind: 'monitor.frozen' }>

export function seenBefore({ at, data }: Pick<FrozenEntry, 'at' | 'data'>): string {
  return `${data.message} (seen at ${at}, before the restart)`
}
