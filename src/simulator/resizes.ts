/**
 * Resize and cold migration, their confirmation and reversal (docs/nova.md §3): who must be up for which, what shows while
 * an instance waits for its confirmation, and the leftovers that mislead a later confirmation.
 */
import { sleep } from '../domain/clock.ts'
import type { Caller } from './caller.ts'
import { actor } from './evacuation.ts'
import type { SimAction, SimHost, SimInstance, SimMigration } from './model.ts'
import { badRequest, conflict, wrongState } from './nova-errors.ts'
import { pickDestination } from './scheduler.ts'
import { flavors, type World } from './world.ts'

export class Resizes {
  private readonly world: World

  constructor(world: World) {
    this.world = world
  }

  resize(instance: SimInstance, name: 'resize' | 'migrate', argument: unknown, caller: Caller): number {
    if (!['active', 'stopped'].includes(instance.vmState))
      throw wrongState(name, instance.uuid, 'vm_state', instance.vmState)
    if (instance.taskState !== null) throw wrongState(name, instance.uuid, 'task_state', instance.taskState)
    const wanted = (argument as { flavorRef?: string; host?: string } | null) ?? {}
    const flavor = name === 'resize' ? flavors.find((at) => at.id === wanted.flavorRef) : instance.flavor
    if (flavor === undefined || instance.host === null) throw badRequest('Invalid flavorRef provided.')
    const source = this.world.host(instance.host)
    if (!this.world.isUp(source.service)) throw conflict('Service is unavailable at this time.')
    this.world.save(instance, { taskState: 'resize_prep' })
    const action = this.world.addAction(instance, { action: name, ...actor(caller) })
    const migration = this.world.addMigration({
      instanceUuid: instance.uuid,
      type: name === 'resize' ? 'resize' : 'migration',
      status: 'pre-migrating',
      source: source.name,
      oldFlavorId: Number(instance.flavor.id),
      newFlavorId: Number(flavor.id),
      userId: caller.userId,
      projectId: caller.projectId,
    })
    void sleep(this.world.clock, this.world.options.timings.spawnMs).then(() => {
      const dest = pickDestination(this.world, instance, source.name, wanted.host)
      if (dest === null) {
        this.world.saveMigration(migration, { status: 'error' })
        this.world.save(instance, { taskState: null })
        return
      }
      if (!source.agent) {
        this.waitsForItsSource(instance, migration, dest.name)
        return
      }
      this.moved(instance, migration, dest.name, flavor.id)
      this.world.openEvent(action, 'compute_finish_resize', dest.name)('Success')
    })
    return 202
  }

  /**
   * The source died before Nova knew it: the order waits in its queue. When its nova-compute starts it resets the task first, and the
   * order then breaks the instance, wherever it is by then (docs/nova.md §3.5).
   */
  private waitsForItsSource(instance: SimInstance, migration: SimMigration, dest: string): void {
    const { world } = this
    const source = world.host(migration.source)
    world.release(instance.uuid, source.name)
    world.allocate(migration.uuid, source.name)
    world.allocate(instance.uuid, dest)
    world.saveMigration(migration, { dest })
    source.queue.push(() => {
      world.releaseAll(instance.uuid)
      world.release(migration.uuid, source.name)
      world.allocate(instance.uuid, source.name)
      world.saveMigration(migration, { status: 'error' })
      world.save(instance, { vmState: 'error', taskState: 'resize_migrating' })
    })
  }

  /** The state after finish_resize: host is the destination, power_state still what it was before. */
  moved(instance: SimInstance, migration: SimMigration, dest: string, flavorId: string): void {
    const { world } = this
    const ran = instance.vmState === 'active'
    const source = migration.source
    world.hypervisors.set(source, instance.uuid, false, 'migrate_off')
    world.hypervisors.set(dest, instance.uuid, ran, 'finish_migration')
    world.release(instance.uuid, source)
    world.allocate(migration.uuid, source)
    world.allocate(instance.uuid, dest)
    world.saveMigration(migration, { status: 'finished', dest })
    world.save(instance, {
      oldVmState: instance.vmState,
      vmState: 'resized',
      taskState: null,
      host: dest,
      oldFlavor: instance.flavor,
      flavor: flavors.find((at) => at.id === flavorId) ?? instance.flavor,
      launchedAt: world.wall(),
    })
  }

  confirm(instance: SimInstance, caller: Caller): number {
    const { world } = this
    if (instance.vmState !== 'resized') throw wrongState('confirmResize', instance.uuid, 'vm_state', instance.vmState)
    if (instance.taskState !== null) throw wrongState('confirmResize', instance.uuid, 'task_state', instance.taskState)
    const migration = this.waiting(instance)
    const source = world.hosts.get(migration.source)
    if (source === undefined || !world.isUp(source.service)) throw conflict('Service is unavailable at this time.')
    world.saveMigration(migration, { status: 'confirming' })
    const action = world.addAction(instance, { action: 'confirmResize', ...actor(caller) })
    if (world.ordersToLose > 0) {
      world.ordersToLose -= 1
      return 204
    }
    const { life } = source
    const take = (): void => this.confirmAtSource(instance, migration, source, action)
    if (source.agent)
      void sleep(world.clock, world.options.timings.confirmMs).then(() => {
        if (source.agent && source.life === life && !world.down.has('rabbitmq')) take()
      })
    else source.queue.push(take)
    return 204
  }

  /** It goes by the record as the order brought it and never asks whether the instance still waits (docs/nova.md §3.6). */
  private confirmAtSource(instance: SimInstance, migration: SimMigration, source: SimHost, action: SimAction): void {
    const { world } = this
    if (instance.deletedAt !== null) return
    const close = world.openEvent(action, 'compute_confirm_resize', source.name)
    // An evacuation leaves no trace of the resize in the instance's record, and one under way has a task.
    const isElsewhere = instance.vmState !== 'resized' && instance.host !== migration.dest
    const isLate = isElsewhere || instance.taskState !== null
    if (source.faults.confirmFails || isLate) {
      const message = isLate
        ? "'NoneType' object has no attribute 'get_pci_mapping_for_migration'"
        : 'injected: this host cannot clean up after a resize'
      if (isLate) world.release(migration.uuid, source.name)
      world.saveMigration(migration, { status: 'error' })
      world.save(instance, {
        vmState: 'error',
        ...(!isLate && { taskState: null }),
        fault: { message, code: 500, created: world.wall() },
      })
      close('Error', message)
      return
    }
    world.hypervisors.destroy(source.name, instance.uuid, 'confirm')
    world.release(migration.uuid, source.name)
    world.saveMigration(migration, { status: 'confirmed' })
    world.save(instance, {
      vmState: instance.powerState === 4 ? 'stopped' : 'active',
      taskState: null,
      oldFlavor: null,
      oldVmState: null,
    })
    close('Success')
  }

  /** No up-check at all: with the destination dead it sticks in resize_reverting (docs/nova.md §3.2). */
  revert(instance: SimInstance, caller: Caller): number {
    const { world } = this
    if (instance.vmState !== 'resized') throw wrongState('revertResize', instance.uuid, 'vm_state', instance.vmState)
    const migration = this.waiting(instance)
    world.save(instance, { taskState: 'resize_reverting' })
    world.saveMigration(migration, { status: 'reverting' })
    world.addAction(instance, { action: 'revertResize', ...actor(caller) })
    const dest = migration.dest === null ? undefined : world.hosts.get(migration.dest)
    const source = world.hosts.get(migration.source)
    void sleep(world.clock, world.options.timings.confirmMs).then(() => {
      if (dest?.agent !== true) return
      world.hypervisors.destroy(dest.name, instance.uuid)
      if (source?.agent !== true) return
      const ran = instance.oldVmState !== 'stopped'
      world.hypervisors.set(source.name, instance.uuid, ran, 'finish_revert')
      world.release(migration.uuid, source.name)
      world.release(instance.uuid, dest.name)
      world.allocate(instance.uuid, source.name)
      world.saveMigration(migration, { status: 'reverted' })
      world.save(instance, {
        host: source.name,
        vmState: ran ? 'active' : 'stopped',
        taskState: null,
        powerState: ran ? 1 : 4,
        flavor: instance.oldFlavor ?? instance.flavor,
        oldFlavor: null,
        oldVmState: null,
      })
    })
    return 202
  }

  /** Any finished record of the instance, the oldest: with a leftover it is the wrong one (docs/nova.md fact 8). */
  private waiting(instance: SimInstance): SimMigration {
    const found = this.world.migrations.find((at) => at.instanceUuid === instance.uuid && at.status === 'finished')
    if (found === undefined) throw badRequest('Instance has not been resized.')
    return found
  }
}
