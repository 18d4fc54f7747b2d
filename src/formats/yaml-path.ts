/** Paths through a parsed YAML document, and where in the text they lead. */
import { isAlias, isMap, isScalar, isSeq, Scalar, type Document, type Node } from 'yaml'

export type Path = readonly PropertyKey[]

/** Follows the path as far as it goes. `key` is null for an item of a list and for the whole. */
export function walk(document: Document, path: Path): { value: unknown; key: unknown; isWhole: boolean } {
  let value: unknown = document.contents
  let key: unknown = null
  for (const part of path) {
    const inner = isAlias(value) ? value.resolve(document) : value
    if (isMap(inner)) {
      const pair = inner.items.find((item) => keyText(item.key) === String(part))
      if (pair === undefined) return { value, key, isWhole: false }
      key = pair.key
      value = pair.value ?? pair.key
    } else if (isSeq(inner) && typeof part === 'number' && inner.items[part] !== undefined) {
      value = inner.items[part]
      key = null
    } else return { value, key, isWhole: false }
  }
  return { value, key, isWhole: true }
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key)
}

/** Where the node begins, in characters of the text. */
export function offsetOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0
}

/** Where a character of a text stands behind the text's beginning: only in a plain or quoted text on one line is a character of
 * the value also one of the file. */
export function inText(node: unknown, offset: number): number {
  if (!isScalar(node) || typeof node.value !== 'string') return 0
  const [start, end] = node.range ?? [0, 0]
  const quoted = node.type === Scalar.QUOTE_DOUBLE || node.type === Scalar.QUOTE_SINGLE
  if (!quoted && node.type !== Scalar.PLAIN) return 0
  return end - start === node.value.length + (quoted ? 2 : 0) ? offset + (quoted ? 1 : 0) : 0
}
