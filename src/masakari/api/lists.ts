/** Lists as Masakari's API pages, sorts and filters them. Pure. */
import { LifeboatError } from '../../domain/errors.ts'

/** A row as it is answered. */
export type Row = Record<string, unknown> & { id: number; created_at: string }

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/** The test of a row for one value of the query. Throws USAGE for an impossible value. */
export type Filters = Readonly<Record<string, (value: string) => (row: Row) => boolean>>

/** How a resource is listed. */
export interface Listing {
  filters: Filters
  /** Fields that it may be sorted by, beside its number and times. */
  keys: readonly string[]
}

const mostRows = 1_000

const commonKeys = ['id', 'created_at', 'updated_at', 'deleted_at', 'deleted']

/** Throws USAGE. Ignores unknown keys of the query, as Masakari does. */
export function listed<R extends Row>(rows: readonly R[], query: Query, { filters, keys }: Listing): R[] {
  const wanted = Object.entries(filters).flatMap(([key, filter]) => valuesOf(query, key).slice(-1).map(filter))
  const sorted = rows.toSorted(orderOf(query, [...commonKeys, ...keys]))
  // The last row of a page may be filtered out by the time the next page is asked for.
  const rest = sorted.slice(afterMarker(sorted, query))
  return rest.filter((row) => wanted.every((isWanted) => isWanted(row))).slice(0, limitOf(query))
}

/** Sorts by `created_at`, the newest first, unless the query says otherwise; `id` decides between equals. */
function orderOf(query: Query, known: readonly string[]): (a: Row, b: Row) => number {
  const keys = valuesOf(query, 'sort_key')
  const directions = valuesOf(query, 'sort_dir')
  if (directions.length > Math.max(keys.length, 1))
    throw new LifeboatError('USAGE', 'Sort direction array size exceeds sort key array size.')
  for (const direction of directions)
    if (direction !== 'asc' && direction !== 'desc')
      throw new LifeboatError('USAGE', "Unknown sort direction, must be 'desc' or 'asc'")
  for (const key of keys) if (!known.includes(key)) throw new LifeboatError('USAGE', 'Sort key supplied was not valid.')
  const by = [...(keys.length === 0 ? ['created_at'] : keys), 'id']
  return (a, b) => {
    for (const [place, key] of by.entries()) {
      const sign = (directions[place] ?? directions[0] ?? 'desc') === 'asc' ? 1 : -1
      const compared = compare(a[key], b[key])
      if (compared !== 0) return sign * compared
    }
    return 0
  }
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return textOf(a).localeCompare(textOf(b))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '')
}

function afterMarker(rows: readonly Row[], query: Query): number {
  const [marker = ''] = valuesOf(query, 'marker')
  // The dashboard sends an empty one for its first page.
  if (marker === '') return 0
  const place = rows.findIndex((row) =>
    [row.id, row['uuid'], row['notification_uuid']].some((known) => String(known) === marker),
  )
  if (place < 0) throw new LifeboatError('USAGE', `Marker ${marker.slice(0, 60)} could not be found.`)
  return place + 1
}

function limitOf(query: Query): number {
  const [limit] = valuesOf(query, 'limit')
  if (limit === undefined) return mostRows
  if (!/^\d{1,15}$/.test(limit))
    throw new LifeboatError('USAGE', 'limit parameter must be an integer, and not negative')
  return Math.min(Number(limit), mostRows)
}

function valuesOf(query: Query, key: string): string[] {
  const value = query[key]
  return value === undefined ? [] : typeof value === 'string' ? [value] : [...value]
}

/** The field as text is the value. */
export function equal(field: string): Filters[string] {
  return (value) => (row) => textOf(row[field]) === value
}

const yes = new Set(['true', 't', '1', 'on', 'yes', 'y'])
const no = new Set(['false', 'f', '0', 'off', 'no', 'n'])

/** The field has the boolean value of the word; Masakari takes many words for it. */
export function isTrue(field: string): Filters[string] {
  return (value) => {
    const word = value.toLowerCase()
    if (!yes.has(word) && !no.has(word))
      throw new LifeboatError('USAGE', `Invalid value for ${field}: ${value.slice(0, 60)}`)
    return (row) => row[field] === yes.has(word)
  }
}

/** The time in the field is not before the value. */
export function since(field: string, name: string): Filters[string] {
  return (value) => {
    const from = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value}Z`)
    if (Number.isNaN(from)) throw new LifeboatError('USAGE', `Invalid ${name} value`)
    return (row) => Date.parse(`${textOf(row[field])}Z`) >= from
  }
}
