/** Values as Python prints them: Nova's schema errors quote what was sent in that form. */

export function pythonText(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value === 'string') return `'${value}'`
  if (typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`
  const entries = Object.entries(value).map(([key, item]) => `'${key}': ${pythonText(item)}`)
  return `{${entries.join(', ')}}`
}

/** Python's str(): a string without its quotes. */
export function pythonString(value: unknown): string {
  return typeof value === 'string' ? value : pythonText(value)
}
