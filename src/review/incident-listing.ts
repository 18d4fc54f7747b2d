/**
 * Incidents as lists show them, without folding their entries: one of thousands of instances costs a list no more than an
 * empty one. Open ones come from the incident store, which alone knows how far fencing has come.
 */
import { heldBecause } from '../domain/text/held-because.ts'
import type { IncidentId } from '../domain/entry.ts'
import type { Journal } from '../domain/journal.ts'
import type { IncidentFilter, IncidentSummary } from '../domain/operations.ts'
import type { IncidentLine } from '../journal/listing.ts'
import type { JournalView } from '../journal/reader.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import { headOf, incidentSummary } from './incident-views.ts'

/** What reviewing needs of the journal beside reading and appending. */
export type ReviewedJournal = Journal &
  Pick<JournalView, 'incidents' | 'instances' | 'each' | 'head' | 'isBehind' | 'verifyInPieces'>

/** Incidents listed when nobody says how many. */
export const defaultLimit = 100

/** The newest first. */
export function incidentSummaries(
  journal: Pick<ReviewedJournal, 'incidents' | 'read'>,
  store: Pick<IncidentStore, 'openOfAnyKind'>,
  { open, host, instance, limit = defaultLimit }: IncidentFilter,
): IncidentSummary[] {
  const current = new Map(store.openOfAnyKind().map((incident) => [incident.id, incident]))
  const lines = journal.incidents({ openOnly: open === true, limit, ...omitUndefined({ host, instance }) })
  const listed = new Set(lines.map(({ id }) => id))
  // While the disk of its copy is full, a shared journal has no line of the newest.
  const unlisted = [...current.values()].filter(
    (incident) =>
      (lines.length < limit || Date.parse(incident.openedAt) > Date.parse(lines.at(-1)?.openedAt ?? '')) &&
      !listed.has(incident.id) &&
      (host === undefined || incident.host === host) &&
      (instance === undefined || incident.instances.has(instance)),
  )
  const signed = signOffs(journal, lines.at(-1)?.openedAt)
  const ofLines = lines.map((line) => {
    const incident = current.get(line.id)
    return incident === undefined ? summaryOfLine(line) : incidentSummary(incident)
  })
  return [...unlisted.toReversed().map(incidentSummary), ...ofLines]
    .slice(0, limit)
    .map((summary) => ({ ...summary, signedOff: signed.get(summary.id) ?? null }))
}

/** Who signed off what since then, the latest of each incident. */
export function signOffs(
  journal: Pick<ReviewedJournal, 'read'>,
  since: string | undefined,
): Map<IncidentId, NonNullable<IncidentSummary['signedOff']>> {
  if (since === undefined) return new Map()
  return new Map(
    journal
      .read({ kinds: ['review.signed-off'], since })
      .flatMap((entry) =>
        entry.kind === 'review.signed-off' && entry.incident !== null
          ? [[entry.incident, { by: entry.data.by, at: entry.at }] as const]
          : [],
      ),
  )
}

/** The same fields as `incidentSummary`, from the derived tables. */
export function summaryOfLine(line: IncidentLine): IncidentSummary {
  const { heldCode, heldMessage, heldSince } = line
  const counts = Object.entries(line.instances).filter(([, count]) => count > 0)
  return {
    ...headOf(line),
    held:
      heldCode === null ? null : { code: heldCode, message: heldBecause(heldMessage ?? ''), since: heldSince ?? '' },
    fencing: null,
    ended:
      line.closedAt === null
        ? null
        : {
            outcome: line.outcome as NonNullable<IncidentSummary['ended']>['outcome'],
            message: line.message ?? '',
            at: line.closedAt,
          },
    instances: counts.reduce((sum, [, count]) => sum + count, 0),
    outcomes: Object.fromEntries(counts),
  }
}
