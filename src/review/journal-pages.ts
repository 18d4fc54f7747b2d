/** The journal in pages, with a sentence for each entry. */
import type { EntryFilter, Journal } from '../domain/journal.ts'
import type { JournalPage, JournalQuery } from '../domain/review.ts'
import { lineOf } from '../domain/text/entry-sentence.ts'

/** Entries of a page when nobody says how many, and at the most. */
const defaultLimit = 100
const mostEntries = 1_000

export function journalPage(
  journal: Pick<Journal, 'read'>,
  head: { seq: number; hash: string },
  { newestFirst = false, after, limit = defaultLimit, instance, ...query }: JournalQuery,
): JournalPage {
  const size = Math.min(Math.max(limit, 1), mostEntries)
  const place: EntryFilter = after === undefined ? {} : newestFirst ? { before: after } : { after }
  const about: EntryFilter = instance === undefined ? {} : { allOfInstance: instance }
  const found = journal.read({ ...query, ...about, ...place, newestFirst, limit: size + 1 })
  const entries = found.slice(0, size)
  return {
    entries: entries.map((entry) => ({ ...entry, sentence: lineOf(entry) })),
    next: found.length > size ? (entries.at(-1)?.seq ?? null) : null,
    head,
  }
}
