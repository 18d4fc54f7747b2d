/**
 * Evacuate as Nova does it: the API's checks and writes, the conductor's choice, the destination's steps. Every write of
 * the destination compares the task state with what it left there, as Nova's `expected_task_state` does; two evacuations
 * at once therefore break each other exactly where they do in Nova (docs/nova.md fact 1, §2.1 to §2.5).
 */
import { sleep } from '../domain/clock.ts'
import type { Caller } from './caller.ts'
import type { HostLife } from './host-life.ts'
import type { SimAction, SimHost, SimInstance, SimMigration } from './model.ts'
import { NovaError, badRequest, notFound, wrongState } from './nova-errors.ts'
import { keyForbidden } from './encryption.ts'
import { pickDestination } from './scheduler.ts'
import type { World } from './world.ts'

/** Service version from which the API believes that the computes can land a guest stopped. */
const stoppedLandingVersion = 62
/** A change that another task made in between; Nova leaves its task state alone, or writes what it had wanted to write. */
class UnexpectedTaskState extends Error {
  readonly columns: Partial<SimInstance>

  constructor(message: string, columns: Partial<SimInstance>) {
    super(message)
    this.columns = columns
  }
}
/** The destination died: whatever was in progress there ends without a word. */
class Died extends Error {}
/** Failures that give the instance back unchanged. */
class Rollback extends Error {}
/** The driver's own failures, which Nova files as 400 and not as 500. */
class DriverFailure extends Error {}

/** As QEMU says it behind Nova's `libvirtError` (docs/nova.md §2.5). */
class DiskInUse extends Error {
  readonly details =
    'libvirt.libvirtError: internal error: process exited: Failed to get "write" lock\nIs another process using the image [disk]?'
}

export interface EvacuateBody {
  host?: string
  force?: boolean
}

export class Evacuations {
  private readonly world: World
  private readonly life: HostLife

  constructor(world: World, life: HostLife) {
    this.world = world
    this.life = life
  }

  /**
   * The API's part. Throws NovaError. Resolves when the answer may be sent; with the broker dead it never does, yet the
   * task state and the migration are written (docs/nova.md fact 11).
   */
  async accept(instance: SimInstance, body: EvacuateBody, minor: number, caller: Caller): Promise<void> {
    const { world } = this
    const landStopped = minor >= 95
    if (landStopped && world.options.computeVersion < stoppedLandingVersion) {
      throw badRequest(
        `Starting with microversion 2.95, evacuate API will stop instance on destination. Before using this, upgrade all computes to ${stoppedLandingVersion}. (current ${world.options.computeVersion})`,
      )
    }
    if (body.force === true && body.host === undefined) throw badRequest("Can't force to a non-provided destination")
    if (body.host !== undefined && !world.hosts.has(body.host)) throw notFound(`Compute host ${body.host} not found.`)
    if (body.host !== undefined && body.host === instance.host)
      throw badRequest("The target host can't be the same one.")
    if (instance.vtpm) throw badRequest(`Evacuating instance ${instance.uuid} with vTPM is not supported.`)
    if (!['active', 'stopped', 'error'].includes(instance.vmState)) {
      throw wrongState('evacuate', instance.uuid, 'vm_state', instance.vmState)
    }
    if (instance.launchedAt === null) throw wrongState('evacuate', instance.uuid, 'launched_at', 'None')
    const source = instance.host === null ? undefined : world.hosts.get(instance.host)
    if (source === undefined) throw new NovaError(500, 'Unexpected API Error.')
    if (world.isUp(source.service)) throw badRequest(`Compute service of ${source.name} is still in use.`)

    const standsStillMs = world.standstills.shift()
    if (standsStillMs !== undefined) await sleep(world.clock, standsStillMs)
    world.save(instance, { taskState: 'rebuilding' })
    // Nova reads the instance back with that write: what comes next goes by where it is now (docs/nova.md §8).
    const from = instance.host ?? source.name
    const order: Order = { instance, body, landStopped, caller, vmState: instance.vmState, source: from }
    const action = world.addAction(instance, { action: 'evacuate', ...actor(caller) })
    world.addMigration({
      instanceUuid: instance.uuid,
      type: 'evacuation',
      status: 'accepted',
      source: from,
      // A wished-for host is written at once, as if it had been chosen already; it is no sign of a claim.
      dest: body.host ?? null,
      userId: caller.userId,
      projectId: caller.projectId,
    })
    if (world.down.has('rabbitmq')) return new Promise(() => undefined)
    if (world.ordersToLose > 0) {
      world.ordersToLose -= 1
      return
    }
    const conduct = (): void => void this.conduct(order, action)
    if (world.down.has('conductor')) world.conductorQueue.push(conduct)
    else conduct()
  }

  private async conduct(order: Order, action: SimAction): Promise<void> {
    const { world } = this
    const { instance } = order
    await sleep(world.clock, world.options.timings.scheduleMs)
    const close = world.openEvent(action, 'rebuild_server', 'controller')
    if (world.ordersToDieOver > 0) {
      world.ordersToDieOver -= 1
      return
    }
    // The first accepted record, oldest first, of whatever kind: with leftovers the wrong one (docs/nova.md §2.2).
    const migration =
      world.migrations.find((at) => at.instanceUuid === instance.uuid && at.status === 'accepted') ?? null
    if (world.down.has('scheduler') || world.down.has('neutron')) {
      close('Error', world.down.has('neutron') ? 'Connection to neutron failed' : 'Timed out waiting for a reply')
      return
    }
    const host = pickDestination(world, instance, order.source, order.body.host)
    if (host === null) {
      const message = 'No valid host was found. There are not enough hosts available.'
      if (migration !== null) world.saveMigration(migration, { status: 'error' })
      world.save(instance, { vmState: 'error', taskState: null, fault: { message, code: 500, created: world.wall() } })
      close('Error', message)
      return
    }
    world.allocate(instance.uuid, host.name)
    if (world.claimsToLeave > 0) {
      world.claimsToLeave -= 1
      close('Error', 'Timed out waiting for a reply')
      return
    }
    close('Success')
    await this.rebuild(order, migration, host, action)
  }

  private async rebuild(order: Order, migration: SimMigration | null, host: SimHost, action: SimAction): Promise<void> {
    const { world } = this
    const { instance } = order
    const life = host.life
    const alive = (): void => {
      if (host.life !== life || !host.agent) throw new Died()
    }
    if (!host.agent) {
      host.queue.push(() => void this.rebuild(order, migration, host, action))
      return
    }
    if (host.faults.missesOrders) return
    if (host.faults.dropsOrders) {
      await sleep(world.clock, world.options.timings.spawnMs)
      if (instance.taskState === 'rebuilding') world.save(instance, { taskState: null })
      return
    }
    const close = world.openEvent(action, 'compute_rebuild_instance', host.name)
    if (host.faults.leavesOrders) return
    try {
      await this.claim(order, migration, host, alive)
      await this.spawn(order, host, alive)
      if (order.landStopped ? order.vmState !== 'error' : order.vmState === 'stopped') {
        await this.stopAgain(instance, host, action, alive)
      }
      await this.pause('finishMs', alive)
      const { slowMoveMs, losesMove, diesOnceMoved } = host.faults
      const move = (): void => world.save(instance, { host: host.name })
      // The instance first (docs/nova.md §2.4).
      const isLate = slowMoveMs > 0
      if (!isLate && !losesMove) move()
      if (diesOnceMoved) this.life.crash(host.name)
      alive()
      if (migration !== null) world.saveMigration(migration, { status: 'done' })
      if (isLate) await sleep(world.clock, slowMoveMs)
      if (isLate && !losesMove) move()
      close('Success')
    } catch (thrown) {
      if (thrown instanceof Died) return
      this.fail(order, migration, host, thrown as Error)
      close('Error', (thrown as Error).message)
    }
  }

  private async claim(order: Order, migration: SimMigration | null, host: SimHost, alive: () => void): Promise<void> {
    const { world } = this
    const { instance } = order
    await this.pause('claimMs', alive)
    if (host.faults.claimFails)
      throw new Rollback(`Build of instance ${instance.uuid} aborted: Insufficient compute resources.`)
    if (migration !== null) world.saveMigration(migration, { status: 'pre-migrating', dest: host.name })
    const group = world.groupOf(instance.uuid)
    if (
      group?.policy === 'anti-affinity' &&
      world.instancesOn(host.name).some((other) => group.members.includes(other.uuid))
    ) {
      throw new Rollback(
        `Build of instance ${instance.uuid} aborted: Anti-affinity instance group policy was violated.`,
      )
    }
    if (world.hypervisors.has(host.name, instance.uuid)) {
      throw new Error(`Instance instance-${instance.index.toString(16).padStart(8, '0')} already exists.`)
    }
    await this.pause('rebuildMs', alive)
    // Already set in the record that could not be saved: writing ERROR saves them with it.
    this.expect(instance, 'rebuilding', { taskState: 'rebuilding', powerState: 0 })
    world.save(instance, { powerState: 0 })
    await this.pause('volumesMs', alive)
    this.expect(instance, 'rebuilding')
    world.save(instance, { taskState: 'rebuild_block_device_mapping' })
    await this.pause('volumesMs', alive)
    this.expect(instance, 'rebuild_block_device_mapping')
    world.save(instance, { taskState: 'rebuild_spawning' })
  }

  private async spawn(order: Order, host: SimHost, alive: () => void): Promise<void> {
    const { world } = this
    const { instance } = order
    const forbidden = keyForbidden(world, instance, order.caller.projectId)
    if (forbidden !== null) throw new Error(forbidden)
    if (host.faults.diesWhileSpawning) this.life.crash(host.name)
    alive()
    if (host.faults.slowSpawnMs > 0) await sleep(world.clock, host.faults.slowSpawnMs)
    await this.pause('spawnMs', alive)
    if (host.faults.spawnFails) throw new DriverFailure('Failed to deploy instance: injected: this host cannot spawn')
    if (host.faults.diskLocks && world.hypervisors.runsElsewhere(host.name, instance.uuid))
      throw new DiskInUse('libvirtError')
    world.hypervisors.set(host.name, instance.uuid, true, 'spawn')
    if (host.faults.saveTimesOut || host.faults.savesNoEnd) throw new Error('MessagingTimeout')
    this.expect(instance, 'rebuild_spawning')
    world.save(instance, { vmState: 'active', taskState: null, powerState: 1, launchedAt: world.wall(), fault: null })
  }

  private async stopAgain(instance: SimInstance, host: SimHost, action: SimAction, alive: () => void): Promise<void> {
    const { world } = this
    await this.pause('finishMs', alive)
    world.save(instance, { vmState: 'active', taskState: 'powering-off' })
    const close = world.openEvent(action, 'compute_stop_instance', host.name)
    await this.pause('powerMs', alive)
    if (host.faults.stopFails) {
      const message = 'Failed to power off instance: injected: this host cannot stop a guest'
      world.save(instance, { taskState: null })
      close('Error', message)
      throw new DriverFailure(message)
    }
    world.hypervisors.set(host.name, instance.uuid, false, 'power_off')
    world.save(instance, { vmState: 'stopped', taskState: null, powerState: 4 })
    close('Success')
  }

  private fail(order: Order, migration: SimMigration | null, host: SimHost, error: Error): void {
    const { world } = this
    const { instance } = order
    if (migration !== null && !host.faults.savesNoEnd) world.saveMigration(migration, { status: 'failed' })
    world.release(instance.uuid, host.name)
    if (instance.deletedAt !== null) return
    const fault = {
      message: error.message,
      code: error instanceof DriverFailure ? 400 : 500,
      created: world.wall(),
      ...(error instanceof DiskInUse && { details: error.details }),
    }
    if (error instanceof Rollback) world.save(instance, { vmState: order.vmState, taskState: null, fault })
    else if (error instanceof UnexpectedTaskState) world.save(instance, { ...error.columns, vmState: 'error', fault })
    else world.save(instance, { vmState: 'error', taskState: null, fault })
  }

  private expect(instance: SimInstance, taskState: string, wanted: Partial<SimInstance> = {}): void {
    if (instance.deletedAt !== null) throw new Error(`Instance ${instance.uuid} could not be found.`)
    if (instance.taskState === taskState) return
    throw new UnexpectedTaskState(
      `Conflict updating instance ${instance.uuid}. Expected: {'task_state': ['${taskState}']}. Actual: {'task_state': '${instance.taskState ?? 'None'}'}`,
      wanted,
    )
  }

  private async pause(
    stage: 'claimMs' | 'rebuildMs' | 'volumesMs' | 'spawnMs' | 'powerMs' | 'finishMs',
    alive: () => void,
  ): Promise<void> {
    await sleep(this.world.clock, this.world.options.timings[stage])
    alive()
  }
}

/** An evacuation as the API wrote it into its message: the state at that moment decides the landing, not the later one. */
interface Order {
  instance: SimInstance
  body: EvacuateBody
  landStopped: boolean
  caller: Caller
  vmState: string
  source: string
}

export function actor(caller: Caller): { requestId: string; userId: string; projectId: string } {
  return { requestId: caller.requestId, userId: caller.userId, projectId: caller.projectId }
}
