/**
 * What a configuration lets happen to detection, said to the person who wrote it: by `lifeboat check`, and once in the log
 * at every start. Pure. Nothing here is an error: each of these can be what someone wants.
 */
import { kindsOf } from '../monitor/witnesses.ts'
import type { Config } from './index.ts'

export interface Advice {
  what: string
  message: string
  advice: string
}

export function detectionAdvice(config: Pick<Config, 'monitor' | 'probes' | 'segments'>): Advice[] {
  const needed = config.monitor.minDeadProbeKinds
  const found: Advice[] = []
  if (needed < 2)
    found.push({
      what: 'min_dead_probe_kinds',
      message: 'monitor.min_dead_probe_kinds is 1: a single kind of probe may call a host dead before Nova does',
      advice: 'Make it 2: one firewall rule or one broken switch then fences no living host',
    })
  for (const { segment } of config.segments) {
    const probes = segment.probes.flatMap((name) => config.probes[name] ?? [])
    const kinds = kindsOf(probes)
    if (probes.length === 0 || kinds >= needed) continue
    found.push({
      what: `probes of segment ${segment.name}`,
      message: `${kinds === 1 ? 'one kind' : `${kinds} kinds`} of witness, ${needed} are needed before Nova says down: its hosts wait for Nova`,
      advice: 'Add a probe of another kind; two of one kind count once, and redfish and ipmi are the same BMC',
    })
  }
  return found
}
