/** What the verdict rules are asked about in tests. */
import { firstSight, type Pulse } from '../../src/monitor/heartbeat.ts'
import type { HostFacts } from '../../src/monitor/verdict-rules.ts'
import { row } from './setup.ts'

/** With beats every two seconds: suspect from 3 s, confirmed from 5 s. */
export const limits = {
  suspectAfterBeats: 1.5,
  confirmAfterBeats: 2.5,
  suspicionNeeded: 4,
  minDeadProbeKinds: 2,
  startSilenceMs: 8_000,
}

export type FactsChange = Partial<Omit<HostFacts, 'pulse' | 'probes'>> & {
  pulse?: Partial<Pulse>
  probes?: Partial<HostFacts['probes']>
}

/** A host that was seen beating, every two seconds, and what is changed of that. Without probes. */
export function hostFacts({ pulse, probes, ...rest }: FactsChange): HostFacts {
  return {
    pulse: { ...firstSight(row('h'), 0), everBeat: true, ...pulse },
    state: 'up',
    ours: false,
    hasOurFlags: false,
    segment: { onDisabledDown: 'hold' },
    silentMs: 0,
    intervalMs: 2_000,
    suspicion: 4,
    previous: 'healthy',
    probes: { configured: 0, alive: [], dead: [], deadKinds: 0, deadInARow: 0, ...probes },
    ...rest,
  }
}
