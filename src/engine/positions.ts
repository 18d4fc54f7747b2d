/** Where things stand in a YAML file: turns a path in the document into a line and a column. */
import { isAlias, isCollection, isMap, isScalar, isSeq, Scalar, type Document, type LineCounter, type Node } from 'yaml'

export type Path = readonly PropertyKey[]

export interface Position {
  line: number
  col: number
}

export class Positions {
  readonly #document: Document
  readonly #lines: LineCounter

  constructor(document: Document, lines: LineCounter) {
    this.#document = document
    this.#lines = lines
  }

  /** Of the value at the path, or of the nearest thing around it that exists. `offset` counts characters into a text. */
  value(path: Path, offset: number | null = null): Position {
    let node: unknown = this.#document.contents
    let start = rangeStart(node) ?? 0
    for (const step of path) {
      const next = childOf(this.#resolved(node), step)
      if (next === undefined) break
      const key = this.#keyStart(node, step)
      const value = rangeStart(next)
      // What stands below its key is better found by the key.
      start = (key !== null && isCollection(next) && this.#below(key, value) ? key : value) ?? start
      node = next
    }
    return this.#at(start + (offset === null ? 0 : inText(node, offset)))
  }

  /** Of the key itself, for keys that should not be there. */
  key(path: Path, key: string): Position {
    let node: unknown = this.#document.contents
    for (const step of path) node = childOf(this.#resolved(node), step)
    const start = this.#keyStart(node, key)
    return start === null ? this.value(path) : this.#at(start)
  }

  #keyStart(node: unknown, step: PropertyKey): number | null {
    const map = this.#resolved(node)
    return rangeStart(isMap(map) ? map.items.find((item) => keyText(item.key) === String(step))?.key : null)
  }

  #below(key: number, value: number | null): boolean {
    return value !== null && this.#lines.linePos(value).line > this.#lines.linePos(key).line
  }

  #at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), col: Math.max(1, col) }
  }

  #resolved(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node
  }
}

function childOf(node: unknown, step: PropertyKey): unknown {
  if (isMap(node)) return node.items.find((item) => keyText(item.key) === String(step))?.value ?? undefined
  return isSeq(node) && typeof step === 'number' ? node.items[step] : undefined
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key)
}

function rangeStart(node: unknown): number | null {
  return (node as Node | null | undefined)?.range?.[0] ?? null
}

/** Only in a plain or quoted text on one line is a character of the value also one of the file. */
function inText(node: unknown, offset: number): number {
  if (!isScalar(node) || typeof node.value !== 'string') return 0
  const [start, end] = node.range ?? [0, 0]
  const quoted = node.type === Scalar.QUOTE_DOUBLE || node.type === Scalar.QUOTE_SINGLE
  if (!quoted && node.type !== Scalar.PLAIN) return 0
  return end - start === node.value.length + (quoted ? 2 : 0) ? offset + (quoted ? 1 : 0) : 0
}
