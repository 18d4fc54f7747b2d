/** What reviewers write: notes at any time, and their name under an incident that is over. They change nothing of it. */
import type { IncidentId, NewEntry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import type { Review, ReviewNote } from '../domain/review.ts'

type Acts = Pick<Review, 'note' | 'signOff'>

export function noteActs(journal: Pick<Journal, 'read' | 'append'>): Acts {
  const write = (
    id: IncidentId,
    kind: 'review.noted' | 'review.signed-off',
    order: Parameters<Acts['note']>[1],
  ): ReviewNote => {
    const opened = journal.read({
      incident: id,
      kinds: ['incident.opened', 'process.failed', 'instance.failed'],
      limit: 1,
    })[0]
    if (opened === undefined) throw new LifeboatError('NOT_FOUND', `There is no incident ${id}`)
    if (
      kind === 'review.signed-off' &&
      journal.read({ incident: id, kinds: ['incident.closed'], limit: 1 }).length === 0
    )
      throw new LifeboatError('CONFLICT', `Incident ${id} is not over yet: sign it off when it is`)
    if (kind === 'review.signed-off') notSignedOff(journal, id)
    const { by, text } = order
    const entry: NewEntry = {
      kind,
      actor: `operator:${by}`,
      incident: id,
      ...(opened.host !== null && { host: opened.host }),
      data: { by, text, ...(order.via !== undefined && { via: order.via }) },
    }
    const [written] = journal.append([entry])
    if (written === undefined) throw new LifeboatError('INVARIANT', 'an append gave nothing back')
    return { seq: written.seq, at: written.at, by, text }
  }
  return {
    note: (id, order) => write(id, 'review.noted', order),
    signOff: (id, order) => write(id, 'review.signed-off', order),
  }
}

/** A second name would take the place of the first without a word. */
function notSignedOff(journal: Pick<Journal, 'read'>, id: IncidentId): void {
  const [signed] = journal.read({ incident: id, kinds: ['review.signed-off'], newestFirst: true, limit: 1 })
  if (signed?.kind !== 'review.signed-off') return
  const message = `${signed.data.by} already signed incident ${id} off, at ${signed.at}; add a note to what was said: lifeboat incident note ${id} "what you found"`
  throw new LifeboatError('CONFLICT', message)
}
