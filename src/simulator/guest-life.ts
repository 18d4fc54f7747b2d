/**
 * Guests that fail on a host that lives: their process dies, or the hypervisor pauses them. Owns when nova-compute hears of it
 * (docs/nova.md §1.8): of a pause at once, of an end after a while, and only if nothing else has happened to the guest by then.
 */
import type { HypervisorEvent } from './hypervisors.ts'
import type { SimHost } from './model.ts'
import type { PowerSync } from './power-sync.ts'
import type { World } from './world.ts'

export interface GuestCrash {
  /** The event is lost on its way to nova-compute: only its next power sync will find the guest off. */
  unheard?: boolean
  /** Its process dies there alone: it may run elsewhere as well. */
  host?: string
  /** So many more times it dies, each so long after it was started. */
  again?: { times: number; afterMs: number }
}

export class GuestLife {
  private readonly world: World
  private readonly sync: PowerSync
  /** The newest event of each guest, as "host uuid". */
  private readonly newest = new Map<string, HypervisorEvent>()
  private readonly toDieAgain = new Map<string, GuestCrash & Required<Pick<GuestCrash, 'again'>>>()

  constructor(world: World, sync: PowerSync) {
    this.world = world
    this.sync = sync
    world.hypervisors.onChange = (event) => this.changed(event)
  }

  /** The guest's process is gone at once. Throws when it runs nowhere: the script is wrong then. */
  crash(uuid: string, crash: GuestCrash = {}): void {
    const { again, ...how } = crash
    if (again !== undefined && again.times > 0) this.toDieAgain.set(uuid, { ...how, again })
    for (const host of this.hostsOf(uuid, crash.host)) {
      this.world.hypervisors.set(host.name, uuid, false, 'crash')
      this.sync.begin(host)
      if (crash.unheard !== true) this.tell(host, uuid, this.world.options.timings.lifecycleDelayMs)
    }
  }

  /** The hypervisor pauses the guest, as QEMU does when it cannot write to its disk. Throws when it runs nowhere. */
  pause(uuid: string): void {
    for (const host of this.hostsOf(uuid)) {
      this.world.hypervisors.pause(host.name, uuid, 'io-error')
      this.tell(host, uuid, 0)
    }
  }

  private hostsOf(uuid: string, only?: string): SimHost[] {
    const hosts = this.world.hypervisors.runningOn(uuid).filter((host) => host === (only ?? host))
    if (hosts.length === 0)
      throw new Error(`the guest of ${uuid} runs ${only === undefined ? 'nowhere' : `not on ${only}`}`)
    return hosts.map((name) => this.world.host(name))
  }

  /** The nova-compute of the host hears of the guest's newest event then, unless it was dead by now or dies before. */
  private tell(host: SimHost, uuid: string, afterMs: number): void {
    const { life } = host
    const event = this.newest.get(`${host.name} ${uuid}`)
    const instance = this.world.instances.get(uuid)
    if (!host.agent || instance === undefined) return
    this.world.clock.after(afterMs, () => {
      if (host.life === life && this.newest.get(`${host.name} ${uuid}`) === event) this.sync.of(instance, host)
    })
  }

  private changed(event: HypervisorEvent): void {
    const { host, uuid, running } = event
    this.newest.set(`${host} ${uuid}`, event)
    const doomed = running ? this.toDieAgain.get(uuid) : undefined
    if (doomed === undefined) return
    this.toDieAgain.delete(uuid)
    const { again, ...how } = doomed
    this.world.clock.after(again.afterMs, () => {
      if (!this.world.hypervisors.runs(host, uuid)) return
      this.crash(uuid, { ...how, again: { ...again, times: again.times - 1 } })
    })
  }
}
