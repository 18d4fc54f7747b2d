/**
 * A recovery on a shared journal: the active daemon dies or stands still in the middle of it, another one takes over, and dies too where it is
 * told. Whoever is left ends it. Afterwards everything that must hold is looked at, and told in words where it does not.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { foldIncidents } from '../../src/domain/incident.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'
import { startSimulator, VirtualClock, type Simulator } from '../../src/simulator/index.ts'
import { MemoryCluster } from '../journal/shared/memory.ts'
import { seedJournal } from './seed.ts'
import { SharingDaemon, type End, type Moment, type SharingOptions } from './sharing-daemon.ts'

const workflowFile = fileURLToPath(new URL('../../recovery-workflows/host-failure.yaml', import.meta.url))
const workflow = parseWorkflow(readFileSync(workflowFile, 'utf8'), workflowFile, { ownerPolicy: defaultOwnerPolicy })
const directoryOfRuns = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const host = 'cmp01'
const incident = 'taken-over'
const states = ['active', 'stopped'] as const
/** As systemd's RestartSec, and a start. */
const restartMs = 1_500
const longestMs = 600_000

export interface Script {
  /** Of the daemon that is active first. */
  old?: End
  /** It stands still at this moment, and goes on. */
  standsStill?: End & { ms: number }
  /** Of the one that takes over. */
  next?: End
  /** The machines that are still there: the one that took over starts its daemon again, or a third one stands by. */
  goesOn?: 'the same machine' | 'a third machine'
}

export interface Ending {
  problems: string[]
  /** Of the one that was active first. */
  old: Moment[]
  /** Of the one that took over; empty when none did. */
  next: Moment[]
  /** Those of the two that died where they were told to. */
  died: string[]
  /** When the next one began, on the clock of the moments; Infinity when none did. */
  tookOverAt: number
}

export async function play(script: Script): Promise<Ending> {
  const directory = mkdtempSync(join(directoryOfRuns, 'lifeboat-take-over-'))
  const clock = new VirtualClock()
  const simulator = await startSimulator({
    ...{ clock, hosts: 4, port: null, reportIntervalMs: 10_000, serviceDownTimeMs: 3_600_000 },
  })
  const cluster = new MemoryCluster(clock, 'blue')
  const all: SharingDaemon[] = []
  const start = (name: string, more: Partial<SharingOptions> = {}): SharingDaemon => {
    const path = join(directory, `${name}.db`)
    const daemon = new SharingDaemon({ ...{ name, clock, simulator, cluster, workflow, path, prepare }, ...more })
    all.push(daemon)
    return daemon
  }
  try {
    const ids = states.map((state) => simulator.addInstance({ host, state, name: state }).uuid)
    simulator.crash(host)
    const old = start('ctl1', { end: script.old, standsStill: script.standsStill })
    const next = start('ctl2', { end: script.next })
    if (script.goesOn === 'a third machine') start('ctl3')
    const again = { same: false }
    const isOver = (): boolean => {
      if (next.dead && script.goesOn === 'the same machine' && !again.same) {
        again.same = true
        clock.after(restartMs, () => start('ctl2'))
      }
      return all.some((daemon) => daemon.isDone)
    }
    await clock.until(isOver, longestMs)
    // Whoever stood still goes on, and every copy gets what is there.
    await clock.advance(40_000)
    const problems = await judged(all, cluster, simulator, ids)
    return {
      ...{ problems, old: old.moments, next: next.moments, tookOverAt: beganAt(next) },
      died: [...(script.old && old.dead ? ['old'] : []), ...(script.next && next.dead ? ['next'] : [])],
    }
  } finally {
    for (const daemon of all) daemon.die()
    await clock.advance(10)
    await simulator.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

function beganAt({ moments }: SharingDaemon): number {
  return moments.find(({ says }) => says === 'insert tenure.began')?.at ?? Infinity
}

/** The death is on record once: whoever acts first writes it, which a daemon that dies in its first moments has not. */
function prepare(journal: JournalWriter): void {
  if (journal.read({ incident, limit: 1 }).length === 0) seedJournal(journal, workflow, incident, host)
}

async function judged(
  all: readonly SharingDaemon[],
  cluster: MemoryCluster,
  simulator: Simulator,
  ids: readonly string[],
): Promise<string[]> {
  const active = all.filter((daemon) => daemon.isActive)
  const [one] = active
  if (one === undefined || active.length > 1) return [`${active.length} daemons are active in the end`]
  await one.shared.tenure.recorded()
  const entries = one.shared.journal.read()
  const known = foldIncidents(entries).get(incident)
  const { running, doubles } = simulator.truth()
  const wrong = ids.flatMap((id, index) => {
    const evacuations = simulator.evacuationsOf(id).map(({ status }) => status)
    const outcomes = entries.flatMap((it) => (it.kind === 'outcome.recorded' && it.instance === id ? [it.data] : []))
    const now = simulator.instance(id)
    const told = {
      evacuations,
      outcomes: outcomes.map(({ outcome }) => outcome),
      ...{ state: now.vmState, task: now.taskState, moved: now.host !== host, locked: now.locked },
      runs: running[id]?.length ?? 0,
    }
    const wanted = {
      evacuations: ['done'],
      outcomes: ['recovered'],
      ...{ state: states[index], task: null, moved: true, locked: false },
      runs: states[index] === 'active' ? 1 : 0,
    }
    return JSON.stringify(told) === JSON.stringify(wanted) ? [] : [`${states[index]}: ${JSON.stringify(told)}`]
  })
  return [
    ...wrong,
    ...(doubles.length === 0 ? [] : [`a guest ran twice: ${JSON.stringify(doubles)}`]),
    ...(known?.closed?.outcome === 'done' ? [] : [`not closed: ${known?.phase} ${JSON.stringify(known?.held)}`]),
    ...all.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`])),
    ...chainsOf(all, cluster),
    ...strangers(all),
  ]
}

/** One chain: in the store without holes, and each copy that is open is the same. */
function chainsOf(all: readonly SharingDaemon[], { entries }: MemoryCluster): string[] {
  const holes = entries.flatMap(({ seq }, index) => (seq === index + 1 ? [] : [`entry ${seq} stands at ${index + 1}`]))
  const forks = entries.flatMap(({ seq, body }, index) => {
    const [, , , , , , , , , , before] = JSON.parse(body) as string[]
    return index === 0 || before === entries[index - 1]?.hash ? [] : [`entry ${seq} does not follow`]
  })
  const copies = all.flatMap(({ name, dead, shared: { journal } }) => {
    if (dead) return []
    const { broken } = journal.verify()
    const { seq, hash } = journal.head()
    return [
      ...(broken === null ? [] : [`the copy of ${name} does not verify: ${JSON.stringify(broken)}`]),
      ...(entries[seq - 1]?.hash === hash ? [] : [`the copy of ${name} goes another way at ${seq}`]),
    ]
  })
  return [...holes, ...forks, ...copies]
}

/** No daemon reaches Nova or a BMC once another one has begun. */
function strangers(all: readonly SharingDaemon[]): string[] {
  return all.flatMap((daemon) => {
    const end = Math.min(...all.filter((it) => it !== daemon && beganAt(it) > beganAt(daemon)).map((it) => beganAt(it)))
    return daemon.moments
      .filter(({ isEffect, at }) => isEffect && at > end)
      .map(({ says, at }) => `${daemon.name} sent ${says} ${at - end} ms after another one had begun`)
  })
}
