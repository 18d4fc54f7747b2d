/** The monitor's numbers, each with what breaks when it is wrong. Owns no defaults of segments: those come with the segment. */

export interface MonitorSettings {
  /** Pause between polls. Longer than half a heartbeat interval: beats are seen late, and mass silence later still. */
  pollIntervalMs: number
  /** Missed heartbeats until a host is suspect and its probes are asked. Below 1.2, ordinary jitter makes suspects. */
  suspectAfterBeats: number
  /** Missed heartbeats until death may be concluded. Below 2.5, a host may be confirmed before a dead broker shows. */
  confirmAfterBeats: number
  /**
   * Suspicion (suspicion.ts) until death may be concluded: 4 is one gap of a living host in ten thousand. Lower: a host
   * that pauses now and then is taken for dead; higher: every death of such a host is seen later.
   */
  suspicionNeeded: number
  /** Different kinds of probes that must say dead before Nova itself says down. With 1, one broken witness decides. */
  minDeadProbeKinds: number
  /** Heartbeat interval assumed until it is learnt (Nova's report_interval). Too short: suspects at start. */
  defaultIntervalMs: number
  /**
   * Silence on our own clock, beyond the confirmation time, for a host that never beat while we watched: a full
   * service_down_time. Too short: a host that was just starting when we started is taken for dead.
   */
  startSilenceMs: number
  /**
   * No verdict moves for so long after a control-plane fault: service_down_time + RPC timeout + report_interval. Too
   * short: healthy hosts that still wait for their RPC timeout are taken for dead (docs/nova.md §4.1).
   */
  quietAfterFreezeMs: number
  /** API clock against those that stamp heartbeats. Near service_down_time Nova calls living hosts down. */
  maxClockSkewMs: number
  /** Share of the beating hosts (four or more) that fall silent together and are then no host failures. */
  massSilenceShare: number
  /** Limit of one probe. Longer than a poll: polls get slow while hosts are suspect. */
  probeLimitMs: number
  /** Probes running at once. Too few: with many suspects some are not asked in time and count as unknown. */
  maxParallelProbes: number
  /** Aggregates decide segments and change rarely. Too long: a host is judged by the rules of its old segment. */
  aggregatesEveryMs: number
}

/** For tests and rehearsals. The product's defaults are in config/schema.ts. */
export const defaultMonitorSettings: MonitorSettings = {
  pollIntervalMs: 2_000,
  suspectAfterBeats: 1.5,
  confirmAfterBeats: 2.5,
  suspicionNeeded: 4,
  minDeadProbeKinds: 2,
  defaultIntervalMs: 10_000,
  startSilenceMs: 60_000,
  quietAfterFreezeMs: 130_000,
  maxClockSkewMs: 30_000,
  massSilenceShare: 0.5,
  probeLimitMs: 1_000,
  maxParallelProbes: 64,
  aggregatesEveryMs: 60_000,
}

/** In polls, and never less than two heartbeats. */
const holeAfterPolls = 5

/** Readings further apart than this leave a hole: silence in it was not observed. */
export function holeMs({
  pollIntervalMs,
  defaultIntervalMs,
}: Pick<MonitorSettings, 'pollIntervalMs' | 'defaultIntervalMs'>): number {
  return Math.max(holeAfterPolls * pollIntervalMs, 2 * defaultIntervalMs)
}

/**
 * Readings asked for further apart than this may miss a beat that a flag hides. Where hosts are read less often than they beat, every reading does:
 * there only a reading that was left out counts.
 */
export function missesBeatMs({
  pollIntervalMs,
  defaultIntervalMs,
}: Pick<MonitorSettings, 'pollIntervalMs' | 'defaultIntervalMs'>): number {
  return Math.max(2 * pollIntervalMs, defaultIntervalMs)
}
