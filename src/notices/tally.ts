/** How an incident's instances ended, in a few words. Pure. */

/** `1 failed, 2 left, 15 recovered`: what did not come back first, since a phone cuts off the rest. Empty: no instance was counted. */
export function tally(counts: Readonly<Record<string, number>>): string {
  const { recovered = 0, ...others } = counts
  return Object.entries({ ...others, recovered })
    .flatMap(([outcome, count]) => (count > 0 ? [`${count} ${outcome === 'none' ? 'untouched' : outcome}`] : []))
    .join(', ')
}
