/** The cloud of `lifeboat demo --web`: 20 hosts in three segments and three racks, with instances of every kind. Pure data. */
import { builtInSettings, type Segment } from '../domain/segment.ts'
import type { NewInstance } from '../simulator/index.ts'
import { simulatedSegment } from './simulated-parts.ts'

const named = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, n) => `cmp${String(first + n).padStart(2, '0')}`)

export const demoHosts = named(1, 20)

/** Hosts that lose their power together. */
export const demoRacks: ReadonlyMap<string, readonly string[]> = new Map([
  ['a', named(1, 6)],
  ['b', named(7, 13)],
  ['c', named(14, 20)],
])

const limits = { brake: { maxHosts: 2, maxShare: 0.5 } }

/** The last has disks of its own and no fencing: there a person must say that a host is dead. */
const segments: readonly { segment: Segment; hosts: readonly string[] }[] = [
  { segment: { ...simulatedSegment, ...limits, name: 'general' }, hosts: named(1, 10) },
  { segment: { ...simulatedSegment, ...limits, name: 'databases', priority: 1 }, hosts: named(11, 16) },
  {
    segment: { ...builtInSettings, ...limits, name: 'edge', storage: 'local', probes: ['network'] },
    hosts: named(17, 20),
  },
]

/** Throws nothing: each demo host is in one. */
export function demoSegmentOf(host: string): Segment {
  return segments.find(({ hosts }) => hosts.includes(host))?.segment ?? simulatedSegment
}

/** Of each host, in turn; the rest run and mean nothing special. */
const roles = ['web', 'api', 'db', 'queue', 'worker', 'mail']
const perHost = 12

export function demoInstances(): NewInstance[] {
  return demoHosts.flatMap((host, at) =>
    Array.from({ length: perHost }, (_, n): NewInstance => {
      const name = `${roles[n % roles.length] ?? 'web'}-${at * 2 + 1 + Math.floor(n / roles.length)}`
      return { host, name, ...special(n, demoHosts[(at + 1) % demoHosts.length] ?? host) }
    }),
  )
}

function special(n: number, otherHost: string): Partial<NewInstance> {
  switch (n) {
    case 2:
      return { state: 'active', volumeBacked: true }
    case 3:
      return { state: 'stopped' }
    case 4:
      return { state: 'resized-running', otherHost }
    case 5:
      return { state: 'paused' }
    case 8:
      return { state: 'active', encrypted: true }
    case 9:
      return { state: 'active', metadata: { HA_Enabled: 'False' } }
    default:
      return { state: 'active' }
  }
}
