/**
 * The verdict table as one pure function, row by row, first match wins. Owns which row fits and the
 * sentence people read; the codes are in domain/verdict-reasons.ts. Silence alone never outvotes a living witness, and an unknown answer counts for neither side.
 */
import type { Segment } from '../domain/segment.ts'
import { isDisabledByPerson } from '../domain/service.ts'
import { awayAfterIncident, beatingUnderOurFlags, type VerdictKind } from '../domain/verdict.ts'
import type { KindOf, VerdictReason } from '../domain/verdict-reasons.ts'
import type { Pulse } from './heartbeat.ts'
import { span } from '../domain/text/span.ts'

export interface HostFacts {
  pulse: Pulse
  state: 'up' | 'down' | null
  /** An open incident of ours has proven it dead, or what one of ours set still stands there. */
  ours: boolean
  /** Its forced_down is ours. */
  hasOurFlags: boolean
  /** What an incident of ours set on this host still stands, and no incident of it is open. */
  incidentOver?: boolean
  segment: Pick<Segment, 'onDisabledDown'>
  silentMs: number
  intervalMs: number
  /** How hard it is to believe that it lives (suspicion.ts). */
  suspicion: number
  probes: {
    configured: number
    alive: string[]
    dead: string[]
    deadKinds: number
    /** Consecutive readings, while silent, with enough kinds dead and none alive. */
    deadInARow: number
  }
  previous: VerdictKind
}

export interface RuleLimits {
  suspectAfterBeats: number
  confirmAfterBeats: number
  suspicionNeeded: number
  minDeadProbeKinds: number
  startSilenceMs: number
}

export interface Conclusion {
  kind: VerdictKind
  reason: VerdictReason
  message: string
}

/** Readings in a row before probes alone may confirm: one lost packet is no death. */
const deadReadingsNeeded = 2
/**
 * With every probe unknown, how many confirmation times the host must be silent, beside Nova's `down`: fencing is then the safety net.
 * It delays a verdict only where heartbeats are so slow that Nova says down earlier.
 */
const unknownFactor = 2

/**
 * However noisy a host's heartbeats were, after so many confirmation times its silence is long enough. More: a host that
 * once hung for minutes and then dies is left to lie. Fewer: the pauses of a loaded host are taken for death.
 */
const longestFactor = 4

/** Whether the silence is long enough to ask what else says dead. Never before confirmAfterBeats; later for a host whose heartbeats are known to pause. */
export function isSilentEnough(
  { silentMs, intervalMs, suspicion }: Pick<HostFacts, 'silentMs' | 'intervalMs' | 'suspicion'>,
  limits: Pick<RuleLimits, 'confirmAfterBeats' | 'suspicionNeeded'>,
): boolean {
  const missed = silentMs / intervalMs
  if (missed < limits.confirmAfterBeats) return false
  return suspicion >= limits.suspicionNeeded || missed >= longestFactor * limits.confirmAfterBeats
}

/** What these facts of one host say, by the first row of the table that fits. */
export function conclude(facts: HostFacts, limits: RuleLimits): Conclusion {
  const missed = facts.silentMs / facts.intervalMs
  const confirmed = isSilentEnough(facts, limits)
  const { pulse } = facts
  const silent = `no heartbeat for ${span(facts.silentMs)} (${missed.toFixed(1)} missed)`
  if (pulse.forcedDown) return forcedDown(facts, confirmed, silent)
  // Also under an incident of ours that only waits: anyone who disables the host then means to keep it out of recovery. And
  // also before Nova says down: witnesses alone must not confirm what a person is shutting down.
  if (isDisabledByPerson(pulse) && facts.segment.onDisabledDown === 'hold') {
    const idle = missed >= limits.suspectAfterBeats || !pulse.everBeat
    if (idle && (facts.state === 'down' || confirmed)) {
      return say(
        'maintenance',
        'DISABLED_AND_SILENT',
        `Disabled by a person${why(pulse)}, and ${silent}: Lifeboat waits`,
      )
    }
  }
  if (missed < limits.suspectAfterBeats) return beating(facts)
  return silence(facts, limits, confirmed, silent)
}

function forcedDown(facts: HostFacts, confirmed: boolean, silent: string): Conclusion {
  const { pulse, probes } = facts
  if (facts.incidentOver === true) return returning(pulse, confirmed, silent)
  // After a lost poll silence counts again: a beat of long before is no beat now, unless it was taken for one until then.
  const beats = pulse.beatsSinceForced > 0 && (pulse.beatSinceRestart || facts.previous === 'contradiction')
  if (beats && !confirmed) {
    const who = facts.ours ? 'us' : 'someone else'
    const reason = facts.ours ? 'OURS_FORCED_DOWN_BUT_BEATING' : 'FORCED_DOWN_BUT_BEATING'
    return say('contradiction', reason, `Forced down by ${who}, yet its nova-compute is beating: it is alive`)
  }
  if (pulse.disabledBeforeForced && !facts.hasOurFlags && facts.segment.onDisabledDown === 'hold') {
    return say(
      'maintenance',
      'DISABLED_AND_FORCED_DOWN',
      `Disabled by a person${why(pulse)}, then forced down, and ${silent}: Lifeboat waits`,
    )
  }
  if (facts.ours && probes.alive.length > 0) {
    const message = `Forced down by us and ${silent}, but ${list(probes.alive)} finds it alive`
    return say('service-down', 'OURS_FORCED_DOWN_BUT_PROBE_ALIVE', message)
  }
  if (facts.ours) return say('recovering', 'OUR_INCIDENT', 'Forced down under an open incident of ours')
  if (!pulse.forcedWhileWatching) {
    return say(
      'forced-down-before',
      'FORCED_DOWN_BEFORE_START',
      'Forced down before we started watching: a person decides',
    )
  }
  if (!confirmed)
    return say('suspect', 'FORCED_DOWN_WAITING', `Forced down by someone else, ${silent}: waiting for a beat`)
  if (probes.alive.length > 0) {
    const message = `Forced down by someone else and ${silent}, but ${list(probes.alive)} found it alive`
    return say('service-down', 'FORCED_DOWN_BUT_PROBE_ALIVE', message)
  }
  return say(
    'declared-down',
    'FORCED_DOWN_AND_SILENT',
    `Someone else forced it down while Lifeboat watched, and it is ${silent}`,
  )
}

/** Forced down by us in an incident that is over: that its nova-compute beats again is what a return begins with. */
function returning(pulse: Pulse, confirmed: boolean, silent: string): Conclusion {
  if (confirmed) return say('returning', awayAfterIncident, `Forced down since an incident of ours, and ${silent}`)
  if (pulse.beatsSinceForced > 0)
    return say(
      'returning',
      beatingUnderOurFlags,
      'Forced down since an incident of ours, and its nova-compute beats again',
    )
  return say('returning', 'WATCHING_AFTER_INCIDENT', 'Forced down since an incident of ours; watching for a heartbeat')
}

/** Below the suspect mark. */
function beating(facts: HostFacts): Conclusion {
  const { pulse, previous } = facts
  if (!pulse.beatSinceRestart) {
    // Nothing is known since the freeze ended; what was concluded before it must be concluded again.
    if (previous === 'healthy') return say('healthy', 'WAITING_AFTER_FREEZE', 'Healthy before; watching again')
    if (previous === 'unknown') return say('unknown', 'WAITING_AFTER_FREEZE', 'Watching again')
    return say('suspect', 'WAITING_AFTER_FREEZE', 'Silent before verdicts were frozen; watching again')
  }
  if (!pulse.everBeat) {
    return facts.state === 'down'
      ? say('unknown', 'DOWN_AT_START', 'Already down when it was first seen; watching')
      : say('unknown', 'FIRST_SIGHTING', 'Seen for the first time; waiting for a heartbeat')
  }
  return facts.state === 'down'
    ? say('healthy', 'BEATING_THOUGH_NOVA_SAYS_DOWN', 'Heartbeat normal, although Nova says down')
    : say('healthy', 'BEATING', 'Heartbeat normal')
}

/** At or beyond the suspect mark. */
function silence(facts: HostFacts, limits: RuleLimits, confirmed: boolean, silent: string): Conclusion {
  const { pulse, probes, state } = facts
  if (probes.alive.length > 0) {
    const witness = `${list(probes.alive)} found the host alive`
    if (state === 'down' && confirmed) {
      return say('service-down', 'SILENT_BUT_PROBE_ALIVE', `Nova says down, ${silent}, but ${witness}: no evacuation`)
    }
    return say('suspect', 'PROBE_ALIVE', `${silent}, but ${witness}`)
  }
  if (!confirmed) {
    if (facts.silentMs < limits.confirmAfterBeats * facts.intervalMs) return say('suspect', 'MISSING_BEATS', silent)
    const doubt = `its heartbeats are known to pause (suspicion ${facts.suspicion.toFixed(1)} of ${limits.suspicionNeeded})`
    return say('suspect', 'HEARTBEATS_KNOWN_TO_PAUSE', `${silent}, but ${doubt}: waiting longer`)
  }
  if (state !== 'down') {
    const early = probes.deadKinds >= limits.minDeadProbeKinds && probes.deadInARow >= deadReadingsNeeded
    if (early && pulse.everBeat) {
      return say(
        'host-down',
        'SILENT_AND_PROBES_DEAD',
        `${silent}, and ${list(probes.dead)} found it dead; Nova had not noticed yet`,
      )
    }
    return say('suspect', 'WAITING_FOR_NOVA', `${silent}; Nova still says up`)
  }
  const confirmMs = limits.confirmAfterBeats * facts.intervalMs
  if (!pulse.everBeat && facts.silentMs < limits.startSilenceMs + confirmMs) {
    return say('suspect', 'DOWN_SINCE_BEFORE_START', `Down since before Lifeboat started, ${silent}: watching longer`)
  }
  const since = pulse.everBeat ? 'Nova says down' : 'Nova says down since before we started'
  if (probes.dead.length > 0) {
    return say('host-down', 'NOVA_DOWN_AND_PROBES_DEAD', `${since}, ${silent}, and ${list(probes.dead)} found it dead`)
  }
  if (probes.configured === 0) {
    return say('host-down', 'NOVA_DOWN_NO_PROBES', `${since} and ${silent}; no probes are configured`)
  }
  if (facts.silentMs >= unknownFactor * confirmMs) {
    return say('host-down', 'NOVA_DOWN_PROBES_UNKNOWN', `${since} and ${silent}; no probe could tell: fencing decides`)
  }
  return say('suspect', 'PROBES_UNKNOWN', `${since} and ${silent}; no probe could tell yet`)
}

/** Kinds that lead to a recovery or take hope away: none of them is entered while frozen (law L7). */
const towardsDeath: ReadonlySet<VerdictKind> = new Set([
  'suspect',
  'host-down',
  'service-down',
  'declared-down',
  'maintenance',
])

/**
 * What a frozen monitor makes of a conclusion: signs of life pass, everything else waits. Null: the old verdict stands.
 * @param readAgain the old verdict says that its row is missing or cannot be read, and that is over
 */
export function whileFrozen(conclusion: Conclusion, previous: VerdictKind, readAgain = false): Conclusion | null {
  if (conclusion.kind !== previous && !towardsDeath.has(conclusion.kind)) return conclusion
  if (!readAgain) return null
  return say('unknown', 'WAITING_FOR_THAW', 'Nova lists it; Lifeboat concludes nothing while verdicts are frozen')
}

/** Keeps a host from being confirmed while the control plane is in doubt. */
export function whileInDoubt(conclusion: Conclusion, previous: VerdictKind, why: string): Conclusion {
  const confirms =
    conclusion.kind === 'host-down' || conclusion.kind === 'service-down' || conclusion.kind === 'declared-down'
  if (!confirms || conclusion.kind === previous) return conclusion
  return say('suspect', 'CONTROL_PLANE_DOUBT', `${conclusion.message}; waiting: ${why}`)
}

function say<Reason extends VerdictReason>(kind: KindOf<Reason>, reason: Reason, message: string): Conclusion {
  return { kind, reason, message }
}

function why({ disabledReason }: Pulse): string {
  return disabledReason === null || disabledReason === '' ? '' : ` (${disabledReason})`
}

function list(names: string[]): string {
  return names.join(', ')
}
