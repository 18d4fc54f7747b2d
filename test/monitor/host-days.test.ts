/** A share of `npm run bench -- --only detection`: the real monitor over hours of noisy heartbeats, by fixed seeds. */
import { describe, expect, it } from 'vitest'
import { detectorsOver, fleetDay, models, writesOf, dice, type Silence } from '../../bench/host-days.mjs'
import { pauseBeforePoll } from '../../src/control/watch-loop.ts'
import { firstSight, intervalOf, suspicionAfter, take } from '../../src/monitor/heartbeat.ts'
import { Monitor } from '../../src/monitor/monitor.ts'
import { defaultMonitorSettings } from '../../src/monitor/settings.ts'
import { isSilentEnough } from '../../src/monitor/verdict-rules.ts'

const settings = { ...defaultMonitorSettings, pollIntervalMs: 5_000, quietAfterFreezeMs: 150_000 }
const hour = 3_600_000
const names = Object.keys(models) as (keyof typeof models)[]

describe('the whole monitor, while no probe says alive and one kind says dead wrongly', () => {
  it.each(names)('%s: no false verdict, and every death is found', async (name) => {
    const model = models[name]
    const lengthMs = (model.pollMs === undefined ? 1.2 : 0.3) * hour
    const rules = { Monitor, settings, pauseBeforePoll }
    const found = await fleetDay(model, { rules, hosts: 8, deaths: 3, seed: 11, lengthMs })
    expect(found.falseVerdicts).toEqual([])
    expect(found.undetected).toBe(0)
    for (const missed of found.missedBeats) expect(missed).toBeGreaterThanOrEqual(2.5)
    if (name === 'regular') expect(Math.max(...found.missedBeats)).toBeLessThanOrEqual(3)
  })
})

describe('the suspicion beside plain missed beats', () => {
  const rules = { firstSight, take, intervalOf, settings }
  const detectors = {
    missed: ({ silentMs, intervalMs }: Silence) => silentMs >= 2.5 * intervalMs,
    suspicion: ({ pulse, silentMs, intervalMs, settings: own }: Silence) =>
      isSilentEnough({ silentMs, intervalMs, suspicion: suspicionAfter(pulse, silentMs, own) }, own),
  }
  const over = (name: keyof typeof models, hosts: number) =>
    detectorsOver(models[name], { rules, detectors, hosts, seed: 5, lengthMs: 6 * hour })
  const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

  it.each(['pauses', 'lost'] as const)('%s: an eighth of the false alarms at the most', (name) => {
    const { missed, suspicion } = over(name, 40)
    expect(missed.falseAlarms).toBeGreaterThan(16)
    expect(suspicion.falseAlarms).toBeLessThanOrEqual(missed.falseAlarms / 8)
    // Noisy hosts pay for it, with less than Nova's own 60 s.
    expect(median(suspicion.latenciesMs)).toBeGreaterThan(median(missed.latenciesMs))
    expect(median(suspicion.latenciesMs)).toBeLessThan(45_000)
  })

  it('regular: neither has any, and regular hosts pay nothing', () => {
    const { missed, suspicion } = over('regular', 20)
    expect([missed.falseAlarms, suspicion.falseAlarms]).toEqual([0, 0])
    expect(suspicion.latenciesMs).toEqual(missed.latenciesMs)
  })
})

describe('the simulated hosts', () => {
  it('are the same for the same seed', () => {
    const writes = (seed: number) => [...writesOf(models.pauses, { random: dice(seed), hiccups: [], diesAt: hour })]
    expect(writes(1)).toEqual(writes(1))
    expect(writes(1)).not.toEqual(writes(2))
  })

  it('pause for up to two intervals beyond one', () => {
    const writes = [...writesOf(models.pauses, { random: dice(3), hiccups: [], diesAt: 24 * hour })]
    const gaps = writes.slice(1).map((at, n) => at - (writes[n] ?? 0))
    expect(Math.max(...gaps)).toBeGreaterThan(25_000)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(30_050)
  })
})
