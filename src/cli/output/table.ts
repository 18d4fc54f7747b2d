/** Tables that look like openstackclient's. */
import { padded, printable, widthOf } from './width.ts'

/** A grid with a heading; cells may have several lines. */
export function grid(titles: string[], rows: string[][]): string {
  const cells = rows.map((row) => row.map((cell) => printable(cell, true).split('\n')))
  const widths = titles.map((title, column) =>
    Math.max(widthOf(title), ...cells.flatMap((row) => (row[column] ?? []).map((line) => widthOf(line)))),
  )
  const rule = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`
  const lineOf = (parts: string[]): string =>
    `|${widths.map((width, column) => ` ${padded(parts[column] ?? '', width)} `).join('|')}|`
  const body = cells.flatMap((row) => {
    const height = Math.max(...row.map((lines) => lines.length), 1)
    return Array.from({ length: height }, (_, index) => lineOf(row.map((lines) => lines[index] ?? '')))
  })
  return [rule, lineOf(titles), rule, ...body, ...(body.length > 0 ? [rule] : [])].join('\n') + '\n'
}
