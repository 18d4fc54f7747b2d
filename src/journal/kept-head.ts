/**
 * The chain's head, kept outside of the database in `<journal>.head`: the sequence and the hash of the newest entry. Owns that
 * file. It exists because SQLite takes a damaged frame of the log for the torn end of a crash and drops it with all that
 * followed, without a word: the entries that are left verify, and only someone who knows how many there were can tell.
 *
 * The head is never ahead of a journal that is whole. It is written after the commit has returned, and a commit returns when the
 * log is on disk (WAL, synchronous=FULL). A kill between the two, or a power failure at any time, leaves an older head or none;
 * an older one is an entry of the same chain still. So a head that the journal does not hold means that the journal lost
 * entries, or is another one. It is not synced for the same reason: a sync would only make it newer after a power failure, and
 * would cost each append a second wait for the disk.
 *
 * Two records of one size, written in turn, each in a block of its own and with a checksum: a write that is torn leaves the
 * other. Both are written at the start, so that no later write needs room on the disk. When neither can be read, that says
 * something of this file and nothing of the journal: the daemon starts without it, says so, and writes it again. Refusing would
 * leave dead hosts unrecovered until a person deletes the file, which is no better known then.
 */
import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { failureCode, journalFailure } from './failure.ts'

export interface Head {
  seq: number
  hash: string
}

/** What the file says. `missing`: none yet, an older release wrote the journal, or someone put it away to accept the journal. */
export type KeptHead = ({ state: 'kept' } & Head) | { state: 'missing' } | { state: 'unreadable' }

/** Apart by more than a disk writes at once: two records in one block could be torn together. */
const slotDistance = 4_096
const recordBytes = 128

export const headPath = (journalPath: string): string => `${journalPath}.head`

/** Reads the file without changing it. Throws JOURNAL_UNAVAILABLE when it is there and cannot be read. */
export function readKeptHead(journalPath: string): KeptHead {
  const bytes = contentOf(headPath(journalPath))
  // A power failure right after the file was made leaves it empty, or full of zeros.
  if (bytes === null || bytes.every((byte) => byte === 0)) return { state: 'missing' }
  const [newest] = [0, slotDistance]
    .map((at) => parse(bytes.toString('latin1', at, at + recordBytes)))
    .filter((head) => head !== null)
    .toSorted((one, other) => other.seq - one.seq)
  return newest === undefined ? { state: 'unreadable' } : { state: 'kept', ...newest }
}

function contentOf(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(failureCode(thrown))) return null
    throw journalFailure(thrown, path, "read the journal's head from")
  }
}

function recordOf({ seq, hash }: Head): string {
  const text = `lifeboat-head/1 ${seq} ${hash}`
  return `${text} ${checksum(text)}`.padEnd(recordBytes - 1) + '\n'
}

function parse(record: string): Head | null {
  const [, text = '', seq, hash = '', sum] =
    /^(lifeboat-head\/1 (\d{1,15}) ([0-9a-f]{64})) ([0-9a-f]{16}) *\n$/.exec(record) ?? []
  return seq !== undefined && checksum(text) === sum ? { seq: Number(seq), hash } : null
}

/** Against tearing and rot, not against forgers: anyone who can write this file can write the journal. */
function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The end of a journal as its database has it. */
export interface JournalEnd {
  newest(): Pick<Head, 'seq'>
  hashAt(seq: number): string | null
}

/** What is wrong with a journal that does not hold the kept head; null when it does, or when there is none to hold. */
export function lostEnd(kept: KeptHead, journal: JournalEnd): { seq: number; problem: string } | null {
  if (kept.state !== 'kept' || kept.seq === 0) return null
  const found = journal.hashAt(kept.seq)
  if (found === kept.hash) return null
  if (found !== null)
    return {
      seq: kept.seq,
      problem: `entry ${kept.seq} is not the one that was written: the head kept beside it has another hash`,
    }
  const { seq } = journal.newest()
  const lost = kept.seq - seq
  const what = lost === 1 ? 'the newest entry is' : `the newest ${lost} entries are`
  return { seq: seq + 1, problem: `it ends with entry ${seq}, but entry ${kept.seq} was written: ${what} missing` }
}

export interface HeadKeeper {
  /**
   * After a commit, with its newest entry. Never throws: the entries are in the journal, and their caller must hear so. A failure
   * is told by the next `mustBeKept`, which each poll of a daemon asks.
   */
  keep(head: Head): void
  /** Before a write: tries again what could not be written. Throws JOURNAL_UNAVAILABLE when it still cannot. */
  mustBeKept(): void
  close(): void
}

/** Writes `head` at once, over whatever is there, and then every newer one. Throws JOURNAL_UNAVAILABLE. */
export function keepHead(journalPath: string, first: Head): HeadKeeper {
  const path = headPath(journalPath)
  let descriptor: number | null = null
  let slot = 0
  let unwritten: { head: Head; thrown: unknown } | null = null

  const close = (): void => {
    if (descriptor !== null) closeSync(descriptor)
    descriptor = null
  }
  const writeTo = (file: number, at: number, head: Head): void => {
    if (writeSync(file, recordOf(head), at * slotDistance, 'latin1') !== recordBytes)
      throw Object.assign(new Error('only a part of it was written'), { code: 'ENOSPC' })
  }
  const write = (head: Head): void => {
    if (descriptor !== null && !sameFile(descriptor, path)) close()
    if (descriptor === null) {
      // Made now, or another one than before: nothing of what stands in it may outlive this.
      descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600)
      try {
        writeTo(descriptor, 1 - slot, head)
      } catch (thrown) {
        // The next try must write both again.
        close()
        throw thrown
      }
    }
    writeTo(descriptor, slot, head)
    slot = 1 - slot
  }
  const attempt = (head: Head): void => {
    try {
      write(head)
      unwritten = null
    } catch (thrown) {
      unwritten = { head, thrown }
    }
  }
  const mustBeKept = (): void => {
    if (unwritten !== null) attempt(unwritten.head)
    if (unwritten !== null) throw journalFailure(unwritten.thrown, path, "write the journal's head to")
  }

  attempt(first)
  try {
    mustBeKept()
  } catch (thrown) {
    close()
    throw thrown
  }
  return { keep: attempt, mustBeKept, close }
}

/** Someone may have moved or replaced it: the file that stands under the name is the one that the next start reads. */
function sameFile(descriptor: number, path: string): boolean {
  const own = fstatSync(descriptor)
  const named = statSync(path, { throwIfNoEntry: false })
  return named !== undefined && named.ino === own.ino && named.dev === own.dev
}
