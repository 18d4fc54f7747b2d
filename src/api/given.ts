/** exactOptionalPropertyTypes: what was not given is not there at all. */
export function given<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
