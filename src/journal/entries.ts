/** Reading entries: the one query of the `entries` table, and rows turned into entries. */
import type Database from 'better-sqlite3'
import type { Entry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { EntryFilter } from '../domain/journal.ts'
import { extendChain, genesisHash, startOfChain, type ChainState, type EntryRow } from './chain.ts'

export interface EntryQueries {
  read(filter?: EntryFilter): Entry[]
  /** Oldest first, one by one, for what is too big to hold at once. Read in pages: others may write meanwhile. */
  each(filter?: Omit<EntryFilter, 'newestFirst' | 'limit'>): Generator<Entry>
  verify(): ChainState
  /** The newest entry: its sequence (0 when there is none) and hash. */
  newest(): { seq: number; hash: string }
  /** Null when there is no such entry. */
  hashAt(seq: number): string | null
  /** Rows after `seq` as they are stored, at most `limit`. */
  rows(seq: number, limit: number): EntryRow[]
  /** As `verify`, with a pause after each page, so that a daemon can do its work meanwhile. Entries may be added. */
  verifyInPieces(pause: () => Promise<void>): Promise<ChainState>
}

/** Entries held at once while streaming: a plan is some 10 kB, so a page stays below a few tens of megabytes. */
const pageSize = 1000

/** Rows verified without a pause: some 5 ms. More would hold up heartbeats and steps. */
const verifiedAtOnce = 250

const conditions = {
  incident: 'incident = @incident',
  instance: 'instance = @instance',
  allOfInstance: `(instance = @allOfInstance OR incident IN
    (SELECT incident FROM entries WHERE instance = @allOfInstance AND kind = 'instance.failed'))`,
  host: 'host = @host',
  kinds: 'kind IN (SELECT value FROM json_each(@kinds))',
  after: 'seq > @after',
  before: 'seq < @before',
  actor: 'actor = @actor',
  since: 'at >= @since',
  until: 'at < @until',
} as const

/** Queries over one connection; each shape of filter is prepared once. */
export function entryQueries(db: Database.Database): EntryQueries {
  const prepared = new Map<string, Database.Statement<[Record<string, unknown>], EntryRow>>()

  const statementFor = (filter: EntryFilter): Database.Statement<[Record<string, unknown>], EntryRow> => {
    const used = Object.entries(conditions).filter(([name]) => filter[name as keyof typeof conditions] !== undefined)
    const where = used.length === 0 ? '' : ` WHERE ${used.map(([, condition]) => condition).join(' AND ')}`
    const order = filter.newestFirst === true ? 'DESC' : 'ASC'
    const sql = `SELECT * FROM entries${where} ORDER BY seq ${order} LIMIT @limit`
    const statement = prepared.get(sql) ?? db.prepare<[Record<string, unknown>], EntryRow>(sql)
    prepared.set(sql, statement)
    return statement
  }
  const bindings = (filter: EntryFilter): Record<string, unknown> => ({
    ...filter,
    kinds: filter.kinds === undefined ? null : JSON.stringify(filter.kinds),
    newestFirst: null,
    limit: filter.limit ?? -1,
  })

  const read = (filter: EntryFilter = {}): Entry[] => statementFor(filter).all(bindings(filter)).map(toEntry)

  const newest = db.prepare<[], { seq: number; hash: string }>(
    'SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1',
  )
  const hashAt = db.prepare<[number], { hash: string }>('SELECT hash FROM entries WHERE seq = ?')

  const page = db.prepare<[number, number], EntryRow>('SELECT * FROM entries WHERE seq > ? ORDER BY seq LIMIT ?')

  return {
    read,
    rows: (seq, limit) => page.all(seq, limit),
    newest: () => newest.get() ?? { seq: 0, hash: genesisHash },
    hashAt: (seq) => hashAt.get(seq)?.hash ?? null,
    *each(filter = {}) {
      const page = (after: number): Entry[] => read({ ...filter, after, limit: pageSize })
      for (let entries = page(filter.after ?? 0); entries.length > 0; entries = page(entries.at(-1)?.seq ?? 0))
        yield* entries
    },
    verify: () => {
      const state = startOfChain()
      for (const row of db.prepare<[], EntryRow>('SELECT * FROM entries ORDER BY seq').iterate()) {
        if (!extendChain(state, row)) break
      }
      return state
    },
    verifyInPieces: async (pause) => {
      const state = startOfChain()
      for (;;) {
        const rows = page.all(state.entries, verifiedAtOnce)
        for (const row of rows) if (!extendChain(state, row)) return state
        if (rows.length < verifiedAtOnce) return state
        await pause()
      }
    },
  }
}

/** A row as an entry. Throws JOURNAL_CORRUPT when its data is not JSON. */
export function toEntry(row: EntryRow): Entry {
  const { prev_hash: prevHash, data, kind, ...columns } = row
  try {
    return { ...columns, kind, data: JSON.parse(data) as unknown, prevHash } as Entry
  } catch (thrown) {
    throw new LifeboatError('JOURNAL_CORRUPT', `Entry ${row.seq} cannot be read: its data is not JSON`, {
      cause: thrown,
    })
  }
}
