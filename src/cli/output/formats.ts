/**
 * The output formats: what `-f` and `-c` mean, the same for every command. Titles are the contract: they are the columns of
 * the table, the keys of JSON and YAML and the heading of CSV, and what -c takes.
 */
import { Document, visit } from 'yaml'
import { CliFailure } from '../exit-codes.ts'
import { grid } from './table.ts'
import { printable } from './width.ts'

export const formats = ['table', 'json', 'yaml', 'csv', 'value'] as const
export type Format = (typeof formats)[number]

export interface Column<Row> {
  title: string
  /** Plain data, for machines. */
  value: (row: Row) => unknown
  /** For people; default: the value as text. */
  text?: (row: Row) => string
}

export interface Shape {
  format: Format
  /** Titles, any case; empty: all. */
  columns: string[]
}

/** Many things of one kind. */
export function renderList<Row>(rows: readonly Row[], columns: readonly Column<Row>[], shape: Shape): string {
  const chosen = choose(columns, shape.columns)
  const titles = chosen.map(({ title }) => title)
  const texts = (): string[][] => rows.map((row) => chosen.map((column) => cellText(column, row)))
  switch (shape.format) {
    case 'table':
      return grid(titles, texts())
    case 'json':
      return jsonText(rows.map((row) => record(chosen, row)))
    case 'yaml':
      return yamlText(rows.map((row) => record(chosen, row)))
    case 'csv':
      return csv([titles, ...rows.map((row) => chosen.map(({ value }) => plainText(value(row))))])
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
        chosen.map((column) => [column.title, cellText(column, row)]),
      )
    case 'json':
      return jsonText(record(chosen, row))
    case 'yaml':
      return yamlText(record(chosen, row))
    case 'csv':
      return csv([chosen.map(({ title }) => title), chosen.map(({ value }) => plainText(value(row)))])
    case 'value':
      return chosen.map(({ value }) => `${printable(plainText(value(row)))}\n`).join('')
  }
}

// What JSON and YAML leave raw and a terminal obeys: C1 controls, line separators, direction marks.
const stillRaw = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2).replace(stillRaw, unicodeEscape)}\n`
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

function record<Row>(columns: readonly Column<Row>[], row: Row): Record<string, unknown> {
  return Object.fromEntries(columns.map(({ title, value }) => [title, value(row) ?? null]))
}

function choose<Row>(columns: readonly Column<Row>[], wanted: string[]): readonly Column<Row>[] {
  if (wanted.length === 0) return columns
  return wanted.map((name) => {
    const found = columns.find(({ title }) => title.toLowerCase() === name.toLowerCase())
    if (found !== undefined) return found
    throw new CliFailure('usage', `there is no column "${name}" here`, [
      `columns: ${columns.map(({ title }) => title).join(', ')}`,
    ])
  })
}

function cellText<Row>(column: Column<Row>, row: Row): string {
  return column.text === undefined ? plainText(column.value(row)) : column.text(row)
}

function plainText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return JSON.stringify(value)
}

/** RFC 4180. Every text is quoted; one that a spreadsheet would run as a formula gets an apostrophe before it. */
function csv(lines: string[][]): string {
  const cell = (text: string): string => {
    const safe = /^[=+@\t\r-]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) ? `'${text}` : text
    return `"${printable(safe, true).replaceAll('"', '""')}"`
  }
  return lines.map((line) => `${line.map(cell).join(',')}\r\n`).join('')
}
