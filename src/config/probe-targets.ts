/**
 * Hosts whose probes look at the same machine: a slip in an address. What it says of one is then said of the other, and a living host
 * may be taken for dead, or a dead one for alive. Pure: says what the configuration alone shows.
 */
import { variablesIn } from '../domain/template.ts'
import type { Config, ProbeConfig } from './config.ts'
import { candidates } from './fence-coverage.ts'
import { sharedAims, type SharedTarget } from './fence-targets.ts'

export function sharedProbes(
  config: Pick<Config, 'hosts' | 'fencing' | 'segments' | 'defaults' | 'probes'>,
): SharedTarget[] {
  return sharedAims(config, (host) => {
    const known = new Set(['host', ...Object.keys(Object.hasOwn(config.hosts, host) ? (config.hosts[host] ?? {}) : {})])
    const used = new Set(candidates(config, host).flatMap(({ probes }) => probes))
    return [...used].flatMap((method) => {
      const probe = config.probes[method]
      const text = probe === undefined ? null : addressOf(probe)
      if (probe === undefined || text === null || variablesIn(text).some((name) => !known.has(name))) return []
      return { method, kind: 'address', texts: [text] }
    })
  })
}

/** Where a probe looks; null where only its program or its query knows. */
function addressOf(probe: ProbeConfig): string | null {
  switch (probe.kind) {
    case 'tcp':
    case 'ping':
    case 'ipmi':
      return probe.address
    case 'redfish':
      return probe.system
    case 'command':
    case 'prometheus':
      return null
  }
}
