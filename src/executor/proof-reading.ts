/**
 * Reads a proof of death again while the recovery that rests on it goes on: a host may be powered on at any time, and its guests
 * with it. Reads only; what it finds revokes the proof, or lets no further write through.
 */
import { isAborted, sleep } from '../domain/clock.ts'
import { ensureError } from '../domain/errors.ts'
import type { IncidentPhase } from '../domain/incident-phases.ts'
import type { ProofRecord } from '../domain/fencing.ts'
import type { Run } from './context.ts'
import { restOn } from './proof-age.ts'

/**
 * Pause between two readings, whatever is written meanwhile: none rests on a reading older than half a minute. Longer: a host that is
 * powered on boots and starts its guests before anyone looks. Shorter: boards are asked without need, and some answer slowly.
 */
const readAgainMs = 20_000

/**
 * How long a proof holds that cannot be read again: silence of a board proves nothing, either way. Longer: evacuations go on for as
 * long without anyone knowing whether the host is off. Shorter: a board that restarts holds up the recovery.
 */
const unreadGoodForMs = 5 * 60_000

const restsOnIt: ReadonlySet<IncidentPhase> = new Set(['isolating', 'surveying', 'recovering', 'sweeping'])

export class ProofReading {
  readonly #run: Run
  readonly #over: AbortSignal
  #going = false
  #readAt = -Infinity

  constructor(run: Run, over: AbortSignal) {
    this.#run = run
    this.#over = over
  }

  /** From now until the run is over. The proof was made, or read, just now. */
  begin(): void {
    this.#readAt = this.#run.clock.now()
    if (this.#going) return
    this.#going = true
    void this.#goOn().finally(() => (this.#going = false))
  }

  async #goOn(): Promise<void> {
    for (;;) {
      await sleep(this.#run.clock, readAgainMs, this.#over)
      if (isAborted(this.#over)) return
      const record = this.#due()
      if (record !== null) await this.#readOnce(record)
    }
  }

  /**
   * What expires is renewed by its keeper, and a person's word cannot be read. While nothing may be written it is not read: the gate does
   * that before it lets anything through. A hold for the cloud's sake shuts no gate, and what it does not concern is written meanwhile.
   */
  #due(): ProofRecord | null {
    const { permissions, fencer, id, proofExpired } = this.#run
    const incident = permissions.incident(id)
    const { proof, phase } = incident
    if (proof === null || proof.strength === 'statement' || fencer.renewEveryMs(proof.method) !== null) return null
    const isNeeded = permissions.of(incident).allowed || proofExpired !== null
    return restsOnIt.has(phase) && isNeeded ? proof : null
  }

  async #readOnce(record: ProofRecord): Promise<void> {
    const run = this.#run
    const askedAt = run.clock.now()
    try {
      const proof = await run.fencer.restore(record, this.#over)
      // A reading that was asked for later was answered first, and stands.
      if (!this.#stands(record) || askedAt < run.proofAskedAt) return
      restOn(run, proof, askedAt)
      this.#readAt = run.clock.now()
    } catch (thrown) {
      const error = ensureError(thrown)
      if (!this.#stands(record)) return
      if (error.code === 'HOST_ALIVE') this.#void(error.message)
      else if (run.clock.now() - Math.max(this.#readAt, run.proofAskedAt) > unreadGoodForMs) run.proofExpired = error
    }
  }

  /** It may have been revoked, or another one taken its place, while it was read. */
  #stands(record: ProofRecord): boolean {
    return !isAborted(this.#over) && this.#run.permissions.incident(this.#run.id).proof === record
  }

  #void(message: string): void {
    const { journal, id, host } = this.#run
    const data = { code: 'POWER_ON', message, updatedAt: null }
    journal.append([{ kind: 'proof.voided', incident: id, host, data }])
  }
}
