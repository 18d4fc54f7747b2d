/**
 * Several YAML texts laid over each other, with the file and place of everything in the result. Maps are merged key by key;
 * a list or a single value replaces what an earlier file said.
 */
import { readYaml, type Path, type Place, type Problem, type YamlSource } from '../formats/yaml-source.ts'

/** Which text a part of the result is from; of a map, which ones its keys are from. */
interface Origin {
  text: number
  keys: Map<string, Origin> | null
}

export interface MergedSource extends YamlSource {
  /** The file that says what is at `path`, or null when none does. */
  fileOf(path: Path): string | null
}

/** Problems are of every text; when there are any, `data` must not be used. */
export function mergeTexts(texts: readonly { file: string; text: string }[]): MergedSource {
  const sources = texts.map(({ file, text }) => readYaml(text, file))
  const problems: Problem[] = sources.flatMap((source) => source.problems)
  let data: unknown = {}
  let origin: Origin = { text: 0, keys: new Map() }
  for (const [index, source] of sources.entries()) {
    // An empty file is an empty map.
    const said = source.data ?? {}
    if (problems.length > 0) break
    if (index === 0) {
      data = said
      origin = originOf(data, 0)
    } else [data, origin] = laid(data, origin, said, index)
  }
  const sourceAt = (path: Path): YamlSource | undefined => sources[nearest(origin, path).origin.text]
  const nowhere: Place = { file: 'defaults', line: 1, col: 1 }
  return {
    data: problems.length > 0 ? null : data,
    problems,
    has: (path) => sourceAt(path)?.has(path) ?? false,
    valueAt: (path, offset) => sourceAt(path)?.valueAt(path, offset) ?? nowhere,
    keyAt: (path) => sourceAt(path)?.keyAt(path) ?? nowhere,
    fileOf: (path) => {
      const { origin: found, depth } = nearest(origin, path)
      // Within a list or a single value the whole of it is of one text.
      const inside = depth === path.length || found.keys === null
      return inside ? (texts[found.text]?.file ?? null) : null
    },
  }
}

function laid(under: unknown, from: Origin, over: unknown, index: number): [unknown, Origin] {
  if (!isMap(under) || !isMap(over) || from.keys === null) return [over, originOf(over, index)]
  const merged = new Map(Object.entries(under))
  const keys = new Map(from.keys)
  for (const [key, value] of Object.entries(over)) {
    const known = keys.get(key)
    const [inner, innerOrigin] =
      known === undefined ? [value, originOf(value, index)] : laid(merged.get(key), known, value, index)
    merged.set(key, inner)
    keys.set(key, innerOrigin)
  }
  // fromEntries, not assignment: a key called __proto__ must stay a key like any other.
  return [Object.fromEntries(merged), { text: index, keys }]
}

function originOf(value: unknown, text: number): Origin {
  if (!isMap(value)) return { text, keys: null }
  return { text, keys: new Map(Object.entries(value).map(([key, inner]) => [key, originOf(inner, text)])) }
}

function nearest(origin: Origin, path: Path): { origin: Origin; depth: number } {
  let at = origin
  let depth = 0
  for (const part of path) {
    const next = at.keys?.get(String(part))
    if (next === undefined) break
    at = next
    depth += 1
  }
  return { origin: at, depth }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
