/**
 * Can the control plane be believed at this moment? Pure. A fault here looks like dead hosts (docs/nova.md fact 10, §4.2),
 * so it is asked before any host is judged: `freeze` stops all verdicts, `doubt` only keeps hosts from being confirmed
 * until the next look.
 */
import type { Skew } from './clock-skew.ts'
import { span } from '../domain/text/span.ts'

export interface WorkerFacts {
  binary: string
  state: 'up' | 'down' | null
  missedBeats: number
}

export interface ComputeFacts {
  host: string
  /** Real time of the last beat on our clock (or the first sighting). */
  lastBeatAt: number
  intervalMs: number
  /** Some probe of this host says dead and none says alive: its silence is explained. */
  explained: boolean
}

export interface ControlPlaneFacts {
  now: number
  /** Null when the answer was good. */
  apiError: string | null
  rows: number
  computes: number
  hadComputes: boolean
  hadConductors: boolean
  hadSchedulers: boolean
  workers: readonly WorkerFacts[]
  /** Hosts whose heartbeat means something: enabled, not forced down, readable. */
  hosts: readonly ComputeFacts[]
  /** Of the clocks that stamp heartbeats. Null: not known. */
  skew: Skew | null
}

export interface ControlPlaneLimits {
  suspectAfterBeats: number
  confirmAfterBeats: number
  maxClockSkewMs: number
  massSilenceShare: number
  pollIntervalMs: number
  quietAfterFreezeMs: number
}

export interface Fault {
  reason: string
  message: string
}

/** Candidates that are compared with the rest of the fleet in one look: more of them say the same again. */
const maxReferences = 8

/** The first fault that is found, or a doubt, or neither. */
export function assessControlPlane(
  facts: ControlPlaneFacts,
  limits: ControlPlaneLimits,
): { freeze: Fault | null; doubt: Fault | null } {
  const freeze = answerFault(facts, limits) ?? workersFault(facts, limits.confirmAfterBeats)
  if (freeze) return { freeze, doubt: null }
  const mass = massSilence(facts, limits)
  if (mass?.certain) return { freeze: mass.fault, doubt: null }
  // A dead conductor silences itself and the hosts within one beat of each other: at the suspect mark we already wait.
  return { freeze: null, doubt: mass?.fault ?? workersFault(facts, limits.suspectAfterBeats) }
}

function answerFault(facts: ControlPlaneFacts, limits: ControlPlaneLimits): Fault | null {
  if (facts.apiError !== null) return { reason: 'API_FAILED', message: `Nova did not answer: ${facts.apiError}` }
  if (facts.rows === 0) return { reason: 'NO_SERVICES', message: 'Nova lists no services at all' }
  if (facts.computes === 0 && facts.hadComputes) {
    return { reason: 'NO_COMPUTES', message: 'Nova lists no nova-compute any more, and listed some before' }
  }
  const { skew } = facts
  if (skew !== null && Math.abs(skew.ms) > limits.maxClockSkewMs) {
    const how = skew.ms > 0 ? 'behind' : 'ahead of'
    const message = `Heartbeats are stamped ${span(Math.abs(skew.ms))} ${how} the clock of Nova's API (${skew.of})`
    return { reason: 'CLOCK_SKEW', message }
  }
  return null
}

/** One living worker of a kind is enough: rows of removed controllers stay in Nova for ever. */
function workersFault(facts: ControlPlaneFacts, afterBeats: number): Fault | null {
  for (const [binary, had] of [
    ['nova-conductor', facts.hadConductors],
    ['nova-scheduler', facts.hadSchedulers],
  ] as const) {
    const rows = facts.workers.filter((worker) => worker.binary === binary)
    const short = binary === 'nova-conductor' ? 'CONDUCTOR' : 'SCHEDULER'
    if (rows.length === 0 && had) return { reason: `${short}_MISSING`, message: `Nova no longer lists any ${binary}` }
    if (rows.length > 0 && !rows.some((row) => row.state === 'up' && row.missedBeats < afterBeats)) {
      return { reason: `${short}_SILENT`, message: `No ${binary} is beating (${rows.length} listed)` }
    }
  }
  return null
}

/**
 * Hosts that fell silent within one beat of each other and whose silence no probe explains: broker or network, not
 * hosts. A living host's beat is seen at the latest one interval and one poll after the one before, so once a silent
 * host has missed two beats and two polls, every living one has been seen to beat since.
 */
function massSilence(facts: ControlPlaneFacts, limits: ControlPlaneLimits): { fault: Fault; certain: boolean } | null {
  const missed = (host: ComputeFacts): number => (facts.now - host.lastBeatAt) / host.intervalMs
  const unexplained = facts.hosts.filter((host) => !host.explained)
  const references = unexplained
    .filter((host) => missed(host) >= limits.confirmAfterBeats)
    .sort((a, b) => b.lastBeatAt - a.lastBeatAt)
    .slice(0, maxReferences)
  for (const reference of references) {
    const slack = reference.intervalMs + limits.pollIntervalMs
    const watched = unexplained.filter((host) => host.lastBeatAt >= reference.lastBeatAt - slack)
    const still = watched.filter((host) => host.lastBeatAt <= reference.lastBeatAt + slack).length
    const everyone = still === watched.length
    const many = watched.length >= 4 ? still / watched.length >= limits.massSilenceShare : everyone
    if (still < 2 || !many) continue
    // Some hosts kept beating for a whole quiet time: no broker fault. What is left is for the brake, where people see it.
    const age = facts.now - reference.lastBeatAt
    if (!everyone && age > limits.confirmAfterBeats * reference.intervalMs + limits.quietAfterFreezeMs) continue
    const fault = {
      reason: 'MASS_SILENCE',
      message: `${still} of ${watched.length} hosts fell silent together and no probe says that they are dead: broker or network`,
    }
    const sureAfter = 2 + (2 * limits.pollIntervalMs) / reference.intervalMs
    return { fault, certain: missed(reference) >= Math.max(limits.confirmAfterBeats, sureAfter) }
  }
  return null
}
