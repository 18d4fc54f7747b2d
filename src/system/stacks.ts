/**
 * Where a line of the bundled program stands in its source. The maps beside the program are read when a bug is printed: with
 * Node's own --enable-source-maps every start would read all of them.
 */
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { fileURLToPath } from 'node:url'

/** A stack trace with the places of the source instead of those of the bundle; what has no map stays as it is. Never throws. */
export function sourceStack(stack: string): string {
  const maps = new Map<string, SourceMap | null>()
  const mapOf = (file: string): SourceMap | null => {
    const known = maps.get(file) ?? mapBeside(file)
    maps.set(file, known)
    return known
  }
  return stack.replace(place, (found, url: string, line: string, column: string) => {
    const entry = mapOf(fileURLToPath(url))?.findEntry(Number(line) - 1, Number(column) - 1)
    if (entry === undefined || !('originalSource' in entry)) return found
    const source = entry.originalSource.replace(/^(\.\.\/)+/, '')
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  })
}

/** As V8 writes them: file:///usr/lib/lifeboat/dist/bundle/main.js:12:3 */
const place = /(file:\/\/\/[^\s():]+\.js):(\d+):(\d+)/g

function mapBeside(file: string): SourceMap | null {
  try {
    const map = `${file}.map`
    return existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, 'utf8')) as SourceMapPayload) : null
  } catch {
    return null
  }
}
