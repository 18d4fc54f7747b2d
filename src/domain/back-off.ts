/** Growing pauses between tries. Pure. */

/** The pause after so many failures in a row (from 1): doubling from `firstMs`, never beyond `mostMs`. */
export function pauseAfter(failures: number, firstMs: number, mostMs: number): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), mostMs)
}
