/** The few forms of scdoc(5) that the manual pages are written in. Knows nothing of what they say. */

/** Text as it stands: nothing in it is markup. */
export function plain(text: string): string {
  return text.replace(/[\\*_#[\]|`]/g, '\\$&').replace(/\+\+$/, '+\\+')
}

export const bold = (text: string): string => `*${plain(text)}*`
export const underlined = (text: string): string => `_${plain(text)}_`

/** A description as a sentence: capital first, unless it begins with a value or a name; full stop last. */
export function sentence(text: string): string {
  const first = /^[a-z]+(?= |$)/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text
  return plain(/[.!?:]$/.test(first) ? first : `${first}.`)
}

/** A term with what it means, indented below it. */
export function term(head: string, ...paragraphs: string[]): string {
  return `${head}\n${paragraphs.map((text) => `\t${text.replace(/\n/g, '\n\t')}`).join('\n\n')}\n`
}

export function page(
  name: string,
  section: number,
  parts: readonly (readonly [heading: string, text: string])[],
): string {
  const body = parts.map(([heading, text]) => `# ${heading}\n\n${text.trim()}\n`).join('\n')
  return `${name}(${section}) "" "Lifeboat"\n\n${body}`
}

/** Indented, in a fixed-width font, line by line. */
export function literal(text: string): string {
  return `\`\`\`\n${text.replace(/\n$/, '')}\n\`\`\`\n`
}
