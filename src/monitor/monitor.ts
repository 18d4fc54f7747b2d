/**
 * The monitor: one reading of os-services per poll, probes of silent hosts beside it, verdicts out of both. Owns the
 * pulses, the freeze and the last verdicts. Never writes to the cloud, and a failing cloud never makes it throw.
 */
import type { Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import { ensureError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import type { Segment, SegmentOf } from '../domain/segment.ts'
import type { HostName, ServiceRecord, ServicesReading } from '../domain/service.ts'
import {
  isUnread,
  type Probe,
  type ProbeReading,
  type UnreadReason,
  type Verdict,
  type VerdictKind,
} from '../domain/verdict.ts'
import { ClockSkew } from './clock-skew.ts'
import { Aggregates } from './aggregates.ts'
import { assessControlPlane, type ComputeFacts, type Fault } from './control-plane.ts'
import { nextFreeze, type Freeze } from './freezer.ts'
import { firstSight, intervalOf, ownWrite, restart, stoodStill, suspicionAfter, take, type Pulse } from './heartbeat.ts'
import { KeptSilence } from './kept-silence.ts'
import { probeRound } from './probe-round.ts'
import type { Frozen, MonitorParts, MonitorRules, PollReport, Reading } from './report.ts'
import { holeMs, type MonitorSettings } from './settings.ts'
import { judge, whileFrozen, whileInDoubt, type Conclusion } from './verdict-rules.ts'
import { evidenceOf, notListed, type Track } from './track.ts'
import { deadInARow, witnessesIn } from './witnesses.ts'
import { Workers } from './workers.ts'

/** A service that Nova no longer lists is forgotten after this. Shorter: a flapping cell loses what was learnt. */
const forgetAfterMs = 600_000

export class Monitor {
  readonly #cloud: Pick<Cloud, 'listServices' | 'listAggregates'>
  readonly #clock: Clock
  #segmentOf: SegmentOf
  #probes: ReadonlyMap<string, Probe>
  #settings: MonitorSettings
  /** The look under way: cut off when the rules change. */
  #underWay: AbortController | null = null
  readonly #ours: (host: HostName) => boolean
  readonly #incidentOver: (host: HostName) => boolean
  readonly #observer: Observer
  readonly #hasOurFlags: (host: HostName) => boolean
  readonly #setAside: (host: HostName) => boolean
  readonly #planned: (host: HostName, segment: string) => string | null
  readonly #aggregates: Aggregates
  readonly #hosts = new Map<HostName, Track>()
  readonly #workers = new Workers()
  readonly #clocks = new ClockSkew()
  #hadComputes = false
  #readAt: number | null = null
  #freeze: Freeze | null = null
  #inDoubt = false
  #lastRead: Reading | null = null
  #tookMs = 0
  #lastPoll: { at: number; ok: boolean; tookMs: number; error: string | null } | null = null
  #readError: string | null = null
  /** Null after a change. The same array as long as nothing was looked at: what is derived from it may be kept as long. */
  #verdicts: Verdict[] | null = null
  /** Null: this start stands alone, so nothing is kept for a next one. */
  readonly #kept: KeptSilence | null
  #pending: Pick<PollReport, 'changed' | 'alarms' | 'froze' | 'unfroze' | 'silence'> = { changed: [], alarms: [] }
  /** Readings are taken in one after another: an older answer after a newer one would look like a beat. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(options: MonitorParts) {
    this.#cloud = options.cloud
    this.#clock = options.clock
    this.#segmentOf = options.segmentOf
    this.#probes = options.probes
    this.#settings = options.settings
    this.#ours = options.ours
    this.#incidentOver = options.incidentOver ?? (() => false)
    this.#observer = options.observer
    this.#hasOurFlags = options.hasOurFlags ?? (() => false)
    this.#setAside = options.setAside ?? (() => false)
    this.#planned = options.planned ?? (() => null)
    this.#freeze = options.frozenBefore ? { ...options.frozenBefore, quietSince: null, inherited: true } : null
    const { cloud, clock, observer } = options
    const { amongStarts = null } = options
    this.#kept = amongStarts && new KeptSilence(clock, () => this.#settings, amongStarts.before)
    this.#aggregates = new Aggregates(cloud, clock, () => this.#settings.aggregatesEveryMs, observer)
  }

  /**
   * Takes new rules, at once and as a whole. What was learnt of the hosts stays; what their witnesses said does not, for other
   * ones may be asked from now on. A look under way is thrown away and done again: no verdict is made of old and new.
   */
  adopt({ segmentOf, probes, settings }: MonitorRules): void {
    this.#segmentOf = segmentOf
    this.#probes = probes
    this.#settings = settings
    this.#verdicts = null
    for (const track of this.#hosts.values()) {
      const { host, row, verdict } = track
      track.segment = segmentOf(host, row.zone, this.#aggregates.names(host))
      track.readings = []
      track.deadInARow = 0
      track.verdict = { ...verdict, segment: track.segment.name }
    }
    this.#underWay?.abort()
  }

  /** Reads the cloud once. API failures do not throw: they freeze. What `lookAgain` found in between is in the report too. */
  poll(signal?: AbortSignal): Promise<PollReport> {
    return this.#inTurn(async () => {
      const startedAt = this.#clock.now()
      const ok = await this.#look(null, signal)
      const { changed, ...pending } = this.#pending
      this.#pending = { changed: [], alarms: [] }
      const tookMs = this.#clock.now() - startedAt
      this.#lastPoll = { at: this.#clock.now(), ok, tookMs, error: this.#readError }
      const verdicts = this.verdicts()
      const frozen = this.frozen()
      this.#observer.poll?.({ tookMs, ok, hosts: verdicts.length, frozen: frozen?.reason ?? null, verdicts })
      return { ok, frozen, ...pending, changed, verdicts, tookMs }
    })
  }

  /**
   * A fresh reading with the probes of one host, right before something is done to it. A host that Nova does not list
   * comes back as verdict `unknown`. Never throws for API failures.
   */
  lookAgain(host: HostName, signal?: AbortSignal): Promise<{ verdict: Verdict; frozen: Frozen | null }> {
    return this.#inTurn(async () => {
      await this.#look(host, signal)
      return { verdict: this.#hosts.get(host)?.verdict ?? this.#notListed(host, ''), frozen: this.frozen() }
    })
  }

  /** Our own PUT moved the row's stamp: no heartbeat. */
  noteOurWrite(host: HostName, updatedAt: string | null): void {
    const track = this.#hosts.get(host)
    if (track) track.pulse = ownWrite(track.pulse, updatedAt)
  }

  verdicts(): Verdict[] {
    return (this.#verdicts ??= [...this.#hosts.values()].map((track) => track.verdict))
  }

  verdict(host: HostName): Verdict | undefined {
    return this.#hosts.get(host)?.verdict
  }

  /** The rules a host is under, by what is known of its zone and aggregates. */
  segment(host: HostName): Segment {
    return this.#hosts.get(host)?.segment ?? this.#segmentOf(host, null, this.#aggregates.names(host))
  }

  /**
   * The same by `rules`, where the host's row has been read since the start; else null, for its zone is not known yet.
   */
  placed(host: HostName, rules: SegmentOf = this.#segmentOf): Segment | null {
    const row = this.#hosts.get(host)?.row
    // Of a cell that cannot be reached Nova lists the row without its zone.
    if (row === undefined || row.status === 'unknown') return null
    return rules(host, row.zone, this.#aggregates.names(host))
  }

  /** Every segment that has hosts. */
  segments(): Segment[] {
    return [...new Map([...this.#hosts.values()].map(({ segment }) => [segment.name, segment])).values()]
  }

  /** The row of its nova-compute as last read. */
  service(host: HostName): ServiceRecord | undefined {
    return this.#hosts.get(host)?.row
  }

  zone(host: HostName): string | null {
    return this.#hosts.get(host)?.row.zone ?? null
  }

  /** The last poll that ended, on our monotonic clock; null before the first. */
  lastPoll(): { at: number; ok: boolean; tookMs: number; error: string | null } | null {
    return this.#lastPoll
  }

  /** The last reading of the services that was good, of a poll or of a look at one host; null before the first. */
  lastRead(): Reading | null {
    return this.#lastRead
  }

  frozen(): Frozen | null {
    return this.#freeze && { reason: this.#freeze.reason, message: this.#freeze.message, since: this.#freeze.since }
  }

  /** The last look did not believe the control plane enough to confirm that a host is dead. */
  inDoubt(): boolean {
    return this.#inDoubt
  }

  /** What the host's aggregates say for a metadata key: its failure domains. */
  domains(host: HostName, key: string): string[] {
    return this.#aggregates.values(host, key)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work)
    this.#queue = turn.catch(() => undefined)
    return turn
  }

  /**
   * Reading and probes side by side, so that probing costs no time of its own. Probes of `only` this host; null: of every
   * silent one.
   */
  async #look(only: HostName | null, stop: AbortSignal | undefined): Promise<boolean> {
    const cut = new AbortController()
    const { signal } = cut
    const follow = (): void => cut.abort()
    if (stop?.aborted) follow()
    else stop?.addEventListener('abort', follow, { once: true })
    this.#underWay = cut
    const askedAt = this.#clock.now()
    const hosts = only === null ? this.#silentHosts(askedAt) : new Set([only])
    const [reading, readings] = await Promise.all([
      this.#read({ signal }).catch((thrown: unknown) => ensureError(thrown)),
      this.#askProbes(hosts, signal),
    ])
    const now = this.#clock.now()
    const failed = reading instanceof Error
    if (!failed && !signal.aborted) {
      // Of a host that is silent since before this run nothing is concluded before its witnesses were asked.
      const unasked = new Set([...this.#takeIn(reading, askedAt, now)].filter((host) => !hosts.has(host)))
      if (unasked.size > 0) for (const asked of await this.#askProbes(unasked, signal)) readings.set(...asked)
    }
    this.#underWay = null
    stop?.removeEventListener('abort', follow)
    if (stop?.aborted) return false
    // The rules changed meanwhile.
    if (signal.aborted) return this.#look(only, stop)
    this.#readError = failed ? reading.message : null
    if (failed) this.#observer.log?.('warn', 'monitor.read-failed', { code: reading.code }, reading)
    else {
      const tookMs = now - askedAt
      this.#lastRead = { askedAt, usuallyMs: Math.min(tookMs, this.#tookMs) }
      this.#tookMs = tookMs
    }
    this.#takeProbes(readings, askedAt, only)
    this.#applyReading(failed ? reading.message : null, failed ? null : reading, askedAt, now)
    if (only === null) this.#keepSilence(askedAt)
    return !failed && reading.services.length > 0
  }

  async #read(options: { signal?: AbortSignal }): Promise<ServicesReading> {
    const [reading] = await Promise.all([this.#cloud.listServices(options), this.#aggregates.readWhenDue(options)])
    return reading
  }

  #silentHosts(now: number): Set<HostName> {
    const silent = new Set<HostName>()
    for (const track of this.#hosts.values()) {
      // Its recovery is over: only its heartbeat speaks of its return. While one goes on, a witness may find it alive again.
      if (track.verdict.kind === 'returning') continue
      if (this.#missed(track.pulse, now) >= this.#settings.suspectAfterBeats) silent.add(track.host)
    }
    return silent
  }

  #askProbes(hosts: ReadonlySet<HostName>, signal: AbortSignal): Promise<Map<HostName, ProbeReading[]>> {
    const orders = [...hosts].flatMap((host) => {
      const track = this.#hosts.get(host)
      if (!track) return []
      const probes = track.segment.probes.flatMap((name) => this.#probes.get(name) ?? [])
      return probes.length > 0 ? [{ host, probes }] : []
    })
    const { probeLimitMs, maxParallelProbes } = this.#settings
    return probeRound(orders, { clock: this.#clock, limitMs: probeLimitMs, atOnce: maxParallelProbes, signal })
  }

  /** Gives the hosts that turn out to be silent since before this run. */
  #takeIn(reading: ServicesReading, askedAt: number, now: number): HostName[] {
    const blind = this.#readAt !== null && askedAt - this.#readAt > holeMs(this.#settings)
    this.#readAt = now
    const seen = new Set<HostName>()
    this.#workers.take(reading.services, now, blind)
    for (const row of reading.services) {
      if (row.binary !== 'nova-compute') continue
      seen.add(row.host)
      this.#takeCompute(row, now, blind)
    }
    if (seen.size > 0) this.#missing(seen, now)
    const since = [...(this.#kept?.take(reading, this.#hosts.values(), askedAt) ?? [])]
    return since.flatMap(([host, silentSince]) => {
      const track = this.#hosts.get(host)
      const pulse = track && stoodStill(track.pulse, silentSince)
      if (track === undefined || pulse === undefined || pulse === track.pulse) return []
      track.pulse = pulse
      return [host]
    })
  }

  #keepSilence(now: number): void {
    if (this.#freeze !== null) return this.#kept?.drop()
    const silence = this.#kept?.record(now)
    if (silence) this.#pending.silence = silence
  }

  #takeCompute(row: ServiceRecord, now: number, blind: boolean): void {
    const track = this.#hosts.get(row.host)
    const readable = row.status !== 'unknown'
    if (!track) {
      const segment = this.#segmentOf(row.host, row.zone, this.#aggregates.names(row.host))
      const verdict = this.#notListed(row.host, segment.name)
      const pulse = firstSight(row, now)
      const fresh = {
        host: row.host,
        row,
        pulse,
        segment,
        readable,
        missingSince: null,
        readings: [],
        deadInARow: 0,
        lastBeatOfDead: null,
        verdict,
      }
      this.#hosts.set(row.host, fresh)
      return
    }
    track.missingSince = null
    if (!readable) {
      track.readable = false
      return
    }
    // The zone of a row that was UNKNOWN at first is learnt here, and aggregates may have changed.
    track.segment = this.#segmentOf(row.host, row.zone, this.#aggregates.names(row.host))
    const wasUnknown = track.pulse.status === 'unknown'
    const before = blind || !track.readable ? restart(track.pulse, now) : track.pulse
    track.pulse = wasUnknown ? firstSight(row, now) : take(before, row, now)
    track.row = row
    track.readable = true
  }

  #missing(seen: ReadonlySet<HostName>, now: number): void {
    for (const track of this.#hosts.values()) {
      if (seen.has(track.host)) continue
      track.readable = false
      track.missingSince ??= now
      if (now - track.missingSince >= forgetAfterMs) this.#hosts.delete(track.host)
    }
  }

  /** A look at one host leaves what was said of the others while they stay silent: nobody asked them. */
  #takeProbes(readings: ReadonlyMap<HostName, ProbeReading[]>, now: number, only: HostName | null): void {
    for (const track of this.#hosts.values()) {
      const silent = this.#missed(track.pulse, now) >= this.#settings.suspectAfterBeats
      if (only !== null && track.host !== only && silent) continue
      track.readings = readings.get(track.host) ?? []
      const rules = { silent, kindsNeeded: this.#settings.minDeadProbeKinds }
      track.deadInARow = deadInARow(track.deadInARow, witnessesIn(track.readings), rules)
    }
  }

  /** Control plane first, then host by host. `at` dates the silence: what a slow answer hides is not silence. */
  #applyReading(apiError: string | null, reading: ServicesReading | null, at: number, now: number): void {
    const { freeze: fault, doubt } = this.#assess(apiError, reading, at)
    this.#inDoubt = doubt !== null
    const change = nextFreeze(this.#freeze, fault, now, this.#settings.quietAfterFreezeMs)
    this.#freeze = change.freeze
    const frozen = this.frozen()
    if (change.began && frozen) this.#pending.froze = frozen
    if (change.ended) this.#pending.unfroze = change.ended
    if (change.faultEnded) this.#restartSilence(now)
    this.#verdicts = null
    if (reading === null) return
    const atIso = new Date(this.#clock.wall()).toISOString()
    for (const track of this.#hosts.values()) this.#conclude(track, doubt, at, atIso)
  }

  #restartSilence(now: number): void {
    for (const track of this.#hosts.values())
      if (track.pulse.lastBeatAt !== now) track.pulse = restart(track.pulse, now)
    this.#workers.restartSilence(now)
  }

  #assess(
    apiError: string | null,
    reading: ServicesReading | null,
    now: number,
  ): { freeze: Fault | null; doubt: Fault | null } {
    const services = reading?.services ?? []
    const computes = services.filter((row) => row.binary === 'nova-compute').length
    const facts = {
      now,
      apiError,
      rows: services.length,
      computes,
      hadComputes: this.#hadComputes,
      hadConductors: this.#workers.had('nova-conductor'),
      hadSchedulers: this.#workers.had('nova-scheduler'),
      workers: this.#workers.facts((pulse) => this.#missed(pulse, now)),
      hosts: this.#comparable(),
      skew: reading ? this.#clocks.take(reading, now) : null,
    }
    if (computes > 0) this.#hadComputes = true
    const assessed = assessControlPlane(facts, this.#settings)
    const fault = this.#kept?.fault(now) ?? null
    return fault === null || assessed.freeze !== null ? assessed : { freeze: fault, doubt: null }
  }

  #comparable(): ComputeFacts[] {
    const facts: ComputeFacts[] = []
    for (const { host, pulse, readable, ...track } of this.#hosts.values()) {
      const isMeantToRun = pulse.status === 'enabled' || this.#setAside(host)
      if (!readable || !isMeantToRun || pulse.forcedDown) continue
      const { alive, dead } = witnessesIn(track.readings)
      // A dead host that boots answers its probes before its nova-compute beats. Several of them at once, as the power of a
      // site returns, are no broker fault.
      const foundDead = track.lastBeatOfDead === pulse.lastBeatAt
      const expected = this.#planned(host, track.segment.name) !== null
      const explained = expected || foundDead || (alive.length === 0 && dead.length > 0)
      facts.push({ host, lastBeatAt: pulse.lastBeatAt, intervalMs: this.#interval(pulse), explained })
    }
    return facts
  }

  #conclude(track: Track, doubt: Fault | null, now: number, at: string): void {
    const { alive, dead, deadKinds } = witnessesIn(track.readings)
    const previous = track.verdict.kind
    const { pulse } = track
    const silentMs = Math.max(0, now - pulse.silentSince)
    const intervalMs = this.#interval(pulse)
    const missedBeats = silentMs / intervalMs
    const suspicion = suspicionAfter(pulse, silentMs, this.#settings)
    let conclusion: Conclusion | null
    if (!track.readable) {
      const message = track.missingSince === null ? 'Nova cannot reach its cell' : 'Nova no longer lists it'
      const reason: UnreadReason = track.missingSince === null ? 'CELL_UNREACHABLE' : 'ROW_MISSING'
      conclusion = { kind: 'unknown', reason, message }
    } else {
      conclusion = judge(
        {
          pulse,
          state: track.row.state,
          ours: this.#ours(track.host),
          hasOurFlags: this.#hasOurFlags(track.host),
          incidentOver: this.#incidentOver(track.host),
          segment: track.segment,
          silentMs,
          intervalMs,
          suspicion,
          probes: { configured: track.segment.probes.length, alive, dead, deadKinds, deadInARow: track.deadInARow },
          previous,
        },
        this.#settings,
      )
      if (doubt) conclusion = whileInDoubt(conclusion, previous, doubt.message)
    }
    if (this.#freeze) conclusion = whileFrozen(conclusion, previous, track.readable && isUnread(track.verdict))
    const { kind, reason, message } = conclusion ? this.#withPlan(track, conclusion) : track.verdict
    // Its witnesses were asked for the recovery that is over; nothing of a return rests on them.
    if (kind === 'returning' && previous !== 'host-down') track.readings = []
    const evidence = evidenceOf(track, { silentMs, intervalMs, missedBeats, suspicion }, now, this.#settings)
    if (kind === 'host-down') track.lastBeatOfDead = track.pulse.lastBeatAt
    track.verdict = { host: track.host, segment: track.segment.name, kind, reason, message, at, evidence }
    if (kind !== previous) this.#changed(track.verdict, previous)
  }

  /** The verdict stays what was seen; the plan is said beside it. */
  #withPlan({ host, segment }: Track, conclusion: Conclusion): Conclusion {
    const planned = this.#planned(host, segment.name)
    return planned === null ? conclusion : { ...conclusion, message: `${conclusion.message}; ${planned}` }
  }

  #changed(verdict: Verdict, from: VerdictKind): void {
    this.#pending.changed.push({ ...verdict, from })
    const { host, kind, reason, message, evidence } = verdict
    if (kind === 'contradiction')
      this.#pending.alarms.push({ code: reason, message: `${host}: ${message}`, host, evidence })
  }

  #interval(pulse: Pulse): number {
    return intervalOf(pulse, this.#settings)
  }

  #missed(pulse: Pulse, now: number): number {
    return Math.max(0, now - pulse.silentSince) / this.#interval(pulse)
  }

  #notListed(host: HostName, segment: string): Verdict {
    return notListed(host, segment, new Date(this.#clock.wall()).toISOString(), this.#settings.defaultIntervalMs)
  }
}
