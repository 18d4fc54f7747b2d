/**
 * Whether the journal's files still stand under their names. A process keeps writing to a file that someone moved away, deleted
 * or replaced, and nobody ever reads that again: the next start would know nothing of what was done. Owns that one question.
 */
import { statSync } from 'node:fs'
import { LifeboatError } from '../domain/errors.ts'
import { failureCode } from './failure.ts'

/** The database, what SQLite keeps beside it (missing until it is needed), and the lease. */
const endings = ['', '-wal', '-shm', '.lock']

/**
 * Made once the journal is open. What it gives is called before each write and throws JOURNAL_UNAVAILABLE while one of the files
 * is missing or another one. A few microseconds: nothing beside the write itself.
 */
export function sameFiles(journalPath: string): () => void {
  const known = new Map<string, string>()
  const look = (): void => {
    for (const path of endings.map((ending) => journalPath + ending)) {
      const before = known.get(path)
      const now = identityOf(path)
      if (before === undefined) {
        if (now !== null) known.set(path, now)
      } else if (now !== before) {
        const what = now === null ? 'is not there any more' : 'was replaced by another file'
        const message = `${path} ${what} while this daemon writes to it: nothing would be found there after a restart. Put it back, or restart the daemon`
        throw new LifeboatError('JOURNAL_UNAVAILABLE', message, { retry: 'backoff', details: { path } })
      }
    }
  }
  look()
  return look
}

/** Null when there is no such file. */
function identityOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path)
    return `${dev}:${ino}`
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(failureCode(thrown))) return null
    throw thrown
  }
}
