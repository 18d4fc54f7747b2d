/**
 * The evacuation of one instance: the write that must never be sent twice (law L5, docs/nova.md fact 1).
 *
 * Success is not "task_state is null" (fact 4) but: the attempt's own migration is done, the instance's host is its
 * destination, and no task is left (docs/nova.md §2.4).
 */
import type { Landing } from '../../domain/cloud.ts'
import { cloudTimeMs } from '../../domain/cloud-time.ts'
import { LifeboatError } from '../../domain/errors.ts'
import type { Instance, InstanceAction, Migration } from '../../domain/instance.ts'
import type { StepRecord } from '../../domain/incident.ts'
import type { Look } from '../host-watch.ts'
import { patiently, pause } from '../patience.ts'
import { powerOrderIn, powerOrderOf, type PowerOrder } from '../power-order.ts'
import type { StepDriver, StepScene } from '../step-driver.ts'
import { attempts, listEvacuations, lookBefore } from './look-before.ts'

interface Before {
  vmState: string | null
  taskState: string | null
  powerState: number | null
  host: string | null
  /** Evacuation records that existed before this attempt and are at their end: anything else is this attempt's. */
  spentEvacuations: string[]
  /** Request ids of evacuations that are known not to be this one. */
  knownRequests: string[]
  /** ISO, by the cloud's clock: an evacuate action that began earlier is not this attempt's. */
  cloudTime: string
}

/** A migration in one of these moves no more. */
const ended = new Set(['done', 'completed', 'failed', 'error', 'cancelled'])

/**
 * How long Nova may take to show a migration for an evacuate that it answered with 200. The API writes it before it
 * answers; much longer means that the request was dropped. Too short would call a slow database a lost evacuation.
 */
const mustShowWithinMs = 120_000

/**
 * How long after `done` the instance's record may still name its old host. Nova moves the record first, so any time at all
 * is strange; too short would take a slow read replica for a lost move.
 */
const mustMoveWithinMs = 60_000

/** Nova stamps actions in whole seconds, by the API's clock. Too large would take an older evacuation for this one. */
const clockMarginMs = 5_000

export const evacuate: StepDriver = {
  before: async (scene) => {
    const { run, watch, plan, recovery } = scene
    if (run.proof === null) throw new LifeboatError('PROOF_INVALID', `no proof that ${run.host} is dead`)
    run.fencer.verify(run.proof, run.host)
    const earlier = attempts(recovery)
    const spent = [...plan.original.knownEvacuations, ...earlier.flatMap(migrationOf)]
    // A later attempt looks whether one that was given up as lost came through; before the first none can be ours.
    const isFirst = earlier.length === 0
    const records = isFirst ? [] : await listEvacuations(scene)
    const underWay = records.filter(
      (record) => earlier.flatMap(migrationOf).includes(record.uuid) && !ended.has(record.status),
    )
    if (underWay.some((record) => !run.bridge.isFenced(record.destHost ?? ''))) {
      throw new LifeboatError('EVACUATION_STALLED', 'an earlier evacuation of this instance is still under way', {
        certainty: 'unknown',
      })
    }
    const known = watch.instance(plan.instanceId) ?? plan.original.instance
    const seen = isFirst ? await lookBefore(scene, spent) : known
    if (seen.vmState === 'deleted')
      throw new LifeboatError('INSTANCE_GONE', 'the instance was deleted before its turn came')
    // From ERROR a guest lands running whatever was asked for (docs/nova.md fact 2): its state is reset first.
    if (isFirst && seen.vmState === 'error' && plan.original.instance.vmState !== 'error')
      throw new LifeboatError('EVACUATION_FAILED', 'it went to ERROR before its turn came', { retry: 'backoff' })
    const before: Before = {
      vmState: seen.vmState,
      taskState: seen.taskState,
      powerState: seen.powerState,
      host: seen.host,
      spentEvacuations: spent,
      knownRequests: earlier.flatMap((record) => record.requestId ?? []),
      cloudTime: new Date(watch.cloudNow()).toISOString(),
    }
    const ordered = isFirst ? powerOrderIn(seen, plan) : powerOrderOf(recovery)
    const request = {
      landing: landingOf(scene, ordered),
      asProject: plan.asProject,
      fencedBy: run.proof.method,
      ...(ordered !== null && { ordered }),
    }
    const late = records.find((record) => !spent.includes(record.uuid))
    return late === undefined ? { before, request } : { before, request, adopt: late.uuid }
  },

  send: (scene, as) => {
    const { run, plan, recovery } = scene
    if (run.proof === null) throw new LifeboatError('PROOF_INVALID', `no proof that ${run.host} is dead`)
    run.fencer.verify(run.proof, run.host)
    const landing = landingOf(scene, powerOrderOf(recovery))
    const order = { landing, ...(plan.asProject !== null && { asProject: plan.asProject }) } as const
    return run.cloud.evacuate(plan.instanceId, order, as)
  },

  follow: async (scene, record) => {
    const ended = await followed(scene, record)
    if ('instance' in ended) {
      const { migration, instance } = ended
      return {
        migration: migration.uuid,
        host: instance.host,
        vmState: instance.vmState,
        powerState: instance.powerState,
      }
    }
    throw await explainFailure(scene, record, ended.migration)
  },

  settle: async (scene, record, quietMs) => {
    const { run } = scene
    let quietFrom: number | null = null
    for (;;) {
      const found = ours(await listEvacuations(scene), beforeOf(record)).at(-1)
      if (found !== undefined) return { applied: true, requestId: (await findAction(scene, record))?.requestId ?? null }
      const action = await findAction(scene, record)
      if (action !== undefined) return { applied: true, requestId: action.requestId }
      // From the first answer on: an order that hung with Nova's database is taken a moment after both are back.
      quietFrom ??= run.clock.now()
      if (run.clock.now() - quietFrom >= quietMs) break
      await pause(run.clock, run.settings.tickMs, scene.signal)
    }
    return { applied: false, requestId: null }
  },
}

/** As the step says; stopped where the owner ordered that meanwhile, unless this Nova was found unable to. */
function landingOf({ step, recovery }: StepScene, ordered: PowerOrder | null): Landing {
  const unable = attempts(recovery).some(({ error }) => error?.code === 'MICROVERSION_UNSUPPORTED')
  return step.landing === 'as-before' && (ordered !== 'stop' || unable) ? 'as-before' : 'stopped'
}

type Ended = { migration: Migration; instance: Instance } | { migration: Migration }

/** Waits for the end. What the listings of changes do not show for long is looked for once more by itself. */
async function followed(scene: StepScene, record: StepRecord): Promise<Ended> {
  const seen: Seen = { acceptedAt: scene.run.clock.now(), done: null }
  for (;;) {
    const ended = await scene.watch.until(scene.plan.instanceId, scene.signal, () => look(scene, record, seen))
    if (typeof ended === 'object') return ended
    if (ended === 'unmoved') {
      // Only a reading of its own says that it has not moved: a listing of changes may have missed it, by its clock or ours.
      const { run, watch, plan, signal } = scene
      const fresh = await patiently(run.clock, signal, () => watch.read(plan.instanceId))
      if (fresh.host !== run.host) continue
      throw notMoved(scene, seen.done?.migration ?? null)
    }
    seen.acceptedAt = scene.run.clock.now()
    // Of a cell that it cannot reach Nova lists no migration either: then the instance cannot be read, and is waited for.
    await patiently(scene.run.clock, scene.signal, () => scene.watch.read(scene.plan.instanceId))
    // Still `accepted`: with a dead conductor it stays so, and runs when the conductor returns (docs/nova.md fact 11).
    if (ours(await listEvacuations(scene), beforeOf(record)).length > 0) continue
    throw new LifeboatError('EVACUATION_LOST', 'Nova accepted the evacuation but shows no migration for it', {
      certainty: 'applied',
      retry: 'backoff',
    })
  }
}

/** What this look-out has seen, by our own clock: no cloud's stamps, which may be set back, decide how long something takes. */
interface Seen {
  acceptedAt: number
  done: { at: number; migration: Migration } | null
}

function look({ run, watch, plan }: StepScene, record: StepRecord, seen: Seen): Look<Ended | 'unseen' | 'unmoved'> {
  const { acceptedAt } = seen
  const migration = ours(watch.evacuations(plan.instanceId), beforeOf(record)).at(-1)
  if (migration === undefined) {
    const instance = watch.instance(plan.instanceId)
    if (instance?.vmState === 'deleted' || instance?.status === 'DELETED')
      throw new LifeboatError('INSTANCE_GONE', 'the instance was deleted while it was evacuated', {
        certainty: 'applied',
      })
    if (run.clock.now() - acceptedAt > mustShowWithinMs && watch.migrationsReadAt > acceptedAt)
      return { found: 'unseen' }
    return { wait: run.clock.now() - acceptedAt > mustShowWithinMs / 10 ? 'instances' : 'migrations' }
  }
  if (migration.status === 'done' || migration.status === 'completed') {
    const instance = watch.instance(plan.instanceId)
    const arrived =
      instance !== undefined &&
      instance.host === migration.destHost &&
      instance.host !== run.host &&
      instance.taskState === null
    // Two evacuations that met can end with one `done` and the instance in ERROR, its guest on both hosts.
    if (arrived && instance.vmState === 'error') {
      throw new LifeboatError(
        'GUEST_ON_DESTINATION',
        `it arrived on ${instance.host} in ERROR: ${instance.fault ?? 'no reason given'}`,
        {
          certainty: 'unknown',
          details: { migration: migration.uuid, destination: migration.destHost },
        },
      )
    }
    if (arrived) return { found: { migration, instance } }
    seen.done ??= { at: run.clock.now(), migration }
    if (instance?.host === run.host && run.clock.now() - seen.done.at > mustMoveWithinMs) return { found: 'unmoved' }
    return { wait: 'instances' }
  }
  if (ended.has(migration.status)) return { found: { migration } }
  if (migration.destHost !== null && run.bridge.isFenced(migration.destHost)) {
    throw new LifeboatError('DESTINATION_DIED', `${migration.destHost} died while it was taking the instance`, {
      certainty: 'applied',
      details: { migration: migration.uuid },
    })
  }
  return { wait: 'migrations' }
}

function notMoved({ run }: StepScene, migration: Migration | null): LifeboatError {
  const guest = migration?.destHost ?? 'an unknown host'
  return new LifeboatError(
    'STATE_MISMATCH',
    `its evacuation is ${migration?.status ?? 'over'}, yet Nova still has it on ${run.host}; the guest may be running on ${guest}`,
    { certainty: 'unknown', details: { migration: migration?.uuid ?? null, destination: migration?.destHost ?? null } },
  )
}

/** The records that can be this attempt's, oldest first. */
function ours(records: Migration[], before: Before): Migration[] {
  return records.filter((record) => !before.spentEvacuations.includes(record.uuid))
}

function beforeOf(record: StepRecord): Before {
  return record.before as Before
}

/** The evacuate action that this attempt made: the newest that no other attempt made and that began after it was intended. */
async function findAction({ run, plan, signal }: StepScene, record: StepRecord): Promise<InstanceAction | undefined> {
  const { knownRequests, cloudTime } = beforeOf(record)
  const actions = await patiently(run.clock, signal, () => run.cloud.listActions(plan.instanceId, { signal }))
  const newest = actions.find((action) => action.action === 'evacuate')
  if (newest === undefined || knownRequests.includes(newest.requestId)) return undefined
  return cloudTimeMs(newest.startedAt) < Date.parse(cloudTime) - clockMarginMs ? undefined : newest
}

function migrationOf(record: StepRecord): string[] {
  const uuid = record.error?.details['migration']
  return typeof uuid === 'string' ? [uuid] : []
}

/** Why the evacuation failed, and whether its guest may be running on the destination (docs/nova.md fact 5). */
async function explainFailure(scene: StepScene, record: StepRecord, migration: Migration): Promise<LifeboatError> {
  const { run, plan, signal } = scene
  const instance = await patiently(run.clock, signal, () => scene.watch.read(plan.instanceId))
  const noReason = 'Nova gives no reason'
  const details = { migration: migration.uuid, destination: migration.destHost, fault: instance.fault }
  if (migration.status === 'error') {
    return new LifeboatError('NO_VALID_HOST', `no destination: ${instance.fault ?? noReason}`, {
      certainty: 'applied',
      retry: 'backoff',
      details,
    })
  }
  const requestId = record.requestId ?? (await findAction(scene, record))?.requestId ?? null
  const events =
    requestId === null
      ? null
      : (await patiently(run.clock, signal, () => run.cloud.getAction(plan.instanceId, requestId, { signal }))).events
  // A claim that is refused leaves the instance as it was, without a fault: only the event knows why, and where.
  const broken = events?.find((event) => event.event === 'compute_rebuild_instance' && event.result === 'Error')
  const reason = instance.fault ?? broken?.details ?? noReason
  const started = events === null || events.some((event) => event.event === 'compute_stop_instance')
  if (started && !run.bridge.isFenced(migration.destHost ?? '')) {
    return new LifeboatError(
      'GUEST_ON_DESTINATION',
      `the guest may be running on ${migration.destHost ?? 'an unknown host'}, where Nova could not finish: ${reason}`,
      { certainty: 'unknown', details },
    )
  }
  return new LifeboatError(
    'EVACUATION_FAILED',
    `${migration.destHost ?? broken?.host ?? 'the destination'} could not take it: ${reason}`,
    { certainty: 'applied', retry: 'backoff', details },
  )
}
