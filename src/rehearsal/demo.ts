/**
 * The demo: a simulated cloud, a host that dies, its instances of every kind coming back, shown live. It runs the daemon
 * itself; only the cloud is simulated.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sleep } from '../domain/clock.ts'
import type { Entry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import { sentenceOf } from '../domain/text/entry-sentence.ts'
import { defaultOwnerPolicy } from '../engine/owner-policy.ts'
import { openJournal } from '../journal/journal.ts'
import { incidentReport } from '../review/report.ts'
import { startSimulator, type NewInstance, type Simulator } from '../simulator/index.ts'
import { Daemon } from '../daemon/daemon.ts'
import { keepingDemo, keepJournal } from './demo-journal.ts'
import { simulatedParts } from './simulated-parts.ts'
import { shippedWorkflows } from './shipped-workflows.ts'
import { systemClock as clock } from '../system/system-clock.ts'

export interface DemoOptions {
  hosts: number
  instances: number
  /** Keep the state directory of the demo, to look at its journal afterwards. */
  keep: boolean
}

/** Heartbeats of the simulated cloud. Nova's stamps have whole seconds: quicker ones could not be told apart. */
const beatMs = 2_000

/** How long the fleet is watched before the host dies: each host must have been seen to beat. */
const watchedBeats = 3

/** Longest time the demo may take; beyond it something is broken, and saying so beats waiting. */
const limitMs = 55_000

/** One of each kind; the rest of the host is filled with running instances. */
const kinds: NewInstance[] = [
  { host: 'cmp01', name: 'web', state: 'active' },
  { host: 'cmp01', name: 'batch', state: 'stopped' },
  { host: 'cmp01', name: 'resized-running', state: 'resized-running', otherHost: 'cmp02' },
  { host: 'cmp01', name: 'resized-stopped', state: 'resized-stopped', otherHost: 'cmp02' },
  { host: 'cmp01', name: 'paused', state: 'paused' },
  { host: 'cmp01', name: 'rescued', state: 'rescued' },
  { host: 'cmp01', name: 'in-error', state: 'error' },
  { host: 'cmp01', name: 'locked', state: 'active', locked: true, lockedReason: 'hands off' },
  { host: 'cmp01', name: 'vault', state: 'active', encrypted: true },
  { host: 'cmp01', name: 'from-volume', state: 'active', volumeBacked: true },
  { host: 'cmp01', name: 'opted-out', state: 'active', metadata: { HA_Enabled: 'False' } },
]

/** Runs the demo. Throws STEP_TIMEOUT when the recovery does not end in time. */
export async function runDemo(
  write: (text: string) => void,
  options: DemoOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-demo-'))
  const timings = {
    scheduleMs: 150,
    claimMs: 100,
    rebuildMs: 150,
    volumesMs: 100,
    spawnMs: 300,
    powerMs: 150,
    finishMs: 100,
    confirmMs: 250,
    agentStartMs: 200,
  }
  const simulator = await startSimulator({
    clock,
    hosts: options.hosts,
    reportIntervalMs: beatMs,
    serviceDownTimeMs: 4 * beatMs,
    timings,
  })
  const journal = openJournal(join(directory, 'journal.db'), { clock })
  const { host: workflow } = shippedWorkflows(defaultOwnerPolicy)
  const daemon = new Daemon({
    ...simulatedParts(simulator, { clock, journal, workflow, beatMs }),
    journalPath: join(directory, 'journal.db'),
  })
  try {
    populate(simulator, options.instances)
    write(
      `A simulated cloud of ${options.hosts} hosts with ${options.instances} instances on cmp01. Lifeboat is armed and watches.\n\n`,
    )
    const began = clock.now()
    journal.onAppend((entry) => show(write, entry, clock.now() - began, daemon))
    daemon.start()
    await sleep(clock, beatMs * watchedBeats)
    write('\n*** cmp01 dies: its power fails, with everything on it.\n\n')
    simulator.crash('cmp01')
    const id = await closedIncident(daemon)
    write(`\n${reportHead(incidentReport(id, journal.read({ incident: id })))}\n\n`)
    const doubles = simulator.truth().doubles.length
    write(
      `The simulated hypervisors' own log: ${doubles === 0 ? 'no guest ever ran on two hosts' : `${doubles} guests ran on two hosts`}.\n`,
    )
    write(
      options.keep
        ? `The whole report: ${keepJournal(directory, id, env)}\n`
        : `That was the head of the report. Each step with its request id, and the timeline: ${keepingDemo(env)}\n`,
    )
  } finally {
    await daemon.stop('the demo is over')
    journal.close()
    await simulator.close()
    if (!options.keep) rmSync(directory, { recursive: true, force: true })
  }
}

/** The report down to its table of instances; each step of each instance would push the story off the screen. */
function reportHead(report: string): string {
  return (report.split('\n### ')[0] ?? report).trimEnd()
}

function populate(simulator: Simulator, instances: number): void {
  for (const kind of kinds.slice(0, instances)) simulator.addInstance(kind)
  for (let n = kinds.length; n < instances; n++)
    simulator.addInstance({ host: 'cmp01', name: `app-${n}`, state: 'active' })
}

/** What tells the story of one recovery; the steps of each instance would push it off the screen. */
const told: ReadonlySet<Entry['kind']> = new Set<Entry['kind']>([
  'verdict.changed',
  'incident.opened',
  'incident.held',
  'incident.phase',
  'fence.attempt',
  'proof.recorded',
  'plan.made',
  'outcome.recorded',
  'incident.closed',
])

function show(write: (text: string) => void, entry: Entry, sinceMs: number, daemon: Daemon): void {
  if (!told.has(entry.kind)) return
  const { incident, instance, host } = entry
  const recovery =
    incident === null || instance === null ? undefined : daemon.store.find(incident)?.instances.get(instance)
  const name = recovery?.plan.name ?? host ?? ''
  write(`${(sinceMs / 1000).toFixed(1).padStart(6)} s  ${name.padEnd(16)} ${sentenceOf(entry).text}\n`)
}

async function closedIncident(daemon: Daemon): Promise<string> {
  const endsAt = clock.now() + limitMs
  while (clock.now() < endsAt) {
    const over = daemon.operations.incidents({ limit: 1 }).find((incident) => incident.ended !== null)
    if (over !== undefined) return over.id
    await sleep(clock, 200)
  }
  throw new LifeboatError('STEP_TIMEOUT', `the recovery did not end within ${limitMs / 1000} s`)
}
