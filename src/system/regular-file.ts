/**
 * Reads a file that the configuration names. Owns what may stand there: anyone who reads a pipe waits until someone writes into it,
 * and the whole daemon waits with them, at a reload too. What the contents mean is the caller's.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, type Stats } from 'node:fs'
import { LifeboatError } from '../domain/errors.ts'

/** What a file holds. Throws what the file system says, and CONFIG_INVALID for what is no regular file. */
export function readRegularFile(file: string): Buffer {
  // Looked at before it is opened: a device may do something when it is (a watchdog counts from then on).
  refuseOther(statSync(file))
  // Looked at once more, for it may have been replaced meanwhile. Without O_NONBLOCK opening a pipe waits too.
  const open = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    refuseOther(fstatSync(open))
    return readFileSync(open)
  } finally {
    closeSync(open)
  }
}

/** As readRegularFile; every failure is CONFIG_INVALID and says `what` it is, where it is and why it cannot be read. */
export function readNamedFile(what: string, file: string): Buffer {
  try {
    return readRegularFile(file)
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw new LifeboatError('CONFIG_INVALID', `${what} ${file} cannot be read: ${why}`, { cause: thrown })
  }
}

function refuseOther(stats: Stats): void {
  if (stats.isFile()) return
  const message = `it is ${kindOf(stats)}, and no file: only a regular file, or a link to one, is read`
  throw new LifeboatError('CONFIG_INVALID', message)
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory'
  if (stats.isFIFO()) return 'a pipe (a shell’s <(…) is one too, and a reload could not read it again)'
  return 'a device or a socket'
}
