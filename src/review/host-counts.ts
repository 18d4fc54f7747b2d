/**
 * How many instances are on hosts whose recovery has not begun: what decides whether someone gets up. Read from Nova only while
 * someone looks or is about to be told, beside everything else; nothing of a recovery waits for it or depends on it.
 */
import type { CountedGroup, HeldGroup, HostCount } from '../domain/brake.ts'
import type { Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import { powerState, type Instance } from '../domain/instance.ts'
import type { IncidentSummary } from '../domain/operations.ts'
import type { IncidentReview } from '../domain/review.ts'
import type { HostName } from '../domain/service.ts'

/** A dead host's list seldom changes. Shorter asks Nova more often while it has enough to do. */
const freshMs = 60_000
/** Until a list that could not be read is tried again. */
const retryMs = 10_000
/** Lists read at once. More would crowd out what a recovery asks. */
const atOnce = 2

export type Named = Pick<Instance, 'id' | 'name'>

export class HostCounts {
  readonly #cloud: Pick<Cloud, 'listInstances'>
  readonly #clock: Clock
  readonly #known = new Map<HostName, { count: HostCount | null; named: readonly Named[]; notBefore: number }>()
  readonly #waiting = new Set<HostName>()
  #reading = 0

  constructor({ cloud, clock }: { cloud: Pick<Cloud, 'listInstances'>; clock: Clock }) {
    this.#cloud = cloud
    this.#clock = clock
  }

  /** What is known now; what is missing or old is read meanwhile. */
  of(host: HostName): HostCount | null {
    const known = this.#known.get(host)
    if (known === undefined || this.#clock.now() >= known.notBefore) {
      this.#waiting.add(host)
      this.#readNext()
    }
    return known?.count ?? null
  }

  /** Those that were read last, by name; read meanwhile as `of` does. */
  namedOn(host: HostName): readonly Named[] {
    this.of(host)
    return this.#known.get(host)?.named ?? []
  }

  #readNext(): void {
    while (this.#reading < atOnce) {
      const [host] = this.#waiting
      if (host === undefined) return
      this.#waiting.delete(host)
      this.#reading += 1
      // Not asked for twice while it is read.
      const { count = null, named = [] } = this.#known.get(host) ?? {}
      this.#known.set(host, { count, named, notBefore: Infinity })
      void this.#read(host).finally(() => {
        this.#reading -= 1
        this.#readNext()
      })
    }
  }

  async #read(host: HostName): Promise<void> {
    const { count: old = null, named: before = [] } = this.#known.get(host) ?? {}
    try {
      const instances = await this.#cloud.listInstances(host)
      const count = {
        instances: instances.length,
        running: instances.filter((one) => one.powerState === powerState.running).length,
        projects: new Set(instances.map(({ projectId }) => projectId)).size,
        at: new Date(this.#clock.wall()).toISOString(),
      }
      const named = instances.map(({ id, name }) => ({ id, name }))
      this.#known.set(host, { count, named, notBefore: this.#clock.now() + freshMs })
    } catch {
      // People see that it is not counted, and what keeps Nova from answering is told by the monitor.
      this.#known.set(host, { count: old, named: before, notBefore: this.#clock.now() + retryMs })
    }
  }
}

export function countedGroup(group: HeldGroup, countOf: (host: HostName) => HostCount | null): CountedGroup {
  const members = group.members.map((member) => ({ ...member, count: countOf(member.host) }))
  const counts = members.flatMap(({ count }) => count ?? [])
  return {
    ...group,
    members,
    instances: counts.reduce((sum, { instances }) => sum + instances, 0),
    running: counts.reduce((sum, { running }) => sum + running, 0),
    uncounted: members.length - counts.length,
  }
}

/** Of an incident whose instances are not listed yet; others stay as they are. */
export function withCount<I extends IncidentSummary | IncidentReview>(
  incident: I,
  countOf: (host: HostName) => HostCount | null,
): I {
  const { ended, process, crashed, instances, host } = incident
  const unlisted = ended === null && process === null && crashed === null && instances === 0
  return unlisted ? { ...incident, onHost: countOf(host) } : incident
}
