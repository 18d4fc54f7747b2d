/**
 * What became of the instances of incidents that are over, for anyone who needs no more than that of them. Read in pieces: one of thousands
 * of instances has a hundred thousand entries, and reading them in one go would hold up heartbeats and steps.
 */
import type { EntryKind, IncidentId } from '../domain/entry.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { Journal } from '../domain/journal.ts'
import type { EndedIncident, EndedInstance } from '../executor/return-survey.ts'

/** Entries read before others get their turn: 20 ms at most. More would hold up heartbeats and steps. */
const pieceSize = 250

const kinds: EntryKind[] = ['plan.made', 'outcome.recorded', 'debt.recorded', 'debt.settled']

/** @param pause awaited between pieces */
export async function readEndedIncident(
  journal: Pick<Journal, 'read'>,
  incident: IncidentId,
  pause: () => Promise<void>,
): Promise<EndedIncident> {
  const instances = new Map<InstanceId, EndedInstance>()
  for (let after = 0; ;) {
    const piece = journal.read({ incident, kinds, after, limit: pieceSize })
    for (const entry of piece) {
      if (entry.instance === null) continue
      const known = instances.get(entry.instance)
      if (entry.kind === 'plan.made')
        instances.set(entry.instance, { plan: { name: entry.data.name }, outcome: null, leftovers: [] })
      else if (known !== undefined && entry.kind === 'outcome.recorded') known.outcome = entry.data
      else if (known !== undefined && entry.kind === 'debt.recorded') known.leftovers.push(entry.data)
      else if (known !== undefined && entry.kind === 'debt.settled')
        known.leftovers = known.leftovers.filter(({ waitsAt }) => waitsAt?.migration !== entry.data.migration)
    }
    const last = piece.at(-1)
    if (last === undefined || piece.length < pieceSize) return { instances }
    after = last.seq
    await pause()
  }
}
