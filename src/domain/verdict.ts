/** Verdicts: what the monitor concludes about a host, with evidence and a reason. */
import { returnWord, type ReturnState } from './host-return.ts'
import type { HostName } from './service.ts'
import type { VerdictReason } from './verdict-reasons.ts'

/** Each verdict with the sentence that says what it means. */
export const verdictKinds = {
  unknown: 'Not watched for long enough to say anything',
  healthy: 'The heartbeat is beating',
  suspect: 'Heartbeats are missing, but too few to act on',
  'host-down':
    'The host is dead: its heartbeats stopped, Nova or probes of enough kinds say dead, and no probe says alive',
  'service-down': 'nova-compute is silent but the host lives: no evacuation',
  maintenance: 'Someone disabled the service and it is silent: Lifeboat waits',
  'declared-down': 'Someone else forced the host down while Lifeboat watched, and it is silent',
  'forced-down-before': 'The host was forced down before Lifeboat started: a person must decide',
  contradiction: 'The host is forced down, but its nova-compute is beating: it lives, and Lifeboat never evacuates it',
  recovering: 'Lifeboat is recovering the host',
  returning: 'An incident ended, and its flags are still on the host: it is away, or returning to service',
} as const

export type VerdictKind = keyof typeof verdictKinds

export interface ProbeReading {
  probe: string
  kind: 'tcp' | 'ping' | 'command' | 'prometheus' | 'redfish' | 'ipmi'
  answer: 'alive' | 'dead' | 'unknown'
  /** Unknown because its round had no time left for it: too many hosts were silent. */
  unasked?: true
  detail: string
  /** ISO time of the reading. */
  at: string
  /** What a BMC said. On proves nothing about the system, so `answer` alone cannot tell it from a broken BMC. */
  power?: 'on' | 'off' | 'unknown'
}

/** One witness of a host's life beside Nova. Answers within its own time limit; a failure is `unknown`, never `dead`. */
export interface Probe {
  name: string
  kind: ProbeReading['kind']
  read(host: HostName, signal?: AbortSignal): Promise<ProbeReading>
}

export interface Evidence {
  status: string
  state: string | null
  forcedDown: boolean
  /** Of a host that is forced down: who writes another one moves its stamp, and no beat did. */
  disabledReason?: string | null
  /** The heartbeat stamp that was seen last, cloud time. */
  updatedAt: string | null
  /** Time since we saw the heartbeat move, by our own clock. */
  silentMs: number
  /** The host's learnt heartbeat interval. */
  intervalMs: number
  missedBeats: number
  /** Of a silent host: how hard it is to believe that it lives (monitor/suspicion.ts), 0 to 15. */
  suspicion?: number
  /** Of a silent host that we saw beat: time since then. Unlike silentMs, a freeze does not restart it. */
  sinceBeatMs?: number
  /** Of a host that does not plainly beat. */
  watched?: Watched
  /** Of a silent host: its latest times between two beats, ms, the oldest first. */
  gaps?: readonly number[]
  probes: ProbeReading[]
}

/** The part of a host's row in Nova that shows whether it was written since. A beat moves its stamp, and so does anyone who writes a flag. */
export type KnownRow = Pick<Evidence, 'updatedAt' | 'forcedDown' | 'status' | 'disabledReason'>

/** The row as it stands, to be compared with later ones. */
export function asKnown({ updatedAt, forcedDown, status, disabledReason }: KnownRow): KnownRow {
  return { updatedAt, forcedDown, status, ...(disabledReason !== undefined && { disabledReason }) }
}

/**
 * What one run has seen of a host's life: when that run first read its row (ISO time by its own clock; absent in entries of one release), the stamp
 * it read then, and how often the host has lived since, or may have while nobody read. Two that are equal say that it has not lived between them.
 * The stamp alone names no run: two that begin while a host is down read the same one, and it may live between them.
 */
export interface Watched {
  since?: string
  first: string | null
  lives: number
}

/** The row as it stood when a person spoke. */
export interface RowSeen extends KnownRow {
  watched?: Watched
}

/** What is kept of the row with a person's word, also that Nova showed none. */
export function rowSeen(verdict: Verdict | null | undefined): { row: RowSeen } {
  if (!verdict) return { row: { updatedAt: null, forcedDown: false, status: 'unknown' } }
  const { watched } = verdict.evidence
  return { row: { ...asKnown(verdict.evidence), ...(watched !== undefined && { watched }) } }
}

export interface Verdict {
  host: HostName
  segment: string
  kind: VerdictKind
  /** A stable code for machines. */
  reason: VerdictReason
  /** A sentence for people. */
  message: string
  /** ISO time of this verdict. */
  at: string
  evidence: Evidence
}

/** Reason of the verdict `returning` while nova-compute beats under what we set. */
export const beatingUnderOurFlags = 'BEATING_UNDER_OUR_FLAGS' satisfies VerdictReason
/** Reason of the verdict `returning` once nova-compute is known to be silent. */
export const awayAfterIncident = 'AWAY_AFTER_INCIDENT' satisfies VerdictReason

/** What a host's word is made of. */
interface Worded {
  kind: VerdictKind
  /** Absent: it is about several hosts. */
  reason?: VerdictReason
  /** How far its return is, while something of ours is still set on it. */
  returning?: ReturnState | null
}

/**
 * As people read it, on every page: a silent host that an incident left out of service is not on its way anywhere yet, and one that
 * beats is not healthy before our flags are off.
 */
export function verdictWord({ kind, reason, returning = null }: Worded): string {
  if (kind === 'healthy' && returning !== null) return returnWord(returning)
  if (kind !== 'returning' || reason === beatingUnderOurFlags) return kind
  if (reason === awayAfterIncident || returning === 'away') return 'away'
  return reason === undefined ? 'away or returning' : kind
}

/** Reasons of the verdict `unknown` while Nova shows no row of the host that says anything. */
export type UnreadReason = Extract<VerdictReason, 'CELL_UNREACHABLE' | 'ROW_MISSING' | 'NOT_LISTED'>
const unreadReasons: ReadonlySet<VerdictReason> = new Set<UnreadReason>([
  'CELL_UNREACHABLE',
  'ROW_MISSING',
  'NOT_LISTED',
])

/** Nothing of the host can be read now: the verdict's evidence, if any, is of an older reading. */
export function isUnread({ kind, reason }: Verdict): boolean {
  return kind === 'unknown' && unreadReasons.has(reason)
}

/** Its cell answers, and Nova lists it not or no longer. */
export function isNotListed(verdict: Verdict): boolean {
  return isUnread(verdict) && verdict.reason !== 'CELL_UNREACHABLE'
}

/** A nova-compute runs there: such a host is never evacuated, whatever Nova or a person says of it. */
export function isBeating({ kind, reason }: Verdict): boolean {
  return kind === 'healthy' || kind === 'contradiction' || (kind === 'returning' && reason === beatingUnderOurFlags)
}

/** Verdicts of a host that is not forced down and whose nova-compute is known to be silent. */
const silent: ReadonlySet<VerdictKind> = new Set(['host-down', 'service-down', 'maintenance', 'declared-down'])

/** Its nova-compute is known to be silent. Waiting after a freeze or a start says nothing yet. */
export function isSilent({ kind, reason }: Verdict): boolean {
  return silent.has(kind) || (kind === 'returning' && reason === awayAfterIncident)
}

/** Some witness says dead and none says alive. Unknown answers count for neither side. */
export function witnessedDead({ probes }: Evidence): boolean {
  return probes.some(({ answer }) => answer === 'dead') && !probes.some(({ answer }) => answer === 'alive')
}

/**
 * A suspect that is dead as far as one can tell: no witness finds it alive, and a witness says dead or it missed `confirmAfterBeats`. How often
 * it pauses is passed over: the brake may count a host that is not confirmed yet.
 */
export function looksDead(evidence: Evidence, confirmAfterBeats: number): boolean {
  if (witnessedDead(evidence)) return true
  return evidence.missedBeats >= confirmAfterBeats && !evidence.probes.some(({ answer }) => answer === 'alive')
}
