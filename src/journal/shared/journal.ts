/**
 * The shared journal as the daemon sees it: the same port as a journal of its own. Appending links, folds and returns at once; the shipper makes
 * it durable behind the caller, and what leaves the house waits for that (Tenure.permit). What is durable goes into the copy, an ordinary SQLite
 * journal, which everything that verifies, exports and backs up goes on reading (Nightingale et al., Rethink the Sync, OSDI 2006).
 */
import type { Entry } from '../../domain/entry.ts'
import { ensureError, LifeboatError } from '../../domain/errors.ts'
import type { EntryRow } from '../chain.ts'
import { toEntry } from '../entries.ts'
import { announcer, linkedRows, prepareEntry, rethrowLater, type JournalWriter } from '../journal.ts'
import { readWithTail, type TailEntry } from './tail.ts'
import { Tenure } from './tenure.ts'
import type { TenureParts } from './tenure-parts.ts'

/** A copy whose disk is in trouble is tried again this often. Shorter: each try writes all that waits, and may wait for a lock. Longer: it stays behind. */
const copyAgainMs = 1_000

/** More than this may wait neither for the store nor for the copy's disk: then nothing is appended any more. */
const tailAtMost = 20_000

export interface SharedJournalParts extends Omit<TenureParts, 'copy' | 'pulled' | 'acknowledged'> {
  /** Opened for writing by this process, and by nobody else from now on. */
  copy: JournalWriter
  onListenerError?: (thrown: unknown) => void
  /** The copy could not be written (null: it can again). The shared journal has the entries. */
  copyTrouble: (problem: LifeboatError | null) => void
}

export interface SharedJournal {
  journal: JournalWriter
  tenure: Tenure
  /** Records why, and frees the tenure once all is durable: another daemon takes over within a second. Without a tenure it only ends. */
  release(why: string): Promise<void>
}

export function sharedJournal(parts: SharedJournalParts): SharedJournal {
  const { copy, clock, onListenerError = rethrowLater, copyTrouble } = parts
  const appended = announcer(onListenerError)
  const durable = announcer(onListenerError)
  const tail: TailEntry[] = []
  let acknowledgedSeq = 0
  let troubled = false
  let triedAt = -Infinity

  /** What is durable goes into the copy; while its disk is in trouble, it is read from memory. */
  const copyOver = (): void => {
    const end = tail.findIndex(({ row }) => row.seq > acknowledgedSeq)
    const ready = end < 0 ? tail : tail.slice(0, end)
    if (ready.length === 0) return
    triedAt = clock.now()
    try {
      copy.takeIn(ready.map(({ row }) => row))
      tail.splice(0, ready.length)
      if (troubled) copyTrouble(null)
      troubled = false
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code !== 'JOURNAL_UNAVAILABLE') throw error
      if (!troubled) copyTrouble(error)
      troubled = true
    }
  }

  const tenure = new Tenure({
    ...parts,
    pulled: (rows) => {
      const entries = copy.takeIn(rows)
      appended.tell(entries)
      durable.tell(entries)
      return entries
    },
    acknowledged: (rows: readonly EntryRow[]) => {
      const [first, last] = [rows[0], rows.at(-1)]
      if (first === undefined || last === undefined) return
      acknowledgedSeq = last.seq
      // The first entry of a tenure did not pass through append. Like any other, it waits in the tail while the copy cannot take it.
      const isFirst = tail.length === 0
      if (isFirst) tail.push(...rows.map((row) => ({ row, entry: toEntry(row) })))
      const own = tail.filter(({ row }) => row.seq >= first.seq && row.seq <= last.seq).map(({ entry }) => entry)
      copyOver()
      if (isFirst) appended.tell(own)
      durable.tell(own)
    },
  })

  const append = (entries: Parameters<JournalWriter['append']>[0]): Entry[] => {
    // Where nothing is acknowledged, because nothing is appended, nobody else tries the copy's disk again.
    if (troubled && clock.now() - triedAt >= copyAgainMs) copyOver()
    if (tail.length > tailAtMost)
      throw new LifeboatError(
        'JOURNAL_UNAVAILABLE',
        `The shared journal cannot be written: ${tail.length} entries wait for it or for the disk of its copy, and no more may`,
        { retry: 'backoff' },
      )
    const prepared = entries.map(prepareEntry)
    const rows = linkedRows(prepared, tenure.newest, new Date(clock.wall()).toISOString())
    tenure.append(rows)
    const written = rows.map((row) => ({ row, entry: toEntry(row) }))
    tail.push(...written)
    const added = written.map(({ entry }) => entry)
    appended.tell(added)
    return added
  }

  const journal: JournalWriter = {
    ...copy,
    read: (filter) => readWithTail(copy, tail, filter),
    head: () => {
      const row = tail.findLast((it) => it.row.seq <= acknowledgedSeq)?.row
      return row === undefined ? copy.head() : { seq: row.seq, hash: row.hash }
    },
    isBehind: () => tail.some(({ row }) => row.seq <= acknowledgedSeq),
    append,
    takeIn: () => {
      throw new LifeboatError('INVARIANT', "only its own tenure writes to a shared journal's copy")
    },
    putAside: () => {
      throw new LifeboatError('INVARIANT', "a shared journal is not one daemon's to put aside")
    },
    onAppend: (listen) => appended.add(listen),
    onDurable: (listen) => durable.add(listen),
    close: () => {
      tenure.end('the journal was closed')
      copy.close()
    },
  }
  return {
    journal,
    tenure,
    release: async (why) => {
      const { epoch } = tenure.view()
      try {
        if (tenure.mayAppend) append([{ kind: 'tenure.ended', data: { epoch, holder: parts.identity.holder, why } }])
      } finally {
        // Kept, it would be renewed until systemd kills the process.
        await tenure.release()
      }
    },
  }
}
