/**
 * Heartbeats of the simulated services and what Nova concludes from them (docs/nova.md §4.1). Beats are computed from the
 * clock when someone looks, so that thousands of hosts cost nothing; every host has its own phase.
 */
import type { SimService } from './model.ts'

export interface HeartbeatRules {
  /** Nova's report_interval in milliseconds. */
  reportIntervalMs: number
  /** Nova's service_down_time in milliseconds: silence longer than this reads as down. */
  serviceDownTimeMs: number
}

/** Wall time of the last heartbeat that reached the database. */
export function lastBeat(service: SimService, rules: HeartbeatRules, wall: number): number {
  if (service.beatingSince === null) return service.frozenAt
  const beats = Math.floor((wall - service.beatingSince) / rules.reportIntervalMs)
  const beat = service.beatingSince + beats * rules.reportIntervalMs
  // Once the clocks are set back, each beat is stamped with the time that it is.
  return wall < service.frozenAt ? beat : Math.max(service.frozenAt, beat)
}

export function startBeating(service: SimService, rules: HeartbeatRules, wall: number): void {
  if (service.beatingSince !== null) return
  service.frozenAt = lastBeat(service, rules, wall)
  service.beatingSince = wall
}

export function stopBeating(service: SimService, rules: HeartbeatRules, wall: number): void {
  if (service.beatingSince === null) return
  service.frozenAt = lastBeat(service, rules, wall)
  service.beatingSince = null
}

/** Nova's own answer: forced down first, then how far the last beat is from now, in either direction. */
export function isUp(service: SimService, rules: HeartbeatRules, wall: number): boolean {
  return !service.forcedDown && Math.abs(wall - lastBeat(service, rules, wall)) <= rules.serviceDownTimeMs
}

/** The row's last write: a beat or a PUT, whichever came later. */
export function updatedAt(service: SimService, rules: HeartbeatRules, wall: number): number {
  const beat = lastBeat(service, rules, wall)
  return wall < service.lastWrite && service.beatingSince !== null ? beat : Math.max(beat, service.lastWrite)
}
