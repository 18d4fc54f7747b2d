/**
 * Long lists of like objects, by columns: the name of a field is written once, and so is a value that repeats. An incident of 2,000 instances has
 * 1.9 MB as it is and a quarter of that by columns, and what a browser takes to read it is most of what its page takes.
 * Written by api/, read by web/. Pure.
 */

/** A part of a list. Every element has all of these fields. */
export interface Piece {
  length: number
  fields: Record<string, Column>
}

/** The values of a field, one for each element; with `at`, each value once, and each element's index into them. */
export interface Column {
  values: unknown[]
  at?: number[]
}

/** What stands in the place of a list. */
export interface ByColumns {
  byColumns: readonly (Piece | readonly unknown[])[]
}

/** Some elements of a list. What is no list of like objects is given back as it is. */
export function piece(list: readonly unknown[]): Piece | readonly unknown[] {
  const [first] = list
  if (!isPlain(first)) return list
  const names = namesOf(first)
  const likeFirst = (one: unknown): one is Record<string, unknown> =>
    isPlain(one) && namesOf(one).length === names.length && names.every((name) => one[name] !== undefined)
  if (!list.every(likeFirst)) return list
  const fields = names.map((name): [string, Column] => [name, column(list.map((one) => one[name]))])
  return { length: list.length, fields: Object.fromEntries(fields) }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Of the fields that JSON would write. */
function namesOf(element: Record<string, unknown>): string[] {
  return Object.keys(element).filter((name) => element[name] !== undefined)
}

function column(all: unknown[]): Column {
  const values: unknown[] = []
  // Objects are alike if their JSON is. They have a map of their own, since a string may equal that JSON.
  const [objects, others] = [new Map<unknown, number>(), new Map<unknown, number>()]
  const at = all.map((value) => {
    const isObject = typeof value === 'object' && value !== null
    const [known, key] = isObject ? [objects, JSON.stringify(value)] : [others, value]
    const place = known.get(key) ?? values.push(value) - 1
    known.set(key, place)
    return place
  })
  return values.length > all.length / 2 ? { values: all } : { values, at }
}

/** The answer with its lists as they were. Elements share the values that repeat: nobody may change one in place. */
export function withLists(answer: object): object {
  const fields = Object.entries(answer).map(([name, value]: [string, unknown]): [string, unknown] => [
    name,
    isByColumns(value) ? listOf(value) : value,
  ])
  return Object.fromEntries(fields)
}

function isByColumns(value: unknown): value is ByColumns {
  return isPlain(value) && 'byColumns' in value
}

function listOf({ byColumns }: ByColumns): unknown[] {
  return byColumns.flatMap((part) => ('fields' in part ? elementsOf(part) : part))
}

function elementsOf({ length, fields }: Piece): unknown[] {
  const columns = Object.entries(fields)
  // Most fields have the same value in all elements. Copying the first takes a third of the time of setting each field.
  const first = Object.fromEntries(columns.map(([name, { values }]) => [name, values[0]]))
  const differing = columns.filter(([, { values }]) => values.length > 1)
  return Array.from({ length }, (_, nth) => {
    const element = { ...first }
    for (const [name, { values, at }] of differing) element[name] = values[at === undefined ? nth : (at[nth] ?? nth)]
    return element
  })
}
