/**
 * The hash chain over entries. Owns the one definition of what is hashed; anybody can compute it again with a few lines in
 * any language:
 *
 *   hash = lower-case hex of SHA-256 over the UTF-8 text of the JSON array
 *     ["lifeboat/1", seq, at, actor, incident, host, instance, step, kind, data, prev_hash]
 *
 * without spaces, non-ASCII characters as they are, absent columns as null, and `data` as the JSON *string* that holds the
 * column's exact text. A JSON array of strings, numbers and nulls has one reading only: no two rows share a text. The first
 * entry's prev_hash is 64 zeros.
 *
 * The chain proves that no entry was changed, removed from within, reordered or put in between. That the newest entries were
 * not cut off shows only against a head that was kept elsewhere: beside the journal (kept-head.ts), in the log, and in every export
 * and report.
 */
import { createHash } from 'node:crypto'

export const genesisHash = '0'.repeat(64)

/** A row of `entries` as it is stored. */
export interface EntryRow {
  seq: number
  at: string
  actor: string
  incident: string | null
  host: string | null
  instance: string | null
  step: string | null
  kind: string
  data: string
  prev_hash: string
  hash: string
}

/** The exact text that is hashed: all columns but the hash itself. */
export function entryText(row: Omit<EntryRow, 'hash'>): string {
  const { seq, at, actor, incident, host, instance, step, kind, data, prev_hash } = row
  return JSON.stringify(['lifeboat/1', seq, at, actor, incident, host, instance, step, kind, data, prev_hash])
}

/** The hash of a row, over all its columns but the hash itself. */
export function entryHash(row: Omit<EntryRow, 'hash'>): string {
  return createHash('sha256').update(entryText(row), 'utf8').digest('hex')
}

export interface ChainState {
  entries: number
  head: string
  broken: { seq: number; problem: string } | null
}

/** The state before the first entry. */
export function startOfChain(): ChainState {
  return { entries: 0, head: genesisHash, broken: null }
}

/** Checks the next row against what came before it; returns false at the first row that does not fit. */
export function extendChain(state: ChainState, row: EntryRow): boolean {
  const problem = problemOf(state, row)
  if (problem !== null) {
    state.broken = { seq: row.seq, problem }
    return false
  }
  state.entries += 1
  state.head = row.hash
  return true
}

function problemOf(state: ChainState, row: EntryRow): string | null {
  const expected = state.entries + 1
  if (row.seq !== expected) return `entry ${expected} is missing: the next one is ${row.seq}`
  if (row.prev_hash !== state.head) return `it does not follow entry ${row.seq - 1}: the hash it names is another one`
  if (entryHash(row) !== row.hash) return 'its content is not what was hashed when it was written'
  return null
}

/**
 * Checks the newest rows, oldest first, without what came before them: each is what was hashed, and each follows the one
 * before. `before`: the hash that the first of them must name, null when there is no row before it. Cheap, for every start;
 * an old entry that was changed shows only in `extendChain` over all.
 */
export function brokenTail(rows: EntryRow[], before: string | null): { seq: number; problem: string } | null {
  let previous = before ?? genesisHash
  let expected = rows[0]?.seq ?? 1
  for (const row of rows) {
    const state: ChainState = { entries: expected - 1, head: previous, broken: null }
    if (!extendChain(state, row)) return state.broken
    previous = row.hash
    expected += 1
  }
  return null
}
