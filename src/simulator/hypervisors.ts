/**
 * What truly runs where: the hypervisors of the simulated hosts and their log. Nova's database may say otherwise; this is
 * the oracle that tests judge by. It knows guests and power, nothing of Nova.
 */
import type { Clock } from '../domain/clock.ts'

export interface HypervisorEvent {
  /** Wall-clock milliseconds. */
  at: number
  host: string
  uuid: string
  event: string
  running: boolean
}

export interface DoubleRun extends HypervisorEvent {
  alsoOn: string[]
}

export interface Truth {
  /** Guest to the hosts that it runs on; guests that run nowhere are missing. */
  running: Record<string, string[]>
  /** Every moment at which a guest was started while it ran on another host. */
  doubles: DoubleRun[]
  /** Guest to each of its starts. */
  starts: Record<string, { at: number; host: string; event: string }[]>
}

/** Nova's power states, as a hypervisor gives them: not defined, running, paused, shut down. */
export type GuestPower = 0 | 1 | 3 | 4

export class Hypervisors {
  /** Hears of every change of a guest once it is done. */
  onChange: (event: HypervisorEvent) => void = () => undefined
  /** Host to its defined guests, true for those whose process lives. */
  private readonly guests = new Map<string, Map<string, boolean>>()
  /** Those whose process lives and does nothing, as "host uuid". */
  private readonly paused = new Set<string>()
  private readonly log: HypervisorEvent[] = []
  private readonly doubles: DoubleRun[] = []
  private readonly clock: Clock

  constructor(clock: Clock) {
    this.clock = clock
  }

  has(host: string, uuid: string): boolean {
    return this.of(host).has(uuid)
  }

  runs(host: string, uuid: string): boolean {
    return this.of(host).get(uuid) === true
  }

  power(host: string, uuid: string): GuestPower {
    if (!this.has(host, uuid)) return 0
    if (!this.runs(host, uuid)) return 4
    return this.paused.has(`${host} ${uuid}`) ? 3 : 1
  }

  defined(host: string): string[] {
    return [...this.of(host).keys()]
  }

  /** Defines the guest on the host and sets its power. */
  set(host: string, uuid: string, running: boolean, event: string): void {
    const entry: HypervisorEvent = { at: this.clock.wall(), host, uuid, event, running }
    if (running && !this.runs(host, uuid)) {
      const alsoOn = this.runningOn(uuid).filter((other) => other !== host)
      if (alsoOn.length > 0) this.doubles.push({ ...entry, alsoOn })
    }
    this.of(host).set(uuid, running)
    this.paused.delete(`${host} ${uuid}`)
    this.note(entry)
  }

  /** Its process lives on and holds its disk, and the guest stands still. Nothing happens to one that does not run. */
  pause(host: string, uuid: string, event = 'pause'): void {
    if (this.power(host, uuid) !== 1) return
    this.paused.add(`${host} ${uuid}`)
    this.note({ at: this.clock.wall(), host, uuid, event, running: true })
  }

  destroy(host: string, uuid: string, event = 'destroy'): void {
    if (!this.of(host).delete(uuid)) return
    this.paused.delete(`${host} ${uuid}`)
    this.note({ at: this.clock.wall(), host, uuid, event, running: false })
  }

  /** Power loss: guests stay defined on the host's disk and run no more. */
  lose(host: string): void {
    for (const [uuid, running] of this.of(host)) if (running) this.set(host, uuid, false, 'host_lost')
  }

  runningOn(uuid: string): string[] {
    return [...this.guests].filter(([, guests]) => guests.get(uuid) === true).map(([host]) => host)
  }

  runsElsewhere(host: string, uuid: string): boolean {
    return (this.truth().running[uuid] ?? []).some((other) => other !== host)
  }

  truth(): Truth {
    const running: Truth['running'] = {}
    for (const [host, guests] of this.guests) {
      for (const [uuid, on] of guests) if (on) (running[uuid] ??= []).push(host)
    }
    const starts: Truth['starts'] = {}
    const on = new Set<string>()
    for (const entry of this.log) {
      const place = `${entry.uuid} ${entry.host}`
      if (entry.running && !on.has(place))
        (starts[entry.uuid] ??= []).push({ at: entry.at, host: entry.host, event: entry.event })
      if (entry.running) on.add(place)
      else on.delete(place)
    }
    return { running, doubles: [...this.doubles], starts }
  }

  private note(event: HypervisorEvent): void {
    this.log.push(event)
    this.onChange(event)
  }

  private of(host: string): Map<string, boolean> {
    const known = this.guests.get(host)
    if (known !== undefined) return known
    const fresh = new Map<string, boolean>()
    this.guests.set(host, fresh)
    return fresh
  }
}
