/**
 * What nova-compute makes of a guest whose power is not what Nova's database says: it writes the power down, and where the guest is off
 * that should run, it records a stop that nobody asked for, without user and project (docs/nova.md §1.5, §1.8).
 */
import { sleep } from '../domain/clock.ts'
import type { SimHost, SimInstance } from './model.ts'
import type { World } from './world.ts'

/** In these nova-compute looks at the power and leaves the rest alone. */
const leftAlone = new Set(['building', 'rescued', 'resized', 'suspended', 'error'])

export class PowerSync {
  private readonly world: World
  private readonly everyMs: number
  /** The life of each host's nova-compute in which the syncs run. */
  private readonly runs = new Map<string, number>()
  /** Each host's next sync. */
  private readonly next = new Map<string, () => void>()

  constructor(world: World, everyMs: number) {
    this.world = world
    this.everyMs = everyMs
  }

  /** From now on nova-compute compares all its guests, again and again until it dies. */
  begin(host: SimHost): void {
    const { life } = host
    if (!host.agent || this.runs.get(host.name) === life) return
    this.runs.set(host.name, life)
    const again = (): void => {
      const cancel = this.world.clock.after(this.everyMs, () => {
        if (host.life !== life) return
        this.ofHost(host.name)
        again()
      })
      this.next.set(host.name, cancel)
    }
    again()
  }

  /** No host syncs from now on. */
  end(): void {
    for (const cancel of this.next.values()) cancel()
  }

  /** nova-compute compares every guest of the host, now. */
  ofHost(name: string): void {
    for (const instance of this.world.instancesOn(name)) this.of(instance, this.world.host(name))
  }

  /** nova-compute compares one guest. A task that is set keeps it from that, and so does a conductor that it cannot reach. */
  of(instance: SimInstance, host: SimHost): void {
    const { world } = this
    if (instance.host !== host.name || instance.deletedAt !== null || instance.taskState !== null) return
    if (world.down.has('rabbitmq') || world.down.has('conductor')) return
    const power = world.hypervisors.power(host.name, instance.uuid)
    if (power !== instance.powerState) world.save(instance, { powerState: power })
    if (leftAlone.has(instance.vmState)) return
    const isOff = power === 4 && (instance.vmState === 'active' || instance.vmState === 'paused')
    if (isOff || (instance.vmState === 'stopped' && (power === 1 || power === 3))) void this.stop(instance, host)
  }

  private async stop(instance: SimInstance, host: SimHost): Promise<void> {
    const { world } = this
    const { life } = host
    world.save(instance, { taskState: 'powering-off' })
    const nobody = { requestId: `req-${world.options.ids()}`, userId: null, projectId: null }
    const action = world.addAction(instance, { action: 'stop', ...nobody })
    await sleep(world.clock, world.options.timings.powerMs)
    if (host.life !== life) return
    const close = world.openEvent(action, 'compute_stop_instance', host.name)
    if (world.hypervisors.runs(host.name, instance.uuid)) world.hypervisors.set(host.name, instance.uuid, false, 'stop')
    world.save(instance, { vmState: 'stopped', powerState: 4, taskState: null })
    close('Success')
  }
}
