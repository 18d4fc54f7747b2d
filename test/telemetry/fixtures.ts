/** Shared set-up of the telemetry tests: a clock that is moved by hand, captured log lines, entries and verdicts. */
import type { Clock } from '../../src/domain/clock.ts'
import type { Entry, NewEntry } from '../../src/domain/entry.ts'
import type { Verdict, VerdictKind } from '../../src/domain/verdict.ts'
import { createTelemetry, type Telemetry } from '../../src/telemetry/telemetry.ts'

export interface HandClock extends Clock {
  advance(ms: number): void
}

export function handClock(): HandClock {
  let at = 0
  const timers = new Set<{ due: number; fire: () => void }>()
  return {
    now: () => at,
    wall: () => Date.UTC(2026, 0, 2) + at,
    after: (delayMs, fire) => {
      const timer = { due: at + delayMs, fire }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance: (ms) => {
      const end = at + ms
      for (;;) {
        const next = [...timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0]
        if (next === undefined) break
        timers.delete(next)
        at = next.due
        next.fire()
      }
      at = end
    },
  }
}

export interface Captured extends Telemetry {
  clock: HandClock
  lines: Record<string, unknown>[]
  /** The value of one sample, e.g. `lifeboat_hosts{segment="az1",verdict="healthy"}`; undefined when there is none. */
  sample: (series: string) => Promise<number | undefined>
}

export function captured(level: 'debug' | 'info' = 'debug'): Captured {
  const clock = handClock()
  const lines: Record<string, unknown>[] = []
  const stream = { write: (text: string) => void lines.push(JSON.parse(text) as Record<string, unknown>) }
  const telemetry = createTelemetry({ level, clock, version: '0.1.0', stream })
  const sample = async (series: string): Promise<number | undefined> => {
    const line = (await telemetry.metricsText()).split('\n').find((text) => text.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }
  return { ...telemetry, clock, lines, sample }
}

let seq = 0
/** An entry as the journal would have written it, `second` seconds after midnight. */
export function entry(news: NewEntry, second = 0): Entry {
  seq += 1
  const { actor = 'daemon', incident = null, host = null, instance = null, step = null } = news
  const at = new Date(Date.UTC(2026, 0, 2) + second * 1000).toISOString()
  return { ...news, seq, at, actor, incident, host, instance, step, prevHash: '', hash: '' }
}

export function verdictOf(host: string, kind: VerdictKind, segment = 'az1'): Verdict {
  const evidence = {
    status: 'enabled',
    state: 'up',
    forcedDown: false,
    updatedAt: null,
    silentMs: 6_000,
    intervalMs: 2_000,
    missedBeats: 3,
    probes: [],
  }
  return {
    host,
    segment,
    kind,
    reason: 'OUR_INCIDENT',
    message: `${host} is ${kind}`,
    at: '2026-01-02T00:00:00.000Z',
    evidence,
  }
}
