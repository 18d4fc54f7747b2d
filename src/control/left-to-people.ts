/** Hosts whose failure a person ended: nothing is begun there again before they have lived. A restart reads it in the journal. */
import type { Entry, EntryKind, IncidentEnd } from '../domain/entry.ts'
import type { Journal } from '../domain/journal.ts'
import type { HostName } from '../domain/service.ts'
import type { VerdictKind } from '../domain/verdict.ts'

/** Verdicts that a host was dead or alive for sure; only life ends an episode. */
export const alive: ReadonlySet<VerdictKind> = new Set(['healthy', 'contradiction'])

type Closed = Extract<Entry, { kind: 'incident.closed' }>

/**
 * Hosts whose last incident of that kind ended so, and that were not seen alive since.
 *
 * @param kind of the incidents that count: the host's own, or those of its nova-compute
 */
export function leftToPeople(
  journal: Pick<Journal, 'read'>,
  kind: 'host' | 'process',
  end: IncidentEnd,
): Set<HostName> {
  const others = journal.read({ kinds: ['process.failed', 'instance.failed'] })
  const kindOf = new Map(others.map(({ incident, kind: opened }) => [incident, opened]))
  const opening = kind === 'host' ? undefined : 'process.failed'
  const lastClosed = new Map<HostName, Closed>()
  for (const entry of journal.read({ kinds: ['incident.closed'] })) {
    if (entry.kind === 'incident.closed' && entry.host !== null && kindOf.get(entry.incident) === opening)
      lastClosed.set(entry.host, entry)
  }
  return new Set(
    [...lastClosed]
      .filter(([host, { seq, data }]) => data.outcome === end && !livedSince(journal, host, seq))
      .map(([host]) => host),
  )
}

/** Verdicts of these hosts alone: of a whole fleet there are years of them, each with its evidence. */
function livedSince(journal: Pick<Journal, 'read'>, host: HostName, after: number): boolean {
  const kinds: EntryKind[] = ['verdict.changed']
  // It may have been back before the person ended the incident.
  const then = journal.read({ host, kinds, before: after, newestFirst: true, limit: 1 })
  return [...then, ...journal.read({ host, kinds, after })].some(
    (entry) => entry.kind === 'verdict.changed' && alive.has(entry.data.kind),
  )
}
