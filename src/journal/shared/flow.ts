/** Whether a standby's own commits come through: while a cluster votes a dead node out nobody can commit, so nobody's silence means anything. */
import type { Clock } from '../../domain/clock.ts'
import { slowCommitMs } from './takeover.ts'

export class Flow {
  readonly #clock: Clock
  #since: number | null = null
  #underWaySince: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Since when each came through in time, by our clock; null when the last one did not, or is late. */
  since(): number | null {
    const late = this.#underWaySince !== null && this.#clock.now() - this.#underWaySince > slowCommitMs
    return late ? null : this.#since
  }

  /** Watches one commit. Throws what it throws. */
  async through(commit: () => Promise<void>): Promise<void> {
    const began = this.#clock.now()
    this.#underWaySince = began
    try {
      await commit()
      if (this.#clock.now() - began > slowCommitMs) this.#since = null
      else this.#since ??= began
    } catch (thrown) {
      this.#since = null
      throw thrown
    } finally {
      this.#underWaySince = null
    }
  }
}
