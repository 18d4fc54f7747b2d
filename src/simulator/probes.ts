/** Probes of simulated hosts: they read the simulator's truth instead of a network, and answer as real ones would. */
import type { Clock } from '../domain/clock.ts'
import type { Probe, ProbeReading } from '../domain/verdict.ts'
import type { World } from './world.ts'

/** A network probe (alive while the machine runs and is connected) and a power probe (Off is dead, On says nothing). */
export function simulatedProbes(world: World, clock: Clock): Probe[] {
  const reading = (
    probe: string,
    kind: ProbeReading['kind'],
    answer: ProbeReading['answer'],
    detail: string,
  ): Promise<ProbeReading> => Promise.resolve({ probe, kind, answer, detail, at: new Date(clock.wall()).toISOString() })
  return [
    {
      name: 'network',
      kind: 'tcp',
      read: (name) => {
        const host = world.hosts.get(name)
        if (host === undefined) return reading('network', 'tcp', 'unknown', 'no such host')
        const alive = host.alive && host.connected
        return reading(
          'network',
          'tcp',
          alive ? 'alive' : 'dead',
          alive ? 'the address answers' : 'no answer within the time limit',
        )
      },
    },
    {
      name: 'bmc',
      kind: 'redfish',
      read: (name) => {
        const bmc = world.hosts.get(name)?.bmc
        if (bmc?.reachable !== true) return reading('bmc', 'redfish', 'unknown', 'the BMC does not answer')
        return reading('bmc', 'redfish', bmc.power === 'Off' ? 'dead' : 'unknown', `power reads ${bmc.power}`)
      },
    },
  ]
}
