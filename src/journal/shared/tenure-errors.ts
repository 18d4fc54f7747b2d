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

/** The copy holds other entries than the shared journal. Neither was changed. */
export class CopyDiffers extends LifeboatError {
  /** The newest entry that both have; 0: none. */
  readonly common: number
  /** The newest entry of the copy. */
  readonly newest: number

  constructor(common: number, newest: number) {
    const first = common + 1
    const [entries, differ] =
      first === newest ? [`entry ${newest}`, 'is not that of'] : [`entries ${first} to ${newest}`, 'are not those of']
    super(
      'JOURNAL_CORRUPT',
      `The copy differs from the shared journal: ${entries} of the copy ${differ} the shared journal`,
      { retry: 'after', details: { common, newest } },
    )
    this.common = common
    this.newest = newest
  }
}

/** A daemon's own journal never becomes the shared one by a start. */
export function ownJournal(entries: number): LifeboatError {
  return new LifeboatError(
    'JOURNAL_UNAVAILABLE',
    `This daemon has a journal of its own with ${entries} entries that are not in the shared one. To make it the shared journal: lifeboat journal move --to shared. To go on without it: move it away`,
  )
}

/** A permit that was not given in time. */
export function notLeft(): LifeboatError {
  return new LifeboatError('HELD_BACK', 'not sent: the shared journal did not confirm in time what was recorded', {
    retry: 'backoff',
  })
}
