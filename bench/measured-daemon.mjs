/**
 * The daemon, composed as src/daemon/run.ts does it, with a stopwatch around its journal and its planner. Started by the
 * benchmark as a process of its own; answers a message with what it saw.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { listenPublicly } from '../dist/api/index.js'
import { buildAdapters } from '../dist/adapters/adapters.js'
import { loadConfig } from '../dist/config/index.js'
import { Daemon } from '../dist/daemon/daemon.js'
import { systemClock as clock } from '../dist/system/system-clock.js'
import { loadWorkflows } from '../dist/preflight/workflow-files.js'
import { parseAnyWorkflow } from '../dist/engine/workflow.js'
import { openJournal } from '../dist/journal/journal.js'
import { createTelemetry } from '../dist/telemetry/telemetry.js'
import { percentile } from './figures.mjs'

const config = loadConfig(process.argv[process.argv.indexOf('--config') + 1], process.env, { withSecrets: true })
const seen = { writes: [], appends: [], undisturbed: [], planMs: 0, planned: 0, steps: 0 }
const delay = monitorEventLoopDelay({ resolution: 1 })
let cpuAtStart = process.cpuUsage()

const telemetry = createTelemetry({ level: config.logLevel, clock, version: 'bench' })
const journal = measuredJournal(openJournal(config.journal, { clock, onWrite }))
const adapters = buildAdapters(config, { clock, observer: telemetry.observer, env: process.env })
const workflows = loadWorkflows(config)
const daemon = new Daemon({
  clock,
  ...adapters,
  journal,
  journalPath: config.journal,
  observer: telemetry.observer,
  mode: config.mode,
  workflows: { ...workflows, host: measuredWorkflow(workflows.host) },
  parsePinned: (source) => parseAnyWorkflow(source, 'journal', { ownerPolicy: config.ownerPolicy }),
  ownerPolicy: config.ownerPolicy,
  monitorSettings: config.monitor,
  cloudBrake: config.brake,
  executorSettings: { ...config.executor, fenceRetryMs: config.fenceRetryMs },
  version: 'bench',
  cloudName: null,
})
const http = await listenPublicly(telemetry, config.http)
daemon.start()

process.on('message', () => process.send(figures()))
process.on('SIGTERM', () => void stop())

async function stop() {
  await daemon.stop('the benchmark is over')
  await http.close()
  journal.close()
  process.disconnect()
}

function onWrite({ tookMs, problem }) {
  seen.writes.push(tookMs)
  telemetry.journalWrite({ tookMs, problem })
}

/** Times each append with its listeners: the incident store, the metrics and the log stand in the way of the next step. */
function measuredJournal(inner) {
  const append = (entries) => {
    if (entries.some(({ kind }) => kind === 'incident.opened')) beginMeasuring()
    const before = process.resourceUsage().involuntaryContextSwitches
    const began = performance.now()
    const written = inner.append(entries)
    const tookMs = performance.now() - began
    const preempted = process.resourceUsage().involuntaryContextSwitches > before
    // The survey's entries are one transaction for the whole host: it is counted by the instance, as planning is.
    const plans = entries.filter(({ kind }) => kind === 'plan.made').length
    if (plans > 0) seen.planMs += tookMs
    else seen.appends.push(tookMs)
    // On a busy machine the kernel lends the core to others in the middle: that time is not the daemon's own.
    if (plans === 0 && !preempted) seen.undisturbed.push(tookMs)
    seen.steps += entries.filter(({ kind, instance }) => kind === 'step.intended' && instance !== undefined).length
    return written
  }
  return { ...inner, append }
}

/** Between pieces others have their turn: that time is not planning's. */
function measuredWorkflow(inner) {
  const planInPieces = async (survey, segment, pause) => {
    let began = performance.now()
    const counted = () => (seen.planMs += performance.now() - began)
    const made = await inner.planInPieces(survey, segment, async () => {
      counted()
      await pause()
      began = performance.now()
    })
    counted()
    seen.planned += made.instances.length
    return made
  }
  return { ...inner, planInPieces }
}

function beginMeasuring() {
  Object.assign(seen, { writes: [], appends: [], undisturbed: [], planMs: 0, planned: 0, steps: 0 })
  cpuAtStart = process.cpuUsage()
  delay.reset()
  delay.enable()
}

function figures() {
  delay.disable()
  const { user, system } = process.cpuUsage(cpuAtStart)
  const tail = (values) => ({ p50: percentile(values, 0.5), p99: percentile(values, 0.99), max: Math.max(...values) })
  return {
    steps: seen.steps,
    append: tail(seen.appends),
    undisturbed: { ...tail(seen.undisturbed), count: seen.undisturbed.length },
    write: tail(seen.writes),
    appends: seen.appends.length,
    planMsEach: seen.planMs / seen.planned,
    cpuMsEach: (user + system) / 1000 / seen.steps,
    // The timer itself takes one millisecond.
    loop: { p50: delay.percentile(50) / 1e6 - 1, p99: delay.percentile(99) / 1e6 - 1, max: delay.max / 1e6 - 1 },
  }
}
