/** What the tests of a tenure begin with: each has a site of its own, and is held to what no run may break; and what others write there. */
import { afterEach, beforeEach, expect } from 'vitest'
import type { NewEntry } from '../../../src/domain/entry.ts'
import { linkedRows, prepareEntry } from '../../../src/journal/journal.ts'
import { sharedRow } from '../../../src/journal/shared/rows.ts'
import type { SharedRow } from '../../../src/journal/shared/store.ts'
import { Site, type Controller } from './controllers.ts'

/** Before each test of the file `use` is given its site. */
export function eachOnASite(use: (site: Site) => void): void {
  let site: Site
  beforeEach(() => {
    site = new Site()
    use(site)
  })
  afterEach(() => {
    expect(site.broken()).toEqual([])
    site.close()
  })
}

/** The rows of entries that another daemon writes after `head`. */
export function rowsAfter(head: { seq: number; hash: string }, ...entries: NewEntry[]): SharedRow[] {
  return linkedRows(entries.map(prepareEntry), head, '2026-01-01T00:00:00.000Z').map(sharedRow)
}

/** Something happens right after this daemon took the row, before it writes its first entry. */
export function afterTaking({ client }: Controller, happens: () => void): void {
  const { take } = client
  client.take = async (seen, next) => {
    const took = await take(seen, next)
    happens()
    return took
  }
}
