/** What the journal tells of earlier crashes: how often an instance was restarted, and how many crashed on its host. */
import { Moments } from '../domain/clock.ts'
import { crashesWithinMs, isStopAgain, type RestartRules } from '../domain/instance-failure.ts'
import type { Clock } from '../domain/clock.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { Journal } from '../domain/journal.ts'
import type { HostName } from '../domain/service.ts'

/** How many crashes of one instance are read: more than Lifeboat can restart within the longest time. */
const crashesAtMost = 100

export class CrashRecord {
  readonly #journal: Pick<Journal, 'read'>
  readonly #clock: Clock
  readonly #moments: Moments

  constructor(journal: Pick<Journal, 'read'>, clock: Clock) {
    this.#journal = journal
    this.#clock = clock
    this.#moments = new Moments(clock)
  }

  /** When Lifeboat restarted the instance after a crash, by our monotonic clock. */
  restarts(instance: InstanceId, { withinMs }: RestartRules): number[] {
    const crashes = this.#journal.read({
      instance,
      kinds: ['instance.failed'],
      newestFirst: true,
      limit: crashesAtMost,
    })
    const incidents = new Set(crashes.map(({ incident }) => incident))
    return this.#journal
      .read({ instance, kinds: ['step.issued'], since: this.#ago(withinMs) })
      .filter(({ incident, step }) => incidents.has(incident) && step !== null && !isStopAgain(step))
      .map(({ at }) => this.#moments.of(at))
  }

  /** Instances whose guests crashed on the host lately. */
  crashesOn(host: HostName): number {
    const crashes = this.#journal.read({ host, kinds: ['instance.failed'], since: this.#ago(crashesWithinMs) })
    return new Set(crashes.map(({ instance }) => instance)).size
  }

  #ago(ms: number): string {
    return new Date(this.#clock.wall() - ms).toISOString()
  }
}
