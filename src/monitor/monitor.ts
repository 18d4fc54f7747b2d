/**
 * The monitor: one reading of os-services per poll, probes of silent hosts beside it, verdicts out of both. Owns the order of the looks,
 * and answers what others ask of them; reader.ts reads, judge.ts concludes. Never writes to the cloud, and a failing cloud never makes
 * it throw.
 */
import type { Clock } from '../domain/clock.ts'
import type { Observer } from '../domain/observer.ts'
import type { Segment, SegmentOf } from '../domain/segment.ts'
import type { HostName, ServiceRecord } from '../domain/service.ts'
import type { Verdict } from '../domain/verdict.ts'
import { Aggregates } from './aggregates.ts'
import { Judge } from './judge.ts'
import { KeptSilence } from './kept-silence.ts'
import { Reader } from './reader.ts'
import type { Frozen, MonitorParts, MonitorRules, PollReport, Reading } from './report.ts'
import { notListed } from './track.ts'
import { Tracks } from './tracks.ts'

export class Monitor {
  readonly #clock: Clock
  readonly #observer: Observer
  readonly #aggregates: Aggregates
  readonly #tracks: Tracks
  readonly #reader: Reader
  readonly #judge: Judge
  #rules: MonitorRules
  #lastPoll: { at: number; ok: boolean; tookMs: number; error: string | null } | null = null
  /** Readings are taken in one after another: an older answer after a newer one would look like a beat. */
  #queue: Promise<unknown> = Promise.resolve()

  /** @param learnt another one of this process, which watched the same hosts and ended: what it learnt of their heartbeats stays, and its freeze */
  constructor(options: MonitorParts, learnt: Monitor | null = null) {
    const { cloud, clock, observer, segmentOf, probes, settings } = options
    this.#clock = clock
    this.#observer = observer
    this.#rules = { segmentOf, probes, settings }
    const rules = (): MonitorRules => this.#rules
    this.#aggregates = new Aggregates(cloud, clock, () => this.#rules.settings.aggregatesEveryMs, observer)
    this.#tracks = new Tracks(rules, this.#aggregates)
    this.#reader = new Reader({ cloud, aggregates: this.#aggregates, clock, observer, rules })
    const { amongStarts = null, frozenBefore = null } = options
    if (learnt !== null) this.#tracks.learnFrom(learnt.#tracks)
    this.#judge = new Judge({
      rules,
      tracks: this.#tracks,
      asks: {
        ours: options.ours,
        incidentOver: options.incidentOver ?? (() => false),
        hasOurFlags: options.hasOurFlags ?? (() => false),
        setAside: options.setAside ?? (() => false),
        planned: options.planned ?? (() => null),
      },
      kept: amongStarts && new KeptSilence(clock, () => this.#rules.settings, amongStarts.before),
      frozenBefore,
      learnt: learnt && learnt.#judge,
    })
  }

  /**
   * Takes new rules, at once and as a whole. What was learnt of the hosts stays; what their witnesses said does not, for other
   * ones may be asked from now on. A look under way is thrown away and done again: no verdict is made of old and new.
   */
  adopt({ segmentOf, probes, settings }: MonitorRules): void {
    this.#rules = { segmentOf, probes, settings }
    this.#judge.rulesChanged()
    this.#reader.cutOff()
  }

  /** Reads the cloud once. API failures do not throw: they freeze. What `lookAgain` found in between is in the report too. */
  poll(signal?: AbortSignal): Promise<PollReport> {
    return this.#inTurn(async () => {
      const startedAt = this.#clock.now()
      const ok = await this.#look(null, signal)
      const told = this.#judge.tell()
      const tookMs = this.#clock.now() - startedAt
      this.#lastPoll = { at: this.#clock.now(), ok, tookMs, error: this.#reader.error() }
      const verdicts = this.verdicts()
      const frozen = this.frozen()
      this.#observer.poll?.({ tookMs, ok, hosts: verdicts.length, frozen: frozen?.reason ?? null, verdicts })
      return { ok, frozen, ...told, verdicts, tookMs }
    })
  }

  /**
   * A fresh reading with the probes of one host, right before something is done to it. A host that Nova does not list
   * comes back as verdict `unknown`. Never throws for API failures.
   */
  lookAgain(host: HostName, signal?: AbortSignal): Promise<{ verdict: Verdict; frozen: Frozen | null }> {
    return this.#inTurn(async () => {
      await this.#look(host, signal)
      return { verdict: this.verdict(host) ?? this.#notListed(host), frozen: this.frozen() }
    })
  }

  /** Our own PUT, which left at `sentAt`, moved the row's stamp: no heartbeat. */
  noteOurWrite(host: HostName, updatedAt: string | null, sentAt?: number): void {
    this.#tracks.noteOurWrite(host, updatedAt, sentAt)
  }

  /** Nova took our disable of its service: who enables it before the next poll is no heartbeat. */
  noteOurDisable(host: HostName): void {
    this.#tracks.noteOurDisable(host)
  }

  verdicts(): Verdict[] {
    return this.#judge.verdicts()
  }

  verdict(host: HostName): Verdict | undefined {
    return this.#tracks.get(host)?.verdict
  }

  /** When its nova-compute was last seen to beat, on our monotonic clock; null: not since the start. */
  lastBeat(host: HostName): number | null {
    const pulse = this.#tracks.get(host)?.pulse
    return pulse?.everBeat === true ? pulse.lastBeatAt : null
  }

  /** The rules a host is under, by what is known of its zone and aggregates. */
  segment(host: HostName): Segment {
    return this.#tracks.segment(host)
  }

  /**
   * The same by `rules`, where the host's row has been read since the start; else null, for its zone is not known yet.
   */
  placed(host: HostName, rules: SegmentOf = this.#rules.segmentOf): Segment | null {
    return this.#tracks.placed(host, rules)
  }

  /** Every segment that has hosts. */
  segments(): Segment[] {
    return this.#tracks.segments()
  }

  /** The row of its nova-compute as last read. */
  service(host: HostName): ServiceRecord | undefined {
    return this.#tracks.get(host)?.row
  }

  zone(host: HostName): string | null {
    return this.#tracks.get(host)?.row.zone ?? null
  }

  /** The last poll that ended, on our monotonic clock; null before the first. */
  lastPoll(): { at: number; ok: boolean; tookMs: number; error: string | null } | null {
    return this.#lastPoll
  }

  /** The last reading of the services that was good, of a poll or of a look at one host; null before the first. */
  lastRead(): Reading | null {
    return this.#reader.lastRead()
  }

  /** The cloud's own time as its last reading told, ms since the epoch; until one has, that of our wall clock. */
  cloudNow(): number {
    return this.#reader.cloudNow() ?? this.#clock.wall()
  }

  frozen(): Frozen | null {
    return this.#judge.frozen()
  }

  /** From when on verdicts move again, our monotonic clock, ms; null: nothing is frozen, or its fault still lasts. */
  thawsAt(): number | null {
    return this.#judge.thawsAt()
  }

  /** The last look did not believe the control plane enough to confirm that a host is dead. */
  inDoubt(): boolean {
    return this.#judge.inDoubt()
  }

  /** Names of the aggregates that the host is in. */
  aggregates(host: HostName): string[] {
    return this.#aggregates.names(host)
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

  /** Reads, then judges. Asks the probes of `only` this host; null: of every silent one. Gives whether Nova's answer was of use. */
  async #look(only: HostName | null, stop: AbortSignal | undefined): Promise<boolean> {
    const look = this.#reader.begin(stop)
    const hosts = only === null ? this.#tracks.silent(look.askedAt) : new Set([only])
    const found = await this.#reader.read(look, this.#tracks.probesOf(hosts))
    const { services } = found
    if (!(services instanceof Error) && !look.signal.aborted) {
      // Of a host that is silent since before this run nothing is concluded before its witnesses were asked.
      const silent = this.#judge.takeIn(services, found, this.#nowIso())
      const unasked = this.#tracks.probesOf(silent.filter((host) => !hosts.has(host)))
      if (unasked.size > 0) for (const asked of await this.#reader.ask(look, unasked)) found.witnesses.set(...asked)
    }
    // Nothing is awaited from here to the verdicts: rules that change in between would make verdicts of old and new.
    look.end()
    if (stop?.aborted) return false
    // The rules changed meanwhile.
    if (look.signal.aborted) return this.#look(only, stop)
    this.#reader.note(found)
    this.#judge.judge(found, only, this.#nowIso())
    return !(services instanceof Error) && services.services.length > 0
  }

  #notListed(host: HostName): Verdict {
    return notListed(host, '', this.#nowIso(), this.#rules.settings.defaultIntervalMs)
  }

  #nowIso(): string {
    return new Date(this.#clock.wall()).toISOString()
  }
}
