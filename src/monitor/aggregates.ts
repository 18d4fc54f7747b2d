/**
 * Which aggregates each host is in, with their metadata: they decide segments and failure domains. Owns what was read last
 * and when it is due again. Never writes to the cloud.
 */
import type { Clock } from '../domain/clock.ts'
import type { CallOptions, Cloud } from '../domain/cloud.ts'
import type { Aggregate } from '../domain/instance.ts'
import type { Observer } from '../domain/observer.ts'
import type { HostName } from '../domain/service.ts'

export class Aggregates {
  readonly #cloud: Pick<Cloud, 'listAggregates'>
  readonly #clock: Clock
  readonly #everyMs: () => number
  readonly #observer: Observer
  #byHost: ReadonlyMap<HostName, Aggregate[]> | null = null
  #readAt = -Infinity

  constructor(cloud: Pick<Cloud, 'listAggregates'>, clock: Clock, everyMs: () => number, observer: Observer) {
    this.#cloud = cloud
    this.#clock = clock
    this.#everyMs = everyMs
    this.#observer = observer
  }

  names(host: HostName): string[] {
    return (this.#byHost?.get(host) ?? []).map(({ name }) => name)
  }

  /** What the host's aggregates say for a metadata key, each value once. Several when someone put it into two racks. */
  values(host: HostName, key: string): string[] {
    const values = new Set<string>()
    for (const { metadata } of this.#byHost?.get(host) ?? []) {
      const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined
      if (value !== undefined && value !== '') values.add(value)
    }
    return [...values]
  }

  /** Keeps the old membership when it cannot be read; without any, segments would be wrong, so the reading fails. */
  async readWhenDue(options: CallOptions): Promise<void> {
    if (this.#clock.now() - this.#readAt < this.#everyMs()) return
    try {
      const byHost = new Map<HostName, Aggregate[]>()
      for (const aggregate of await this.#cloud.listAggregates(options)) {
        for (const host of aggregate.hosts) byHost.set(host, [...(byHost.get(host) ?? []), aggregate])
      }
      this.#byHost = byHost
      this.#readAt = this.#clock.now()
    } catch (thrown) {
      // A look that was cut off: it is done again, or the daemon stops.
      if (!this.#byHost || options.signal?.aborted === true) throw thrown
      this.#observer.log?.('warn', 'monitor.aggregates-failed', {}, thrown)
    }
  }
}
