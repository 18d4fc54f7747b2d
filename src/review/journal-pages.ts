/** The journal in pages, with a sentence for each entry. */
import { instanceInJournal } from '../domain/instance-meant.ts'
import type { EntryFilter, Journal } from '../domain/journal.ts'
import type { JournalPage, JournalQuery } from '../domain/review.ts'
import { lineOf } from '../domain/text/entry-sentence.ts'
import type { ReviewedJournal } from './incident-listing.ts'
import { foundInstance } from './search.ts'

/** Entries of a page when nobody says how many, and at the most. */
const defaultLimit = 100
const mostEntries = 1_000

/** The same, of the instance by its UUID. Throws NOT_FOUND for a name that no incident knows, USAGE for one that several instances have. */
export function withInstance(journal: Pick<ReviewedJournal, 'instances'>, query: JournalQuery): JournalQuery {
  const { instance } = query
  if (instance === undefined) return query
  const find = (text: string, limit: number) => journal.instances(text, limit).map(foundInstance)
  return { ...query, instance: instanceInJournal(instance, find) }
}

/**
 * Ends with the head: what a shared journal has appended and not made durable yet is no part of the chain, and another entry may get its number.
 *
 * @param head the newest durable entry
 */
export function journalPage(
  journal: Pick<Journal, 'read'>,
  head: { seq: number; hash: string },
  { newestFirst = false, after, limit = defaultLimit, instance, ...query }: JournalQuery,
): JournalPage {
  const size = Math.min(Math.max(limit, 1), mostEntries)
  const end = head.seq + 1
  const place: EntryFilter =
    after === undefined ? { before: end } : newestFirst ? { before: Math.min(after, end) } : { after, before: end }
  const about: EntryFilter = instance === undefined ? {} : { allOfInstance: instance }
  const found = journal.read({ ...query, ...about, ...place, newestFirst, limit: size + 1 })
  const entries = found.slice(0, size)
  return {
    entries: entries.map((entry) => ({ ...entry, sentence: lineOf(entry) })),
    next: found.length > size ? (entries.at(-1)?.seq ?? null) : null,
    head,
  }
}
