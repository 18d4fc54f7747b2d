/**
 * Where an evacuation went. Nova names a destination once that has taken the order; before, only Placement knows what the
 * scheduler chose (docs/nova.md §2.7). What it said is kept for the incident's run, and learnt again after a restart.
 */
import { ensureError } from '../../domain/errors.ts'
import type { Migration } from '../../domain/instance.ts'
import type { HostName } from '../../domain/service.ts'
import type { Run } from '../context.ts'
import { over } from '../bound.ts'
import type { StepScene } from '../step-driver.ts'
import { hostsGivenUp, hostsOfLost } from './evacuation-records.ts'
import { attempts } from './recheck.ts'

/**
 * How long an order may stand at `accepted` before Placement is asked. Too short asks for each ordinary evacuation, also where many wait for
 * their turn on few hosts; too long leaves an instance waiting for a host that is proven dead, which takes as long at the least.
 */
export const askPlacementAfterMs = 10_000

/** Pause until it is asked again, while the scheduler has not chosen. Longer notices the choice late; shorter asks in vain. */
export const askPlacementEveryMs = 15_000

/** The destination as far as it is known, or null. */
export function destinationOf({ destinations }: Pick<Run, 'destinations'>, migration: Migration): HostName | null {
  const learnt = destinations.get(migration.uuid)
  return migration.destHost ?? (learnt !== undefined && 'host' in learnt ? learnt.host : null)
}

/**
 * The destination, or the one host on which an order that was lost holds room: the scheduler may have chosen it again. That is enough to look whether
 * the host is well and has let the order go. The order is dead with it only once the conductor was seen to have told a host (lost-order.ts).
 */
export function suspectOf(run: Pick<Run, 'destinations'>, migration: Migration): HostName | null {
  const learnt = run.destinations.get(migration.uuid)
  const suspect = learnt !== undefined && 'unread' in learnt ? learnt.suspect : undefined
  return destinationOf(run, migration) ?? suspect ?? null
}

/**
 * Asks Placement where the order went, and keeps what it said. Throws SHUTDOWN alone.
 *
 * @returns whether Placement was read and holds room for the instance nowhere but where it was
 */
export async function learnDestination(scene: StepScene, migration: Migration): Promise<boolean> {
  const { run, plan, recovery, signal } = scene
  try {
    const hosts = await run.cloud.allocatedHosts(plan.instanceId, { signal })
    const left = [run.host, ...hostsGivenUp(recovery)]
    const rooms = hosts.filter((host) => !left.includes(host) && !isLeftover(scene, host))
    if (rooms.length === 0) {
      // The host that was chosen gave the room back: it will not take the order.
      run.destinations.delete(migration.uuid)
      return true
    }
    const moves = await openMoves(scene)
    const free = rooms.filter((host) => !moves.some(({ destHost }) => destHost === host))
    const lost = hostsOfLost(attempts(recovery))
    const [chosen, ...more] = free.filter((host) => !lost.includes(host))
    const learnt = (unread: string): void => void run.destinations.set(migration.uuid, { unread })
    if (free.length === 0) learnt(`an unfinished move of it holds room on ${rooms.join(' and on ')}`)
    else if (chosen === undefined) {
      const unread = `an order of it that was lost holds room on ${free.join(' and on ')}`
      // Room that was passed over above may be that of this order, too.
      const [suspect, ...others] = hosts.filter((host) => host !== run.host)
      const isOne = suspect !== undefined && others.length === 0
      run.destinations.set(migration.uuid, { unread, ...(isOne && { suspect }) })
    }
    // One of them may be left from days when nobody cleaned up.
    else if (more.length > 0) learnt(`there is room for it on ${[chosen, ...more].join(' and on ')}`)
    else run.destinations.set(migration.uuid, { host: chosen })
    return false
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN') throw error
    const fields = { incident: run.id, host: run.host, instance: plan.instanceId }
    run.observer.log?.('warn', 'evacuation.destination_unread', fields, error)
    if (destinationOf(run, migration) === null) run.destinations.set(migration.uuid, { unread: error.message })
    return false
  }
}

/**
 * Whether Placement shows its room on that living host alone. Where it cannot be read, it does not: a guess is not enough to send an order again
 * that may wait elsewhere. Throws SHUTDOWN alone.
 */
export async function hasRoomOnlyOn(scene: StepScene, host: HostName): Promise<boolean> {
  const { run, plan, signal } = scene
  try {
    const hosts = await run.cloud.allocatedHosts(plan.instanceId, { signal })
    const mayCount = (one: HostName): boolean => one !== run.host && !isLeftover(scene, one)
    return hosts.includes(host) && hosts.filter(mayCount).every((one) => one === host)
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'SHUTDOWN') throw error
    const fields = { incident: run.id, host: run.host, instance: plan.instanceId }
    run.observer.log?.('warn', 'evacuation.destination_unread', fields, error)
    return false
  }
}

/**
 * A host that an instance was evacuated from, or that died while taking it, keeps its part of the allocation until its nova-compute starts
 * again (docs/nova.md §2.2, §2.5). Taken for where the order went, a living order would be given up, and sent a second time.
 */
function isLeftover(scene: StepScene, host: HostName): boolean {
  return scene.run.permissions.wasFencedBefore(host, sentAfter(scene))
}

/**
 * Moves of the instance that have not ended, from whatever host, evacuations aside. A resize that was cut off leaves its destination an allocation,
 * and the record of the move as it stood (docs/nova.md §3.5), also when the instance has been evacuated since. What its source keeps is the
 * migration's, and not the instance's.
 */
async function openMoves({ run, plan, signal }: StepScene): Promise<Migration[]> {
  const records = await run.cloud.listMigrations({ instanceId: plan.instanceId }, { signal })
  return records.filter(({ type, status }) => type !== 'evacuation' && !over.has(status))
}

/** The order in force left after the entry of that number. */
function sentAfter({ run, plan }: StepScene): number {
  const rows = run.journal
    .read({ incident: run.id, instance: plan.instanceId, kinds: ['step.intended'] })
    .flatMap((entry) => (entry.kind === 'step.intended' && entry.data.kind === 'evacuate' ? [entry] : []))
  const last = rows.at(-1)
  // An attempt that took up the record of an earlier one has sent nothing itself: then any of them may have.
  const sender = last?.data.globalRequestId === undefined ? rows[0] : last
  return sender?.seq ?? 0
}

/** What stands still, where, and what to look at: for the alarm and for the outcome of an instance that was given up. */
export function whereItStands({ permissions, destinations }: Run, migration: Migration): string {
  const learnt = destinations.get(migration.uuid)
  const destination = destinationOf({ destinations }, migration)
  const stands = `evacuation ${migration.uuid} stands at ${migration.status}`
  if (destination === null) {
    return learnt !== undefined && 'unread' in learnt
      ? `${stands}; where Nova sent it cannot be read from Placement: ${learnt.unread}`
      : `${stands}; Placement names no destination: see the conductor and the scheduler. If they are well, boot any server: once Nova has built it, an order that was lost on its way is sent again`
  }
  const waits = permissions.hasIncident(destination)
    ? `${destination} has an incident of its own: once that proves it dead, the instance is evacuated again`
    : `see nova-compute on ${destination}`
  if (migration.status === 'accepted')
    return `${stands}: Nova sent it to ${destination}, which has not taken it; ${waits}. If that is well, boot a test server on ${destination}: if the order was lost on its way, Lifeboat sends it again once Nova has built that server`
  return `${stands} on ${destination}; ${waits}. If nova-compute was restarted there meanwhile, it has forgotten the order, and the guest may run there`
}
