/**
 * Where a journal goes on, by its own entries: in the shared store, or as one daemon's own. Owns what follows from that for who may write it. A
 * start never moves a journal: it goes on where a person's order left it, and nowhere else.
 */
import type { JournalPlace } from '../../domain/entry.ts'
import { LifeboatError } from '../../domain/errors.ts'
import type { JournalWriter } from '../journal.ts'
import { isOfCopy, nameIn } from './identity.ts'

export interface Whereabouts {
  place: JournalPlace
  /** Set when a person's order ended the shared journal: whose own it is, since when, by which entry. */
  moved: { holder: string; at: string; seq: number } | null
}

export function whereabouts(journal: Pick<JournalWriter, 'read'>): Whereabouts {
  const [last] = journal.read({ kinds: ['tenure.began', 'journal.moved'], newestFirst: true, limit: 1 })
  if (last?.kind === 'journal.moved' && last.data.to === 'own')
    return { place: 'own', moved: { holder: last.data.holder, at: last.at, seq: last.seq } }
  return { place: last === undefined ? 'own' : 'shared', moved: null }
}

/**
 * The lease of the last tenure on record, ms; 0: it is not said. Who follows waits for that one too: two daemons with different leases are two
 * that may act at once.
 */
export function leaseOnRecord(journal: Pick<JournalWriter, 'read'>): number {
  const [last] = journal.read({ kinds: ['tenure.began'], newestFirst: true, limit: 1 })
  return last?.kind === 'tenure.began' ? (last.data.leaseMs ?? 0) : 0
}

/** Why nobody may take over a shared journal with these entries; null: its entries allow it. */
export function notShared(journal: Pick<JournalWriter, 'read' | 'head'>): LifeboatError | null {
  if (journal.head().seq === 0) return null
  const { place, moved } = whereabouts(journal)
  if (moved !== null) return ended(moved)
  if (place === 'shared') return null
  return new LifeboatError(
    'JOURNAL_UNAVAILABLE',
    'A journal is being moved to the shared store, and no daemon takes over before all of it is there. If the move was interrupted, order it again on the machine that the journal comes from: lifeboat journal move --to shared',
    { retry: 'after' },
  )
}

/** Before a daemon with a journal of its own writes it. Throws CONFIG_INVALID when it goes on elsewhere. */
export function mustBeOwn(journal: Pick<JournalWriter, 'read' | 'head' | 'path'>): void {
  const { place, moved } = whereabouts(journal)
  if (place === 'shared')
    throw new LifeboatError(
      'CONFIG_INVALID',
      `${journal.path} is the copy of a shared journal, but shared_journal is not set. Set it again, or make this copy the daemon's own: lifeboat journal move --to own`,
    )
  // What follows the move was written by its owner: then this is that journal, wherever its file was restored.
  if (moved !== null && moved.seq === journal.head().seq && !isOfCopy(moved.holder, journal.path))
    throw new LifeboatError(
      'CONFIG_INVALID',
      `${journal.path} is the copy of a journal that has been ${nameIn(moved.holder)}'s own since ${moved.at}, and goes on there. Run the daemon there; to begin here without that journal, move this file away`,
    )
}

function ended({ holder, at }: NonNullable<Whereabouts['moved']>): LifeboatError {
  return new LifeboatError(
    'CONFIG_INVALID',
    `A person ended the shared journal at ${at}: it is now ${nameIn(holder)}'s own journal, and goes on there. Stop this daemon, or share the journal again: lifeboat journal move --to shared, on ${nameIn(holder)}`,
  )
}
