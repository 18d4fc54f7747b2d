/** The API's clock against the heartbeat stamps. Owns nothing but the comparison. */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { ServicesReading } from '../domain/service.ts'

/** API clock minus the newest stamp of all rows in ms, or null when one of them is missing. */
export function clockSkewMs({ serverTimeMs, services }: ServicesReading): number | null {
  if (serverTimeMs === null) return null
  let newest = -Infinity
  for (const { updatedAt } of services) {
    if (updatedAt === null) continue
    const at = cloudTimeMs(updatedAt)
    if (at > newest) newest = at
  }
  return newest === -Infinity ? null : serverTimeMs - newest
}
