/**
 * An evacuation from the dead host that someone else ordered: nothing of ours is sent, and it is followed to its end, so that the
 * outcome of the instance says what came of it. Reads only.
 */
import { isAborted } from '../domain/clock.ts'
import { ensureError } from '../domain/errors.ts'
import { isOver, type InstanceId, type Migration } from '../domain/instance.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { foreignReasons } from '../domain/plan.ts'
import type { Run } from './context.ts'
import type { HostWatch, Look } from './host-watch.ts'
import { pause } from './retry.ts'
import { afterOf, shownNow } from './shown.ts'
import { mustMoveWithinMs } from './steps/evacuation-follow.ts'

/**
 * How long it is followed. Longer keeps the incident open as long as someone's evacuation hangs; shorter sends people to look after
 * one that is about to arrive.
 */
const followedForMs = 15 * 60_000

/**
 * The outcome of an instance that someone else evacuates.
 *
 * @param foreign the records that are not ours, by uuid
 * @param why what is told where it did not arrive
 */
export async function followForeign(
  run: Run,
  watch: HostWatch,
  id: InstanceId,
  foreign: readonly string[],
  why: Pick<Outcome, 'code' | 'message'>,
): Promise<Outcome> {
  const stop = new AbortController()
  const seen = watch.until(id, stop.signal, (): Look<Migration> => {
    const newest = watch.evacuations(id).findLast(({ uuid }) => foreign.includes(uuid))
    return newest !== undefined && isOver(newest) ? { found: newest } : { wait: 'migrations' }
  })
  const end = await Promise.race([seen, followedLongEnough(run, stop.signal)]).finally(() => stop.abort())
  if (end !== null) await arrival(run, watch, id, end)
  const { instance, words } = await shownNow(run, watch, id)
  const after = instance === null ? null : afterOf(instance)
  const destination = end?.destHost ?? null
  if (end !== null && instance !== null && instance.host !== run.host && instance.host === destination)
    return {
      outcome: 'left',
      code: 'EVACUATED_BY_OTHERS' satisfies keyof typeof foreignReasons,
      message: `someone else evacuated it to ${destination} and Lifeboat did not touch it; ${words}`,
      after,
    }
  const ended = end === null ? 'it has not ended' : `it ended as ${end.status} (to ${destination ?? 'no host'})`
  return { outcome: 'stuck', code: why.code, message: `${why.message}; ${ended}; ${words}`, after }
}

/**
 * Reads the instance once its record is over: what was listed a second ago still shows it where it was. Once that is `done`, it
 * waits for the instance: a slow read replica may show it late. What cannot be read is told with the outcome.
 */
async function arrival(run: Run, watch: HostWatch, id: InstanceId, { status, destHost }: Migration): Promise<void> {
  const until = run.clock.now() + mustMoveWithinMs
  try {
    for (;;) {
      const { host } = await watch.read(id)
      const arrives = (status === 'done' || status === 'completed') && host !== destHost
      if (!arrives || run.clock.now() >= until || run.permissions.incident(run.id).cancelled !== null) return
      await pause(run.clock, run.settings.tickMs, run.signal)
    }
  } catch (thrown) {
    if (ensureError(thrown).code === 'SHUTDOWN') throw thrown
  }
}

/** Resolves when a person cancels, or when it has been followed for long enough. Throws SHUTDOWN. */
async function followedLongEnough(run: Run, stop: AbortSignal): Promise<null> {
  const until = run.clock.now() + followedForMs
  while (run.clock.now() < until && run.permissions.incident(run.id).cancelled === null && !isAborted(stop))
    await pause(run.clock, run.settings.tickMs, run.signal)
  return null
}
