/**
 * Detection on simulated host-days: false verdicts of the whole monitor, and what several detectors and thresholds trade
 * between false alarms and the time to a verdict. `npm run bench -- --only detection`; writes docs/development/detection.svg.
 */
import { writeFileSync } from 'node:fs'
import { pauseBeforePoll } from '../dist/control/watch-loop.js'
import { firstSight, intervalOf, suspicionAfter, take } from '../dist/monitor/heartbeat.js'
import { Monitor } from '../dist/monitor/monitor.js'
import { defaultMonitorSettings } from '../dist/monitor/settings.js'
import { upperTail } from '../dist/monitor/suspicion.js'
import { isSilentEnough } from '../dist/monitor/verdict-rules.js'
import { tradeOffPlot } from './detection-plot.mjs'
import { percentile } from './figures.mjs'
import { detectorsOver, fleetDay, models } from './host-days.mjs'
import { figure } from './targets.mjs'

/** As the configuration's defaults. */
export const settings = { ...defaultMonitorSettings, pollIntervalMs: 5_000, quietAfterFreezeMs: 150_000 }

const picture = new URL('../docs/development/detection.svg', import.meta.url)

/** Families of detectors: each threshold with the rule it makes. */
export const families = {
  'missed beats': Object.fromEntries(
    [1.5, 2, 2.5, 3, 4, 5, 6].map((needed) => [needed, ({ silentMs, intervalMs }) => silentMs >= needed * intervalMs]),
  ),
  'phi-accrual, normal': Object.fromEntries(
    [1, 2, 3, 5, 8, 12].map((needed) => [needed, (silence) => plainPhi(silence) >= needed]),
  ),
  'suspicion, at least 2.5 beats': Object.fromEntries(
    [1, 2, 3, 4, 5, 6, 8].map((needed) => [
      needed,
      ({ pulse, silentMs, intervalMs, settings: own }) =>
        silentMs >= own.confirmAfterBeats * intervalMs &&
        isSilentEnough(
          { silentMs, intervalMs, suspicion: suspicionAfter(pulse, silentMs, own) },
          { ...own, suspicionNeeded: needed },
        ),
    ]),
  ),
  "Nova's service_down_time": { '60 s': ({ novaDown }) => novaDown },
}

/** Hayashibara's: the normal tail beyond the mean, with a floor of 0.5 s under the deviation. */
function plainPhi({ history, silentMs, intervalMs }) {
  const mean = history.mean ?? intervalMs
  const deviation = Math.max(500, history.mean === null ? intervalMs / 4 : history.deviation)
  return -Math.log10(Math.max(upperTail((silentMs - mean) / deviation), 1e-15))
}

/** @param options { quick } */
export async function detectionRows({ quick }) {
  const seed = 20_260_101
  const whole = await wholeMonitor({ seed, fleetsPerModel: quick ? 1 : 8, hosts: 20, hours: quick ? 3 : 24 })
  const curves = tradeOff({ seed, hostsPerModel: quick ? 20 : 167, hours: quick ? 6 : 24 })
  if (!quick) writeFileSync(picture, tradeOffPlot(ownNoise(curves)))
  return detectionFigures(whole, curves)
}

/** Prints the tables and gives the figures. */
export function detectionFigures(whole, curves) {
  process.stdout.write(`${wholeTable(whole)}\n\n${curvesTable(curves)}\n\n${modelsTable(curves)}\n\n`)
  const latencies = whole.flatMap(({ latenciesMs }) => latenciesMs)
  const hostDays = whole.reduce((sum, { hostDays: days }) => sum + days, 0)
  const regular = whole.find(({ model }) => model === 'regular')
  return [
    figure({
      row: 'detection',
      what: 'false verdicts of the whole monitor',
      where: 'virtual',
      value: whole.reduce((sum, { falseVerdicts }) => sum + falseVerdicts.length, 0),
      digits: 0,
      target: 0,
      note: `${Math.round(hostDays)} host-days of ${whole.length} models, no probe ever says alive, one kind lies`,
    }),
    figure({
      row: 'detection',
      what: 'regular beats: missed beats at the verdict, worst',
      where: 'virtual',
      value: Math.max(...regular.missedBeats),
      digits: 2,
      target: 3,
      note: `${regular.missedBeats.length} deaths; all models: ${seconds(latencies, 0.5)} s median, ${seconds(latencies, 1)} s worst`,
    }),
  ]
}

export async function wholeMonitor({ seed, fleetsPerModel, hosts, hours, of = models }) {
  const rules = { Monitor, settings, pauseBeforePoll }
  const results = []
  for (const [model, beats] of Object.entries(of)) {
    // Beats of 2 s are five times as many: a quarter of the hours.
    const lengthMs = (hours * 3_600_000) / (beats.pollMs === undefined ? 1 : 4)
    const sum = { model, hostDays: 0, falseVerdicts: [], freezes: 0, latenciesMs: [], missedBeats: [], undetected: 0 }
    for (let fleet = 0; fleet < fleetsPerModel; fleet++) {
      const one = await fleetDay(beats, { rules, hosts, deaths: 10, seed: seed + fleet, lengthMs })
      for (const key of ['falseVerdicts', 'latenciesMs', 'missedBeats']) sum[key].push(...one[key])
      sum.freezes += one.freezes
      sum.undetected += one.undetected
      sum.hostDays += (hosts * lengthMs) / 86_400_000
    }
    process.stderr.write(`  ${model}: ${sum.hostDays.toFixed(0)} host-days\n`)
    results.push(sum)
  }
  return results
}

/** For every threshold of every family: { family, threshold, hostDays per model, perModel: { falseAlarms, latenciesMs } }. */
export function tradeOff({ seed, hostsPerModel, hours, of = models }) {
  const rules = { firstSight, take, intervalOf, settings }
  const named = Object.entries(families).flatMap(([family, rulesOf]) =>
    Object.entries(rulesOf).map(([threshold, rule]) => ({ key: `${family}|${threshold}`, family, threshold, rule })),
  )
  const detectors = Object.fromEntries(named.map(({ key, rule }) => [key, rule]))
  const points = named.map(({ key, family, threshold }) => ({
    ...{ key, family, threshold, hostDays: (hostsPerModel * hours) / 24, perModel: {} },
  }))
  for (const [model, beats] of Object.entries(of)) {
    // The beats of 2 s are another scale of seconds: they are measured with the whole monitor only.
    if (beats.pollMs !== undefined) continue
    const lengthMs = hours * 3_600_000
    const found = detectorsOver(beats, { rules, detectors, hosts: hostsPerModel, seed, lengthMs })
    for (const point of points) {
      const { falseAlarms, latenciesMs } = found[point.key]
      point.perModel[model] = { falseAlarms, latenciesMs }
    }
    process.stderr.write(`  detectors over ${model}\n`)
  }
  return points
}

/**
 * What one host's own noise costs. Hiccups of the broker silence all hosts together: no detector of single hosts can learn
 * them, and the control-plane check is what catches them. They have a line of their own in the table by model.
 */
export function ownNoise(points) {
  const summed = points.map((point) => {
    const own = Object.keys(point.perModel).filter((model) => models[model].hiccups === undefined)
    const falseAlarms = own.reduce((sum, model) => sum + point.perModel[model].falseAlarms, 0)
    const hostDays = own.length * point.hostDays
    const latenciesMs = own.flatMap((model) => point.perModel[model].latenciesMs)
    return { ...point, hostDays, latenciesMs, perThousand: (falseAlarms / hostDays) * 1_000 }
  })
  const families = [...new Set(summed.map(({ family }) => family))]
  return families.flatMap((family) =>
    summed.filter((point) => point.family === family).sort((a, b) => parseFloat(a.threshold) - parseFloat(b.threshold)),
  )
}

const seconds = (latenciesMs, share) => (percentile(latenciesMs, share) / 1_000).toFixed(1)

function wholeTable(results) {
  const rows = results.map((one) => [
    ...[one.model, one.hostDays.toFixed(0), String(one.falseVerdicts.length), String(one.freezes)],
    ...[String(one.latenciesMs.length), String(one.undetected)],
    ...[0.5, 0.9, 1].map((share) => seconds(one.latenciesMs, share)),
    percentile(one.missedBeats, 1).toFixed(2),
  ])
  const head = [
    'model',
    'host-days',
    'false verdicts',
    'freezes',
    'deaths',
    'not found',
    'p50 s',
    'p90 s',
    'max s',
    'beats',
  ]
  return `The whole monitor (polls, probes, control plane, verdict table):\n\n${markdown(head, rows)}`
}

function curvesTable(allPoints) {
  const points = ownNoise(allPoints)
  const rows = points.map((point) => [
    ...[point.family, point.threshold, point.perThousand.toFixed(1)],
    ...[0.5, 0.9, 0.99].map((share) => seconds(point.latenciesMs, share)),
  ])
  const days = Math.round(points[0].hostDays)
  const head = ['detector', 'threshold', 'false alarms per 1,000 host-days', 'p50 s', 'p90 s', 'p99 s']
  return `Detectors alone, without probes (${days} host-days without the hiccups, beats of 10 s, polls of 5 s):\n\n${markdown(head, rows)}`
}

/** The chosen thresholds, model by model. */
function modelsTable(points) {
  const chosen = [
    'missed beats|2.5',
    'phi-accrual, normal|8',
    'suspicion, at least 2.5 beats|4',
    "Nova's service_down_time|60 s",
  ]
  const picked = chosen.map((key) => points.find((point) => point.key === key))
  const rows = Object.keys(picked[0].perModel).map((model) => [
    model,
    ...picked.map(({ perModel }) => `${perModel[model].falseAlarms}; ${seconds(perModel[model].latenciesMs, 0.5)} s`),
  ])
  const head = ['model', ...picked.map(({ family, threshold }) => `${family} ${threshold}`)]
  return `False alarms and median time to the verdict, model by model:\n\n${markdown(head, rows)}`
}

function markdown(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
