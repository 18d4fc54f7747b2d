/** CSV as RFC 4180 has it, quoted as openstackclient's --quote says, and safe to open in a spreadsheet. */
import { CliFailure } from '../exit-codes.ts'
import { printable } from './width.ts'

export const quotings = ['all', 'minimal', 'none', 'nonnumeric'] as const
export type Quoting = (typeof quotings)[number]

/** One cell: its text, and whether it is a number. */
export interface CsvCell {
  text: string
  numeric: boolean
}

export function csvText(lines: CsvCell[][], quoting: Quoting): string {
  return lines.map((line) => `${line.map((cell) => cellText(cell, quoting)).join(',')}\r\n`).join('')
}

function cellText({ text, numeric }: CsvCell, quoting: Quoting): string {
  // A text that a spreadsheet would run as a formula gets an apostrophe before it.
  const formula = !numeric && /^\s*[=+@＝＋－＠-]|^[\t\r\n]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text)
  const safe = printable(formula ? `'${text}` : text, true)
  const needed = /[",\r\n]/.test(safe)
  if (quoting === 'none' && needed)
    throw new CliFailure('usage', `--quote none cannot write ${JSON.stringify(safe)}`, [
      'it has a comma, a quote or a line end: use --quote minimal, or -f json',
    ])
  const quoted = quoting === 'all' || (quoting === 'nonnumeric' && !numeric) || (quoting === 'minimal' && needed)
  return quoted ? `"${safe.replaceAll('"', '""')}"` : safe
}
