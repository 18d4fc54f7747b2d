/** A YAML text with the place of everything in it, so that a problem can be said as file:line:col. Knows no option. */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Pair,
} from 'yaml'

export type Path = readonly PropertyKey[]

export interface YamlSource {
  /** The document as plain data; an empty file is an empty map. */
  data: unknown
  /** Problems of the YAML itself, placed. When there are any, `data` must not be used. */
  problems: Problem[]
  /** The place of the value at `path`, or of the nearest thing around it that exists. */
  valueAt(path: Path): Place
  /** The place of the key `path` ends in. */
  keyAt(path: Path): Place
}

export interface Place {
  file: string
  line: number
  col: number
}

export interface Problem extends Place {
  message: string
}

const parserHints: Partial<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab indents here (YAML takes only spaces)',
  MULTIPLE_DOCS: 'a second document begins here (one document in a file)',
}

/** @param file its name in problems */
export function readYaml(text: string, file: string): YamlSource {
  const lines = new LineCounter()
  // The parser's own look for keys that are there twice compares each with each: 20,000 hosts would take it ten seconds.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false, merge: true })
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), col: Math.max(col, 1) }
  }
  const problems = [...document.errors, ...document.warnings].map((problem) => ({
    ...place(problem.pos[0]),
    message: parserHints[problem.code] ?? `is not valid YAML: ${problem.message.split('\n')[0] ?? ''}`,
  }))
  for (const key of keysThereTwice(document))
    problems.push({ ...place(offsetOf(key)), message: 'this key is here twice (each key once)' })
  return {
    data: problems.length > 0 ? null : plainData(document, problems, file),
    problems,
    valueAt: (path) => place(offsetOf(walk(document, path).value)),
    keyAt: (path) => {
      const { pair, value } = walk(document, path)
      return place(offsetOf(pair?.key ?? value))
    },
  }
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

/** Also where a "billion laughs" of aliases is caught. */
function plainData(document: Document, problems: Problem[], file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) ?? {}
  } catch (thrown) {
    problems.push({
      file,
      line: 1,
      col: 1,
      message: `is not valid YAML: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    })
    return null
  }
}

function walk(document: Document, path: Path): { value: unknown; pair: Pair | null } {
  let value: unknown = document.contents
  let pair: Pair | null = null
  for (const part of path) {
    const inner = isAlias(value) ? value.resolve(document) : value
    if (isMap(inner)) {
      const found = inner.items.find((item) => keyText(item.key) === String(part))
      if (found === undefined) break
      pair = found
      value = found.value ?? found.key
    } else if (isSeq(inner) && typeof part === 'number' && inner.items[part] !== undefined) {
      value = inner.items[part]
      pair = null
    } else break
  }
  return { value, pair }
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key)
}

function offsetOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0
}
