/**
 * What is sent to a terminal that can be drawn on. A picture goes out in one piece, over the one before it and never after a
 * clear, so that nothing flickers; terminals that know synchronized output (mode 2026) show it at once, others ignore that.
 */
import { cutLine } from './wrap.ts'

const esc = '\u001b['

/** The alternate screen without a cursor: what was there before comes back afterwards. */
export const enterScreen = `${esc}?1049h${esc}?25l`
export const leaveScreen = `${esc}?25h${esc}?1049l`

/** Lines over the whole screen; those that do not fit are cut, and said to be. */
export function pictureOf(lines: readonly string[], { columns, rows }: { columns: number; rows: number }): string {
  const fitting =
    lines.length <= rows ? lines : [...lines.slice(0, rows - 1), `… ${lines.length - rows + 1} more lines`]
  const text = fitting.map((line) => `${cutLine(line, columns)}${esc}K`).join('\r\n')
  return `${esc}?2026h${esc}H${text}${esc}J${esc}?2026l`
}

/** Lines in the place of the `before` lines that were drawn last, under what the terminal showed before. */
export function redrawn(lines: readonly string[], before: number): string {
  const up = before > 0 ? `${esc}${before}A\r` : ''
  return `${esc}?2026h${up}${lines.map((line) => `${line}${esc}K\n`).join('')}${esc}J${esc}?2026l`
}

export const hideCursor = `${esc}?25l`
export const showCursor = `${esc}?25h`
