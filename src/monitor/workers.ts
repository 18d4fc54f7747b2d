/**
 * The pulses of Nova's own workers, conductors and schedulers: they tell a dead control plane from dead hosts (docs/nova.md
 * fact 10). Owns what was seen of them; concludes nothing: control-plane.ts does.
 */
import type { ServiceRecord } from '../domain/service.ts'
import type { WorkerFacts } from './control-plane.ts'
import { firstSight, restart, take, type Pulse } from './heartbeat.ts'

export class Workers {
  readonly #known = new Map<string, { row: ServiceRecord; pulse: Pulse }>()
  readonly #everSeen = new Set<string>()

  /** Takes in a whole reading. `blind`: what was before it could not be watched, so silence counts from here. */
  take(rows: readonly ServiceRecord[], now: number, blind: boolean): void {
    const listed = new Set<string>()
    for (const row of rows) {
      if (row.binary === 'nova-compute') continue
      // Each cell has its own conductors, and all of them may run on one machine.
      const key = `${row.binary} ${row.host} ${row.id ?? ''}`
      listed.add(key)
      if (row.status === 'disabled' || row.status === 'unknown') continue
      const pulse = this.#known.get(key)?.pulse
      const next = pulse === undefined ? firstSight(row, now) : take(blind ? restart(pulse, now) : pulse, row, now)
      this.#known.set(key, { row, pulse: next })
      this.#everSeen.add(row.binary)
    }
    for (const key of this.#known.keys()) if (!listed.has(key)) this.#known.delete(key)
  }

  /** Silence counts from `now` on, but for those that beat in this very reading. */
  restartSilence(now: number): void {
    for (const worker of this.#known.values())
      if (worker.pulse.lastBeatAt !== now) worker.pulse = restart(worker.pulse, now)
  }

  /** Whether one of that kind was ever listed. */
  had(binary: string): boolean {
    return this.#everSeen.has(binary)
  }

  facts(missedBeats: (pulse: Pulse) => number): WorkerFacts[] {
    return [...this.#known.values()].map(({ row, pulse }) => ({
      binary: row.binary,
      state: row.state,
      missedBeats: missedBeats(pulse),
    }))
  }
}
