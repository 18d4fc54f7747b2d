/** A YAML text with the place of everything in it, so that a problem can be said as file:line:col. Knows no option. */
import { isCollection, isScalar, LineCounter, parseDocument, visit, type Document, type Tags } from 'yaml'
import { inText, offsetOf, walk, type Path } from './yaml-path.ts'

export type { Path } from './yaml-path.ts'

export interface YamlSource {
  /** The document as plain data; null for an empty file. */
  data: unknown
  /** Problems of the YAML itself, placed. When there are any, `data` must not be used. */
  problems: Problem[]
  /** Whether the text has a value at `path`. */
  has(path: Path): boolean
  /**
   * The place of the value at `path`, or of the nearest thing around it that exists. A map or a list that stands below its key
   * is better found by the key. `offset` counts characters into a text.
   */
  valueAt(path: Path, offset?: number | null): Place
  /** The place of the key `path` ends in. */
  keyAt(path: Path): Place
}

export interface Place {
  file: string
  line: number
  col: number
}

export interface Problem extends Place {
  /** What is wrong, and what is allowed. */
  message: string
}

export interface Reading {
  /**
   * The file holds passwords, and is another program's too: numbers stay as they are written (0123 and 1e5 are passwords), no
   * problem quotes the text, and what is merely odd is none.
   */
  credentials?: boolean
}

/** One thing may be named so often. Fewer: a workflow cannot share its retries; more: a small file unfolds into a huge one. */
const aliasesAtMost = 1_000

const parserHints: Partial<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab indents here (YAML takes only spaces)',
  MULTIPLE_DOCS: 'a second document begins here (one document in a file)',
}

/** Reads the text. @param file its name in problems */
export function readYaml(text: string, file: string, { credentials = false }: Reading = {}): YamlSource {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    // The parser's own look for keys that are there twice compares each with each: 20,000 hosts would take it ten seconds.
    uniqueKeys: false,
    prettyErrors: false,
    merge: true,
    ...(credentials && { customTags: asWritten }),
  })
  const lineOf = (offset: number): number => lines.linePos(offset).line
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), col: Math.max(col, 1) }
  }
  const found = credentials ? document.errors : [...document.errors, ...document.warnings]
  const problems = found.map(({ code, message, pos }) => {
    const said = credentials ? `is not valid YAML (${code})` : `is not valid YAML: ${message.split('\n')[0] ?? ''}`
    return { ...place(pos[0]), message: parserHints[code] ?? said }
  })
  for (const key of keysThereTwice(document))
    problems.push({ ...place(offsetOf(key)), message: 'this key is here twice (each key once)' })
  let data: unknown = null
  try {
    if (problems.length === 0) data = document.toJS({ maxAliasCount: aliasesAtMost })
  } catch (thrown) {
    const why = credentials ? 'an alias has no anchor, or there are too many' : messageOf(thrown)
    problems.push({ ...place(0), message: `is not valid YAML: ${why}` })
  }
  return {
    data,
    problems,
    has: (path) => walk(document, path).isWhole,
    valueAt: (path, offset = null) => {
      const { key, value } = walk(document, path)
      const start = offsetOf(value)
      const isBelow = key !== null && isCollection(value) && lineOf(start) > lineOf(offsetOf(key))
      return place(isBelow ? offsetOf(key) : start + (offset === null ? 0 : inText(value, offset)))
    },
    keyAt: (path) => {
      const { key, value } = walk(document, path)
      return place(offsetOf(key ?? value))
    },
  }
}

/** `lifeboat.yaml:3:14`. */
export function placeText({ file, line, col }: Place): string {
  return `${file}:${line}:${col}`
}

/** `lifeboat.yaml:3:14: what is wrong, and what is allowed`. */
export function problemText(problem: Problem): string {
  return `${placeText(problem)}: ${problem.message}`
}

function asWritten(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === 'string' || !/:(int|float)$/.test(tag.tag))
}

/** The later one of two would silently win. */
function keysThereTwice(document: Document): unknown[] {
  const found: unknown[] = []
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) found.push(key)
        seen.add(key.value)
      }
    },
  })
  return found
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
