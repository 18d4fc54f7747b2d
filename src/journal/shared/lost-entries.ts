/**
 * Puts back what the shared store lost. Galera loses acknowledged commits when its nodes crash together; every copy holds what was
 * acknowledged, so a copy that links on to the store's newest entry and is longer inserts the missing rows exactly as they were.
 */
import type { EntryRow } from '../chain.ts'
import type { Head } from '../kept-head.ts'
import { sharedRow } from './rows.ts'
import type { SharedRow, SharedStore } from './store.ts'

export interface Copy {
  head(): Head
  hashAt(seq: number): string | null
  rows(seq: number, limit: number): EntryRow[]
}

/** In one statement; a larger entry goes alone. */
const rowsAtOnce = 200
const bytesAtOnce = 1_000_000

/**
 * `whole`: nothing is missing, or all was put back. `other`: the two went apart, and nothing was written. `again`: the store changed
 * meanwhile. Throws StoreTrouble.
 */
export async function putBack(
  store: Pick<SharedStore, 'insert' | 'hashAt' | 'look'>,
  copy: Copy,
  told: (entries: number) => void = () => undefined,
): Promise<'whole' | 'other' | 'again'> {
  let { newest } = await store.look(0, 0)
  const checked = Math.min(newest, copy.head().seq)
  const found = await agreement(store, copy, checked)
  if (found !== 'same') return found === 'other' ? 'other' : 'again'
  if (checked === copy.head().seq) return 'whole'
  let put = 0
  try {
    for (;;) {
      const rows = upTo(bytesAtOnce, copy.rows(newest, rowsAtOnce).map(sharedRow))
      const last = rows.at(-1)
      if (last === undefined) return 'whole'
      const hash = newest === 0 ? '' : (copy.hashAt(newest) ?? '')
      const inserted = await store.insert({ seq: newest, hash }, rows)
      if (inserted !== 'inserted') return 'again'
      put += rows.length
      newest = last.seq
    }
  } finally {
    if (put > 0) told(put)
  }
}

/** What the store has at a sequence that the copy has, as all nodes agree. `missing`: nothing. */
export async function agreement(
  store: Pick<SharedStore, 'hashAt'>,
  copy: Pick<Copy, 'hashAt'>,
  seq: number,
): Promise<'same' | 'other' | 'missing'> {
  if (seq === 0) return 'same'
  const there = await store.hashAt(seq)
  if (there === null) return 'missing'
  return there === copy.hashAt(seq) ? 'same' : 'other'
}

/**
 * The newest entry that both have; 0: none. Each entry holds the hash of the one before, so what agrees once agreed always before.
 *
 * @param known an entry that both have; 0: none is known
 */
export async function newestCommon(
  store: Pick<SharedStore, 'hashAt'>,
  copy: Pick<Copy, 'head' | 'hashAt'>,
  known = 0,
): Promise<number> {
  let common = known
  for (let other = copy.head().seq + 1; other - common > 1;) {
    const middle = Math.floor((common + other) / 2)
    if ((await agreement(store, copy, middle)) === 'same') common = middle
    else other = middle
  }
  return common
}

/** The first rows with at most so many bytes, and at least one. */
function upTo(bytes: number, rows: readonly SharedRow[]): SharedRow[] {
  let sum = 0
  const end = rows.findIndex(({ body }, index) => (sum += body.length) > bytes && index > 0)
  return rows.slice(0, end < 0 ? rows.length : end)
}
