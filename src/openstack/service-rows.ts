/**
 * One row for each nova-compute host. A host that was moved to another cell may leave its row in the old one, and Nova lists both. In turns,
 * their two stamps would look like a host that beats for ever, and a flag could be set on the wrong row. Pure.
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { ServiceRecord } from '../domain/service.ts'

/**
 * Keeps the row of each host's own cell. Nova lists those of a cell that it cannot reach by where hosts are mapped, so such a row is the
 * host's; else it is the one that was written last. `leftOver` are the others.
 */
export function oneRowAHost(rows: readonly ServiceRecord[]): { services: ServiceRecord[]; leftOver: ServiceRecord[] } {
  const own = new Map<string, ServiceRecord>()
  const leftOver: ServiceRecord[] = []
  for (const row of rows) {
    if (row.binary !== 'nova-compute') continue
    const other = own.get(row.host)
    if (other === undefined) {
      own.set(row.host, row)
      continue
    }
    const isNewer = writtenMs(row) > writtenMs(other)
    own.set(row.host, isNewer ? row : other)
    leftOver.push(isNewer ? other : row)
  }
  if (leftOver.length === 0) return { services: [...rows], leftOver }
  return { services: rows.filter((row) => !leftOver.includes(row)), leftOver }
}

function writtenMs({ status, updatedAt }: ServiceRecord): number {
  if (status === 'unknown') return Infinity
  return updatedAt === null ? -Infinity : cloudTimeMs(updatedAt)
}
