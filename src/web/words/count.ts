/** Numbers in sentences. */

const grouped = new Intl.NumberFormat('en-GB')

/** 2,000 */
export function number(value: number): string {
  return grouped.format(value)
}

/** 1 host, 2,000 hosts */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`
}

/** The whole as text, for looking through it. */
export function matches(text: string, wanted: string): boolean {
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
