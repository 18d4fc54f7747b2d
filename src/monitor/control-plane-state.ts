/**
 * What is known of the control plane from one look to the next: the pulses of Nova's workers, the skew of its clocks, and what it once
 * listed. Gathers the facts; control-plane.ts says whether it can be believed. No I/O; time comes in as arguments.
 */
import type { ServicesReading } from '../domain/service.ts'
import { ClockSkew } from './clock-skew.ts'
import { assessControlPlane, type ComputeFacts, type Fault } from './control-plane.ts'
import type { Pulse } from './heartbeat.ts'
import type { MonitorSettings } from './settings.ts'
import { Workers } from './workers.ts'

export class ControlPlaneState {
  readonly #workers = new Workers()
  readonly #clocks = new ClockSkew()
  #hadComputes = false

  /** Takes in a whole reading. `blind`: what was before it could not be watched, so silence counts from here. */
  take({ services }: ServicesReading, now: number, blind: boolean): void {
    this.#workers.take(services, now, blind)
  }

  /** Silence of the workers counts from `now` on, but for those that beat in this very reading. */
  restartSilence(now: number): void {
    this.#workers.restartSilence(now)
  }

  /**
   * Whether it can be believed after a look. `at` dates the silence: what a slow answer hides is not silence.
   *
   * @param reading Nova's answer; else `apiError` says why there is none
   * @param hosts whose heartbeat means something
   */
  assess(
    seen: { apiError: string | null; reading: ServicesReading | null; hosts: readonly ComputeFacts[]; at: number },
    missedBeats: (pulse: Pulse) => number,
    settings: MonitorSettings,
  ): { freeze: Fault | null; doubt: Fault | null } {
    const { apiError, reading, hosts, at } = seen
    const services = reading?.services ?? []
    const computes = services.filter((row) => row.binary === 'nova-compute').length
    const facts = {
      now: at,
      apiError,
      rows: services.length,
      computes,
      hadComputes: this.#hadComputes,
      hadConductors: this.#workers.had('nova-conductor'),
      hadSchedulers: this.#workers.had('nova-scheduler'),
      workers: this.#workers.facts(missedBeats),
      hosts,
      skew: reading ? this.#clocks.take(reading, at) : null,
    }
    if (computes > 0) this.#hadComputes = true
    return assessControlPlane(facts, settings)
  }
}
