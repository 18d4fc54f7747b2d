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

export class Hypervisors {
  /** Host to its defined guests, true for those that run. */
  private readonly guests = new Map<string, Map<string, boolean>>()
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
    this.log.push(entry)
  }

  destroy(host: string, uuid: string, event = 'destroy'): void {
    if (!this.of(host).delete(uuid)) return
    this.log.push({ at: this.clock.wall(), host, uuid, event, running: false })
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

  private of(host: string): Map<string, boolean> {
    const known = this.guests.get(host)
    if (known !== undefined) return known
    const fresh = new Map<string, boolean>()
    this.guests.set(host, fresh)
    return fresh
  }
}
