/** Tables that look like openstackclient's, on screens of any width. */
import stringWidth from 'string-width'
import { padded } from './width.ts'
import { paintedWords, unpainted, type Paint, type Words } from './words.ts'
import { wrapLine } from './wrap.ts'

/** Below it a column cannot be read; a table on a narrower screen is wider than it (cliff has the same floor). */
const leastWidth = 8

export interface GridLook {
  /** In columns of the screen; null: as wide as it takes. */
  maxWidth?: number | null
  /** The columns that never shrink. */
  whole?: readonly boolean[]
  /** Default: no colours. */
  paint?: Paint
}

/** A grid with a heading; cells may have several lines. Not wider than `maxWidth` where the columns can shrink to it. */
export function grid(
  titles: string[],
  rows: readonly (readonly Words[])[],
  { maxWidth = null, whole = [], paint = unpainted }: GridLook = {},
): string {
  const natural = rows.map((row) => row.map((cell) => paintedWords(cell, paint).split('\n')))
  const widths = columnWidths(titles, natural, maxWidth, whole)
  const fold = (lines: string[], column: number): string[] =>
    lines.flatMap((line) => wrapLine(line, widths[column] ?? leastWidth))
  const cells = natural.map((row) => row.map(fold))
  const heading = titles.map((title, column) => fold([title], column))
  const rule = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`
  const lineOf = (parts: string[]): string =>
    `|${widths.map((width, column) => ` ${padded(parts[column] ?? '', width)} `).join('|')}|`
  const linesOf = (row: string[][]): string[] => {
    const height = Math.max(...row.map((lines) => lines.length), 1)
    return Array.from({ length: height }, (_, index) => lineOf(row.map((lines) => lines[index] ?? '')))
  }
  const body = cells.flatMap(linesOf)
  return [rule, ...linesOf(heading), rule, ...body, ...(body.length > 0 ? [rule] : [])].join('\n') + '\n'
}

/** As wide as their widest line; when that is too much, the widest ones shrink until all fit. */
function columnWidths(
  titles: string[],
  rows: string[][][],
  maxWidth: number | null,
  whole: readonly boolean[],
): number[] {
  // Reduced by hand: the widths of thousands of rows are too many arguments for one call.
  const widths = titles.map((title, column) =>
    rows.reduce(
      (widest, row) => (row[column] ?? []).reduce((inner, line) => Math.max(inner, stringWidth(line)), widest),
      stringWidth(title),
    ),
  )
  if (maxWidth === null) return widths
  const room = maxWidth - 3 * widths.length - 1
  let over = widths.reduce((sum, width) => sum + width, 0) - room
  while (over > 0) {
    const able = widths.filter((_, column) => whole[column] !== true)
    const widest = Math.max(0, ...able)
    if (widest <= leastWidth) break
    const at = able.filter((width) => width === widest).length
    const next = Math.max(leastWidth, ...able.filter((width) => width < widest))
    // Down to the next widest, or by as much as is over, shared by all that are as wide.
    const cut = Math.max(1, Math.min(widest - next, Math.floor(over / at)))
    for (const [column, width] of widths.entries()) {
      if (whole[column] === true || width !== widest || over <= 0) continue
      widths[column] = width - cut
      over -= cut
    }
  }
  return widths
}
