/**
 * Reads a proof of death again while the recovery that rests on it goes on: a host may be powered on at any time, and its guests
 * with it. Reads only; what it finds revokes the proof, or lets no further write through.
 */
import { isAborted, sleep } from '../domain/clock.ts'
import { ensureError, type LifeboatError } from '../domain/errors.ts'
import type { IncidentPhase } from '../domain/incident-phases.ts'
import type { FencingProof, ProofRecord } from '../domain/fencing.ts'
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

/** Until a person's word is looked for again, where the proof cannot be read. Longer keeps the recovery waiting by as much. */
const wordAgainMs = 500

const restsOnIt: ReadonlySet<IncidentPhase> = new Set(['isolating', 'surveying', 'recovering', 'sweeping'])

export class ProofReading {
  readonly #run: Run
  readonly #over: AbortSignal
  readonly #byAttestation: () => FencingProof
  #going = false
  #readAt = -Infinity

  /** @param byAttestation records that the proof is a person's word from now on. Throws JOURNAL_UNAVAILABLE */
  constructor(run: Run, over: AbortSignal, byAttestation: () => FencingProof) {
    this.#run = run
    this.#over = over
    this.#byAttestation = byAttestation
  }

  /** From now until the run is over. The proof was made, or read, just now. */
  begin(): void {
    this.#readAt = this.#run.clock.now()
    if (this.#going) return
    this.#going = true
    void this.#goOn().finally(() => (this.#going = false))
  }

  async #goOn(): Promise<void> {
    const run = this.#run
    for (let triedAt = run.clock.now(); ;) {
      await sleep(run.clock, run.proofExpired === null ? readAgainMs : wordAgainMs, this.#over)
      if (isAborted(this.#over)) return
      if (run.proofExpired !== null) this.#restOnWord()
      if (run.proofExpired !== null && run.clock.now() - triedAt < readAgainMs) continue
      triedAt = run.clock.now()
      const record = this.#due()
      if (record !== null) await this.#readOnce(record)
    }
  }

  /** A person answers what the gate asks: their word takes the place of a proof that nobody can read. */
  #restOnWord(): void {
    const { permissions, id, clock } = this.#run
    const { attestedSince, held, proof } = permissions.incident(id)
    if (!attestedSince || held?.code !== 'FENCE_FAILED' || proof === null) return
    // Nobody's word stands against a power that reads On; a storage that is reached says nothing of power.
    if (proof.proves !== 'storage' && this.#run.proofExpired?.code === 'HOST_ALIVE') return
    unlessUnwritable(() => restOn(this.#run, this.#byAttestation(), clock.now()))
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
      // The gate is shut all the same where that cannot be written, and the next reading says it again. So it is while a storage is reached: that is
      // no power, and may end.
      if (error.code === 'HOST_ALIVE') {
        if (record.proves === 'storage' || !revokeForPower(run, error)) run.proofExpired = error
      } else if (run.clock.now() - Math.max(this.#readAt, run.proofAskedAt) > unreadGoodForMs) run.proofExpired = error
    }
  }

  /** It may have been revoked, or another one taken its place, while it was read. */
  #stands(record: ProofRecord): boolean {
    return !isAborted(this.#over) && this.#run.permissions.incident(this.#run.id).proof === record
  }
}

/** Revokes the proof of a host whose power reads On. False: that cannot be written now. */
export function revokeForPower({ journal, id, host }: Run, { message }: LifeboatError): boolean {
  const data = { code: 'POWER_ON', message, updatedAt: null }
  return unlessUnwritable(() => journal.append([{ kind: 'proof.voided', incident: id, host, data }]))
}

/** Whether `write` could be carried out. A full disk ends no daemon: what it keeps off the record is tried again. */
function unlessUnwritable(write: () => void): boolean {
  try {
    write()
    return true
  } catch (thrown) {
    if (ensureError(thrown).code !== 'JOURNAL_UNAVAILABLE') throw thrown
    return false
  }
}
