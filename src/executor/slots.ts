/**
 * Who may work at the same time: over all incidents, from one failed host, and one at a time within an anti-affinity group
 * (Nova re-checks the group late, on the destination, and parallel members fail each other: docs/nova.md §1.7).
 */
import PQueue from 'p-queue'
import type { InstancePlan } from '../domain/plan.ts'

/** The queue that every incident of the daemon shares. */
export type SharedQueue = PQueue

export class Slots {
  readonly #all: PQueue
  readonly #host: PQueue

  /** @param all the queue shared by every incident of the daemon; @param perHost the limit for this host */
  constructor(all: SharedQueue, perHost: number) {
    this.#all = all
    this.#host = new PQueue({ concurrency: perHost })
  }

  static shared(maxParallel: number): SharedQueue {
    return new PQueue({ concurrency: maxParallel })
  }

  /** Runs `work` when there is room; higher priority first. */
  run<T>(plan: InstancePlan, work: () => Promise<T>): Promise<T> {
    const { priority } = plan
    return this.#host.add(() => this.#all.add(work, { priority }), { priority })
  }
}

/** One after another for each key; without a key, at once. */
export class Exclusives {
  readonly #tails = new Map<string, Promise<unknown>>()

  run<T>(key: string | null, work: () => Promise<T>): Promise<T> {
    if (key === null) return work()
    const tail = this.#tails.get(key) ?? Promise.resolve()
    const next = tail.then(work, work)
    this.#tails.set(key, next)
    return next
  }
}
