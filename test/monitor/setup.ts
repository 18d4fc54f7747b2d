/** A clock that tests move by hand, and a fleet whose rows beat like Nova's: one-second stamps, phases of their own. */
import type { Clock } from '../../src/domain/clock.ts'
import { builtInSettings, type Segment } from '../../src/domain/segment.ts'
import type { ServiceRecord, ServicesReading } from '../../src/domain/service.ts'
import type { SilenceOnRecord } from '../../src/domain/silence.ts'
import type { Probe, ProbeReading, VerdictKind } from '../../src/domain/verdict.ts'
import { Monitor } from '../../src/monitor/monitor.ts'
import type { Frozen, PollReport } from '../../src/monitor/report.ts'
import { defaultMonitorSettings, type MonitorSettings } from '../../src/monitor/settings.ts'

export class HandClock implements Clock {
  #now = 1_000_000
  #wallAhead = 0
  #timers = new Set<{ at: number; fire: () => void }>()
  now(): number {
    return this.#now
  }
  wall(): number {
    return Date.UTC(2026, 0, 1) + this.#now + this.#wallAhead
  }
  /** Someone sets the wall clock; time itself goes on as before. */
  stepWall(ms: number): void {
    this.#wallAhead += ms
  }
  after(delayMs: number, fire: () => void): () => void {
    const timer = { at: this.#now + delayMs, fire }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }
  advance(ms: number): void {
    this.#now += ms
    for (const timer of [...this.#timers]) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue
      timer.fire()
    }
  }
}

export const segment: Segment = {
  ...builtInSettings,
  name: 'az1',
  storage: 'shared',
  brake: { maxHosts: 2, maxShare: 0.5 },
}

export function row(host: string, change: Partial<ServiceRecord> = {}): ServiceRecord {
  return {
    id: `id-${host}`,
    binary: 'nova-compute',
    host,
    zone: 'az1',
    status: 'enabled',
    state: 'up',
    updatedAt: '2026-01-01T00:00:00.000000',
    forcedDown: false,
    disabledReason: null,
    ...change,
  }
}

interface FakeHost {
  row: ServiceRecord
  beats: boolean
  phase: number
  intervalMs: number
  lastBeat: number
  nextBeat: number
}

export type Answers = Record<string, ProbeReading['answer']>

/** Beats every 2 s, polled every 0.5 s, Nova's down time 8 s, unless told otherwise. */
export class Fleet {
  readonly clock = new HandClock()
  readonly hosts = new Map<string, FakeHost>()
  monitor: Monitor
  readonly settings: MonitorSettings
  readonly ours = new Set<string>()
  readonly reports: PollReport[] = []
  /** Per probe: answer by host; hosts without one are unknown. */
  readonly answers: Record<string, Answers> = {}
  /** Told of each question to a probe. */
  asked: (host: string) => void = () => undefined
  apiDown = false
  /** How long a poll hangs before it fails. */
  apiHangsMs = 0
  emptyAnswer = false
  serverSkewMs = 0
  downAfterMs = 8_000
  jitterMs = 0
  #seed = 1
  #cloudAhead = 0
  readonly #begin: (before: (SilenceOnRecord & { at: string }) | null | undefined, learnt?: Monitor) => Monitor

  constructor(
    names: string[],
    options: {
      settings?: Partial<MonitorSettings>
      probes?: ProbeReading['kind'][]
      segment?: Partial<Segment>
      frozenBefore?: Frozen
    } = {},
  ) {
    this.settings = {
      ...defaultMonitorSettings,
      pollIntervalMs: 500,
      defaultIntervalMs: 2_000,
      startSilenceMs: 8_000,
      quietAfterFreezeMs: 20_000,
      ...options.settings,
    }
    names.forEach((name, index) => this.add(row(name), (index * 613) % 2_000))
    this.add(row('ctl-c', { binary: 'nova-conductor', zone: 'internal' }), 100)
    this.add(row('ctl-s', { binary: 'nova-scheduler', zone: 'internal' }), 900)
    const kinds = options.probes ?? []
    for (const kind of kinds) this.answers[kind] = {}
    this.#begin = (before, learnt) =>
      new Monitor(
        {
          cloud: { listServices: () => this.#list(), listAggregates: () => Promise.resolve([]) },
          clock: this.clock,
          segmentOf: () => ({ ...segment, probes: kinds, ...options.segment }),
          probes: new Map(kinds.map((kind) => [kind, this.#probe(kind)])),
          settings: this.settings,
          ours: (host) => this.ours.has(host),
          frozenBefore: options.frozenBefore ?? null,
          ...(before !== undefined && { amongStarts: { before } }),
          observer: {},
        },
        learnt,
      )
    this.monitor = this.#begin(undefined)
  }

  /** The daemon died and is started, among other starts, with what the run before left on record. */
  startAgain(before: (SilenceOnRecord & { at: string }) | null): void {
    this.monitor = this.#begin(before)
  }

  /** The monitor only stood by so far, and another one takes its place with what it learnt. */
  takeOver(): void {
    this.monitor = this.#begin(undefined, this.monitor)
  }

  add(record: ServiceRecord, phase = 0): void {
    const now = this.clock.now()
    this.hosts.set(record.host, {
      row: record,
      beats: true,
      phase,
      intervalMs: 2_000,
      lastBeat: now,
      nextBeat: now + phase,
    })
    record.updatedAt = this.#stamp(now)
  }

  host(name: string): FakeHost {
    const found = this.hosts.get(name)
    if (!found) throw new Error(`no ${name} in this fleet`)
    return found
  }

  silence(...names: string[]): void {
    for (const name of names) this.host(name).beats = false
  }

  /** One beat comes so much later than due: a pause of garbage collection, say. */
  pauseOnce(name: string, ms: number): void {
    this.host(name).nextBeat += ms
  }

  wake(...names: string[]): void {
    for (const name of names) Object.assign(this.host(name), { beats: true, nextBeat: this.clock.now() })
  }

  /** Someone's PUT: it moves the stamp like a heartbeat does. Gives the stamp. */
  put(name: string, change: Partial<ServiceRecord>): string {
    const updatedAt = this.#stamp(this.clock.now())
    Object.assign(this.host(name).row, change, { updatedAt })
    return updatedAt
  }

  probe(kind: string, answers: Answers): void {
    Object.assign(this.answers[kind] ?? {}, answers)
  }

  /** Lets time pass with a poll every poll interval. Stops early when `until` says so. */
  async run(ms: number, until: (report: PollReport) => boolean = () => false): Promise<PollReport> {
    for (let left = ms; ; left -= this.settings.pollIntervalMs) {
      const report = await this.monitor.poll()
      this.reports.push(report)
      if (left <= 0 || until(report)) return report
      this.pass(this.settings.pollIntervalMs)
    }
  }

  pass(ms: number): void {
    const end = this.clock.now() + ms
    for (const host of this.hosts.values()) {
      while (host.nextBeat <= end) {
        if (host.beats) {
          host.lastBeat = host.nextBeat
          host.row.updatedAt = this.#stamp(host.nextBeat)
        }
        host.nextBeat += host.intervalMs + this.#random() * this.jitterMs
      }
    }
    this.clock.advance(ms)
  }

  /** The monitor's machine sleeps, its monotonic clock with it; the cloud's hosts go on beating. */
  sleep(ms: number): void {
    this.#cloudAhead += ms
    this.clock.stepWall(ms)
    for (const { row: record, beats, lastBeat } of this.hosts.values())
      if (beats) record.updatedAt = this.#stamp(lastBeat)
  }

  kind(host: string): VerdictKind | undefined {
    return this.monitor.verdict(host)?.kind
  }

  reason(host: string): string | undefined {
    return this.monitor.verdict(host)?.reason
  }

  /** Every kind that a host has been, in order. */
  history(host: string): VerdictKind[] {
    return this.reports.flatMap((report) => report.changed.filter((one) => one.host === host).map((one) => one.kind))
  }

  #list(): Promise<ServicesReading> {
    if (this.apiDown) {
      this.pass(this.apiHangsMs)
      return Promise.reject(new Error('503 from the proxy'))
    }
    const now = this.clock.now()
    const services = [...this.hosts.values()].map(({ row: record, lastBeat }) => {
      const state = record.forcedDown || now - lastBeat > this.downAfterMs ? ('down' as const) : ('up' as const)
      return record.status === 'unknown' ? { ...record, id: null, state: null, updatedAt: null } : { ...record, state }
    })
    const serverTimeMs = Date.UTC(2026, 0, 1) + now + this.#cloudAhead + this.serverSkewMs
    return Promise.resolve({
      services: this.emptyAnswer ? [] : services,
      serverTimeMs,
      tookMs: 1,
      showsLostCells: true,
    })
  }

  #probe(kind: ProbeReading['kind']): Probe {
    return {
      name: kind,
      kind,
      read: (host) => {
        this.asked(host)
        const answer = this.answers[kind]?.[host] ?? 'unknown'
        return Promise.resolve({ probe: kind, kind, answer, detail: 'as told', at: '' })
      },
    }
  }

  /** Stamps have a resolution of one second, and no zone. */
  #stamp(now: number): string {
    return `${new Date(Date.UTC(2026, 0, 1) + now + this.#cloudAhead).toISOString().slice(0, 19)}.000000`
  }

  /** A plain repeatable generator: -0.5 to 0.5. */
  #random(): number {
    this.#seed = (this.#seed * 48_271) % 2_147_483_647
    return this.#seed / 2_147_483_647 - 0.5
  }
}
