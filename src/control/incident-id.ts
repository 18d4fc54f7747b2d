/** Names of incidents. */
import type { IncidentId } from '../domain/entry.ts'

/** Readable and unique: when, and of what. @param of the host, or the host and its process */
export function incidentId(of: string, wallMs: number, taken: (id: string) => boolean): IncidentId {
  const stamp = new Date(wallMs).toISOString().replace(/[-:]/g, '').slice(0, 15)
  const base = `${stamp}Z-${of}`
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}-${n}`
    if (!taken(id)) return id
  }
}
