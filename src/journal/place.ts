/**
 * The journal's place on disk: a private directory and private files. Owns modes and paths; knows nothing of SQL.
 * The journal names instances, projects and people, so nobody but the daemon's own user reads it unless an administrator
 * grants it on purpose.
 */
import { closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { LifeboatError } from '../domain/errors.ts'
import { failureCode, journalFailure } from './failure.ts'

/**
 * Makes the directory (0700) and the file (0600) where they are missing, and returns the file's true path, so that two names
 * of one journal meet at one lock. Throws JOURNAL_UNAVAILABLE, also for a file that anybody could write to.
 */
export function preparePlace(path: string): string {
  try {
    makeDirectory(dirname(resolve(path)))
    const file = existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(resolve(path))), basename(path))
    createPrivately(file)
    if ((statSync(file).mode & 0o002) !== 0) {
      throw new LifeboatError('JOURNAL_UNAVAILABLE', `Everybody may write to ${file}: no record there can be trusted`)
    }
    return file
  } catch (thrown) {
    throw journalFailure(thrown, path, 'prepare the journal')
  }
}

/**
 * Makes the directory and those above it, one by one: below /proc, Node's own recursive way never ends. A path that is
 * there already, as a symlink too, is taken as it is.
 */
function makeDirectory(path: string): void {
  if (existsSync(path)) return
  makeDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (thrown) {
    if (failureCode(thrown) === 'EEXIST' && existsSync(path)) return
    const why = failureCode(thrown) === 'ENOENT' ? 'its file system takes no directories' : null
    if (why === null) throw thrown
    throw new LifeboatError('JOURNAL_UNAVAILABLE', `Cannot make the directory ${path}: ${why}`, { cause: thrown })
  }
}

/** Creates an empty file with mode 0600. SQLite gives its -wal and -shm files the mode of the file they belong to. */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (thrown) {
    if (failureCode(thrown) !== 'EEXIST') throw thrown
  }
}
