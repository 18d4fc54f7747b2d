/** The failover segments on record, followed in the journal: which segment of Masakari's API a host is in. */
import type { Entry } from '../domain/entry.ts'
import {
  noFailoverRecords,
  withFailoverEntry,
  type FailoverRecords,
  type FailoverSegment,
  type SegmentHost,
} from '../domain/failover-segment.ts'
import type { Journal } from '../domain/journal.ts'
import type { HostName } from '../domain/service.ts'

export class FailoverBook {
  #records = noFailoverRecords
  #byHost: ReadonlyMap<HostName, SegmentHost> = new Map()

  /** Reads what is on record and follows the journal from then on. */
  constructor(journal: Journal) {
    for (const entry of journal.read({ kinds: ['segment.written', 'segment.host.written'] })) this.#follow(entry)
    journal.onAppend((entry) => this.#follow(entry))
  }

  records(): FailoverRecords {
    return this.#records
  }

  segmentNamed(name: string): FailoverSegment | undefined {
    return [...this.#records.segments.values()].find((segment) => segment.name === name)
  }

  hostNamed(name: HostName): SegmentHost | undefined {
    return this.#byHost.get(name)
  }

  /** The name of the segment that the host is in; none or one. */
  namesFor(host: HostName): string[] {
    const segment = this.#records.segments.get(this.#byHost.get(host)?.segment ?? '')
    return segment === undefined ? [] : [segment.name]
  }

  #follow(entry: Entry): void {
    const next = withFailoverEntry(this.#records, entry)
    if (next === this.#records) return
    this.#records = next
    this.#byHost = new Map([...next.hosts.values()].map((host) => [host.name, host]))
  }
}
