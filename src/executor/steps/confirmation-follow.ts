/**
 * A confirmation on its way to the resize's source: followed to its end by reading, with people told where nothing moves for minutes, and
 * given up where it is proven that nobody will carry it out.
 *
 * Nova's API takes a confirmation once: it looks for a record at `finished`, and sets it to `confirming` before it tells the source. So a
 * lost one cannot be ordered again (docs/nova.md §3.6), and the instance is recovered without it. But one that is carried out late, during
 * the evacuation or after it, puts the instance in ERROR: only what proves that it was lost gives it up.
 */
import { ensureError, LifeboatError } from '../../domain/errors.ts'
import type { Instance, InstanceActionEvent, Migration } from '../../domain/instance.ts'
import type { StepRecord } from '../../domain/incident.ts'
import type { HostName } from '../../domain/service.ts'
import type { ResultOf } from '../../domain/step-payloads.ts'
import type { Run } from '../context.ts'
import { pause, retryRead } from '../retry.ts'
import type { StepScene } from '../step-driver.ts'
import { mustBeTakenWithinMs, neverCame } from './lost-order.ts'
import { isSlow, isUntold, sayStill, stillAs, type Still } from './stands-still.ts'

/** Pause between two looks at what the source made of it. Longer: a lost one is given up later; shorter: more readings of a slow one. */
const lookAtSourceEveryMs = 15_000

/** Pause between two readings of one that is slow. Longer notices its end late; shorter reads for an hour what does not move. */
const slowTickMs = 5_000

/**
 * How long the source may still work on one that Nova shows as confirmed. Too short: what fails there at last puts the instance in ERROR
 * while it is evacuated. Longer: an event that nobody closed holds up the evacuation.
 */
const settlesWithinMs = 30_000

/** What the source made of the order: its event, or that it has not begun, or that this cannot be read. */
type Taken = InstanceActionEvent | 'not-begun' | 'unread'

interface Seen {
  answeredAt: number
  still: Still | null
  lookedAt: number
  taken: Taken
  confirmedAt: number | null
}

export async function readConfirmation({ run, watch, plan, signal }: StepScene): Promise<{
  instance: Instance
  resize: Migration | null
  records: Migration[]
}> {
  const records = await retryRead(run.clock, signal, () =>
    run.cloud.listMigrations({ instanceId: plan.instanceId }, { signal }),
  )
  const resize = records.find((record) => record.uuid === plan.original.resize?.migrationUuid) ?? null
  return { instance: await retryRead(run.clock, signal, () => watch.read(plan.instanceId)), resize, records }
}

/** vm_state alone is not enough: it changes while the record is still `confirming`. */
export function isConfirmed(instance: Instance, resize: Migration | null): boolean {
  const moved = instance.vmState === 'active' || instance.vmState === 'stopped'
  return moved && instance.taskState === null && (resize === null || resize.status === 'confirmed')
}

/** Waits for the end. Throws STATE_MISMATCH when the source could not do it, INSTANCE_BUSY when nobody will. */
export async function confirmed(
  scene: StepScene,
  record: StepRecord<'confirm-resize'>,
): Promise<ResultOf<'confirm-resize'>> {
  const { run, plan } = scene
  const { clock, permissions, settings } = run
  const source = plan.original.resize?.sourceHost ?? null
  const seen: Seen = {
    answeredAt: clock.now(),
    still: null,
    lookedAt: -Infinity,
    taken: 'unread',
    confirmedAt: null,
  }
  for (;;) {
    const { instance, resize } = await readConfirmation(scene)
    if (isConfirmed(instance, resize) && (await isOver(scene, record, seen)))
      return { vmState: instance.vmState, powerState: instance.powerState, migration: resize?.status ?? null }
    if (instance.vmState === 'error' || resize?.status === 'error') throw notDone(instance.fault)
    if (source !== null && permissions.isFenced(source)) throw await sourceDied(scene, record, source)
    // As an evacuation's destination (evacuation-follow.ts): that incident may be held for days.
    if (source !== null && permissions.hasIncident(source)) scene.leaveRoom?.()
    const now = clock.now()
    seen.still = stillAs(seen.still, JSON.stringify([resize?.status, instance.vmState, instance.taskState]), now)
    if (source !== null && resize?.status === 'confirming' && now - seen.still.since >= mustBeTakenWithinMs)
      await lookAtSource(scene, record, source, seen)
    if (isUntold(seen.still, now))
      sayStill(scene, seen.still, 'CONFIRMATION_STANDS_STILL', whereItWaits(scene, seen.taken))
    await pause(clock, isSlow(seen.still, now) ? slowTickMs : settings.tickMs, scene.signal)
  }
}

/** Whether the source has let go of it: what fails there after the last write would break what we do next. */
async function isOver(scene: StepScene, record: StepRecord, seen: Seen): Promise<boolean> {
  const { clock } = scene.run
  seen.confirmedAt ??= clock.now()
  if (clock.now() - seen.confirmedAt >= settlesWithinMs) return true
  const taken = await takenBySource(scene, record)
  return typeof taken === 'string' || taken.result !== null
}

/** Throws what is certain of an order that stands still. */
async function lookAtSource(scene: StepScene, record: StepRecord, source: HostName, seen: Seen): Promise<void> {
  const { run, plan } = scene
  if (run.clock.now() - seen.lookedAt < lookAtSourceEveryMs) return
  seen.lookedAt = run.clock.now()
  const before = seen.taken
  seen.taken = await takenBySource(scene, record)
  // In two looks: between the first two readings it may have saved its end.
  if (isFailed(seen.taken) && isFailed(before)) throw notDone(seen.taken.details)
  if (seen.taken === 'not-begun' && (await neverCame(scene, record.key, seen.answeredAt, source))) {
    const message = `nova-compute on ${source} never got the confirmation, and has taken later orders: the message bus lost it`
    throw withoutIt(message, { migration: plan.original.resize?.migrationUuid ?? null })
  }
}

function isFailed(taken: Taken): taken is InstanceActionEvent {
  return typeof taken === 'object' && taken.result === 'Error'
}

/** Its queue may still have the order: nova-compute carries it out when it starts there. */
async function sourceDied(scene: StepScene, record: StepRecord, source: HostName): Promise<LifeboatError> {
  const migration = scene.plan.original.resize?.migrationUuid ?? null
  const begun = typeof (await takenBySource(scene, record)) === 'object'
  return withoutIt(`the resize's source ${source} died before it had confirmed`, {
    migration,
    ...(!begun && { destination: source, queued: true }),
  })
}

/** The recipe goes on without the confirmation, and its record stays. */
function withoutIt(message: string, details: Record<string, unknown>): LifeboatError {
  return new LifeboatError('INSTANCE_BUSY', message, { certainty: 'applied', details })
}

function notDone(fault: string | null): LifeboatError {
  return new LifeboatError('STATE_MISMATCH', `the source could not finish the resize: ${fault ?? 'no reason given'}`, {
    certainty: 'applied',
  })
}

/** Asks once, for a history that cannot be read holds nothing up: the next look asks again. Throws SHUTDOWN alone. */
async function takenBySource(scene: StepScene, { requestId }: StepRecord): Promise<Taken> {
  const { run, plan, signal } = scene
  try {
    const request = requestId ?? (await requestOnRecord(scene))
    // Nova writes the action before it tells the source: without one it never did.
    if (request === null) return 'not-begun'
    const { events } = await run.cloud.getAction(plan.instanceId, request, { signal })
    return events.find(({ event }) => event.startsWith('compute_confirm')) ?? 'not-begun'
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN') throw error
    const fields = { incident: run.id, host: run.host, instance: plan.instanceId }
    run.observer.log?.('warn', 'confirmation.history_unread', fields, error)
    return 'unread'
  }
}

/** Whoever ordered it: one confirmation alone moves the record, and what is older than the resize was for another one. */
async function requestOnRecord({ run, plan, signal }: StepScene): Promise<string | null> {
  const actions = await run.cloud.listActions(plan.instanceId, { signal })
  const moved = actions.findIndex(({ action }) => action === 'resize' || action === 'migrate')
  const since = moved < 0 ? actions : actions.slice(0, moved)
  return since.find(({ action }) => action === 'confirmResize')?.requestId ?? null
}

/** What stands still, where, and what to look at: for the alarm and for the outcome of an instance that was given up. */
export function whereItWaits(
  { run, plan }: { run: Pick<Run, 'permissions'>; plan: StepScene['plan'] },
  taken: Taken,
): string {
  const { migrationUuid, sourceHost } = plan.original.resize ?? { migrationUuid: 'unknown', sourceHost: 'its source' }
  const stands = `the confirmation of its resize (migration ${migrationUuid}) waits for ${sourceHost}`
  if (run.permissions.hasIncident(sourceHost))
    return `${stands}, which has an incident of its own: once that proves it dead, the instance is evacuated without it`
  if (taken === 'not-begun')
    return `${stands}, which has not begun it: see nova-compute there and the message bus. If they are well, boot any server on ${sourceHost}: once Nova has built it, an order that was lost on its way is done without`
  const began = taken === 'unread' ? '' : ', which has begun it'
  return `${stands}${began}: see nova-compute there. If it was restarted meanwhile, it has forgotten the order; then set the instance to ERROR (os-resetState), and its recovery goes on without`
}
