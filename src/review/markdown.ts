/**
 * Markdown without surprises. Names, reasons and messages come from tenants and clouds: nothing of them may break a table,
 * make a link or become a heading in what an operator reads.
 */

/** Nothing in it is acted on by Markdown, HTML or a viewer that makes links: most of what a report of thousands of instances says. */
const plain = /^[A-Za-z0-9 ,;:.()+%'"!?=-]*$/

/** Text from outside on one line, with everything escaped that Markdown or HTML would act on. */
export function oneLine(text: string): string {
  if (plain.test(text) && !/www/i.test(text)) return text.trim()
  return (
    text
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .replace(/[\u202A-\u202E\u2066-\u2069]/g, '')
      .replace(/[\\|*_[\]#~]/g, '\\$&')
      .replace(/&/g, '&amp;')
      .replace(/</g, '&lt;')
      .replace(/>/g, '&gt;')
      .replace(/`/g, '&#96;')
      // Many viewers make links of bare addresses.
      .replace(/:\/\//g, ':&#47;&#47;')
      .replace(/\b(www)\./gi, '$1&#46;')
      .trim()
  )
}

/** A table. Cells are escaped but for **bold** and `code` that wrap a whole cell: those are ours. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map((row) => line(row.map(cell)))].join('\n')
}

function cell(text: string): string {
  const wrapped = /^(\*\*|`)([a-z0-9 :-]+)\1$/i.exec(text)
  return wrapped === null ? oneLine(text) : text
}

export function bullets(lines: string[]): string {
  return lines.map((line) => `- ${line}`).join('\n')
}

/** An ISO time for people: `2026-01-02 03:04:05.678 UTC`. Anything else as it is. */
export function time(iso: string): string {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(iso) ? `${iso.slice(0, 10)} ${iso.slice(11, -1)} UTC` : iso
}
