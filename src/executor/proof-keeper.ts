/**
 * Keeps the proof of death true for as long as the incident needs it: reads it once more after a restart, makes again what
 * expires by itself, and looks for signs of life before the first write of a run that it did not see begin (law L1).
 */
import { deadline, isAborted, sleep } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { FenceAttempt, FencingProof, ProofRecord } from '../domain/fencing.ts'
import type { ServiceRecord } from '../domain/service.ts'
import { asKnown, type KnownRow, type Verdict } from '../domain/verdict.ts'
import { pauseAfter } from '../domain/back-off.ts'
import type { Run } from './context.ts'
import { lookAgainMs, type Holding } from './holding.ts'
import { readService, recordProof } from './host-steps.ts'
import { restOn } from './proof-age.ts'
import { ProofReading, revokeForPower } from './proof-reading.ts'
import { knownRow, movementSince, stillMs } from './service-liveness.ts'

/** Ends the whole run; nothing here may take it for a proof that failed. */
const ends = new Set(['SHUTDOWN', 'CANCELLED', 'JOURNAL_UNAVAILABLE', 'INVARIANT'])

/**
 * How long a renewal waits for a reading of Nova, and which part of its period at most. Longer: while the control plane is frozen, each renewal comes so
 * much later, and must not come after the proof has expired. Shorter: a host that is back is not seen before its storage is taken again.
 */
const seenWithinMs = 10_000
const seenWithinPart = 0.1

/** The part of its period for which a run that picks up an expiring proof looks for life at most. Larger: it may expire meanwhile. */
const lookedForPart = 0.25

/** How often a proof that is renewed later is looked at. Longer: a reload that shortens its period, or another proof, is noticed too late. */
const periodLookMs = 5_000

export class ProofKeeper {
  readonly #run: Run
  readonly #holding: Holding
  readonly #over = new AbortController()
  readonly #reading: ProofReading
  #keeping = false

  constructor(run: Run, holding: Holding) {
    this.#run = run
    this.#holding = holding
    this.#reading = new ProofReading(run, this.#over.signal, () => this.#byAttestation())
    run.signal.addEventListener('abort', this.#end, { once: true })
  }

  readonly #end = (): void => this.#over.abort()

  /** The run is over: nothing is renewed any more. */
  end(): void {
    this.#run.signal.removeEventListener('abort', this.#end)
    this.#end()
  }

  /**
   * After a restart and after a long hold: makes the recorded proof true again, or waits until it is. A person's word made
   * since the hold takes its place, and is recorded as the weaker proof that it is. Throws SHUTDOWN and CANCELLED.
   */
  async restore(): Promise<void> {
    const run = this.#run
    for (let failures = 1; ; failures++) {
      if (isAborted(run.signal)) throw new LifeboatError('SHUTDOWN', 'the run is over')
      const record = this.#holding.incident.proof
      if (record === null) return
      const askedAt = run.clock.now()
      // It may be revoked, replaced, or read by ProofReading, while this reads or rests.
      const stands = (): boolean => this.#holding.incident.proof === record
      const wasReadSince = (): boolean => stands() && run.proofAskedAt > askedAt
      try {
        const proof = await this.#restoreOnce(record)
        if (!stands()) continue
        if (!wasReadSince()) restOn(run, proof, askedAt)
        this.#goOnAfter(record)
        return
      } catch (thrown) {
        const error = ensureError(thrown)
        if (ends.has(error.code)) throw error
        // For good, as while a recovery runs (docs/decisions/0007): a single reading of Off later may fall into another restart.
        if (error.code === 'HOST_ALIVE' && stands() && this.#isRevoked(record) && revokeForPower(run, error)) return
        // Nobody is called for what ends now.
        await this.#holding.wait(0)
        const code = error.code === 'HOST_ALIVE' ? 'HOST_ALIVE' : 'FENCE_FAILED'
        const message = `the proof of death could not be renewed: ${error.message}. ${sayIt(run.host)}`
        this.#holding.hold(code, message, error)
        const { fenceRetryMs, fenceRetryMaxMs } = run.settings
        const attestedSince = (): boolean => this.#holding.incident.attestedSince
        const isAnswered = (): boolean => attestedSince() || !stands() || wasReadSince()
        if (!isAnswered()) await this.#holding.wait(pauseAfter(failures, fenceRetryMs, fenceRetryMaxMs), isAnswered)
        if (wasReadSince()) {
          this.#goOnAfter(record)
          return
        }
        if (!attestedSince()) continue
        restOn(run, this.#byAttestation(), run.clock.now())
        return
      }
    }
  }

  /** Renews the proof again and again while the run lasts, when its method says that it expires; else reads it. Never rejects. */
  keep(): void {
    if (this.#expiryMs() === null) return this.#reading.begin()
    if (this.#keeping) return
    this.#keeping = true
    void this.#keep().finally(() => (this.#keeping = false))
  }

  /**
   * Before the first write of a run that picks up another one's proof: a proof that no power reading stands behind is
   * worth nothing once nova-compute beat after it, and the monitor needs two polls to see that. A stamp later than ours
   * holds the incident until a person says again that the host is dead. Throws SHUTDOWN and CANCELLED.
   */
  async seeSilence(): Promise<void> {
    const { proof } = this.#holding.incident
    if (proof === null || !this.#needsSilence(proof)) return
    let known: KnownRow | null = knownRow(this.#holding.incident)
    let still: { since: number; forMs: number } | null = null
    for (;;) {
      // Revoked meanwhile: the gate proves it again, and looks for life itself.
      if (this.#holding.incident.proof === null) return
      const row = await this.#holding.persist(0, () => readService(this.#run))
      const now = this.#run.clock.now()
      const movement = known === null ? 'written' : movementSince(known, row)
      if (movement === 'silent' && (still === null || now - still.since >= still.forMs)) break
      if (movement === 'beating') {
        // Watched since a person's word: this beat came after it.
        await this.#heldForLife(row.updatedAt, known?.updatedAt ?? null, still !== null)
        known = null
        continue
      }
      if (movement === 'written') {
        known = asKnown(row)
        still = { since: now, forMs: stillMs(this.#holding.incident) }
      }
      await this.#holding.wait(lookAgainMs)
    }
    if (this.#holding.incident.held?.code === 'HOST_ALIVE')
      this.#holding.goOn('a person attested it again, and no heartbeat has come since')
  }

  /**
   * Before an expiring proof of another run is renewed: its program would take the storage of a host that a person has put back into service since.
   * One that lives is held. What cannot be known in time is renewed all the same, and after a cancel nothing is. Throws SHUTDOWN and CANCELLED.
   */
  async seeLifeBeforeRenewal(): Promise<void> {
    const { clock, fencer } = this.#run
    const { proof } = this.#holding.incident
    const everyMs = proof === null ? null : fencer.renewEveryMs(proof.method)
    if (everyMs === null) return
    const until = clock.now() + Math.min(stillMs(this.#holding.incident) + seenWithinMs, everyMs * lookedForPart)
    let known = knownRow(this.#holding.incident)
    for (let isWritten = false; clock.now() < until;) {
      // A cancel lets the host live.
      await this.#holding.wait(0)
      const row = await this.#rowOrNull(until)
      const movement = row === null ? null : known === null ? 'written' : movementSince(known, row)
      if (movement === 'beating') return this.seeSilence()
      if (movement === 'silent' && !isWritten) return
      if (row !== null && movement === 'written') {
        known = asKnown(row)
        isWritten = true
      }
      await this.#holding.wait(lookAgainMs)
    }
  }

  /** Nothing reads again whether a word, a storage or what expires is still true. */
  #needsSilence({ strength, proves, method }: ProofRecord): boolean {
    return strength === 'statement' || proves === 'storage' || this.#expires({ method })
  }

  /** Null: Nova does not tell by then. */
  async #rowOrNull(until: number): Promise<ServiceRecord | null> {
    const { clock, cloud, host, signal } = this.#run
    const limit = deadline(clock, until - clock.now(), signal)
    try {
      const { services } = await cloud.listServices({ signal: limit.signal })
      return services.find((row) => row.binary === 'nova-compute' && row.host === host) ?? null
    } catch (thrown) {
      const error = ensureError(thrown)
      // A read that our own end cut off comes back as CANCELLED, and that word is a person's.
      if (isAborted(signal)) throw new LifeboatError('SHUTDOWN', 'the run is over')
      if (error.code === 'INVARIANT') throw error
      return null
    } finally {
      limit.release()
    }
  }

  /** Ends only the holds that a proof can answer; what an attestation was held for is looked at next. */
  #goOnAfter({ strength }: ProofRecord): void {
    const code = this.#holding.incident.held?.code
    if (code === 'FENCE_FAILED' || (code === 'HOST_ALIVE' && strength !== 'statement'))
      this.#holding.goOn('the proof still holds')
  }

  async #heldForLife(stamp: string | null, known: string | null, again: boolean): Promise<void> {
    const { host } = this.#run
    const message = `nova-compute of ${host} wrote at ${stamp}, after ${known}, the last that is known: it lives, or has lived since it was attested dead. ${sayIt(host)}`
    const error = new LifeboatError('HOST_ALIVE', message)
    if (again) this.#holding.holdAnew('HOST_ALIVE', message, error)
    else this.#holding.hold('HOST_ALIVE', message, error)
    await this.#holding.wait(
      Infinity,
      () => this.#holding.incident.attestedSince || this.#holding.incident.proof === null,
    )
  }

  /**
   * Not in phase fencing: Lifeboat would fence the host again at once, and power off a machine that someone had just switched back on. Nor after
   * a cancel, which lets the host live. Nor of a storage that is reached again: that says nothing of power, and the host may be alive all along.
   */
  #isRevoked(record: ProofRecord): boolean {
    const { phase, cancelled } = this.#holding.incident
    return !this.#expires(record) && record.proves !== 'storage' && phase !== 'fencing' && cancelled === null
  }

  /** Its method reads no power: what it finds alive is held for a person. */
  #expires({ method }: Pick<ProofRecord, 'method'>): boolean {
    return this.#run.fencer.renewEveryMs(method) !== null
  }

  #expiryMs(): number | null {
    const { proof, fencer } = this.#run
    return proof === null ? null : fencer.renewEveryMs(proof.method)
  }

  #byAttestation(): FencingProof {
    const { attestation } = this.#holding.incident
    if (attestation === null) throw new LifeboatError('INVARIANT', 'attested again without an attestation')
    const proof = this.#run.fencer.attest(this.#run.host, attestation.by, attestation.statement)
    recordProof(this.#run, proof)
    this.#holding.goOn(`${attestation.by} attested that the host is dead`)
    return proof
  }

  /** Renewing is an act: it has its rows before and after (law L2). */
  async #restoreOnce(record: ProofRecord): Promise<FencingProof> {
    const { fencer, signal, clock } = this.#run
    if (fencer.renewEveryMs(record.method) === null) return fencer.restore(record, signal)
    const startedAt = new Date(clock.wall()).toISOString()
    const about = { method: record.method, startedAt }
    this.#attempt({ ...about, phase: 'trying', message: `Renewing the proof by ${record.method}` })
    const endedAt = (): string => new Date(clock.wall()).toISOString()
    try {
      const proof = await fencer.restore(record, signal)
      this.#attempt({ ...about, phase: 'succeeded', message: proof.evidence.at(-1) ?? 'renewed', endedAt: endedAt() })
      return proof
    } catch (thrown) {
      const { message, certainty } = ensureError(thrown)
      this.#attempt({ ...about, phase: 'failed', message, certainty, endedAt: endedAt() })
      throw thrown
    }
  }

  #attempt(data: FenceAttempt): void {
    const { journal, id, host } = this.#run
    // A renewal that its incident's end cut short is no failure that anyone should hear of.
    if (this.#holding.incident.closed !== null) return
    journal.append([{ kind: 'fence.attempt', incident: id, host, data }])
  }

  /** Until the next try is due, the proof is another one, or a person's word stands in for what expired. */
  async #rest(record: ProofRecord, pauseMs: number): Promise<void> {
    const run = this.#run
    const began = run.clock.now()
    while (!isAborted(this.#over.signal) && this.#holding.incident.proof === record) {
      const expired = run.proofExpired !== null
      if (expired && this.#holding.incident.attestedSince) return
      const periodMs = expired ? pauseMs : Math.min(pauseMs, run.fencer.renewEveryMs(record.method) ?? 0)
      const leftMs = began + periodMs - run.clock.now()
      if (leftMs <= 0) return
      await sleep(run.clock, Math.min(leftMs, expired ? lookAgainMs : periodLookMs), this.#over.signal)
    }
  }

  /**
   * A process that stood still goes on with a renewal that is due: its program would take the storage of a host that is back, before Nova has been
   * read again. What is not known by then is renewed all the same, for an isolated host must not write beside its evacuated guests.
   */
  async #seen(withinMs: number): Promise<void> {
    const { clock, permissions } = this.#run
    const until = clock.now() + withinMs
    const isUnsure = (): boolean => {
      const { incident } = this.#holding
      if (incident.proof === null) return false
      // A pause or a cancel would hide that nothing is known. Life that was seen revokes the proof in the next poll.
      const permission = permissions.of(incident, 'finishes')
      return 'hold' in permission && (permission.hold === 'FROZEN' || permission.hold === 'HOST_ALIVE')
    }
    while (isUnsure() && clock.now() < until && !isAborted(this.#over.signal))
      await sleep(clock, lookAgainMs, this.#over.signal)
  }

  /** Each proof by its own period, as configured now: a reload may shorten it, and another method may have made the next one. */
  async #keep(): Promise<void> {
    const run = this.#run
    const { fenceRetryMs, fenceRetryMaxMs } = run.settings
    let failures = 0
    for (let kept: ProofRecord | null = null; ;) {
      const record = this.#holding.incident.proof
      if (record !== kept) failures = 0
      kept = record
      const everyMs = record === null ? null : run.fencer.renewEveryMs(record.method)
      if (record === null || everyMs === null) {
        // A person's word took its place meanwhile: it does not expire.
        if (record === null || record.strength === 'statement') run.proofExpired = null
        // A reload may have taken its period away: from now on it is read.
        else this.#reading.begin()
        return
      }
      await this.#rest(record, failures === 0 ? everyMs : pauseAfter(failures, fenceRetryMs, fenceRetryMaxMs))
      if (isAborted(this.#over.signal)) return
      const stands = (): boolean => this.#holding.incident.proof === record
      try {
        if (run.proofExpired !== null && this.#holding.incident.attestedSince) {
          restOn(run, this.#byAttestation(), run.clock.now())
          return
        }
        // A person has let the host live: no program is run for it any more, and what needs the proof is not begun.
        if (this.#holding.incident.cancelled !== null) {
          run.proofExpired = new LifeboatError(
            'FENCE_FAILED',
            'its incident is cancelled, and it is not renewed any more',
          )
          return
        }
        if (stands()) await this.#seen(Math.min(seenWithinMs, everyMs * seenWithinPart))
        if (isAborted(this.#over.signal)) return
        if (!stands()) continue
        const askedAt = run.clock.now()
        const proof = await this.#restoreOnce(record)
        // What was renewed may have been revoked, or another proof taken its place.
        if (stands()) restOn(run, proof, askedAt)
        failures = 0
      } catch (thrown) {
        const error = ensureError(thrown)
        if (isAborted(this.#over.signal)) return
        if (!stands()) continue
        // The gate holds every further write until it is renewed: what the old proof rested on may be gone.
        run.proofExpired = error
        failures += 1
        // A word that the journal could not take is not waited for: without a pause this would spin.
        if (this.#holding.incident.attestedSince) await sleep(run.clock, lookAgainMs, this.#over.signal)
      }
    }
  }
}

/** What a person types who knows better than the machines. */
export function sayIt(host: string): string {
  return `A person who has seen that ${host} is dead can say so: lifeboat recover ${host} --by NAME --proof "how you know"`
}

/** Why a host that was fenced is held. */
export function stillAnswers(host: string, { message }: Verdict, method: string): string {
  return `${message}. It was proven dead by ${method}: was that the right machine? If another one answers in its place, say so: lifeboat recover ${host} --by NAME --proof "how you know"`
}
