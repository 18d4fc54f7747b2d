/**
 * The writes that put right what an order of ours broke that was given up long before: a reset of the state, and a stop of what was
 * stopped. Each with its rows among the steps of its instance, and confirmed only by reading the instance back. Both may be repeated;
 * a write whose answer was lost is reconciled by reading all the same.
 *
 * Never decides whether: domain/stale-order.ts does, and control/ asks it before every call.
 */
import { sleep, type Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { NewEntry } from '../domain/entry.ts'
import { ensureError, errorRecord, LifeboatError } from '../domain/errors.ts'
import type { StepRecord } from '../domain/incident.ts'
import { powerState, type Instance } from '../domain/instance.ts'
import type { Journal } from '../domain/journal.ts'
import { wasRefused } from '../domain/return-record.ts'
import type { RepairKind, StaleOrder } from '../domain/stale-order.ts'
import { intention, type PowerState } from '../domain/step-payloads.ts'
import { lastMoment } from './last-moment.ts'
import { stepRequestId } from './step-request-id.ts'

export interface RepairRun {
  order: StaleOrder
  cloud: Pick<Cloud, 'getInstance' | 'resetState' | 'stop'>
  journal: Pick<Journal, 'append'>
  clock: Clock
  /** Asked before the write is put on record, and once more right before it leaves. */
  mayWrite: () => boolean
  /** Aborts when the daemon stops. A write that was sent is always waited for. */
  signal: AbortSignal
  /** Pause between two readings. */
  tickMs: number
  /** How long a stop whose answer was lost may still show up in Nova. Too short: it is sent again, which changes nothing. */
  reconcileQuietMs: number
  /** Until when, by `clock`, a front end may serve that step. A late reset takes an instance out of whatever it is in by then. */
  servedUntil: (step: string) => number
}

const prefix = 'repair.'

/**
 * How long the instance may take to show what was written: a stop asks its host, and waits there for the guest. Too short calls it
 * failed and tries again; too long keeps the other orders of the host waiting.
 */
const shownWithinMs = 90_000

const writes: Record<RepairKind, { wanted: string; reached: (instance: Instance) => boolean }> = {
  'reset-state': {
    wanted: 'active without a task',
    reached: (at) => at.vmState !== 'error' && at.taskState !== 'rebuilding',
  },
  stop: { wanted: 'stopped', reached: (at) => at.vmState === 'stopped' && at.powerState === powerState.shutdown },
}

/** The steps of a repair among all of an instance's steps. */
export function repairSteps(steps: Iterable<StepRecord>): StepRecord[] {
  return [...steps].filter(({ key }) => key.startsWith(prefix))
}

/** Sends one write and follows it to its end. Throws what reading the cloud throws; the rows then stay open. */
export async function repair(
  run: RepairRun,
  kind: RepairKind,
  seen: Instance,
  earlier: readonly StepRecord[],
): Promise<void> {
  if (run.signal.aborted || !run.mayWrite()) return
  const { order, cloud } = run
  const attempt = earlier.filter((step) => step.kind === kind).length + 1
  const step = `${prefix}${kind}.${order.migration}.${attempt}`
  const as = {
    globalRequestId: stepRequestId({ incident: order.incident, host: order.source, instance: order.instance, step }),
  }
  const noted = { before: state(seen), request: writes[kind].wanted }
  const data = intention<RepairKind>(kind, attempt, noted, as)
  const mayLeave = lastMoment(run.clock, () => !run.signal.aborted && run.mayWrite())
  append(run, { kind: 'step.intended', step, data })
  try {
    mayLeave()
    const options = { ...as, mayLeave }
    const accepted = await (kind === 'stop'
      ? cloud.stop(order.instance, options)
      : cloud.resetState(order.instance, options))
    append(run, { kind: 'step.issued', step, data: { requestId: accepted.requestId, ...as } })
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'JOURNAL_UNAVAILABLE') throw error
    // A refusal is final, and what was held back never left. One that a proxy answered with 503 may have reached Nova, and shows at once.
    if (error.certainty === 'applied' || wasRefused(error)) return fail(run, step, error)
    if (error.certainty !== 'unknown') return follow(run, kind, step, { limitMs: 2 * run.tickMs, error })
    if (kind === 'reset-state') return
  }
  await follow(run, kind, step, { limitMs: shownWithinMs })
}

/**
 * Finds out what became of writes that have rows but no end: after a restart, and of a reset whose answer was lost. That one stays open until
 * nothing can serve it any more (law L3); meanwhile it is looked at once in each call, and never waited for.
 */
export async function reconcileRepairs(run: RepairRun, steps: readonly StepRecord[]): Promise<void> {
  for (const step of steps) {
    try {
      await reconcileRepair(run, step)
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code !== 'INSTANCE_GONE') throw error
      // Nothing will show it any more. Left open, it would keep the order that it repairs from its end.
      fail(run, step.key, error)
    }
  }
}

async function reconcileRepair(run: RepairRun, { key, kind, status }: StepRecord): Promise<void> {
  if (kind !== 'reset-state' && kind !== 'stop') return
  if (status === 'issued') await follow(run, kind, key, { limitMs: shownWithinMs })
  else if (status === 'intended' && kind === 'stop') await follow(run, kind, key, { limitMs: run.reconcileQuietMs })
  else if (status === 'intended') await lookForReset(run, key)
}

async function lookForReset(run: RepairRun, step: string): Promise<void> {
  const { cloud, clock, order, signal } = run
  const { wanted, reached } = writes['reset-state']
  const seen = await cloud.getInstance(order.instance, { signal })
  if (reached(seen)) return append(run, { kind: 'step.confirmed', step, data: { result: state(seen) } })
  if (clock.now() >= run.servedUntil(step)) fail(run, step, notShown(wanted))
}

/** @param ends how long it may take to show, and why it has failed if it does not */
async function follow(
  run: RepairRun,
  kind: RepairKind,
  step: string,
  { limitMs, error = notShown(writes[kind].wanted) }: { limitMs: number; error?: LifeboatError },
): Promise<void> {
  const { cloud, clock, order, signal } = run
  const askedAt = clock.now()
  for (;;) {
    const seen = await cloud.getInstance(order.instance, { signal })
    if (writes[kind].reached(seen)) return append(run, { kind: 'step.confirmed', step, data: { result: state(seen) } })
    if (clock.now() - askedAt >= limitMs) return fail(run, step, error)
    await sleep(clock, run.tickMs, signal)
    if (signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping', { certainty: 'unknown' })
  }
}

function state({ host, vmState, taskState, powerState: power }: Instance): PowerState {
  return { host, vmState, taskState, powerState: power }
}

function notShown(wanted: string): LifeboatError {
  return new LifeboatError('STATE_MISMATCH', `Nova does not show it ${wanted}`, {
    certainty: 'unknown',
    retry: 'backoff',
  })
}

function fail(run: RepairRun, step: string, error: LifeboatError): void {
  append(run, { kind: 'step.failed', step, data: { error: errorRecord(error) } })
}

type StepRow = Extract<NewEntry, { kind: 'step.intended' | 'step.issued' | 'step.confirmed' | 'step.failed' }>

function append({ journal, order }: RepairRun, row: StepRow): void {
  const { incident, source: host, instance } = order
  journal.append([{ ...row, incident, host, instance }])
}
