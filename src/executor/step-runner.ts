/**
 * Runs one step to its end: one attempt after another, each when the gate lets it and there is room, while its retry policy allows.
 * What one attempt does is in attempt.ts.
 */
import { sleep } from '../domain/clock.ts'
import { type ErrorRecord, LifeboatError } from '../domain/errors.ts'
import type { RetryPolicy, StepKind } from '../domain/plan.ts'
import type { ResultOf } from '../domain/step-payloads.ts'
import { Attempt, type Attempted, type Passage } from './attempt.ts'
import { pauseAfter } from '../domain/back-off.ts'
import { isCloudTrouble, silentAfterCancelMs } from './cloud-trouble.ts'
import { mayBeLocked, wasChanged } from './how-far.ts'
import { silence } from './retry.ts'
import type { Slots, Work } from './slots.ts'
import type { StepDriver, StepScene } from './step-driver.ts'

/** Pauses after a write was held back. Shorter fills the journal while its disk is slow; longer delays the recovery after that. */
const heldBackPauseMs = 500
const heldBackMostMs = 30_000

/** Pauses of what a cancel leaves to be finished while Nova cannot be read. Shorter writes rows all the while; longer leaves a lock. */
const unreadPauseMs = 1_000
const unreadMostMs = 60_000

/**
 * Runs a step to its end, and gives its result. Throws the LifeboatError of the last attempt; SHUTDOWN when the daemon stops in the
 * middle (the rows stay open and are reconciled at the next start).
 */
export async function runStep(
  driver: StepDriver,
  scene: StepScene,
  gate: Passage,
  slots: Slots,
): Promise<ResultOf<StepKind> | null> {
  try {
    return await runAttempts(driver, scene, gate, slots)
  } finally {
    // However it ends, an instance that tries for its whole project must not leave the others waiting.
    scene.trouble.gaveUp(scene)
  }
}

async function runAttempts(
  driver: StepDriver,
  scene: StepScene,
  gate: Passage,
  slots: Slots,
): Promise<ResultOf<StepKind> | null> {
  const { run, step } = scene
  let troubles = 0
  let troubledSince: number | null = null
  let heldBack = 0
  for (let number = 1, own = 1; ; number++) {
    const attempt = new Attempt(driver, scene, gate, number)
    const known = attempt.record
    if (known?.status === 'confirmed') return known.result
    /** A failure of an earlier run needs no pause: that run waited, or ended. */
    const pause = async (ms: number): Promise<void> => {
      if (known?.status !== 'failed') await sleep(run.clock, ms, run.signal)
      stopIfAborted(scene)
    }
    const failure = known?.status === 'failed' ? known.error : await whenThereIsRoom(attempt, scene, gate, slots)
    if (failure?.code === 'HELD_BACK') {
      // Nothing was tried. The next one begins with the gate.
      heldBack += 1
      await pause(pauseAfter(heldBack, heldBackPauseMs, heldBackMostMs))
      continue
    }
    heldBack = 0
    if (failure !== null && isCloudTrouble(failure)) {
      // Nothing is said about the instance: no attempt of its own is spent.
      troubles += 1
      troubledSince ??= run.clock.now()
      if (run.permissions.incident(run.id).cancelled === null) {
        if (known?.status !== 'failed') scene.trouble.refused(scene, failure, troubles)
        continue
      }
      if (isUnreadYet(scene, attempt, failure) && run.clock.now() - troubledSince < silentAfterCancelMs) {
        await pause(pauseAfter(troubles, unreadPauseMs, unreadMostMs))
        continue
      }
    }
    scene.trouble.passed(scene)
    troubles = 0
    troubledSince = null
    if (failure === null) return attempt.record?.result ?? null
    if (!mayRetry(step.retry, failure, isCloudTrouble(failure) ? number : own)) throw asThrown(failure)
    await pause(step.retry === undefined ? 0 : pauseAfter(own, step.retry.firstMs, step.retry.capMs))
    own += 1
  }
}

/**
 * Runs one attempt when there is room; gives its failure, null when it was confirmed. What the gate holds waits without a slot: it may
 * wait for days, and would keep every other incident from going on.
 */
async function whenThereIsRoom(
  attempt: Attempt,
  scene: StepScene,
  gate: Passage,
  slots: Slots,
): Promise<ErrorRecord | null> {
  for (;;) {
    if (attempt.record === undefined) {
      await scene.trouble.pass(scene)
      // What needs no write needs no leave: a guest that runs already would keep our lock until its old host is proven dead.
      if (scene.act === 'finishes' && !gate.isOpen(scene.act) && (await attempt.isDoneAlready())) return null
      await gate.pass(scene.act)
      await scene.run.plans.refresh(scene)
    }
    const go: Work<Attempted> = (leaveRoom) => attempt.go(leaveRoom)
    // The late check on the destination is the evacuation's (docs/nova.md §1.7): a member whose gate is shut holds nobody up.
    const tried = await (scene.step.do === 'evacuate' ? slots.runAlone(scene.plan, go) : slots.run(scene.plan, go))
    if (tried === 'confirmed') return null
    if (tried === 'late') {
      scene.trouble.gaveUp(scene)
      await attempt.waitForLate()
      stopIfAborted(scene)
    } else if (tried !== 'held') return tried
  }
}

/** Cancelled, and what was begun cannot be finished because nobody can read how the instance is: nothing was sent. */
function isUnreadYet({ act, recovery }: StepScene, { record }: Attempt, { code }: ErrorRecord): boolean {
  const isBegun = act !== 'begins' && (wasChanged(recovery) || mayBeLocked(recovery))
  return isBegun && silence.has(code) && record?.before === null
}

function mayRetry(policy: RetryPolicy | undefined, { code, certainty }: ErrorRecord, attempts: number): boolean {
  if (policy === undefined || certainty === 'unknown') return false
  return policy.on.some((retried) => retried === code) && attempts < policy.attempts
}

function asThrown({ code, message, certainty, retry, details }: ErrorRecord): LifeboatError {
  return new LifeboatError(code, message, { certainty, retry, details })
}

function stopIfAborted({ run }: StepScene): void {
  if (run.signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
}
