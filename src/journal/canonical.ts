/**
 * Canonical JSON (RFC 8785): keys sorted by UTF-16 code units, no spaces, numbers as ECMAScript prints them. One value has
 * one text, so that the same fact always gives the same hash. Refuses what JSON would lose without a word.
 */
import { LifeboatError } from '../domain/errors.ts'

/**
 * The canonical text of plain data. Properties that are undefined are left out, as JSON does; lone surrogates become
 * U+FFFD, because UTF-8 cannot hold them. Throws INVARIANT on what has no JSON form: a Map, a Set, an Error, a bigint, a
 * function, NaN, an infinity, a cycle.
 */
export function canonicalJson(value: unknown): string {
  return write(value, '$', new Set())
}

function write(value: unknown, where: string, above: Set<object>): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(wellFormed(value))
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      if (!Number.isFinite(value)) throw noForm(where, String(value))
      return JSON.stringify(value)
    case 'object':
      return value === null ? 'null' : writeObject(value, where, above)
    case 'undefined':
    case 'bigint':
    case 'symbol':
    case 'function':
      throw noForm(where, typeof value)
  }
}

function writeObject(value: object, where: string, above: Set<object>): string {
  if (above.has(value)) throw noForm(where, 'a cycle')
  above.add(value)
  try {
    if (Array.isArray(value)) {
      return `[${value.map((item, index) => (item === undefined ? 'null' : write(item, `${where}[${index}]`, above))).join(',')}]`
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) throw noForm(where, `a ${value.constructor.name}`)
    const pairs: string[] = []
    const record = value as Record<string, unknown>
    for (const key of Object.keys(record).sort()) {
      const member = record[key]
      if (member === undefined) continue
      pairs.push(`${JSON.stringify(wellFormed(key))}:${write(member, `${where}.${key}`, above)}`)
    }
    return `{${pairs.join(',')}}`
  } finally {
    above.delete(value)
  }
}

/** The string as UTF-8 can hold it. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}

function noForm(where: string, what: string): LifeboatError {
  return new LifeboatError('INVARIANT', `The journal cannot keep ${what} at ${where}: give it plain data`)
}
