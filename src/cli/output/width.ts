/** How wide text is on a terminal, and text that is safe to print there. */

// Zero-width: combining marks, joiners, variation selectors.
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]$/u
// East Asian wide and full-width blocks, and emoji.
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u

/** Columns that `text` takes. */
export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += zeroWidth.test(char) ? 0 : wide.test(char) ? 2 : 1
  return width
}

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/**
 * Instance names and reasons are written by tenants: a control character printed raw could move the cursor of whoever
 * looks, and make the table say something else. They are shown as \xNN; line ends too, unless `keepLines`.
 */
export function printable(text: string, keepLines = false): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (char) => {
    if (char === '\n' && keepLines) return char
    const code = char.codePointAt(0) ?? 0
    return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`
  })
}
