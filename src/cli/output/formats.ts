/**
 * The output formats: what `-f`, `-c` and their like mean, the same for every command. Titles are the contract: they are the
 * columns of the table, the keys of JSON and YAML and the heading of CSV, and what -c and --sort-column take.
 */
import { Document, visit } from 'yaml'
import { CliFailure } from '../exit-codes.ts'
import { csvText, type CsvCell, type Quoting } from './csv.ts'
import { grid } from './table.ts'
import { printable } from './width.ts'
import { plainWords, unpainted, type Paint, type Words } from './words.ts'

export const formats = ['table', 'json', 'yaml', 'csv', 'value'] as const
export type Format = (typeof formats)[number]

/** What is in a field, for programs: the JSON type. `?` after it: or null; `any`: each row has its own. */
export type FieldType =
  | `${'string' | 'integer' | 'number' | 'boolean' | 'object' | 'time'}${'' | '?'}`
  | `list of ${'strings' | 'objects'}`
  | `any${'' | '?'}`

export interface Column<Row> {
  title: string
  type: FieldType
  /** For docs/reference/cli.md: what it says, in words. */
  means: string
  /** Plain data, for machines. */
  value: (row: Row) => unknown
  /** For people; default: the value as text. Words that say how something stands have a tone. */
  text?: (row: Row) => Words
  /** Never folded in tables of many things: what people copy into a command. The others are, and if need be the table is wider. */
  whole?: true
  /** In tables of many things only with --long, or when it is named with -c: something else there says it for people, or it is prose. */
  whenNamed?: true
  /** Moves by itself all the time: alone it is no change that --watch tells of. */
  moving?: true
}

/** A column of several texts: a line each, and `none` where there is no text. */
export function listColumn<Row>(
  title: string,
  means: string,
  value: (row: Row) => readonly string[],
  none = '',
): Column<Row> {
  return { title, type: 'list of strings', means, value, text: (row) => value(row).join('\n') || none }
}

export interface Shape {
  format: Format
  /** Titles, any case; empty: all. */
  columns: string[]
  /** Titles; the first counts most. */
  sort: string[]
  descending: boolean
  /** Tables of many things have every column. */
  long: boolean
  /** Of tables, in columns of the screen; null: as wide as it takes. */
  maxWidth: number | null
  /** Of JSON. */
  indent: boolean
  quote: Quoting
  /** Of tables. */
  paint: Paint
}

/** As it comes without any option. */
export const plainShape: Shape = {
  format: 'table',
  columns: [],
  sort: [],
  descending: false,
  long: false,
  maxWidth: null,
  indent: true,
  quote: 'nonnumeric',
  paint: unpainted,
}

/** Many things of one kind. */
export function renderList<Row>(given: readonly Row[], columns: readonly Column<Row>[], shape: Shape): string {
  const chosen = choose(columns, shape.columns)
  const rows = sorted(given, columns, shape)
  const titles = chosen.map(({ title }) => title)
  switch (shape.format) {
    case 'table': {
      const shown =
        shape.columns.length > 0 || shape.long ? chosen : chosen.filter(({ whenNamed }) => whenNamed !== true)
      return grid(
        shown.map(({ title }) => title),
        rows.map((row) => shown.map((column) => cellWords(column, row))),
        { maxWidth: shape.maxWidth, paint: shape.paint, whole: shown.map(({ whole }) => whole === true) },
      )
    }
    case 'json':
      return jsonText(
        rows.map((row) => record(chosen, row)),
        shape.indent,
      )
    case 'yaml':
      return yamlText(rows.map((row) => record(chosen, row)))
    case 'csv':
      return csvText([headings(titles), ...rows.map((row) => csvLine(chosen, row))], shape.quote)
    case 'value':
      return rows.map((row) => `${chosen.map(({ value }) => printable(plainText(value(row)))).join(' ')}\n`).join('')
  }
}

/** One thing, field by field. */
export function renderOne<Row>(row: Row, columns: readonly Column<Row>[], shape: Shape): string {
  const chosen = choose(columns, shape.columns)
  switch (shape.format) {
    case 'table':
      return grid(
        ['Field', 'Value'],
        chosen.map((column) => [column.title, cellWords(column, row)]),
        shape,
      )
    case 'json':
      return jsonText(record(chosen, row), shape.indent)
    case 'yaml':
      return yamlText(record(chosen, row))
    case 'csv':
      return csvText([headings(chosen.map(({ title }) => title)), csvLine(chosen, row)], shape.quote)
    case 'value':
      return chosen.map(({ value }) => `${printable(plainText(value(row)))}\n`).join('')
  }
}

// What JSON and YAML leave raw and a terminal obeys: C1 controls, line separators, direction marks.
const stillRaw = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

export function jsonText(value: unknown, indent = true): string {
  return `${JSON.stringify(value, null, indent ? 2 : 0).replace(stillRaw, unicodeEscape)}\n`
}

export function yamlText(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_key, node) => {
      // Only between double quotes YAML knows escapes.
      if (typeof node.value === 'string' && node.value.search(stillRaw) >= 0) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString().replace(stillRaw, unicodeEscape)
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The row as JSON has it. */
export function record<Row>(columns: readonly Column<Row>[], row: Row): Record<string, unknown> {
  return Object.fromEntries(columns.map(({ title, value }) => [title, value(row) ?? null]))
}

/** The columns asked for, or all. Throws CliFailure that names those there are. */
export function choose<Row>(columns: readonly Column<Row>[], wanted: readonly string[]): readonly Column<Row>[] {
  if (wanted.length === 0) return columns
  return wanted.map((name) => {
    const found = columns.find(({ title }) => title.toLowerCase() === name.toLowerCase())
    if (found !== undefined) return found
    throw new CliFailure('usage', `there is no column "${name}" here`, [
      `columns: ${columns.map(({ title }) => title).join(', ')}`,
    ])
  })
}

/** In the order asked for; also by columns that are not shown. What has no value comes last, either way. */
export function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], shape: Shape): readonly Row[] {
  if (shape.sort.length === 0) return rows
  const keys = choose(columns, shape.sort)
  const sign = shape.descending ? -1 : 1
  return rows.toSorted((a, b) => {
    for (const { value } of keys) {
      const [left, right] = [value(a) ?? null, value(b) ?? null]
      if (left === null || right === null) {
        if (left !== right) return left === null ? 1 : -1
        continue
      }
      const order =
        typeof left === 'number' && typeof right === 'number'
          ? left - right
          : plainText(left).localeCompare(plainText(right), 'en', { numeric: true })
      if (order !== 0) return sign * order
    }
    return 0
  })
}

/** What people read in this cell. */
export function cellText<Row>(column: Column<Row>, row: Row): string {
  return plainWords(cellWords(column, row))
}

function cellWords<Row>(column: Column<Row>, row: Row): Words {
  return column.text === undefined ? plainText(column.value(row)) : column.text(row)
}

function plainText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return JSON.stringify(value)
}

function headings(titles: string[]): CsvCell[] {
  return titles.map((text) => ({ text, numeric: false }))
}

function csvLine<Row>(columns: readonly Column<Row>[], row: Row): CsvCell[] {
  return columns.map(({ value }) => {
    const given = value(row)
    return { text: plainText(given), numeric: typeof given === 'number' }
  })
}
