/** Names that someone may have meant who wrote another. Pure. */

/** Of `names` those closest to `given`, the closest first, at most three; none where nothing is near enough to be a slip. */
export function nearNames(given: string, names: readonly string[]): string[] {
  const limit = Math.max(2, Math.floor(given.length / 4))
  return names
    .map((name) => ({ name, away: distance(name, given) }))
    .filter(({ away }) => away <= limit)
    .toSorted((a, b) => a.away - b.away)
    .slice(0, 3)
    .map(({ name }) => name)
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
