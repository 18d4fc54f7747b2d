/** Breaks and cuts lines by what a terminal shows, not by characters. */
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/** One line as several of at most `width` columns: between words, and inside a word that is longer than that. */
export function wrapLine(line: string, width: number): string[] {
  return wrapAnsi(line, width, { hard: true, trim: false }).split('\n')
}

/** At most `width` columns of a line; one that was cut ends in an ellipsis. */
export function cutLine(line: string, width: number): string {
  if (stringWidth(line) <= width) return line
  if (width <= 1) return '…'.slice(0, Math.max(0, width))
  const [kept = ''] = wrapAnsi(line, width - 1, { hard: true, wordWrap: false, trim: false }).split('\n')
  return `${kept}…`
}
