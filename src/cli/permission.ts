/** Files that others keep to themselves: below a directory of theirs a file does not even seem to be there. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'

/** The user who owns a file, or the place where it would be made; null: it is the one who runs this, or it cannot be told. */
export function anotherOwner(path: string): number | null {
  let place = path
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place)
  const { uid } = statSync(place)
  return process.getuid === undefined || process.getuid() === uid ? null : uid
}

/** True only when someone forbids it: a file that is not there at all is not forbidden. */
export function mayNotRead(path: string): boolean {
  try {
    // The way to it, as whoever we act for; then the file itself. It is not opened: that would end SQLite's locks on it.
    statSync(path)
    accessSync(path, constants.R_OK)
    return false
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    return code === 'EACCES' || code === 'EPERM'
  }
}
