/** What a run has learnt of the queue between Nova's API and its conductor: first in, first out. */
import type { InstanceId } from '../domain/instance.ts'

/** Which orders Nova's conductor is known to have taken, by the monotonic clock. Starts empty with each run of an incident. */
export class OrdersTaken {
  readonly #sentAt = new Map<InstanceId, number>()
  #newestSentAt = -Infinity

  sent(instance: InstanceId, at: number): void {
    this.#sentAt.set(instance, at)
  }

  /** The record of the instance's order has moved. */
  taken(instance: InstanceId): void {
    this.#newestSentAt = Math.max(this.#newestSentAt, this.#sentAt.get(instance) ?? -Infinity)
  }

  /** Whether one was taken that was sent after `at`. */
  isLaterThan(at: number): boolean {
    return this.#newestSentAt > at
  }
}
