/** Files that may be missing. One that cannot be read is not missing: it may be the one that counts. */
import { statSync } from 'node:fs'
import { LifeboatError } from '../domain/errors.ts'
import { readRegularFile } from '../system/regular-file.ts'

/**
 * The text of a file, or null when there is none.
 *
 * @throws LifeboatError CONFIG_INVALID when it is there and may not be read, or is a pipe or a device. openstacksdk takes the next file then; a daemon
 *   that fences hosts must not go to another cloud because of a file's mode.
 */
export function readIfThere(file: string): string | null {
  try {
    if (statSync(file).isDirectory()) return null
    return readRegularFile(file).toString('utf8')
  } catch (cause) {
    if (cause instanceof LifeboatError)
      throw new LifeboatError('CONFIG_INVALID', `${file} cannot be read: ${cause.message}`)
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    // A folder on the way may not be entered: whether the file is there nobody can tell.
    if (isHidden(file)) return null
    throw new LifeboatError('CONFIG_INVALID', `${file} is there and cannot be read (${code})${remedy(code)}`)
  }
}

/** Whether a folder on the way to a file keeps even its existence from this user. */
export function isHidden(file: string): boolean {
  try {
    statSync(file)
    return false
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EACCES'
  }
}

/** A user id and no name: systemd's users need not have one here. */
function remedy(code: string): string {
  return code === 'EACCES' ? `: user ${String(process.geteuid?.())} needs the right to` : ''
}
