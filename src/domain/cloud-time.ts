/** Time stamps of OpenStack: UTC, with or without a trailing Z, with or without fractions. */

/** Whether two stamps may come from the same write: the answer of a PUT has microseconds, a list whole seconds (docs/nova.md §8). */
export function isOneWrite(one: string | null, other: string | null): boolean {
  return Math.abs(cloudTimeMs(one ?? '') - cloudTimeMs(other ?? '')) < 1_000
}

/** Milliseconds since the epoch, or NaN when it is no time stamp. */
export function cloudTimeMs(stamp: string): number {
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(stamp) ? stamp : `${stamp}Z`)
}
