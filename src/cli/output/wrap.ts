/** Breaks and cuts lines by what a terminal shows, not by characters. */
import { widthOf } from './width.ts'

/** One line as several of at most `width` columns: between words, and inside a word that is longer than that. */
export function wrapLine(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line]
  const lines: string[] = []
  let current = ''
  for (const word of line.split(' ')) {
    const joined = current === '' ? word : `${current} ${word}`
    if (widthOf(joined) <= width) {
      current = joined
      continue
    }
    if (current !== '') lines.push(current)
    const pieces = broken(word, width)
    current = pieces.pop() ?? ''
    lines.push(...pieces)
  }
  return [...lines, current]
}

function broken(word: string, width: number): string[] {
  const pieces: string[] = []
  let piece = ''
  let used = 0
  for (const char of word) {
    const room = widthOf(char)
    if (used + room > width && used > 0) {
      pieces.push(piece)
      piece = ''
      used = 0
    }
    piece += char
    used += room
  }
  return [...pieces, piece]
}

/** At most `width` columns of a line; one that was cut ends in an ellipsis. */
export function cutLine(line: string, width: number): string {
  if (widthOf(line) <= width) return line
  if (width <= 1) return '…'.slice(0, Math.max(0, width))
  return `${broken(line, width - 1)[0] ?? ''}…`
}
