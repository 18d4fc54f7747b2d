/** Types of host-days.mjs, for the tests. */
import type { firstSight, intervalOf, Pulse, take } from '../src/monitor/heartbeat.ts'
import type { Monitor } from '../src/monitor/monitor.ts'
import type { PollReport } from '../src/monitor/report.ts'
import type { MonitorSettings } from '../src/monitor/settings.ts'

interface Model {
  what: string
  intervalMs: number
  pollMs?: number
}

export interface Silence {
  pulse: Pulse
  silentMs: number
  intervalMs: number
  novaDown: boolean
  settings: MonitorSettings
}

export const day: number
export const models: Record<'regular' | 'jitter' | 'pauses' | 'hangs' | 'slow' | 'hiccups' | 'lost' | 'quick', Model>
export function dice(seed: number): () => number
export function writesOf(
  model: Model,
  life: { random: () => number; hiccups: [number, number][]; diesAt: number },
): Generator<number>

export function detectorsOver<K extends string>(
  model: Model,
  options: {
    rules: {
      firstSight: typeof firstSight
      take: typeof take
      intervalOf: typeof intervalOf
      settings: MonitorSettings
    }
    detectors: Record<K, (silence: Silence) => boolean>
    hosts: number
    seed: number
    lengthMs?: number
  },
): Record<K, { falseAlarms: number; latenciesMs: number[] }>

export function fleetDay(
  model: Model,
  options: {
    rules: {
      Monitor: typeof Monitor
      settings: MonitorSettings
      pauseBeforePoll: (report: PollReport, pollIntervalMs: number) => number
    }
    hosts: number
    deaths: number
    seed: number
    lengthMs?: number
  },
): Promise<{
  falseVerdicts: [host: string, reason: string][]
  freezes: number
  latenciesMs: number[]
  missedBeats: number[]
  undetected: number
}>
