/**
 * An evacuation on its way: followed to its end by reading, with its destination learnt where Nova does not name it, and people
 * told where nothing moves for minutes.
 */
import { LifeboatError } from '../../domain/errors.ts'
import { isOver, type Instance, type Migration } from '../../domain/instance.ts'
import type { StepRecord } from '../../domain/incident.ts'
import type { BeforeEvacuation } from '../../domain/step-payloads.ts'
import type { Look } from '../host-watch.ts'
import { doneSince } from '../how-far.ts'
import { isWorkedOn } from '../late-power-orders.ts'
import { retryRead } from '../retry.ts'
import type { StepScene } from '../step-driver.ts'
import {
  askPlacementAfterMs,
  askPlacementEveryMs,
  destinationOf,
  learnDestination,
  suspectOf,
  whereItStands,
} from './destination.ts'
import { beforeOf, hasMetAnother, ours, recordInForce, spareOf } from './evacuation-records.ts'
import { lookAtChosen, mustBeTakenWithinMs, type SeenBegun, type SeenWell, throwIfLost } from './lost-order.ts'
import { isRebuilding, listEvacuations } from './recheck.ts'
import { isSlow, isUntold, sayStill, stillAs, type Still } from './stands-still.ts'

/**
 * How long Nova may take to show a migration for an evacuate that it answered with 200. The API writes it before it
 * answers; much longer means that the request was dropped. Too short would call a slow database a lost evacuation.
 */
const mustShowWithinMs = 120_000

/**
 * How long after `done` the instance may still be shown on its old host. Nova moves the instance first (docs/nova.md §2.4), so any time at all
 * is odd; too short would take a slow read replica for a lost move.
 */
export const mustMoveWithinMs = 60_000

/**
 * How long a claimed instance may be seen in ERROR while its record stays where it is. Too short takes the moment between the two
 * for the end (docs/nova.md §2.5); longer tells a person as much later that the guest runs on the destination.
 */
const settlesWithinMs = 30_000

/**
 * How long someone's own task on an instance that has landed is waited for before Lifeboat asks whether a host works on it. Shorter reads a
 * history for each short one; longer keeps the instance's slot from others: the task of an order that was given in the moment of the landing
 * stays until someone resets the state (docs/nova.md §2.8).
 */
const ownTaskWithinMs = 30_000

type Ended = { migration: Migration; instance: Instance } | { migration: Migration }

/**
 * Waits for the end. What the listings of changes do not show for long is looked for once more by itself.
 * @param onTaken told whenever a host is seen to have taken the order, and to be at work on it
 */
export async function followed(scene: StepScene, record: StepRecord<'evacuate'>, onTaken: () => void): Promise<Ended> {
  const { run, watch, plan, recovery, trouble, signal } = scene
  const began = run.clock.now()
  const seen: Seen = {
    acceptedAt: began,
    done: null,
    movedAt: null,
    still: null,
    inErrorSince: null,
    unclaimedSince: null,
    chosenWell: null,
    begun: null,
    askedAt: -Infinity,
  }
  for (;;) {
    const seenNow = await watch.until(plan.instanceId, signal, () => {
      const moved = recordInForce(watch.evacuations(plan.instanceId), beforeOf(record))
      if (moved !== undefined && moved.status !== 'accepted' && !isOver(moved)) onTaken()
      return look(scene, record, seen)
    })
    if (typeof seenNow === 'object' && 'migration' in seenNow) {
      const landed = 'instance' in seenNow ? seenNow.instance : null
      // Where it landed died too: nobody ends that task, and the incident of that host waits for this one. The task of a rebuild may be of an
      // evacuation that someone ordered from there.
      const isBusy =
        landed !== null &&
        landed.taskState !== null &&
        (isRebuilding(landed) || !run.permissions.isFenced(landed.host ?? ''))
      const reader = { ...run, signal }
      if (!isBusy || (await isWorkedOn(reader, recovery, trouble, landed.host)) !== true) return seenNow
      // Its new host works on it: what comes next would be refused until that ends.
      seen.movedAt = null
      continue
    }
    if (seenNow === 'unmoved') {
      // Only a reading of its own says that it has not moved: a listing of changes may have missed it, by its clock or ours.
      const fresh = await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
      if (fresh.host !== run.host) continue
      throw notMoved(scene, seen.done?.migration ?? null)
    }
    if (typeof seenNow === 'object' && 'unsaved' in seenNow) {
      const fresh = await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
      if (fresh.vmState === 'error') throw unsaved(seenNow.unsaved, fresh)
      seen.inErrorSince = null
      continue
    }
    if (seenNow !== 'unseen') {
      seen.askedAt = run.clock.now()
      if ('unclaimed' in seenNow) {
        // One whose destination is just learnt is not stuck: its host is looked at once it was given its time.
        const wasChosen = suspectOf(run, seenNow.unclaimed) !== null
        const isNowhere = await learnDestination(scene, seenNow.unclaimed)
        if (wasChosen) seen.chosenWell = await lookAtChosen(scene, seenNow.unclaimed, seen.chosenWell)
        const { chosenWell, begun } = seen
        const known = { answeredAt: began, isNowhere, chosenWell, begun }
        if (wasChosen || isNowhere) seen.begun = await throwIfLost(scene, record, seenNow.unclaimed, known)
      } else if (seen.still !== null)
        sayStill(scene, seen.still, 'EVACUATION_STANDS_STILL', whereItStands(run, seenNow.still))
      continue
    }
    seen.acceptedAt = run.clock.now()
    // Of a cell that it cannot reach Nova lists no migration either: then the instance cannot be read, and is waited for.
    await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
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
  /** Since when it is over, and the instance elsewhere with a task that no host is known to work on. */
  movedAt: number | null
  /** Since when the record and the task have not moved. */
  still: Still | null
  /** Since when a destination that claimed it has it in ERROR, its record unmoved. */
  inErrorSince: number | null
  /** Since when the record stands at `accepted`, taken by nobody. */
  unclaimedSince: number | null
  /** For how long the host that the scheduler chose for it is seen to be well. */
  chosenWell: SeenWell | null
  /** How far it has come by its events. */
  begun: SeenBegun | null
  askedAt: number
}

type Found = Ended | 'unseen' | 'unmoved' | { unsaved: Migration } | { unclaimed: Migration } | { still: Migration }

function metAnother({ run }: StepScene, record: StepRecord<'evacuate'>, records: readonly Migration[]): LifeboatError {
  const met = ours(records, beforeOf(record))
  const found = [...new Set(met.map((migration) => destinationOf(run, migration)))]
  const hosts = found.map((host) => host ?? 'an unknown host')
  const destinations = found.filter((host) => host !== null)
  return new LifeboatError(
    'GUEST_ON_DESTINATION',
    `another evacuation of it was ordered while ours was on its way: the guest may be running on ${hosts.join(' and on ')}`,
    { certainty: 'unknown', details: { migrations: met.map(({ uuid }) => uuid), destinations } },
  )
}

function look(scene: StepScene, record: StepRecord<'evacuate'>, seen: Seen): Look<Found> {
  const { run, watch, plan } = scene
  const { acceptedAt } = seen
  const records = watch.evacuations(plan.instanceId)
  const migration = recordInForce(records, beforeOf(record))
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
  if (isOver(migration) && hasMetAnother(records, beforeOf(record))) {
    seen.done ??= { at: run.clock.now(), migration }
    // The outcome says where it is: both orders come to their end first, as far as one can see.
    const shown = watch.instance(plan.instanceId)
    const isThere = shown !== undefined && shown.host !== run.host && shown.taskState === null
    if (!isThere && run.clock.now() - seen.done.at <= mustMoveWithinMs) return { wait: 'instances' }
    throw metAnother(scene, record, records)
  }
  if (migration.status === 'done' || migration.status === 'completed') {
    const instance = watch.instance(plan.instanceId)
    const arrived = instance !== undefined && hasArrived(scene, instance, seen)
    // Two evacuations that met can end with one `done` and the instance in ERROR, its guest on both hosts.
    if (arrived && instance.vmState === 'error') {
      throw new LifeboatError(
        'GUEST_ON_DESTINATION',
        `it arrived on ${instance.host} in ERROR: ${instance.fault ?? 'no reason given'}`,
        { certainty: 'unknown', details: { migration: migration.uuid, destination: migration.destHost } },
      )
    }
    if (arrived) return { found: { migration, instance } }
    seen.done ??= { at: run.clock.now(), migration }
    if (instance?.host === run.host && run.clock.now() - seen.done.at > mustMoveWithinMs) return { found: 'unmoved' }
    return { wait: 'instances' }
  }
  if (isOver(migration)) return { found: { migration } }
  const destination = destinationOf(run, migration)
  if (destination !== null && run.permissions.isFenced(destination)) {
    const instance = watch.instance(plan.instanceId)
    // Nova moves the instance, then ends the record, and the host died between the two writes: it has landed, and that host's own incident
    // brings it back.
    if (migration.destHost === destination && migration.status !== 'accepted' && instance?.host === destination)
      return hasArrived(scene, instance, seen) ? { found: { migration, instance } } : { wait: 'instances' }
    throw destinationDied(scene, record, migration, destination)
  }
  // That incident may be held for days: a room that is kept meanwhile is missed by every other recovery, its own included.
  if (destination !== null && run.permissions.hasIncident(destination)) scene.leaveRoom?.()
  if (isUnsaved(scene, beforeOf(record), migration, seen)) return { found: { unsaved: migration } }
  return waiting(scene, migration, seen)
}

/**
 * For an instance whose evacuation record has ended. It need not be on that record's destination any more: a person may have moved it on while
 * nobody looked. A rebuild or another evacuation that a host has begun is waited for to its end.
 */
function hasArrived({ run, watch, plan }: StepScene, instance: Instance, seen: Seen): boolean {
  const knownAt = watch.knownAt(plan.instanceId)
  if (instance.host === null) return doneSince(instance, null) !== null
  if (instance.host === run.host) return false
  if (instance.taskState === null) return true
  // The later tasks of a rebuild are set by the host that is at work on it; the first one by the API, and nobody may ever take that order.
  // A host that died over it ends none.
  const isAtWork = instance.taskState.startsWith('rebuild_') && !run.permissions.isFenced(instance.host)
  seen.movedAt = isAtWork ? null : (seen.movedAt ?? knownAt)
  return seen.movedAt !== null && knownAt - seen.movedAt > ownTaskWithinMs
}

/** The destination claimed it and gave it up, and could not save that: the record stays as it was for ever. */
function isUnsaved(
  { run, watch, plan }: StepScene,
  { vmState: was }: BeforeEvacuation,
  { status }: Migration,
  seen: Seen,
): boolean {
  const isInError = watch.instance(plan.instanceId)?.vmState === 'error' && was !== 'error'
  const now = run.clock.now()
  seen.inErrorSince = isInError && status !== 'accepted' ? (seen.inErrorSince ?? now) : null
  return seen.inErrorSince !== null && now - seen.inErrorSince >= settlesWithinMs
}

function unsaved({ uuid, status, destHost }: Migration, { fault }: Instance): LifeboatError {
  const message = `the guest may be running on ${destHost ?? 'an unknown host'}, which could not save what it had done: the instance is in ERROR (${fault ?? 'Nova gives no reason'}), its evacuation still ${status}`
  return new LifeboatError('GUEST_ON_DESTINATION', message, {
    certainty: 'unknown',
    details: { migration: uuid, destination: destHost, fault },
  })
}

function destinationDied(
  { watch, plan }: StepScene,
  record: StepRecord<'evacuate'>,
  migration: Migration,
  destination: string,
): LifeboatError {
  const queued = migration.status === 'accepted'
  const message = queued
    ? `${destination} died before it took the instance; the order waits there for its nova-compute`
    : `${destination} died while it was taking the instance`
  const details = {
    migration: migration.uuid,
    destination,
    ...spareOf(watch.evacuations(plan.instanceId), beforeOf(record), migration),
  }
  return new LifeboatError('DESTINATION_DIED', message, {
    certainty: 'applied',
    details: { ...details, ...(queued && { queued }) },
  })
}

/** Not at its end yet: whether someone must be asked where it went, or told that it stands still. */
function waiting({ run, watch, plan }: StepScene, migration: Migration, seen: Seen): Look<Found> {
  const now = run.clock.now()
  const as = JSON.stringify([
    migration.uuid,
    migration.status,
    destinationOf(run, migration),
    watch.instance(plan.instanceId)?.taskState,
  ])
  seen.still = stillAs(seen.still, as, now)
  const unclaimed = migration.status === 'accepted' && migration.destHost === null
  seen.unclaimedSince = unclaimed ? (seen.unclaimedSince ?? now) : null
  // A destination that was chosen takes it within seconds: it is looked into again only when it did not for long.
  const isChosen = destinationOf(run, migration) !== null
  const askAfterMs = isChosen ? mustBeTakenWithinMs : askPlacementAfterMs
  if (unclaimed && now - (seen.unclaimedSince ?? now) >= askAfterMs && now - seen.askedAt >= askPlacementEveryMs)
    return { found: { unclaimed: migration } }
  if (isUntold(seen.still, now)) return { found: { still: migration } }
  return { wait: isSlow(seen.still, now) ? 'instances' : 'migrations' }
}

function notMoved({ run }: StepScene, migration: Migration | null): LifeboatError {
  const guest = migration?.destHost ?? 'an unknown host'
  return new LifeboatError(
    'STATE_MISMATCH',
    `its evacuation is ${migration?.status ?? 'over'}, yet Nova still has it on ${run.host}; the guest may be running on ${guest}`,
    { certainty: 'unknown', details: { migration: migration?.uuid ?? null, destination: migration?.destHost ?? null } },
  )
}
