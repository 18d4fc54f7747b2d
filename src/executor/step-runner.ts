/**
 * Runs one step: intended row, write, issued row, follow, confirmed or failed row, and again while its retry policy allows.
 * The same code runs a step for the first time and picks it up after a crash: what is done next depends only on the rows
 * that are there (laws L2, L3).
 */
import type { Accepted, CallOptions } from '../domain/cloud.ts'
import { deadline, sleep } from '../domain/clock.ts'
import type { NewEntry } from '../domain/entry.ts'
import { ensureError, errorRecord, LifeboatError } from '../domain/errors.ts'
import type { StepRecord } from '../domain/incident.ts'
import type { RetryPolicy } from '../domain/plan.ts'
import { pauseAfter } from './back-off.ts'
import { isCloudTrouble } from './cloud-trouble.ts'
import type { Gate } from './gate.ts'
import type { Slots } from './slots.ts'
import { requestIdOf, stepRequestId } from './step-request-id.ts'
import type { Overdue, StepDriver, StepScene } from './step-driver.ts'

/**
 * Refusals that claim that nothing was applied and are not believed before Nova was looked at. A proxy that sends a write twice
 * answers with the refusal of the second: 409 for most, 400 for a resize that is being confirmed (docs/nova.md section 3).
 */
const mayHideAnAct: ReadonlySet<string> = new Set(['API_UNAVAILABLE', 'INSTANCE_BUSY', 'API_REFUSED'])

/** What lets writes through: an incident's gate. */
export type Passage = Pick<Gate, 'pass' | 'isOpen' | 'lastMoment'>

/** Pauses after a write was held back. Shorter fills the journal while its disk is slow; longer delays the recovery after that. */
const heldBackPauseMs = 500
const heldBackMostMs = 30_000

/**
 * How often a write that may still be served is looked for. Longer follows it late; shorter lists the migrations of the host for each
 * of them the more often.
 */
const lookForLateMs = 10_000

/**
 * Runs a step to its end. Throws the LifeboatError of the last attempt; SHUTDOWN when the daemon stops in the middle
 * (the rows stay open and are reconciled at the next start).
 */
export async function runStep(driver: StepDriver, scene: StepScene, gate: Passage, slots: Slots): Promise<unknown> {
  let troubles = 0
  let heldBack = 0
  for (let attempt = 1, own = 1; ; attempt++) {
    const key = stepKey(scene, attempt)
    const known = scene.recovery.steps.get(key)
    if (known?.status === 'confirmed') return known.result
    const failure = known?.status === 'failed' ? known.error : await tryInSlot(driver, scene, gate, slots, key, attempt)
    if (failure?.code === 'HELD_BACK') {
      // Nothing was tried. The next one begins with the gate.
      heldBack += 1
      const pause = pauseAfter(heldBack, heldBackPauseMs, heldBackMostMs)
      if (known?.status !== 'failed') await sleep(scene.run.clock, pause, scene.run.signal)
      stopIfAborted(scene)
      continue
    }
    heldBack = 0
    if (
      failure !== null &&
      isCloudTrouble(failure) &&
      scene.run.permissions.incident(scene.run.id).cancelled === null
    ) {
      // Nothing is said about the instance: no attempt of its own is spent.
      troubles += 1
      if (known?.status !== 'failed') scene.trouble.refused(scene, failure, troubles)
      continue
    }
    scene.trouble.passed(scene)
    troubles = 0
    if (failure === null) return scene.recovery.steps.get(key)?.result ?? null
    if (!mayRetry(scene.step.retry, failure.code, failure.certainty, isCloudTrouble(failure) ? attempt : own)) {
      throw new LifeboatError(failure.code, failure.message, {
        certainty: failure.certainty,
        retry: failure.retry,
        details: failure.details,
      })
    }
    if (known?.status !== 'failed') await sleep(scene.run.clock, pauseMs(scene.step.retry, own), scene.run.signal)
    stopIfAborted(scene)
    own += 1
  }
}

/**
 * One attempt when there is room. What the gate holds waits without a slot: it may wait for days, and would keep every
 * other incident from going on.
 */
async function tryInSlot(
  driver: StepDriver,
  scene: StepScene,
  gate: Passage,
  slots: Slots,
  key: string,
  attempt: number,
): Promise<ReturnType<typeof errorRecord> | null> {
  // Counted from here also after a restart: the wall clock of before may be wrong, and too early is a guest that runs twice.
  const mayBeServedUntil = { at: null as number | null, isTold: false }
  for (;;) {
    if (!scene.recovery.steps.has(key)) {
      await scene.trouble.pass(scene)
      // What needs no write needs no leave: a guest that runs already would keep our lock until its old host is proven dead.
      if (scene.act === 'finishes' && !gate.isOpen(scene.act) && (await isDoneAlready(driver, scene, key, attempt)))
        return null
      await gate.pass(scene.act)
      await scene.run.plans.refresh(scene)
    }
    // The late check on the destination is the evacuation's (docs/nova.md §1.7): a member whose gate is shut holds nobody up.
    const tryIt = (): ReturnType<typeof tryOnce> => tryOnce(driver, scene, gate, key, attempt, mayBeServedUntil)
    const tried = await (scene.step.do === 'evacuate'
      ? slots.runAlone(scene.plan, tryIt)
      : slots.run(scene.plan, tryIt))
    if (tried === 'late') {
      if (!mayBeServedUntil.isTold) tellOfWait(scene, key, mayBeServedUntil.at ?? 0)
      mayBeServedUntil.isTold = true
      const restMs = (mayBeServedUntil.at ?? 0) - scene.run.clock.now()
      await sleep(scene.run.clock, Math.min(lookForLateMs, restMs), scene.run.signal)
      stopIfAborted(scene)
    } else if (tried !== 'held') return tried
  }
}

/** Once for each run: the journal alone keeps what people are shown. */
function tellOfWait({ run, plan, recovery }: StepScene, key: string, until: number): void {
  const sentAt = recovery.steps.get(key)?.intendedAt ?? ''
  const data = { sentAt, until: new Date(run.clock.wall() + until - run.clock.now()).toISOString() }
  const base = { incident: run.id, host: run.host, instance: plan.instanceId, step: key }
  run.journal.append([{ kind: 'step.waiting', ...base, data }])
}

/** Whether there is nothing to send, and its rows then. What cannot be read is found out when its turn comes. */
async function isDoneAlready(driver: StepDriver, scene: StepScene, key: string, attempt: number): Promise<boolean> {
  try {
    const prepared = await driver.before(scene)
    if (!('nothingToDo' in prepared)) return false
    scene.run.journal.append(rowsOfNothing(scene, key, attempt, prepared.nothingToDo))
    return true
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    return false
  }
}

function rowsOfNothing({ run, plan, step }: StepScene, key: string, attempt: number, nothingToDo: unknown): NewEntry[] {
  const base = { incident: run.id, host: run.host, instance: plan.instanceId, step: key }
  return [
    { kind: 'step.intended', ...base, data: { kind: step.do, attempt, before: nothingToDo, request: null } },
    { kind: 'step.confirmed', ...base, data: { result: { nothingToDo } } },
  ]
}

/** A step's key: never used twice within an instance's recovery. */
export function stepKey(scene: StepScene, attempt: number): string {
  return `${scene.recovery.round}.${scene.recovery.recipe ?? 'none'}.${scene.step.id}.${attempt}`
}

/** One attempt, from wherever its rows stand. Gives null when it was confirmed, `held` when the gate shut before it began, `late` while it is not known to be taken and may be. */
async function tryOnce(
  driver: StepDriver,
  scene: StepScene,
  gate: Passage,
  key: string,
  attempt: number,
  mayBeServedUntil: { at: number | null },
): Promise<ReturnType<typeof errorRecord> | null | 'held' | 'late'> {
  const { run, plan } = scene
  const base = { incident: run.id, host: run.host, instance: plan.instanceId, step: key }
  const as = { globalRequestId: stepRequestId(base) }
  const id = (): { globalRequestId?: string } => requestIdOf(scene.recovery.steps.get(key))
  const fail = (thrown: unknown): ReturnType<typeof errorRecord> => {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
    const record = errorRecord(error)
    run.journal.append([{ kind: 'step.failed', ...base, data: { error: record, ...id() } }])
    return record
  }
  const intended = (before: unknown, request: unknown, sends: { globalRequestId?: string } = {}): NewEntry => ({
    kind: 'step.intended',
    ...base,
    data: { kind: scene.step.do, attempt, before, request, ...sends },
  })
  const now = (): StepRecord => {
    const record = scene.recovery.steps.get(key)
    if (record === undefined) throw new LifeboatError('INVARIANT', `step ${key} has no rows`)
    return record
  }

  /** Whether the write that is out may still be served. Only an evacuation does harm when it is sent again meanwhile. */
  const mayBeServed = (): boolean => {
    if (scene.step.do !== 'evacuate') return false
    mayBeServedUntil.at ??= run.clock.now() + run.settings.longestRequestMs
    return run.clock.now() < mayBeServedUntil.at
  }

  const send = async (mayLeave: () => void): Promise<ReturnType<typeof errorRecord> | null | 'late'> => {
    try {
      const accepted = await sendOnce(driver, scene, { ...as, mayLeave }, attempt)
      run.journal.append([{ kind: 'step.issued', ...base, data: { requestId: accepted.requestId, ...id() } }])
      scene.trouble.passed(scene)
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.certainty !== 'unknown' && !mayHideAnAct.has(error.code)) return fail(error)
      if (error.code === 'JOURNAL_UNAVAILABLE') throw error
      try {
        const quietMs = error.certainty === 'unknown' ? run.settings.reconcileQuietMs : 2 * run.settings.tickMs
        if (!(await reconcileInto(driver, scene, now, base, quietMs))) {
          if (error.certainty === 'unknown' && error.details['served'] !== true && mayBeServed()) return 'late'
          return fail(error.certainty === 'unknown' ? reconciledAsNotApplied(error) : error)
        }
      } catch (unread) {
        return fail(unreconciledError(scene, unread, error))
      }
    }
    return null
  }

  if (!scene.recovery.steps.has(key)) {
    if (!gate.isOpen(scene.act) || !scene.trouble.isOpen(scene) || !run.plans.stands(scene)) return 'held'
    let prepared
    try {
      prepared = await driver.before(scene)
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') throw error
      // Nothing was intended yet: the rows say what could not be prepared. Both at once: nothing must reconcile the first.
      const record = errorRecord(error)
      run.journal.append([intended(null, null), { kind: 'step.failed', ...base, data: { error: record } }])
      return record
    }
    if ('nothingToDo' in prepared) {
      run.journal.append(rowsOfNothing(scene, key, attempt, prepared.nothingToDo))
      return null
    }
    const { before, request } = prepared
    if ('adopt' in prepared) {
      run.journal.append([intended(before, request), { kind: 'step.issued', ...base, data: { requestId: null } }])
    } else {
      // Reading may have taken minutes: what was allowed before it may be forbidden now.
      if (!gate.isOpen(scene.act) || !run.plans.stands(scene)) return 'held'
      const mayLeave = gate.lastMoment(scene.act)
      run.journal.append([intended(before, request, as)])
      const failure = await send(mayLeave)
      if (failure !== null) return failure
    }
  } else if (now().status === 'intended') {
    try {
      const waited = mayBeServedUntil.at !== null
      const quietMs = waited && mayBeServed() ? 0 : run.settings.reconcileQuietMs
      if (!(await reconcileInto(driver, scene, now, base, quietMs))) return mayBeServed() ? 'late' : fail(neverTaken())
    } catch (thrown) {
      return fail(unreconciledError(scene, thrown))
    }
  }

  try {
    const result = await followed(driver, scene, now())
    run.journal.append([{ kind: 'step.confirmed', ...base, data: { result, ...id() } }])
    return null
  } catch (thrown) {
    return fail(thrown)
  }
}

/** Follows the write within the step's time. Time in which Nova could not be read does not count: nothing could end then. */
async function followed(driver: StepDriver, scene: StepScene, record: StepRecord): Promise<unknown> {
  const { run, watch, trouble } = scene
  for (let leftMs = scene.step.deadlineMs; ;) {
    const limit = deadline(run.clock, leftMs, run.signal)
    const inTime = { ...scene, signal: limit.signal }
    const blindBefore = watch.blindMs
    let waitedMs = 0
    const read = (): Promise<unknown> => driver.follow(inTime, record)
    try {
      return await Promise.race([trouble.reading(inTime, read, (ms) => (waitedMs += ms)), aborted(limit.signal)])
    } catch (thrown) {
      if (!limit.expired()) throw unreconciledError(scene, thrown)
      leftMs = waitedMs + watch.blindMs - blindBefore
      if (leftMs > 0) continue
      const overdue = driver.overdue?.(scene, record)
      if (overdue?.goesOn !== true) throw tooLate(scene, overdue)
      leftMs = scene.step.deadlineMs
    } finally {
      limit.release()
    }
  }
}

/**
 * A read that fails for good while a write is reconciled or followed says nothing about the write: nobody knows whether it was
 * taken, whatever the read's own certainty is (law L3). What the read learnt for sure stays as it is.
 */
function unreconciledError({ step }: StepScene, thrown: unknown, write?: LifeboatError): LifeboatError {
  const error = ensureError(thrown)
  const learnt = error.certainty !== 'not-applied' || error.code === 'INSTANCE_GONE'
  if (learnt || error.code === 'SHUTDOWN' || error.code === 'JOURNAL_UNAVAILABLE') return error
  const sent = write === undefined ? '' : `; it was answered with: ${write.message}`
  return new LifeboatError(
    error.code,
    `nobody knows what became of ${step.do}: Nova cannot be asked (${error.message})${sent}`,
    { certainty: 'unknown', retry: 'never', cause: write ?? error, details: error.details },
  )
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => reject(new LifeboatError('SHUTDOWN', 'the daemon is stopping', { certainty: 'unknown' }))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

function tooLate({ step }: StepScene, overdue?: Overdue): LifeboatError {
  const where = typeof overdue?.where === 'string' ? `: ${overdue.where}` : ''
  const message = `${step.do} did not end within ${Math.round(step.deadlineMs / 1000)} s${where}`
  return new LifeboatError(step.do === 'evacuate' ? 'EVACUATION_STALLED' : 'STEP_TIMEOUT', message, {
    certainty: 'unknown',
    details: overdue?.details ?? {},
  })
}

/** Reconciles an intended step with what Nova shows; writes the issued row when the write turns out to have been taken. */
async function reconcileInto(
  driver: StepDriver,
  scene: StepScene,
  now: () => StepRecord,
  base: { incident: string; host: string; instance: string; step: string },
  quietMs: number,
): Promise<boolean> {
  const found = await scene.trouble.reading(scene, () => driver.reconcile(scene, now(), quietMs))
  if (found.applied)
    scene.run.journal.append([
      { kind: 'step.issued', ...base, data: { requestId: found.requestId, ...requestIdOf(now()) } },
    ])
  return found.applied
}

/**
 * Sends, and once more at once when a 503 says that nothing was applied and an earlier 503 of this step was found in Nova
 * to have told the truth. Without it a proxy that refuses every second call could refuse the same write for ever.
 */
async function sendOnce(
  driver: StepDriver,
  scene: StepScene,
  as: CallOptions & { mayLeave: () => void },
  attempt: number,
): Promise<Accepted> {
  as.mayLeave()
  try {
    return await driver.send(scene, as)
  } catch (thrown) {
    const error = ensureError(thrown)
    const before = scene.recovery.steps.get(stepKey(scene, attempt - 1))?.error
    const truthful = before?.code === 'API_UNAVAILABLE' && before.certainty === 'not-applied'
    if (!truthful || error.code !== 'API_UNAVAILABLE' || error.certainty !== 'not-applied') throw error
    try {
      // What forbids writes may have come while the refusal was on its way: then the next attempt waits at the gate.
      as.mayLeave()
      return await driver.send(scene, as)
    } catch (second) {
      // The first one was sent: whether Nova took it is still to be looked at.
      throw ensureError(second).code === 'HELD_BACK' ? error : second
    }
  }
}

function reconciledAsNotApplied(error: LifeboatError): LifeboatError {
  return new LifeboatError('API_UNAVAILABLE', `no answer, and Nova shows no trace of the request (${error.message})`, {
    retry: 'backoff',
    cause: error,
  })
}

function neverTaken(): LifeboatError {
  return new LifeboatError('API_UNAVAILABLE', 'Nova shows no trace of the write, and nothing can serve it any more', {
    retry: 'backoff',
  })
}

function mayRetry(policy: RetryPolicy | undefined, code: string, certainty: string, attempt: number): boolean {
  if (policy === undefined || certainty === 'unknown') return false
  return policy.on.some((retried) => retried === code) && attempt < policy.attempts
}

function pauseMs(policy: RetryPolicy | undefined, attempt: number): number {
  return policy === undefined ? 0 : Math.min(policy.firstMs * 2 ** (attempt - 1), policy.capMs)
}

function stopIfAborted(scene: StepScene): void {
  if (scene.run.signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
}
