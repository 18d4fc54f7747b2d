/** How the command line says times and counts. */
export { counted } from '../domain/text/counted.ts'

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
