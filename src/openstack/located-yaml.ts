/**
 * A YAML (or JSON) file that remembers where each value stood, so that an error can say file:line:col.
 *
 * Reading only. The text of a file never goes into an error: clouds.yaml and secure.yaml hold passwords.
 */
import { statSync } from 'node:fs'
import { LineCounter, isNode, parseDocument } from 'yaml'
import type { Tags } from 'yaml'
import { LifeboatError } from '../domain/errors.ts'
import { readRegularFile } from '../system/regular-file.ts'

export interface LocatedYaml {
  file: string
  /** Plain data, unvalidated. */
  data: unknown
  /** "file:line:col" of the value at `path`, or null when the file has no such path. */
  where(path: string[]): string | null
}

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

/** Numbers stay text: a password of 0123 or 1e5 is what stands there, not what it would count to. */
const asWritten = (tags: Tags): Tags => tags.filter((tag) => typeof tag === 'string' || !/:(int|float)$/.test(tag.tag))

/** Parses `text`. Throws CONFIG_INVALID with file:line:col on a syntax error, without quoting the line. */
export function parseLocated(file: string, text: string): LocatedYaml {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, customTags: asWritten })
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  const first = document.errors[0]
  if (first !== undefined) {
    throw new LifeboatError('CONFIG_INVALID', `${at(first.pos[0])} is not valid YAML (${first.code})`)
  }
  let data: unknown
  try {
    data = document.toJS({ maxAliasCount: 100 })
  } catch {
    throw new LifeboatError('CONFIG_INVALID', `${file} cannot be read: an alias has no anchor, or too many aliases`)
  }
  return {
    file,
    data,
    where: (path) => {
      const node = document.getIn(path, true)
      return isNode(node) && node.range ? at(node.range[0]) : null
    },
  }
}
