/**
 * The judge: takes in what was read of the cloud and concludes a verdict for each host. Owns the freeze, the doubt and the last verdicts.
 * No I/O and no promises; time comes in as arguments. The rules themselves are pure: verdict-rules.ts, control-plane.ts, freezer.ts.
 */
import type { HostName, ServicesReading } from '../domain/service.ts'
import { isUnread, type UnreadReason, type Verdict, type VerdictKind } from '../domain/verdict.ts'
import type { ComputeFacts, Fault } from './control-plane.ts'
import { ControlPlaneState } from './control-plane-state.ts'
import { freezeAtStart, nextFreeze, thawsAt, type Freeze } from './freezer.ts'
import { intervalOf, type Pulse } from './heartbeat.ts'
import type { KeptSilence } from './kept-silence.ts'
import type { Found } from './reader.ts'
import type { Frozen, HostQuestions, MonitorRules, PollReport } from './report.ts'
import { holeMs, missesBeatMs } from './settings.ts'
import { evidenceOf, silenceOf, type Silence, type Track } from './track.ts'
import type { Tracks } from './tracks.ts'
import { conclude, whileFrozen, whileInDoubt, type Conclusion } from './verdict-rules.ts'
import { witnessesIn } from './witnesses.ts'

/** What a report tells beside the verdicts: everything since the report before it. */
type Told = Pick<PollReport, 'changed' | 'alarms' | 'froze' | 'unfroze' | 'silence'>

export class Judge {
  readonly #rules: () => MonitorRules
  readonly #tracks: Tracks
  readonly #asks: HostQuestions
  /** Null: this start stands alone, so nothing is kept for a next one. */
  readonly #kept: KeptSilence | null
  readonly #controlPlane: ControlPlaneState
  /** When the last good answer was complete, and when it was asked for: a slow one shows what was then. */
  #readAt: number | null
  #askedAt: number | null
  #freeze: Freeze | null
  #inDoubt = false
  /** Null after a change. The same array as long as nothing was looked at: what is derived from it may be kept as long. */
  #verdicts: Verdict[] | null = null
  #told: Told = { changed: [], alarms: [] }

  /**
   * `frozenBefore`: what the run before left frozen. `learnt`: one that only watched, and whose place this one takes: what it saw of the control
   * plane goes on, with what it could not see.
   */
  constructor(parts: {
    rules: () => MonitorRules
    tracks: Tracks
    asks: HostQuestions
    kept: KeptSilence | null
    frozenBefore: Frozen | null
    learnt: Judge | null
  }) {
    const { rules, tracks, asks, kept, frozenBefore, learnt } = parts
    this.#rules = rules
    this.#tracks = tracks
    this.#asks = asks
    this.#kept = kept
    this.#controlPlane = learnt === null ? new ControlPlaneState() : learnt.#controlPlane
    this.#readAt = learnt === null ? null : learnt.#readAt
    this.#askedAt = learnt === null ? null : learnt.#askedAt
    this.#freeze = freezeAtStart(frozenBefore, learnt === null ? null : learnt.#freeze)
    // Whoever only watches puts nothing on record: this one does, and its end is said of a freeze that has a beginning.
    const frozen = this.frozen()
    if (frozen !== null && frozenBefore === null) this.#told.froze = frozen
  }

  /** The rules changed: no verdict is made of old and new. */
  rulesChanged(): void {
    this.#verdicts = null
    this.#tracks.placeAgain()
  }

  verdicts(): Verdict[] {
    return (this.#verdicts ??= Array.from(this.#tracks.all(), (track) => track.verdict))
  }

  frozen(): Frozen | null {
    return this.#freeze && { reason: this.#freeze.reason, message: this.#freeze.message, since: this.#freeze.since }
  }

  /** From when on verdicts move again, our monotonic clock, ms; null: nothing is frozen, or its fault still lasts. */
  thawsAt(): number | null {
    return thawsAt(this.#freeze, this.#rules().settings.quietAfterFreezeMs)
  }

  /** The last look did not believe the control plane enough to confirm that a host is dead. */
  inDoubt(): boolean {
    return this.#inDoubt
  }

  /** What happened since this was asked last. */
  tell(): Told {
    const told = this.#told
    this.#told = { changed: [], alarms: [] }
    return told
  }

  /**
   * Takes in a reading and concludes nothing yet. Gives the hosts that turn out to be silent since before this run: nothing is concluded
   * of them before their witnesses were asked.
   *
   * @param at ISO time
   */
  takeIn(reading: ServicesReading, { askedAt, answeredAt }: Found, at: string): HostName[] {
    const { settings } = this.#rules()
    const blind = this.#readAt !== null && askedAt - this.#readAt > holeMs(settings)
    const late = this.#askedAt !== null && askedAt - this.#askedAt > missesBeatMs(settings)
    // An answer without any nova-compute shows nothing of one: what was before it is a hole as well.
    if (reading.services.some(({ binary }) => binary === 'nova-compute')) {
      this.#readAt = answeredAt
      this.#askedAt = askedAt
    }
    this.#controlPlane.take(reading, answeredAt, blind)
    this.#tracks.take(reading.services, answeredAt, { blind, late, at })
    return this.#tracks.standStill(this.#kept?.take(reading, this.#tracks.all(), askedAt) ?? new Map())
  }

  /**
   * Control plane first, then host by host. `askedAt` dates the silence: what a slow answer hides is not silence.
   *
   * @param only the host whose probes were asked; null: those of every silent one
   * @param at ISO time
   */
  judge({ services, witnesses, askedAt, answeredAt }: Found, only: HostName | null, at: string): void {
    const reading = services instanceof Error ? null : services
    this.#tracks.takeProbes(witnesses, askedAt, only)
    const { freeze: fault, doubt } = this.#assess(services, askedAt)
    this.#inDoubt = doubt !== null
    this.#applyFault(fault, { askedAt, now: answeredAt })
    this.#verdicts = null
    if (reading !== null) for (const track of this.#tracks.all()) this.#judgeHost(track, doubt, askedAt, at)
    if (only === null) this.#keepSilence(askedAt)
  }

  #applyFault(fault: Fault | null, poll: { askedAt: number; now: number }): void {
    const { now } = poll
    const change = nextFreeze(this.#freeze, fault, poll, this.#rules().settings.quietAfterFreezeMs)
    this.#freeze = change.freeze
    const frozen = this.frozen()
    if (change.began && frozen) this.#told.froze = frozen
    if (change.ended) this.#told.unfroze = change.ended
    if (!change.faultEnded) return
    this.#tracks.restartSilence(now)
    this.#controlPlane.restartSilence(now)
  }

  #keepSilence(now: number): void {
    if (this.#freeze !== null) return this.#kept?.drop()
    const silence = this.#kept?.record(now)
    if (silence) this.#told.silence = silence
  }

  #assess(services: Found['services'], at: number): { freeze: Fault | null; doubt: Fault | null } {
    const failed = services instanceof Error
    const seen = {
      apiError: failed ? services.message : null,
      reading: failed ? null : services,
      hosts: this.#comparable(),
      at,
    }
    const missed = (pulse: Pulse): number => this.#tracks.missed(pulse, at)
    const assessed = this.#controlPlane.assess(seen, missed, this.#rules().settings)
    const fault = this.#kept?.fault(at) ?? null
    return fault === null || assessed.freeze !== null ? assessed : { freeze: fault, doubt: null }
  }

  #comparable(): ComputeFacts[] {
    const facts: ComputeFacts[] = []
    const { settings } = this.#rules()
    for (const { host, pulse, readable, ...track } of this.#tracks.all()) {
      const isMeantToRun = pulse.status === 'enabled' || this.#asks.setAside(host)
      if (!readable || !isMeantToRun || pulse.forcedDown) continue
      const { alive, dead } = witnessesIn(track.readings)
      // A dead host that boots answers its probes before its nova-compute beats. Several of them at once, as the power of a
      // site returns, are no broker fault.
      const foundDead = track.lastBeatOfDead === pulse.lastBeatAt
      const expected = this.#asks.planned(host, track.segment.name) !== null
      const explained = expected || foundDead || (alive.length === 0 && dead.length > 0)
      facts.push({ host, lastBeatAt: pulse.lastBeatAt, intervalMs: intervalOf(pulse, settings), explained })
    }
    return facts
  }

  #judgeHost(track: Track, doubt: Fault | null, now: number, at: string): void {
    const { settings } = this.#rules()
    const previous = track.verdict.kind
    const silence = silenceOf(track.pulse, now, settings)
    const conclusion = this.#conclude(track, silence, doubt)
    const { kind, reason, message } = conclusion ? this.#withPlan(track, conclusion) : track.verdict
    // Its witnesses were asked for the recovery that is over; nothing of a return rests on them.
    if (kind === 'returning' && previous !== 'host-down') track.readings = []
    const evidence = evidenceOf(track, silence, now, settings)
    if (kind === 'host-down') track.lastBeatOfDead = track.pulse.lastBeatAt
    track.verdict = { host: track.host, segment: track.segment.name, kind, reason, message, at, evidence }
    if (kind !== previous) this.#changed(track.verdict, previous)
  }

  /** Null: the old verdict stands. */
  #conclude(track: Track, silence: Silence, doubt: Fault | null): Conclusion | null {
    const previous = track.verdict.kind
    const conclusion = track.readable ? this.#byTheRules(track, silence, doubt) : unread(track)
    if (!this.#freeze) return conclusion
    return whileFrozen(conclusion, previous, track.readable && isUnread(track.verdict))
  }

  #byTheRules(track: Track, { silentMs, intervalMs, suspicion }: Silence, doubt: Fault | null): Conclusion {
    const { alive, dead, deadKinds } = witnessesIn(track.readings)
    const previous = track.verdict.kind
    const conclusion = conclude(
      {
        pulse: track.pulse,
        state: track.row.state,
        ours: this.#asks.ours(track.host),
        hasOurFlags: this.#asks.hasOurFlags(track.host),
        incidentOver: this.#asks.incidentOver(track.host),
        segment: track.segment,
        silentMs,
        intervalMs,
        suspicion,
        probes: { configured: track.segment.probes.length, alive, dead, deadKinds, deadInARow: track.deadInARow },
        previous,
      },
      this.#rules().settings,
    )
    return doubt ? whileInDoubt(conclusion, previous, doubt.message) : conclusion
  }

  /** The verdict stays what was seen; the plan is said beside it. */
  #withPlan({ host, segment }: Track, conclusion: Conclusion): Conclusion {
    const planned = this.#asks.planned(host, segment.name)
    return planned === null ? conclusion : { ...conclusion, message: `${conclusion.message}; ${planned}` }
  }

  #changed(verdict: Verdict, from: VerdictKind): void {
    const { host, segment, kind, reason, message, evidence } = verdict
    const isPlanned = this.#asks.planned(host, segment) !== null
    this.#told.changed.push({ ...verdict, from, ...(isPlanned && { planned: true as const }) })
    if (kind === 'contradiction')
      this.#told.alarms.push({ code: reason, message: `${host}: ${message}`, host, evidence })
  }
}

/** Of a host whose row cannot be read. */
function unread({ missingSince }: Track): Conclusion {
  const message = missingSince === null ? 'Nova cannot reach its cell' : 'Nova no longer lists it'
  const reason: UnreadReason = missingSince === null ? 'CELL_UNREACHABLE' : 'ROW_MISSING'
  return { kind: 'unknown', reason, message }
}
