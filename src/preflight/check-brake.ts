/**
 * What the brake lets through, as `lifeboat check` shows it. Pure. A share that sounds generous is one host in a small fleet, and nobody
 * should learn that when the second one dies.
 */
import type { CheckLine } from './check-lines.ts'
import type { CloudBrake } from '../domain/brake.ts'
import type { BrakeLimits } from '../domain/segment.ts'
import { mostAtOnce } from '../monitor/brake.ts'
import { ok } from './check-lines.ts'
import { formatDuration } from '../config/index.ts'

/** Scopes named in the line. More would not be read. */
const mostNamed = 8

/** @param segments one for each host: its segment's name and limits */
export function brakeLines(
  cloud: CloudBrake,
  segments: readonly { segment: string; limits: BrakeLimits }[],
): CheckLine[] {
  if (segments.length === 0) return []
  const sizes = new Map<string, { limits: BrakeLimits; hosts: number }>()
  for (const { segment, limits } of segments)
    sizes.set(segment, { limits, hosts: (sizes.get(segment)?.hosts ?? 0) + 1 })
  const scopes = [
    `${mostAtOnce(cloud, segments.length)} of ${segments.length} hosts`,
    ...[...sizes].map(([name, { limits, hosts }]) => `${mostAtOnce(limits, hosts)} of ${hosts} in ${name}`),
  ]
  const more = scopes.length - mostNamed
  const named = `${scopes.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more segments` : ''}`
  const lasts = cloud.coolDownMs > 0 ? `, each counted for ${formatDuration(cloud.coolDownMs)} at least` : ''
  return [ok('brake', `at once: ${named}${lasts}; beyond that, recoveries wait until hosts return or a person decides`)]
}
