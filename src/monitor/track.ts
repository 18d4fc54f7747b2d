/** What is known of one host between polls, and the evidence that a verdict rests on. Concludes nothing: verdict-rules.ts does. */
import type { Segment } from '../domain/segment.ts'
import type { HostName, ServiceRecord } from '../domain/service.ts'
import type { Evidence, ProbeReading, UnreadReason, Verdict } from '../domain/verdict.ts'
import { intervalOf, suspicionAfter, type Pulse } from './heartbeat.ts'
import type { MonitorSettings } from './settings.ts'

export interface Track {
  host: HostName
  row: ServiceRecord
  pulse: Pulse
  segment: Segment
  /** False while its row is UNKNOWN or missing: nothing is concluded from what cannot be read. */
  readable: boolean
  missingSince: number | null
  readings: ProbeReading[]
  deadInARow: number
  /** The last beat before it was found dead. As long as it is the last one, its silence is explained by its death. */
  lastBeatOfDead: number | null
  verdict: Verdict
}

/** How silent a host is at one moment. */
export interface Silence {
  silentMs: number
  intervalMs: number
  missedBeats: number
  suspicion: number
}

/** Its silence as of `now`. */
export function silenceOf(pulse: Pulse, now: number, settings: MonitorSettings): Silence {
  const silentMs = Math.max(0, now - pulse.silentSince)
  const intervalMs = intervalOf(pulse, settings)
  const missedBeats = silentMs / intervalMs
  return { silentMs, intervalMs, missedBeats, suspicion: suspicionAfter(pulse, silentMs, settings) }
}

/** How a host's beats came is kept from the moment when it is late: a reviewer wants to see it, a healthy fleet's journal not. */
export function evidenceOf(
  { row, pulse, readings: probes }: Track,
  { suspicion, ...silence }: Silence,
  now: number,
  { suspectAfterBeats }: Pick<MonitorSettings, 'suspectAfterBeats'>,
): Evidence {
  const { status, state, forcedDown, updatedAt, disabledReason } = row
  const evidence: Evidence = { status, state, forcedDown, updatedAt, ...silence, probes }
  if (forcedDown) evidence.disabledReason = disabledReason
  const isSuspect = silence.missedBeats >= suspectAfterBeats
  // Nobody vouches for the death of a host that plainly beats, and a healthy fleet's journal need not have it.
  const isWell = pulse.everBeat && pulse.beatSinceRestart && silence.missedBeats < 1 && !forcedDown
  if (!isWell) evidence.watched = pulse.watched
  if (!isSuspect) return evidence
  evidence.suspicion = Math.round(suspicion * 100) / 100
  if (pulse.everBeat) evidence.sinceBeatMs = Math.max(0, now - pulse.lastBeatAt)
  if (pulse.gaps.length > 0) evidence.gaps = pulse.gaps.map(Math.round)
  return evidence
}

/** Of a host without a reading. @param at ISO time; `intervalMs` what is taken for its heartbeat's interval */
export function notListed(host: HostName, segment: string, at: string, intervalMs: number): Verdict {
  const service = { status: 'unknown', state: null, forcedDown: false, updatedAt: null } as const
  return {
    ...{ host, segment, at },
    kind: 'unknown',
    reason: 'NOT_LISTED' satisfies UnreadReason,
    message: 'Nova lists no such nova-compute',
    evidence: { ...service, silentMs: 0, intervalMs, missedBeats: 0, probes: [] },
  }
}
