/** What ends or delays a tenure, as errors with words for people. */
import { LifeboatError } from '../../domain/errors.ts'
import type { StoreTrouble } from './store.ts'

/** What a store's trouble means to the daemon. */
export function asError({ kind, message, maybeDone, cause }: StoreTrouble): LifeboatError {
  const what = kind === 'refused' ? 'refuses this daemon' : 'cannot be reached or does not commit'
  const certainty = maybeDone ? 'unknown' : 'not-applied'
  return new LifeboatError('JOURNAL_UNAVAILABLE', `The shared journal ${what}: ${message}`, {
    certainty,
    retry: 'backoff',
    cause,
  })
}

/** The copy and the shared journal have different entries. */
export function forked(seq: number): LifeboatError {
  return new LifeboatError(
    'JOURNAL_CORRUPT',
    `The copy and the shared journal went apart: entry ${seq} of one is not that of the other. Nothing was written. Keep the copy, move it away, and start again: the daemon pulls a new one`,
  )
}

/** A daemon's own journal never becomes the shared one by a start. */
export function ownJournal(entries: number): LifeboatError {
  return new LifeboatError(
    'JOURNAL_UNAVAILABLE',
    `This daemon has a journal of its own with ${entries} entries, and they are not in the shared one. To make it the shared journal: lifeboat journal move --to shared. To go on without it: move it away`,
  )
}

/** A permit that was not given in time. */
export function notLeft(): LifeboatError {
  return new LifeboatError('HELD_BACK', 'not sent: the shared journal did not confirm in time what was recorded', {
    retry: 'backoff',
  })
}
