/**
 * The programs and probes of a simulated cloud that are no HTTP: pings, ports, and the operator's own fencing program.
 * They tell the simulator's truth unless the script makes them fail.
 */
import { sleep, type Clock } from '../domain/clock.ts'
import type { Probe, ProbeReading } from '../domain/verdict.ts'
import type { ProgramEnd, ProgramRun } from '../fencing/program.ts'
import type { Simulator } from '../simulator/index.ts'
import type { ProbeConfig } from '../config/index.ts'
import { span } from '../domain/text/span.ts'

export type Misbehaviour = 'fails' | 'hangs' | 'lies'

export class Witnesses {
  readonly #simulator: Simulator
  readonly #said = new Map<string, ProbeReading['answer']>()
  readonly #programs = new Map<string, Misbehaviour>()
  /** Hosts whose storage was taken away. */
  readonly #fenced = new Set<string>()

  constructor(simulator: Simulator) {
    this.#simulator = simulator
  }

  say(host: string, probe: string, answer: ProbeReading['answer'] | null): void {
    if (answer === null) this.#said.delete(`${host} ${probe}`)
    else this.#said.set(`${host} ${probe}`, answer)
  }

  program(host: string, does: Misbehaviour | null): void {
    if (does === null) this.#programs.delete(host)
    else this.#programs.set(host, does)
  }

  /** Undefined for a probe that reaches the simulated cloud over HTTP itself. */
  probe(name: string, { kind }: ProbeConfig, clock: Clock): Probe | undefined {
    if (kind === 'redfish') return undefined
    return {
      name,
      kind,
      read: (host) => {
        const { answer, detail } =
          this.#said.has(`${host} ${name}`) || kind !== 'ipmi' ? this.#reading(name, host) : this.#power(host)
        return Promise.resolve({ probe: name, kind, answer, detail, at: new Date(clock.wall()).toISOString() })
      },
    }
  }

  /** The operator's programs: fence-storage HOST and verify-storage HOST, the same with power, and any fence agent. */
  async run({ argv, stdin, clock, limitMs, signal }: ProgramRun): Promise<ProgramEnd> {
    const options = new Map((stdin ?? '').split('\n').map((line) => line.split('=', 2) as [string, string | undefined]))
    const [program = '', host = options.get('plug') ?? ''] = argv
    const does = this.#programs.get(host)
    if (does === 'hangs') {
      await sleep(clock, limitMs, signal)
      return { exit: null, output: `no end within ${span(limitMs)}: killed`, started: true }
    }
    const agent = options.get('action')
    if (program === 'fence-power' || agent === 'off') return this.#powerOff(host, does)
    if (program === 'verify-power') return this.#readPower(host, { off: 0, on: 1, unknown: 2 })
    if (agent === 'status') return this.#readPower(host, { off: 2, on: 0, unknown: 1 })
    if (does === 'fails') return { exit: 3, output: 'the storage cluster does not answer', started: true }
    if (program === 'fence-storage') {
      if (does !== 'lies') this.#takeStorage(host)
      return { exit: 0, output: 'blocklisted', started: true }
    }
    const fenced = this.#fenced.has(host)
    return { exit: fenced ? 0 : 1, output: fenced ? 'blocklisted, no watchers' : 'not blocklisted', started: true }
  }

  #powerOff(host: string, does: Misbehaviour | undefined): ProgramEnd {
    if (does === 'fails' || !this.#simulator.bmc(host).reachable)
      return { exit: 1, output: 'the power switch does not answer', started: true }
    if (does !== 'lies') {
      this.#simulator.crash(host)
      this.#simulator.bmc(host, { power: 'Off' })
    }
    return { exit: 0, output: 'power off', started: true }
  }

  #readPower(host: string, exits: Record<'off' | 'on' | 'unknown', number>): ProgramEnd {
    const { reachable, power } = this.#simulator.bmc(host)
    if (!reachable) return { exit: exits.unknown, output: 'the power switch does not answer', started: true }
    return { exit: power === 'Off' ? exits.off : exits.on, output: `power is ${power.toLowerCase()}`, started: true }
  }

  /** Guests without their disks end: that is what a storage fence is for. */
  #takeStorage(host: string): void {
    this.#fenced.add(host)
    this.#simulator.world.hypervisors.lose(host)
  }

  /** What ipmitool would read: the BMC has power of its own, and On says nothing about the system. */
  #power(host: string): { answer: ProbeReading['answer']; detail: string } {
    const bmc = this.#simulator.world.hosts.get(host)?.bmc
    if (bmc?.reachable !== true) return { answer: 'unknown', detail: 'the BMC does not answer' }
    return { answer: bmc.power === 'Off' ? 'dead' : 'unknown', detail: `power reads ${bmc.power.toLowerCase()}` }
  }

  #reading(name: string, host: string): { answer: ProbeReading['answer']; detail: string } {
    const said = this.#said.get(`${host} ${name}`)
    if (said !== undefined) return { answer: said, detail: `it says ${said}` }
    const known = this.#simulator.world.hosts.get(host)
    if (known === undefined) return { answer: 'unknown', detail: 'no such host' }
    const alive = known.alive && known.connected
    return { answer: alive ? 'alive' : 'dead', detail: alive ? 'the address answers' : 'no answer within the limit' }
  }
}
