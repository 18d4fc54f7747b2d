/** Text that is safe to print on a terminal, and as wide as a column. */
import stringWidth from 'string-width'

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)))
}

/**
 * Instance names and reasons are written by tenants: a control character printed raw could move the cursor of the person who
 * looks, and make the table say something else. They are shown as \xNN; line ends too, unless `keepLines`.
 */
export function printable(text: string, keepLines = false): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (char) => {
    if (char === '\n' && keepLines) return char
    const code = char.codePointAt(0) ?? 0
    return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`
  })
}
