/**
 * Who may work at the same time: over all incidents, from one failed host, and one at a time within an anti-affinity group
 * (Nova re-checks the group late, on the destination, and parallel members fail each other: docs/nova.md §1.7).
 */
import PQueue from 'p-queue'
import { LifeboatError } from '../domain/errors.ts'
import type { InstancePlan } from '../domain/plan.ts'

/** More than the priorities that a plan can have (-1000 to 1000): a segment's outweighs every instance's. */
const instancePriorities = 2_001

/** The queue that every incident of the daemon shares, and the groups that no two of them may work on at once. */
export class SharedQueue extends PQueue {
  readonly exclusives: Exclusives = new Exclusives()
}

export class Slots {
  readonly #all: SharedQueue
  readonly #host: PQueue

  readonly #segmentPriority: number

  /**
   * @param all the queue shared by every incident of the daemon
   * @param perHost the limit for this host
   * @param segmentPriority higher goes before every instance of a lower segment
   */
  constructor(all: SharedQueue, perHost: number, segmentPriority: number) {
    this.#all = all
    this.#segmentPriority = segmentPriority
    this.#host = new PQueue({ concurrency: perHost })
  }

  static shared(maxParallel: number): SharedQueue {
    return new SharedQueue({ concurrency: maxParallel })
  }

  /**
   * Runs `work` when there is room: by segment, then by instance, higher first, then in the order of asking. It has its room until it
   * ends or leaves it.
   */
  run<T>(plan: InstancePlan, work: Work<T>): Promise<T> {
    return inRoom(work, (stay) => this.#queued(plan, stay))
  }

  /**
   * As `run`, and meanwhile nobody else of the plan's group is worked on, in this incident or another: members of one
   * group die with several hosts at once. Waits for the group first, so that a member that waits keeps no room.
   */
  runAlone<T>(plan: InstancePlan, work: Work<T>): Promise<T> {
    return inRoom(work, (stay) => this.#all.exclusives.run(plan.exclusive, () => this.#queued(plan, stay)))
  }

  #queued(plan: InstancePlan, stay: () => Promise<void>): Promise<void> {
    const priority = this.#segmentPriority * instancePriorities + plan.priority
    return this.#host.add(() => this.#all.add(stay, { priority }), { priority })
  }
}

/** @param leaveRoom makes room for others: what is left is to wait, perhaps for days */
export type Work<T> = (leaveRoom: () => void) => Promise<T>

/** @param take has a room for as long as `stay` lasts */
async function inRoom<T>(work: Work<T>, take: (stay: () => Promise<void>) => Promise<void>): Promise<T> {
  const room: { ended?: Promise<T> } = {}
  await take(
    () =>
      new Promise((leave) => {
        room.ended = work(leave)
        room.ended.then(
          () => leave(),
          () => leave(),
        )
      }),
  )
  if (room.ended === undefined) throw new LifeboatError('INVARIANT', 'a room was given back before the work began')
  return room.ended
}

/** One after another for each key; without a key, at once. */
export class Exclusives {
  readonly #tails = new Map<string, Promise<unknown>>()

  run<T>(key: string | null, work: () => Promise<T>): Promise<T> {
    if (key === null) return work()
    const tail = this.#tails.get(key) ?? Promise.resolve()
    const next = tail.then(work, work)
    this.#tails.set(key, next)
    // The last one puts out the light: a daemon runs for years, and groups come and go.
    const forget = (): void => {
      if (this.#tails.get(key) === next) this.#tails.delete(key)
    }
    next.then(forget, forget)
    return next
  }
}
