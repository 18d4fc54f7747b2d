/**
 * The API's clock against those that stamp heartbeats. Only rows that move are asked: anyone who wrote them lives, and stamped them a
 * moment ago. The row of a host that died before the clocks were set back says nothing about any clock of now.
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { ServicesReading } from '../domain/service.ts'

/**
 * How long a row that moved counts as one that is written. Shorter: between two beats of a slow report_interval nobody is left to
 * compare with. Longer: clocks of controllers that are gone have a say for as long.
 */
const writtenForMs = 300_000

export interface Skew {
  /** API clock minus stamp. */
  ms: number
  /** The row it is measured by, for people. */
  of: string
}

interface Row {
  updatedAt: string | null
  /** When it was last seen to move, with what its stamp said then. */
  moved: { at: number; skew: Skew } | null
}

export class ClockSkew {
  #rows = new Map<string, Row>()

  /**
   * The median over all rows that are written, so that a single wrong clock among many is no reason to stop; null as long as none has
   * moved. @param now our monotonic clock
   */
  take({ serverTimeMs, services }: ServicesReading, now: number): Skew | null {
    const rows = new Map<string, Row>()
    for (const { binary, host, updatedAt } of services) {
      const of = `${binary} on ${host}`
      const known = this.#rows.get(of)
      const moves = known !== undefined && updatedAt !== null && updatedAt !== known.updatedAt && serverTimeMs !== null
      const skew = moves ? { ms: serverTimeMs - cloudTimeMs(updatedAt), of: `${of}, ${updatedAt}` } : null
      rows.set(of, { updatedAt, moved: skew === null ? (known?.moved ?? null) : { at: now, skew } })
    }
    this.#rows = rows
    const written = [...rows.values()].flatMap(({ moved }) =>
      moved !== null && now - moved.at <= writtenForMs ? [moved.skew] : [],
    )
    return written.toSorted((a, b) => a.ms - b.ms)[Math.floor(written.length / 2)] ?? null
  }
}
