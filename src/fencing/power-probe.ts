/**
 * A BMC as a witness: Off is dead, On is unknown (a hung kernel has power too), anything else is unknown. It lives here
 * because only fencing/ speaks to BMCs.
 */
import type { Clock } from '../domain/clock.ts'
import type { Probe } from '../domain/verdict.ts'
import type { FencingMethod } from './method.ts'

export function powerProbe(options: {
  name: string
  method: Pick<FencingMethod, 'covers' | 'look'>
  clock: Clock
}): Probe {
  const { name, method, clock } = options
  return {
    name,
    kind: 'redfish',
    read: async (host, signal) => {
      const reading = method.covers(host)
        ? await method.look(host, signal)
        : { power: 'unknown' as const, detail: 'no BMC is configured for this host' }
      const answer = reading.power === 'off' ? 'dead' : 'unknown'
      const at = new Date(clock.wall()).toISOString()
      return { probe: name, kind: 'redfish', answer, detail: reading.detail, at, power: reading.power }
    },
  }
}
