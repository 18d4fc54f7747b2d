/** How `journal list` is told which times and kinds of entries are wanted. */
import { InvalidArgumentError } from 'commander'
import { parseDuration } from '../../formats/duration.ts'
import type { EntryKind } from '../../domain/entry.ts'
import type { Session } from '../session.ts'

/** An ISO time, or a duration: that long ago. Gives ISO. */
export function moment(session: Session): (text: string) => string {
  return (text) => {
    const ago = parseDuration(text)
    if (ago !== null) return new Date(session.commands.clock.wall() - ago).toISOString()
    const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(asUtc(text)) : NaN
    // A year with a sign would be sorted before all others.
    if (Number.isNaN(at) || !/^\d{4}-/.test(new Date(at).toISOString()))
      throw new InvalidArgumentError('It must be a time such as 2026-01-02T03:04:05Z, or a duration such as 2h.')
    return new Date(at).toISOString()
  }
}

/** Times without a zone are UTC, as everything that we print. */
function asUtc(text: string): string {
  const joined = text.trim().replace(' ', 'T')
  return /T/.test(joined) && !/(Z|[+-]\d\d:?\d\d)$/i.test(joined) ? `${joined}Z` : joined
}

/** Collects --kind. Kinds that a newer release writes are taken too: this one may be older than the journal. */
export function kind(text: string, before: EntryKind[] = []): EntryKind[] {
  if (!/^[a-z]+(\.[a-z-]+)$/.test(text))
    throw new InvalidArgumentError('It must be a kind of entry such as verdict.changed or step.failed.')
  return [...before, text as EntryKind]
}
