/** How each receiver stands: whether it takes what it is sent, as the notices on record and the renewals tell. Decides nothing. */
import type { Entry } from '../domain/entry.ts'
import type { ReceiverHealth } from '../domain/notice.ts'

/**
 * One that has taken nothing for so long is dead. Shorter: one that restarts spoils "All is well"; longer: people believe that they
 * would be told.
 */
const deadAfterMs = 60_000

/**
 * With nothing left to try, a failure is believed for so long. Shorter: it is forgotten before morning; longer: it stands though the
 * receiver was mended.
 */
const believedForMs = 86_400_000

type Known = Pick<ReceiverHealth, 'takenAt' | 'failingSince' | 'problem'> & { failedAt: string | null }

const untried: Known = { takenAt: null, failingSince: null, problem: null, failedAt: null }

export class Health {
  readonly #known = new Map<string, Known>()

  /** Entries about notices, those of earlier runs first. */
  follow({ kind, data, at }: Entry): void {
    if (kind === 'notice.sent') this.#took(data.receiver, at)
    if (kind === 'notice.failed') this.#failed(data.receiver, at, data.problem)
    // It answers, but what it is sent reaches nobody.
    if (kind === 'notice.dead-lettered' && data.code === 'REFUSED') this.#failed(data.receiver, at, data.message)
  }

  /** A renewal or a test, of which no entry tells. */
  renewed(receiver: string, at: string, problem: string | null): void {
    if (problem === null) this.#took(receiver, at)
    else this.#failed(receiver, at, problem)
  }

  of(receiver: string, waiting: number, wallMs: number): ReceiverHealth {
    const { takenAt, failingSince, problem, failedAt } = this.#known.get(receiver) ?? untried
    const ageOf = (at: string | null): number => (at === null ? -Infinity : wallMs - Date.parse(at))
    const dead = ageOf(failingSince) >= deadAfterMs && (waiting > 0 || ageOf(failedAt) < believedForMs)
    return { receiver, waiting, takenAt, failingSince, problem, dead }
  }

  #took(receiver: string, at: string): void {
    this.#known.set(receiver, { ...untried, takenAt: at })
  }

  #failed(receiver: string, at: string, problem: string): void {
    const { takenAt, failingSince } = this.#known.get(receiver) ?? untried
    this.#known.set(receiver, { takenAt, failingSince: failingSince ?? at, problem, failedAt: at })
  }
}
