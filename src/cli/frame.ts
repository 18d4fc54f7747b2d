/** What a command shows at one moment: as a page for people, as a document for programs, and as fields that can change. */
import { cellText, choose, record, renderList, renderOne, sorted, type Column, type Shape } from './output/formats.ts'

interface Thing {
  name: string
  fields: [title: string, text: string][]
}

export interface Frame {
  /** In the format asked for; `maxWidth` of tables in columns of the screen, null: as wide as it takes. */
  page(maxWidth: number | null): string
  document: unknown
  /** One per thing, by a name that stays. What moves by itself is not among the fields. */
  things(): Thing[]
}

/** Many things; the first column names each, unless `nameOf` does. */
export function listFrame<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  shape: Shape,
  nameOf?: (row: Row) => string,
): Frame {
  const chosen = choose(columns, shape.columns)
  const name = nameOf === undefined ? columns[0] : undefined
  return {
    page: (maxWidth) => renderList(rows, columns, { ...shape, maxWidth }),
    document: sorted(rows, columns, shape).map((row) => record(chosen, row)),
    things: () =>
      rows.map((row) => ({
        name: name === undefined ? (nameOf?.(row) ?? '') : cellText(name, row),
        fields: fieldsOf(
          chosen.filter((column) => column !== name),
          row,
        ),
      })),
  }
}

/** One thing. `page`: how people see it, where that is no table of its fields. */
export function oneFrame<Row>(
  row: Row,
  columns: readonly Column<Row>[],
  shape: Shape,
  page: (maxWidth: number | null) => string = (maxWidth) => renderOne(row, columns, { ...shape, maxWidth }),
): Frame {
  const chosen = choose(columns, shape.columns)
  return { page, document: record(chosen, row), things: () => [{ name: '', fields: fieldsOf(chosen, row) }] }
}

function fieldsOf<Row>(columns: readonly Column<Row>[], row: Row): [string, string][] {
  return columns
    .filter(({ moving }) => moving !== true)
    .map((column) => [column.title, cellText(column, row).replaceAll('\n', '; ')])
}

/** What is new, different or gone since `before`, a line for each thing. */
export function changeLines(before: Frame | null, after: Frame): string[] {
  const known = new Map(before?.things().map(({ name, fields }) => [name, new Map(fields)]))
  const lines: string[] = []
  for (const { name, fields } of after.things()) {
    const old = known.get(name)
    known.delete(name)
    const said = fields.flatMap(([title, text]) => {
      if (old === undefined) return text === '' ? [] : [`${title}: ${text}`]
      const was = old.get(title) ?? ''
      return was === text ? [] : [`${title}: ${was === '' ? 'none' : was} → ${text === '' ? 'none' : text}`]
    })
    if (said.length > 0 || old === undefined)
      lines.push([name, said.join(', ')].filter((part) => part !== '').join('  '))
  }
  return [...lines, ...[...known.keys()].map((name) => `${name}  gone`)]
}
