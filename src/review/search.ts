/** What a few letters may mean: hosts that Nova knows now, incidents on record, and the instances in them. */
import type { IncidentStore } from '../control/incident-store.ts'
import type { IncidentPhase } from '../domain/incident-phases.ts'
import type { FoundInstance, SearchResult } from '../domain/review.ts'
import type { FoundLine } from '../journal/instance-search.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { HostName } from '../domain/service.ts'
import type { Named } from './host-counts.ts'
import { returningOf } from './host-views.ts'
import { summaryOfLine, type ReviewedJournal } from './incident-listing.ts'

/** Of each kind, when nobody says how many: what fits under the field. */
const defaultLimit = 8

/** Of a host whose incident stands there nothing was listed yet. */
const isBeforeSurvey: ReadonlySet<IncidentPhase> = new Set(['confirming', 'fencing', 'isolating', 'surveying'])

interface SearchParts {
  journal: Pick<ReviewedJournal, 'incidents' | 'instances'>
  monitor: Pick<Monitor, 'verdicts'>
  store: Parameters<typeof returningOf>[0] & Pick<IncidentStore, 'open'>
  /** The instances of a host that are not on record, as far as they are known. */
  namedOn: (host: HostName) => readonly Named[]
}

/** Nothing to look for finds nothing. */
export function search(
  { journal, monitor, store, namedOn }: SearchParts,
  asked: string,
  limit = defaultLimit,
): SearchResult {
  const text = asked.trim().toLowerCase()
  if (text === '') return { hosts: [], incidents: [], instances: [], more: false, unlisted: [] }
  const hosts = monitor
    .verdicts()
    .filter(({ host }) => host.toLowerCase().includes(text))
    .sort((a, b) => rank(a.host, text) - rank(b.host, text) || a.host.localeCompare(b.host))
  const fits = ({ id, name }: Named): boolean => name.toLowerCase().includes(text) || id.includes(text)
  // One more than fits, to see that there is more.
  const incidents = journal.incidents({ text, limit: limit + 1 })
  const instances = journal.instances(text, limit + 1)
  return {
    hosts: hosts.slice(0, limit).map(({ host, segment, kind, reason }) => ({
      ...{ host, segment, verdict: kind, reason },
      returning: returningOf(store, host),
    })),
    incidents: incidents.slice(0, limit).map(summaryOfLine),
    instances: instances.slice(0, limit).map(foundInstance),
    unlisted: store
      .open()
      .filter(({ phase }) => isBeforeSurvey.has(phase))
      .map(({ host, id }) => ({ host, incident: id, instances: namedOn(host).filter(fits).slice(0, limit) })),
    more: [hosts, incidents, instances].some(({ length }) => length > limit),
  }
}

export function foundInstance(line: FoundLine): FoundInstance {
  return { ...line, outcome: line.outcome ?? 'open' }
}

function rank(host: string, text: string): number {
  const name = host.toLowerCase()
  return name === text ? 0 : name.startsWith(text) ? 1 : 2
}
