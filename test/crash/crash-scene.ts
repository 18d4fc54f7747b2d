/** One recovery of a mixed host, a daemon that is killed in the middle of it, and the next daemon over the same journal. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Daemon } from '../../src/daemon/daemon.ts'
import { simulatedParts } from '../../src/rehearsal/simulated-parts.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { sleep } from '../../src/domain/clock.ts'
import { foldIncidents } from '../../src/domain/incident.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { startSimulator, type Simulator } from '../../src/simulator/index.ts'
import type { StartState } from '../../src/simulator/instance-builder.ts'
import { seedJournal } from './seed.ts'
import { bundledVictim } from './victim.ts'

const workflowFile = fileURLToPath(new URL('../../recovery-workflows/host-failure.yaml', import.meta.url))
const workflow = parseWorkflow(readFileSync(workflowFile, 'utf8'), workflowFile, { ownerPolicy: defaultOwnerPolicy })
const dead = 'cmp01'
const incident = 'crash-1'

/** Polls are rare: the monitor has no part in these tests. */
const beatMs = 10_000
/** What a killed daemon's last request may take to show up in the simulated cloud is milliseconds. */
const executor = { tickMs: 20, reconcileQuietMs: 400 }

/** What is on the host, and how it must end. */
const expected: [StartState, string, boolean][] = [
  ['active', 'active', true],
  ['stopped', 'stopped', false],
  ['resized-stopped', 'stopped', false],
  ['paused', 'stopped', false],
]

/** Dies at this point; `duringWrite` is the Nth write, whose answer it never hears. */
export type Death = { before: number } | { after: number } | { duringWrite: number }

export interface Ending {
  /** False: the point was beyond the end of the recovery, and the daemon lived. */
  died: boolean
  /** Commits of a daemon that lived. */
  commits: number
  /** Everything that is not as it must be. */
  problems: string[]
}

/** Kills a daemon at each of `deaths`, one start after another, lets the next one finish, and compares. */
export async function dieAndResume(deaths: Death[], options: { failFirst?: boolean } = {}): Promise<Ending> {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-crash-'))
  const simulator = await startSimulator({ clock, hosts: 4, reportIntervalMs: 1_000, serviceDownTimeMs: 600_000 })
  try {
    const journal = join(directory, 'journal.db')
    const instances = expected.map(
      ([state]) => simulator.addInstance({ host: dead, state, otherHost: 'cmp02', name: state }).uuid,
    )
    simulator.crash(dead)
    seed(journal)
    if (options.failFirst === true) failUntilOneFailed(simulator, instances)
    let last = { died: false, commits: 0 }
    for (const death of deaths) last = await runVictim(simulator, journal, death)
    if (deaths.length === 0) last = await runVictim(simulator, journal, null)
    else await resume(simulator, journal)
    return { ...last, problems: compare(simulator, journal, instances) }
  } finally {
    await simulator.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** No host can spawn a guest until the first evacuation has failed for it: then instances are reset and tried again. */
function failUntilOneFailed(simulator: Simulator, instances: string[]): void {
  const hosts = [...simulator.world.hosts.keys()]
  for (const host of hosts) simulator.fault(host, { spawnFails: true })
  const look = (): void => {
    const failed = instances.some((uuid) => simulator.evacuationsOf(uuid).some(({ status }) => status === 'failed'))
    if (failed) for (const host of hosts) simulator.fault(host, { spawnFails: false })
    else clock.after(5, look)
  }
  look()
}

/** The journal as a daemon leaves it that has confirmed the death and is about to fence. */
function seed(path: string): void {
  const journal = openJournal(path, { clock })
  seedJournal(journal, workflow, incident, dead)
  journal.close()
}

async function runVictim(
  simulator: Simulator,
  journal: string,
  death: Death | null,
): Promise<{ died: boolean; commits: number }> {
  const { url, bmcAccess } = simulator
  const access = simulator.cloud()
  const order = { url, access, bmcAccess, journal, workflow: workflowFile, beatMs, executor, ...death }
  // Late answers: the moment between Nova's act and its answer must be long enough to die in.
  if (death !== null && 'duringWrite' in death)
    simulator.apiFault({ kind: 'slow', delayMs: 150, method: 'POST', path: /\/action$/ })
  const victim = await bundledVictim()
  const child = spawn(process.execPath, [victim, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  if (death !== null && 'duringWrite' in death) void killAtWrite(simulator, child, death.duringWrite)
  const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  simulator.clearApiFaults()
  if (signal !== 'SIGKILL' && code !== 0) throw new Error(`the victim ended with ${code}: ${errors}`)
  return { died: signal === 'SIGKILL', commits: Number(output) }
}

/** Kills the daemon as soon as the simulated Nova holds its Nth order. */
async function killAtWrite(simulator: Simulator, child: ChildProcess, nth: number): Promise<void> {
  // An order is logged when it is answered, so the act itself is watched: each writes its line into the action list.
  const acts = (): number => [...simulator.world.actions.values()].reduce((sum, list) => sum + list.length, 0)
  const before = acts()
  while (child.exitCode === null && child.signalCode === null) {
    if (acts() - before >= nth) {
      child.kill('SIGKILL')
      return
    }
    await sleep(clock, 2)
  }
}

async function resume(simulator: Simulator, path: string): Promise<void> {
  const journal = openJournal(path, { clock })
  const parts = simulatedParts(simulator, { clock, journal, workflow, beatMs })
  const daemon = new Daemon({
    ...parts,
    executorSettings: { ...parts.executorSettings, ...executor },
    journalPath: path,
  })
  daemon.start()
  // Of a machine that does much else.
  const end = clock.now() + 120_000
  while (daemon.store.open().length > 0 && clock.now() < end) await sleep(clock, 10)
  await daemon.stop('over')
  journal.close()
}

function compare(simulator: Simulator, path: string, instances: string[]): string[] {
  const journal = openJournal(path, { clock })
  const problems: string[] = []
  const check = (holds: boolean, problem: () => string): void => {
    if (!holds) problems.push(problem())
  }
  const known = foldIncidents(journal.read({ incident })).get(incident)
  check(
    known?.closed?.outcome === 'done',
    () => `closed: ${JSON.stringify(known?.closed)}, ${JSON.stringify(known?.held)}`,
  )
  check(journal.verify().broken === null, () => `journal: ${JSON.stringify(journal.verify().broken)}`)
  const truth = simulator.truth()
  check(truth.doubles.length === 0, () => `a guest ran twice: ${JSON.stringify(truth.doubles)}`)
  for (const [index, uuid] of instances.entries()) {
    const [state, vmState, runs] = expected[index] ?? ['active', 'active', true]
    const now = simulator.instance(uuid)
    const records = simulator.evacuationsOf(uuid)
    const lines = journal.read({ incident, instance: uuid, kinds: ['outcome.recorded'] })
    const recovery = known?.instances.get(uuid)
    const where = truth.running[uuid] ?? []
    const open = [...(recovery?.steps.values() ?? [])].filter(
      ({ status }) => status === 'intended' || status === 'issued',
    )
    const ends = records.map(({ status }) => status).toSorted()
    // A record that failed is a try of its own; each try is sent once, and one of them arrives.
    const failures = ends.filter((status) => status === 'failed')
    const tries = [...(recovery?.steps.values() ?? [])].filter(
      ({ kind, error }) => kind === 'evacuate' && error?.code === 'EVACUATION_FAILED',
    )
    check(
      ends.length - failures.length === 1 && ends.includes('done'),
      () => `${state}: evacuations ${ends.join(', ')}`,
    )
    check(failures.length === tries.length, () => `${state}: ${failures.length} failed, ${tries.length} in the journal`)
    check(now.vmState === vmState && now.taskState === null, () => `${state}: is ${now.vmState} ${now.taskState}`)
    check(now.host !== dead, () => `${state}: still on ${dead}`)
    check(!now.locked, () => `${state}: still locked`)
    check(where.length === (runs ? 1 : 0), () => `${state}: runs on [${where.join(', ')}]`)
    check(lines.length === 1, () => `${state}: ${lines.length} lines`)
    check(recovery?.outcome?.outcome === 'recovered', () => `${state}: ${JSON.stringify(recovery?.outcome)}`)
    check(open.length === 0, () => `${state}: open steps ${open.map(({ key }) => key).join(', ')}`)
  }
  journal.close()
  return problems
}
