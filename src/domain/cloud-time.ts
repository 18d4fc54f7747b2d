/** Time stamps of OpenStack: UTC, with or without a trailing Z, with or without fractions. */

/** Milliseconds since the epoch, or NaN when it is no time stamp. */
export function cloudTimeMs(stamp: string): number {
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(stamp) ? stamp : `${stamp}Z`)
}
