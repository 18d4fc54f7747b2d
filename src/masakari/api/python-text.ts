/** Values as Python prints them: Masakari's words quote what was sent. Pure. */

/** The longest quotation, in characters: a hostile body must not be sent back whole, and the rule behind it must stay to be read. */
const longest = 120

/** `repr` of a value of JSON, cut. */
export function quoted(value: unknown): string {
  return cut(repr(value, 0))
}

/** `str` of it: a text as it is. */
export function printed(value: unknown): string {
  return typeof value === 'string' ? cut(value) : quoted(value)
}

/** A list in words: 'a', 'b' */
export function listed(values: readonly unknown[]): string {
  return cut(values.map((value) => repr(value, 0)).join(', '))
}

function cut(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`
}

/** What lies deeper is cut off anyway, and a body may be a thousand levels deep. */
const deepest = 8

function repr(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return reprOfText(value.slice(0, longest + 1))
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object') return typeof value
  if (depth >= deepest) return '…'
  if (Array.isArray(value)) {
    const items = value.slice(0, longest).map((item) => repr(item, depth + 1))
    return `[${items.join(', ')}]`
  }
  const pairs = Object.entries(value).slice(0, longest)
  return `{${pairs.map(([key, item]) => `${repr(key, depth + 1)}: ${repr(item, depth + 1)}`).join(', ')}}`
}

function reprOfText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (letter) => `\\x${(letter.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`)
  return `${quote}${escaped}${quote}`
}
