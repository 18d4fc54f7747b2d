/** Follows a write that Nova has taken to its end, within the step's time. */
import { deadline } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { StepRecord } from '../domain/incident.ts'
import type { StepKind } from '../domain/plan.ts'
import type { ResultOf } from '../domain/step-payloads.ts'
import type { StepDriver, StepScene } from './step-driver.ts'
import { tooLate, unread } from './step-errors.ts'

/** A time limit that fires later than this was held up: the process stood still. Shorter: a busy processor lengthens the limit. */
const lateMs = 5_000

/**
 * Time left to a step after one more standstill used up its time: Nova may have ended the step meanwhile. Shorter: an API that wakes up with us is not
 * read again by then. Longer: a machine that stands still every hour keeps a lost order for ever.
 */
const readOnMs = 60_000

/**
 * Gives what the driver read at the end. Time in which Nova could not be read does not count: nothing could end
 * then. After a standstill of the process the step has its whole time again, as after a restart, but only once. A person who cancels waits for less. Throws
 * EVACUATION_STALLED or STEP_TIMEOUT when the time is over, and what the driver throws.
 */
export async function followToItsEnd(
  driver: StepDriver,
  scene: StepScene,
  record: StepRecord<StepKind>,
): Promise<ResultOf<StepKind>> {
  const { run, watch, trouble } = scene
  let hadItAgain = false
  for (let leftMs = scene.step.deadlineMs; ;) {
    const limit = deadline(run.clock, leftMs, run.signal)
    const inTime = { ...scene, signal: limit.signal }
    const [blindBefore, began, limitMs] = [watch.blindMs, run.clock.now(), leftMs]
    let waitedMs = 0
    const read = (): Promise<ResultOf<StepKind>> => driver.follow(inTime, record)
    try {
      return await Promise.race([
        trouble.reading(inTime, read, { waited: (ms) => (waitedMs += ms) }),
        aborted(limit.signal),
      ])
    } catch (thrown) {
      if (!limit.expired()) throw unread(scene, thrown)
      const now = run.clock.now()
      const [stoodUntil, isLate] = [run.permissions.stoodStillUntil(), now - began - limitMs > lateMs]
      const stood = isLate ? now : stoodUntil > began ? stoodUntil : null
      const wholeMs = stood === null ? 0 : Math.max(stood + scene.step.deadlineMs - now, 0)
      const againMs = hadItAgain ? (isLate ? readOnMs : 0) : wholeMs
      hadItAgain ||= wholeMs > 0
      const unreadMs = waitedMs + watch.blindMs - blindBefore + againMs
      // A person who cancels has all of it end: then it has its time and no more, whether Nova could be read or not.
      leftMs = run.permissions.incident(run.id).cancelled === null ? unreadMs : 0
      if (leftMs > 0) continue
      const overdue = driver.overdue?.(scene, record)
      if (overdue?.goesOn !== true) throw tooLate(scene, overdue)
      leftMs = scene.step.deadlineMs
    } finally {
      limit.release()
    }
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => reject(new LifeboatError('SHUTDOWN', 'the daemon is stopping', { certainty: 'unknown' }))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
