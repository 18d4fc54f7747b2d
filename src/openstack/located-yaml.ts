/**
 * A YAML (or JSON) file that remembers where each value stood, so that an error can say file:line:col.
 *
 * Reading only. The text of a file never goes into an error: clouds.yaml and secure.yaml hold passwords.
 */
import { readFileSync } from 'node:fs'
import { LineCounter, isNode, parseDocument } from 'yaml'
import type { Tags } from 'yaml'
import { LifeboatError } from '../domain/errors.ts'

export interface LocatedYaml {
  file: string
  /** Plain data, unvalidated. */
  data: unknown
  /** "file:line:col" of the value at `path`, or null when the file has no such path. */
  where(path: string[]): string | null
}

/** The text of a file, or null when it does not exist or may not be read (openstacksdk then takes the next one). */
export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES' || code === 'EISDIR') return null
    throw new LifeboatError('CONFIG_INVALID', `${file} cannot be read (${code ?? 'unknown error'})`)
  }
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
