/**
 * Lists in pages: all of them, or an error. A server that shows the same page again cannot keep us for ever, nor one that always
 * shows new ones.
 */
import { LifeboatError } from '../domain/errors.ts'

/** Asked for; a service's own cap may be lower, silently (docs/nova.md §1.3). */
export const pageSize = 1000
/**
 * Rows of one list. The largest clouds have some 100,000 instances in all, and no question of ours is for all of them: beyond it
 * something is wrong with the server. Higher, and it fills our memory (5 kB a row) and keeps a recovery waiting for minutes.
 */
export const mostRows = 200_000

export interface Page<T> {
  items: T[]
  /** Whether the answer had a link to a next page. Null: this list has no links, only an empty page ends it. */
  linked: boolean | null
  /** The marker of the page's last item, where the list is paged by marker. */
  marker?: string | undefined
}

/**
 * Every item once, in the server's order. `fetch` gets the last page's marker and how many items were seen.
 * A page that is empty, or short and without a link, is the last one.
 *
 * @throws LifeboatError API_MALFORMED when a page brings nothing new, or the list does not end
 */
export async function allPages<T>(
  what: string,
  fetch: (marker: string | undefined, seen: number) => Promise<Page<T>>,
  idOf: (item: T) => string,
): Promise<T[]> {
  const all = new Map<string, T>()
  let marker: string | undefined
  let seen = 0
  for (let page = 1; ; page += 1) {
    const got = await fetch(marker, seen)
    const before = all.size
    for (const item of got.items) all.set(idOf(item), item)
    if (got.items.length === 0 || (got.linked === false && got.items.length < pageSize)) return [...all.values()]
    if (all.size === before) {
      throw new LifeboatError('API_MALFORMED', `${what}: the service repeats a page`, { details: { pages: page } })
    }
    if (all.size > mostRows) {
      const says = `${what}: the list does not end; the service brought more than ${mostRows} rows on ${page} pages`
      throw new LifeboatError('API_MALFORMED', says, { details: { pages: page } })
    }
    marker = got.marker
    seen += got.items.length
  }
}
