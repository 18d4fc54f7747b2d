/**
 * Export as JSON lines: one entry a line, with its hashes, so that anyone who receives it can compute the chain again. The `data`
 * of a line is canonical JSON, the very text that was hashed.
 */
import type { Entry } from '../domain/entry.ts'
import type { EntryFilter } from '../domain/journal.ts'
import { canonicalJson } from './canonical.ts'
import type { JournalView } from './reader.ts'

/** The lines of the entries that pass the filter (none: all), oldest first, each with its line end. */
export function* exportLines(
  journal: Pick<JournalView, 'each'>,
  filter: Omit<EntryFilter, 'newestFirst' | 'limit'> = {},
): Generator<string> {
  for (const entry of journal.each(filter)) yield exportLine(entry)
}

/** One entry as a line, under the names of its columns. */
export function exportLine(entry: Entry): string {
  const { seq, at, actor, incident, host, instance, step, kind, data, prevHash, hash } = entry
  return `${canonicalJson({ seq, at, actor, incident, host, instance, step, kind, data, prev_hash: prevHash, hash })}\n`
}
