/**
 * Copies an object without the properties that are undefined: with exactOptionalPropertyTypes an optional property is either absent or
 * has a value. Nothing to copy gives an empty object.
 */
export function omitUndefined<T extends object>(value: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, inner]) => inner !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
