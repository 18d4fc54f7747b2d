/**
 * Why a host is judged so: each code with the verdicts that it stands for, and what it means. The verdict's own sentence has the numbers
 * and the names. Released codes do not change: journals, scripts and people's filters have them. Imports nothing, decides nothing.
 */
export const verdictReasons = {
  BEATING: { of: ['healthy'], means: 'Heartbeat normal' },
  BEATING_THOUGH_NOVA_SAYS_DOWN: {
    of: ['healthy'],
    means: 'Heartbeat normal, although Nova says down: the clocks differ, or Nova is slow',
  },
  WAITING_AFTER_FREEZE: {
    of: ['healthy', 'unknown', 'suspect'],
    means: 'A freeze has just ended, and no heartbeat was seen since: the verdict is that from before the freeze',
  },
  FIRST_SIGHTING: { of: ['unknown'], means: 'Nova lists it, and Lifeboat has not seen a heartbeat of it yet' },
  DOWN_AT_START: { of: ['unknown'], means: 'It was down when Lifeboat first saw it' },
  NOT_LISTED: { of: ['unknown'], means: 'Nova lists no nova-compute of that name' },
  ROW_MISSING: { of: ['unknown'], means: 'Nova no longer lists it, and its cell answers' },
  CELL_UNREACHABLE: { of: ['unknown'], means: 'Nova lists it without its state: its cell does not answer' },
  WAITING_FOR_THAW: {
    of: ['unknown'],
    means: 'Nova lists it again, and Lifeboat concludes nothing while verdicts are frozen',
  },
  MISSING_BEATS: { of: ['suspect'], means: 'Heartbeats are missing, too few to confirm a death' },
  HEARTBEATS_KNOWN_TO_PAUSE: {
    of: ['suspect'],
    means: 'Enough heartbeats are missing, but this host is known to pause for so long',
  },
  PROBE_ALIVE: { of: ['suspect'], means: 'Heartbeats are missing, but a probe finds the host alive' },
  WAITING_FOR_NOVA: {
    of: ['suspect'],
    means: 'Silent for long enough, but Nova does not say down yet, and too few kinds of probes say dead',
  },
  DOWN_SINCE_BEFORE_START: {
    of: ['suspect'],
    means: 'Lifeboat has never seen it beat, so it watches for monitor.start_silence longer',
  },
  PROBES_UNKNOWN: { of: ['suspect'], means: 'Nova says down, but none of its probes can tell yet' },
  CONTROL_PLANE_DOUBT: { of: ['suspect'], means: 'It would be found dead, but the control plane is in doubt' },
  FORCED_DOWN_WAITING: {
    of: ['suspect'],
    means: 'Someone else forced it down, and it is not silent for long enough yet',
  },
  SILENT_AND_PROBES_DEAD: {
    of: ['host-down'],
    means: 'Silent for long enough, and probes of enough kinds said dead twice in a row, before Nova says down',
  },
  NOVA_DOWN_AND_PROBES_DEAD: { of: ['host-down'], means: 'Silent for long enough; Nova and a probe say dead' },
  NOVA_DOWN_NO_PROBES: { of: ['host-down'], means: 'Silent for long enough, and Nova says down; it has no probes' },
  NOVA_DOWN_PROBES_UNKNOWN: {
    of: ['host-down'],
    means: 'Silent for twice the confirmation time, and Nova says down; none of its probes can tell',
  },
  SILENT_BUT_PROBE_ALIVE: {
    of: ['service-down'],
    means: 'nova-compute is silent and Nova says down, but a probe finds the host alive: its guests run',
  },
  FORCED_DOWN_BUT_PROBE_ALIVE: {
    of: ['service-down'],
    means: 'Someone else forced it down and it is silent, but a probe finds it alive',
  },
  OURS_FORCED_DOWN_BUT_PROBE_ALIVE: {
    of: ['service-down'],
    means: 'Lifeboat forced it down and it is silent, but a probe finds it alive: nothing more is evacuated',
  },
  DISABLED_AND_SILENT: { of: ['maintenance'], means: 'A person disabled it, and it is silent' },
  DISABLED_AND_FORCED_DOWN: { of: ['maintenance'], means: 'A person disabled it, and then it was forced down' },
  FORCED_DOWN_AND_SILENT: {
    of: ['declared-down'],
    means: 'Someone else forced it down while Lifeboat watched, and it is silent',
  },
  FORCED_DOWN_BEFORE_START: {
    of: ['forced-down-before'],
    means: 'It was forced down before Lifeboat started watching: a person decides',
  },
  FORCED_DOWN_BUT_BEATING: {
    of: ['contradiction'],
    means: 'Someone else forced it down, and its nova-compute beats: it lives',
  },
  OURS_FORCED_DOWN_BUT_BEATING: {
    of: ['contradiction'],
    means: 'Lifeboat forced it down, and its nova-compute beats: it lives',
  },
  OUR_INCIDENT: { of: ['recovering'], means: 'Lifeboat forced it down, and its incident is open' },
  AWAY_AFTER_INCIDENT: { of: ['returning'], means: 'Its incident is over, and it is silent' },
  BEATING_UNDER_OUR_FLAGS: {
    of: ['returning'],
    means: 'Its incident is over, and its nova-compute beats again: its return begins',
  },
  WATCHING_AFTER_INCIDENT: {
    of: ['returning'],
    means: 'Its incident is over, and Lifeboat has not watched for long enough to see a heartbeat',
  },
} as const satisfies Record<string, { of: readonly string[]; means: string }>

export type VerdictReason = keyof typeof verdictReasons

/** The verdicts that a reason stands for. */
export type KindOf<Reason extends VerdictReason> = (typeof verdictReasons)[Reason]['of'][number]
