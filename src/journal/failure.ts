/**
 * Turns what SQLite and the file system throw into the error family. Owns the one question that matters to the caller:
 * is the journal out of reach (JOURNAL_UNAVAILABLE, may come back) or damaged (JOURNAL_CORRUPT, a person is needed)?
 */
import { LifeboatError } from '../domain/errors.ts'

/** What a person does about a damaged journal; the newest backup is a whole one. */
export const wayOn =
  'To go on: move the damaged file and all beside it (-wal, -shm, .head) elsewhere and keep them for later; put the newest backup (in ' +
  'backups/) in its place, alone, and look at Nova for what was under way since; without a backup start with an empty journal. ' +
  'lifeboat journal verify says where a journal breaks'

/**
 * What a person does about a journal whose newest entries are missing: what is left is whole, and newer than any backup. So is
 * a backup that someone put in its place. `head`: the file that says how long the journal was.
 */
export const wayOnWithout = (head: string): string =>
  'What they sent to the cloud is not known any more and could be sent again. To go on: when the whole journal is elsewhere, put it ' +
  `back with all beside it. Else, and when an older journal was put there on purpose: keep a copy, move ${head} away (that accepts ` +
  'the journal as it is), start in mode observe, and look at Nova for what was under way since'

const damage = ['SQLITE_CORRUPT', 'SQLITE_NOTADB']

const plain: Record<string, string> = {
  SQLITE_FULL: 'the disk is full',
  SQLITE_BUSY: 'another process holds a lock on it',
  SQLITE_LOCKED: 'another connection of this process holds a lock on it',
  SQLITE_READONLY: 'it is read-only',
  SQLITE_IOERR: 'the disk failed',
  SQLITE_CANTOPEN: 'it cannot be opened',
  SQLITE_PERM: 'access is denied',
  SQLITE_CORRUPT: 'it is damaged',
  SQLITE_NOTADB: 'it is not an SQLite database',
  ENOENT: 'it does not exist',
  EACCES: 'access is denied',
  EPERM: 'access is denied',
  ENOSPC: 'the disk is full',
  EIO: 'the disk failed',
  EMFILE: 'too many files are open',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of its path is not a directory',
  EISDIR: 'it is a directory',
}

/** The code that SQLite or the file system gave, without SQLite's extension (SQLITE_IOERR_FSYNC -> SQLITE_IOERR). */
export function failureCode(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  return code.startsWith('SQLITE_') ? code.split('_').slice(0, 2).join('_') : code
}

/**
 * The error for a failed use of the journal at `path`. `doing` completes "Cannot ...", e.g. "open the journal".
 * A constraint or a trigger that fires is a bug of ours, not an outage: INVARIANT.
 */
export function journalFailure(thrown: unknown, path: string, doing: string): LifeboatError {
  if (thrown instanceof LifeboatError) return thrown
  const code = failureCode(thrown)
  const details = { path, sqlite: thrown instanceof Error && 'code' in thrown ? String(thrown.code) : null }
  if (code === 'SQLITE_CONSTRAINT' || code === 'SQLITE_MISMATCH' || code === 'SQLITE_ERROR') {
    return new LifeboatError('INVARIANT', `Cannot ${doing}: the schema refused it`, { cause: thrown, details })
  }
  const why = plain[code] ?? (isClosed(thrown) ? 'it is closed' : 'SQLite refused')
  const family = damage.includes(code) ? 'JOURNAL_CORRUPT' : 'JOURNAL_UNAVAILABLE'
  const message = `Cannot ${doing} ${path}: ${why}${family === 'JOURNAL_CORRUPT' ? `. ${wayOn}` : ''}`
  return new LifeboatError(family, message, { retry: 'backoff', cause: thrown, details })
}

/**
 * As journalFailure, for a write: damage that shows while writing is JOURNAL_UNAVAILABLE too, because what the caller
 * must know is that nothing was recorded and so nothing may be done.
 */
export function writeFailure(thrown: unknown, path: string): LifeboatError {
  const error = journalFailure(thrown, path, 'write to the journal')
  if (error.code !== 'JOURNAL_CORRUPT') return error
  return new LifeboatError('JOURNAL_UNAVAILABLE', error.message, { cause: error, details: error.details })
}

function isClosed(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.message.includes('not open')
}
