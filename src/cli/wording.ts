/** How the command line says times and counts. */

/** "4m 12s", "3d 4h": two units are enough to decide by. */
export function span(ms: number): string {
  const total = Math.max(0, Math.round(ms / 1000))
  const units = [
    [Math.floor(total / 86_400), 'd'],
    [Math.floor((total % 86_400) / 3600), 'h'],
    [Math.floor((total % 3600) / 60), 'm'],
    [total % 60, 's'],
  ] as const
  const first = units.findIndex(([count]) => count > 0)
  if (first < 0) return '0s'
  return units
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join(' ')
}

/** Time between two ISO times. */
export function between(from: string, to: string): string {
  return span(Date.parse(to) - Date.parse(from))
}

/** 2026-01-02T03:04:05.678Z -> 2026-01-02 03:04:05Z: always UTC, as Nova's own logs. */
export function clockTime(iso: string): string {
  return iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

/** {recovered: 3, left: 1} -> "3 recovered, 1 left"; nothing for zeros. */
export function tally(counts: Partial<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => (count ?? 0) > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
}

/** "1 workflow", "2 workflows". */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
