/**
 * Life and death of hosts: crash, isolation, partition, return, and the board controller's power. Owns what nova-compute
 * does when it starts (docs/nova.md §4.4).
 */
import type { SimHost } from './model.ts'
import type { PowerSync } from './power-sync.ts'
import type { World } from './world.ts'

const openEvacuation = new Set(['accepted', 'pre-migrating', 'done'])

export class HostLife {
  private readonly world: World
  private readonly powerSync: PowerSync

  constructor(world: World, powerSync: PowerSync) {
    this.world = world
    this.powerSync = powerSync
  }

  /** The host dies: guests, nova-compute and its address are gone. Its power may still read On. */
  crash(name: string): void {
    const host = this.world.host(name)
    this.world.hypervisors.lose(name)
    host.alive = false
    this.endAgent(host)
  }

  /** Only nova-compute is gone; host and guests run on. */
  isolate(name: string): void {
    this.endAgent(this.world.host(name))
  }

  /** nova-compute and the host's address are gone from the network; its guests run on. */
  partition(name: string): void {
    const host = this.world.host(name)
    host.connected = false
    this.endAgent(host)
  }

  /** The host is back. After a crash its guests are off. */
  start(name: string): void {
    const host = this.world.host(name)
    host.alive = true
    host.connected = true
    host.bmc.power = 'On'
    if (host.agent) return
    const life = ++host.life
    this.world.clock.after(this.world.options.timings.agentStartMs, () => {
      if (host.life !== life || !host.alive || host.agent) return
      this.settleEvacuated(host)
      this.retryPower(host)
      host.disabledTrait = host.service.status === 'disabled'
      host.agent = true
      this.world.refreshHeartbeats()
      // After its own evacuated guests are settled, whatever was sent to it meanwhile (docs/nova.md §2.7).
      for (const take of host.queue.splice(0)) take()
      this.powerSync.begin(host)
    })
  }

  /** What a reset through the board controller does. GracefulShutdown is a power off that takes nothing with it either. */
  reset(name: string, kind: 'On' | 'ForceOff' | 'ForceRestart' | 'GracefulShutdown'): void {
    const { bmc } = this.world.host(name)
    if (bmc.stuck) return
    if (kind !== 'On') {
      this.crash(name)
      bmc.power = 'Off'
    }
    if (kind === 'On' || kind === 'ForceRestart') this.start(name)
  }

  /** nova-compute repeats a stop or a start that was ordered while it was away: the task tells (docs/nova.md §8). */
  private retryPower({ name }: SimHost): void {
    for (const instance of this.world.instancesOn(name)) {
      const on = instance.taskState === 'powering-on'
      if (!on && instance.taskState !== 'powering-off') continue
      this.world.hypervisors.set(name, instance.uuid, on, on ? 'start' : 'stop')
      const columns = on ? { vmState: 'active', powerState: 1 } : { vmState: 'stopped', powerState: 4 }
      this.world.save(instance, { ...columns, taskState: null })
    }
  }

  private endAgent(host: SimHost): void {
    host.agent = false
    host.life++
    this.world.refreshHeartbeats()
  }

  /** One record per instance per start: they are keyed by instance, so the last one wins (docs/nova.md fact 9). */
  private settleEvacuated(host: SimHost): void {
    const { world } = this
    const records = new Map(
      world.migrations
        .filter((at) => at.type === 'evacuation' && at.source === host.name && openEvacuation.has(at.status))
        .map((at) => [at.instanceUuid, at]),
    )
    for (const [uuid, record] of records) {
      world.hypervisors.destroy(host.name, uuid)
      world.release(uuid, host.name)
      world.saveMigration(record, { status: 'completed' })
    }
    for (const instance of world.instancesOn(host.name)) {
      if (instance.taskState?.startsWith('rebuild') === true && !records.has(instance.uuid)) {
        world.save(instance, { vmState: 'error', taskState: null })
      }
    }
    for (const uuid of world.hypervisors.defined(host.name)) {
      const known = world.instances.get(uuid)
      if (known !== undefined && known.deletedAt !== null) world.hypervisors.destroy(host.name, uuid)
    }
  }
}
