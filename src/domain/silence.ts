/** Silence as one run of the daemon leaves it to the next one, by way of the journal. */
import type { HostName } from './service.ts'
import { span } from './text/span.ts'

interface StampSeen {
  host: HostName
  /** `updated_at` of its nova-compute, as Nova gave it. */
  stamp: string
}

export interface SilenceOnRecord {
  /** Hosts whose stamp stands still, and for how long this run and those before it have watched it. */
  hosts: (StampSeen & { silentMs: number })[]
  /** Some of the other hosts: once half of these stamps have moved, heartbeats still get through. */
  others: StampSeen[]
  /** How long ago the stamps of the others were read. */
  othersForMs: number
  /** The others that were watched before these were seen to beat. */
  othersBeat: boolean
  /** ISO time, by the clock of Nova's API. */
  cloudTime: string
}

/** Hosts that a sentence names; the rest is counted. */
const namedAtMost = 5

/** As people read it. */
export function silenceSentence({ hosts }: SilenceOnRecord): string {
  const named = hosts.slice(0, namedAtMost).map(({ host, silentMs }) => `${host} for ${span(silentMs)}`)
  const rest = hosts.length > namedAtMost ? ` and ${hosts.length - namedAtMost} more` : ''
  return `Silent, kept for the case that the daemon dies: ${named.join(', ')}${rest}`
}
