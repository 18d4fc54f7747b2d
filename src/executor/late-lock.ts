/**
 * Locks of ours whose answers were lost. A front end may serve one long after its client has gone, also when the instance was unlocked
 * and has its outcome: nobody would ever take that lock off, and its owner could do nothing any more. So an incident outlasts them: it
 * looks at their instances until nothing can serve those locks any more, and takes off what it finds (law L6).
 */
import { sleep } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { InstanceRecovery } from '../domain/incident.ts'
import type { Instance } from '../domain/instance.ts'
import type { RecipeStep } from '../domain/plan.ts'
import type { Passage } from './attempt.ts'
import type { CloudTrouble } from './cloud-trouble.ts'
import type { Run } from './context.ts'
import { callHolds, type Holding } from './holding.ts'
import type { HostWatch } from './host-watch.ts'
import { retryRead } from './retry.ts'
import type { Slots } from './slots.ts'
import { mayStillBeServed } from './step-errors.ts'
import { runStep } from './step-runner.ts'
import { drivers } from './steps/drivers.ts'
import { lockReason } from './steps/marks.ts'

/** How often the instances are looked at meanwhile. Longer leaves one locked for so long; shorter reads Nova the more often. */
const lookEveryMs = 10_000

const unlockLate = 'unlock-late-'
/** One try a look. */
const unlockStep: Omit<RecipeStep, 'id'> = { do: 'unlock', deadlineMs: 120_000 }

/**
 * Once every instance has its outcome. Throws SHUTDOWN and JOURNAL_UNAVAILABLE; a person who cancels does not end it.
 */
export async function outlastLocks(
  run: Run,
  holding: Holding,
  passage: { watch: HostWatch; gate: Passage; slots: Slots; trouble: CloudTrouble },
): Promise<void> {
  const { clock, settings, signal } = run
  const locked = [...holding.incident.instances.values()].filter(hasLateLock)
  if (locked.length === 0) return
  // From now on, and not from when they were sent: after a restart only the wall clock knows that, and it may be wrong.
  const until = clock.now() + settings.longestRequestMs
  const names = locked.map(({ plan }) => plan.name).join(', ')
  const outlast = async (recovery: InstanceRecovery): Promise<void> => {
    for (;;) {
      // What keeps one from being looked at is said for as long as it does.
      if (!callHolds.has(holding.incident.held?.code))
        holding.hold('LATE_LOCK', `our lock of ${names} was not answered and may still be served`)
      await takeOff(run, recovery, passage)
      if (clock.now() >= until) return
      await sleep(clock, Math.min(lookEveryMs, until - clock.now()), signal)
      if (signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
    }
  }
  // Each by itself: one that cannot be read must not keep us from the others.
  await Promise.all(locked.map(outlast))
  holding.goOn('nothing can serve those locks any more')
}

async function takeOff(
  run: Run,
  recovery: InstanceRecovery,
  { watch, gate, slots, trouble }: Parameters<typeof outlastLocks>[2],
): Promise<void> {
  const { plan } = recovery
  const { id, isOpen } = stepOf(recovery)
  const step = { id, ...unlockStep }
  try {
    const read = (): Promise<Instance> => retryRead(run.clock, run.signal, () => watch.read(plan.instanceId))
    // The last look must be one that saw something.
    const seen = await trouble.reading({ plan, signal: run.signal }, read)
    const isLocked = isOpen || (seen.locked && seen.lockedReason === lockReason(run.id))
    const scene = { run, watch, trouble, plan, recovery, step, signal: run.signal, act: 'closes' as const }
    if (isLocked) await runStep(drivers.unlock, scene, gate, slots)
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    // What Nova refused is on record with its step. The next look tries again.
    run.observer.log?.(
      'warn',
      'late_lock.stays',
      { incident: run.id, host: run.host, instance: plan.instanceId },
      error,
    )
  }
}

/** The step that goes on, which a restart may find without an end; else the next one. No key is used twice. */
function stepOf({ steps }: InstanceRecovery): { id: string; isOpen: boolean } {
  const late = [...steps.values()].filter(({ key }) => key.includes(`.${unlockLate}`))
  const last = late.at(-1)
  const open = last?.endedAt === null ? last.key.split('.').at(-2) : undefined
  return { id: open ?? `${unlockLate}${late.length + 1}`, isOpen: open !== undefined }
}

function hasLateLock({ steps }: InstanceRecovery): boolean {
  return [...steps.values()].some((step) => step.kind === 'lock' && mayStillBeServed(step))
}
