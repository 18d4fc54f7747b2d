/**
 * The last moment before a write leaves. Between the gate and the network there is the journal's commit, and maybe a token:
 * a disk that hangs or a process that is stopped can stretch either to minutes, in which the host may come back.
 */
import type { Clock } from '../domain/clock.ts'
import type { MayLeave } from '../domain/cloud.ts'
import { LifeboatError } from '../domain/errors.ts'
import { span } from '../domain/text/span.ts'

/**
 * Longest from the gate's word to the write's leaving. Larger: the write goes out on what was true that long ago. Smaller: a
 * journal on a disk that is slow for a moment puts writes off that are as true as before.
 */
const leavesWithinMs = 2_000

/**
 * From now on. What it gives throws HELD_BACK once that was too long ago, or the gate has shut meanwhile. A connection that takes long counts only
 * for the gate, which knows of standstills: a slow resolver would otherwise hold every write back, for ever.
 */
export function lastMoment(clock: Clock, isOpen: () => boolean): MayLeave {
  const allowedAt = clock.now()
  return (connectingMs = 0) => {
    const lateMs = clock.now() - allowedAt - connectingMs
    if (lateMs > leavesWithinMs)
      throw heldBack(`${span(lateMs)} passed since it was allowed: the journal or the process stood still`)
    if (!isOpen()) throw heldBack('it is not allowed any more')
  }
}

function heldBack(why: string): LifeboatError {
  return new LifeboatError('HELD_BACK', `not sent: ${why}`, { retry: 'backoff' })
}
