/**
 * A rehearsal: one instance on a host that dies, a daemon that recovers it and is disturbed while it does, and the daemons
 * that follow it on the same journal. Afterwards everything that must hold is looked at, and told in words when it does not.
 */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { NewEntry } from '../../src/domain/entry.ts'
import { foldIncidents, type InstanceRecovery } from '../../src/domain/incident.ts'
import type { Outcome } from '../../src/domain/outcome.ts'
import type { Workflow } from '../../src/domain/plan.ts'
import type { Segment } from '../../src/domain/segment.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'
import { startSimulator, VirtualClock, type NewInstance, type Simulator } from '../../src/simulator/index.ts'
import { MortalDaemon, type Death, type Intercept } from './mortal-daemon.ts'
import { seedJournal } from './seed.ts'

export const dead = 'cmp01'
/** The source of a resize, where there is one. */
const other = 'cmp02'
export const incident = 'rehearsed'

/** What is found on the host when it dies. */
export interface Scene {
  name: string
  instance: Omit<NewInstance, 'host'>
  segment?: Partial<Segment>
  /** The source of its resize is down too. */
  otherDown?: boolean
  /** A cloud that cannot land an instance stopped. */
  oldCloud?: boolean
  /** Nobody can tell which volumes are encrypted. */
  cinderDown?: boolean
}

export interface Disturbance {
  deaths?: Death[]
  intercept?: Intercept
  /** Before the first life. */
  prepare?: (simulator: Simulator, instance: string) => void
  /** The journal as it stood right after each of these commits is later given to one more daemon (a restored backup). */
  restoreAfter?: number[]
}

export interface Commit {
  kinds: string[]
  /** A step's key in words, for messages. */
  says: string
  /** Writes that reached the cloud before this commit. */
  effectsBefore: number
}

export interface Ending {
  problems: string[]
  /** Of the first life. */
  commits: Commit[]
  /** Writes that reached the cloud in all. */
  effects: number
  died: number
  outcome: Outcome | null
  recovery: InstanceRecovery | null
  state: {
    vmState: string
    powerState: number
    taskState: string | null
    locked: boolean
    moved: boolean
    runs: number
  }
}

/** In memory where there is such a place: the disk's part in a crash is test/journal's, and waiting for it is most of a run. */
const directoryOfRuns = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Longer than any recipe tries: forty rounds of a minute each. */
const longestMs = 6 * 3_600_000

/** Plays it and gives what came of it. `reference`: how it ends undisturbed. */
export async function rehearse(
  workflow: Workflow,
  scene: Scene,
  disturbance: Disturbance = {},
  reference?: Ending,
): Promise<Ending> {
  const directory = mkdtempSync(join(directoryOfRuns, 'lifeboat-rehearsal-'))
  const clock = new VirtualClock()
  const simulator = await startSimulator({
    clock,
    hosts: 4,
    port: null,
    reportIntervalMs: 10_000,
    serviceDownTimeMs: 3_600_000,
    ...(scene.oldCloud === true && { maxMicroversion: '2.93' }),
  })
  let life: MortalDaemon | null = null
  try {
    const path = join(directory, 'journal.db')
    const { uuid } = simulator.addInstance({ otherHost: other, ...scene.instance, host: dead })
    const foundLock = simulator.instance(uuid).lockedReason
    const foundLocked = simulator.instance(uuid).locked
    if (scene.otherDown === true) simulator.world.host(other).service.forcedDown = true
    if (scene.cinderDown === true) simulator.apiFault({ kind: 'refuse', path: /^volume\// })
    simulator.crash(dead)
    seed(path, clock, workflow)
    disturbance.prepare?.(simulator, uuid)
    const watch = watchEvacuations(simulator, uuid)
    const commits: Commit[] = []
    const effects = (): number => simulator.requests().filter(isEffect).length
    const live = async (death: Death | undefined, first: boolean): Promise<MortalDaemon> => {
      life = new MortalDaemon({
        clock,
        simulator,
        path,
        workflow,
        segment: scene.segment ?? {},
        death,
        intercept: watch.intercept(disturbance.intercept),
        onCommit: (nth, entries, written) => {
          if (!first) return
          if (!written) commits.push({ ...describe(entries), effectsBefore: effects() })
          else if (disturbance.restoreAfter?.includes(nth) === true) copyWhole(path, `${path}.${nth}`)
        },
      })
      await clock.until(() => life?.isOver === true, longestMs)
      return life
    }
    let died = 0
    let first = true
    for (const death of disturbance.deaths ?? []) {
      const lived = await live(death, first)
      if (lived.dead) died++
      else await lived.stop()
      lived.die()
      first = false
    }
    const last = await live(undefined, first)
    await last.stop()
    const look = (what: string, { journal } = last, restored = false): Ending => {
      const ending = endingOf(simulator, journal, uuid, { foundLock, foundLocked, restored }, reference)
      const problems = [...ending.problems, ...watch.problems.splice(0)].map((problem) => `${what}${problem}`)
      return { ...ending, problems, commits, effects: effects(), died }
    }
    const ending = look('')
    last.die()
    for (const nth of disturbance.restoreAfter ?? []) {
      copyWhole(`${path}.${nth}`, path)
      const again = await live(undefined, false)
      await again.stop()
      const what = `journal as after commit ${nth} (${commits[nth - 1]?.says}): `
      ending.problems.push(...look(what, again, true).problems)
      again.die()
    }
    return ending
  } finally {
    ;(life as MortalDaemon | null)?.die()
    await simulator.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

function isEffect({ method, path }: { method: string; path: string }): boolean {
  return method !== 'GET' && !path.startsWith('identity/')
}

/** A journal with its log, as a file system's snapshot has it. */
function copyWhole(from: string, to: string): void {
  for (const suffix of ['', '-wal', '-shm', '.head']) {
    rmSync(`${to}${suffix}`, { force: true })
    try {
      copyFileSync(`${from}${suffix}`, `${to}${suffix}`)
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
    }
  }
}

function describe(entries: NewEntry[]): Pick<Commit, 'kinds' | 'says'> {
  const kinds = entries.map(({ kind }) => kind)
  return { kinds, says: entries.map(({ kind, step }) => `${kind}${step === undefined ? '' : ` ${step}`}`).join(' + ') }
}

/** By the workflow's digest: every run begins with the same rows at the same virtual time. */
const seeds = new Map<string, Buffer>()

/** The journal as a daemon leaves it that has confirmed the death and is about to fence. */
function seed(path: string, clock: VirtualClock, workflow: Workflow): void {
  const known = seeds.get(workflow.digest)
  if (known === undefined) writeSeed(path, clock, workflow)
  else writeFileSync(path, known, { mode: 0o600 })
  if (known === undefined) seeds.set(workflow.digest, readFileSync(path))
}

function writeSeed(path: string, clock: VirtualClock, workflow: Workflow): void {
  const journal = openJournal(path, { clock })
  seedJournal(journal, workflow, incident, dead)
  journal.close()
}

/** Law L5, at the moment of every evacuate: none of this instance may be in flight on a living destination. */
function watchEvacuations(simulator: Simulator, uuid: string) {
  const problems: string[] = []
  return {
    problems,
    intercept:
      (inner: Intercept | undefined): Intercept =>
      (sending, pass) => {
        if (sending.kind === 'evacuate') {
          const open = simulator
            .evacuationsOf(uuid)
            .filter(
              ({ status, dest }) =>
                ['accepted', 'pre-migrating'].includes(status) && (dest === null || simulator.world.host(dest).agent),
            )
          if (open.length > 0) problems.push(`L5: a second evacuation while one is ${open[0]?.status}`)
        }
        return inner === undefined ? pass() : inner(sending, pass)
      },
  }
}

function endingOf(
  simulator: Simulator,
  journal: JournalWriter,
  uuid: string,
  { foundLock, foundLocked, restored }: { foundLock: string | null; foundLocked: boolean; restored: boolean },
  reference: Ending | undefined,
): Omit<Ending, 'commits' | 'effects' | 'died'> {
  const problems: string[] = []
  const check = (holds: boolean, problem: () => string): void => {
    if (!holds) problems.push(problem())
  }
  const { path } = journal
  const before = tables(path)
  const verified = journal.verify()
  check(verified.broken === null, () => `the journal does not verify: ${JSON.stringify(verified.broken)}`)
  journal.rebuild()
  const lines = journal.read({ incident, instance: uuid, kinds: ['outcome.recorded'] })
  const known = foldIncidents(journal.read({ incident })).get(incident)
  check(
    JSON.stringify(tables(path)) === JSON.stringify(before),
    () => 'the derived tables are not what a rebuild gives',
  )

  const now = simulator.instance(uuid)
  const truth = simulator.truth()
  const where = truth.running[uuid] ?? []
  const { vmState, powerState, taskState, locked } = now
  const state = { vmState, powerState, taskState, locked, moved: now.host !== dead, runs: where.length }
  const recovery = known?.instances.get(uuid) ?? null
  const outcome = recovery?.outcome ?? null
  const steps = [...(recovery?.steps.values() ?? []), ...(known?.hostSteps.values() ?? [])]
  const open = steps.filter(({ status }) => status === 'intended' || status === 'issued')

  check(known?.closed?.outcome === 'done', () => `not closed: ${known?.phase} ${JSON.stringify(known?.held)}`)
  // An older journal that has not met the instance finds nothing on the host: it has been brought elsewhere.
  check(lines.length === (restored && recovery === null ? 0 : 1), () => `${lines.length} lines`)
  check(truth.doubles.length === 0, () => `the guest ran twice: ${JSON.stringify(truth.doubles)}`)
  check(where.length <= 1, () => `it runs on ${where.join(' and ')}`)
  check(open.length === 0, () => `open steps: ${open.map(({ key }) => key).join(', ')}`)
  if (foundLocked) check(now.locked && now.lockedReason === foundLock, () => 'the lock that was found is not as found')
  else if (now.locked) {
    const said = steps.some(({ kind, status }) => kind === 'unlock' && status === 'failed')
    check(said && outcome?.outcome !== 'recovered', () => `our lock is left, and the line says ${outcome?.outcome}`)
  }
  if (outcome?.outcome === 'recovered') {
    check(state.moved && taskState === null, () => `called recovered, but is on ${now.host}, task ${taskState}`)
    if (reference !== undefined)
      check(
        JSON.stringify(state) === JSON.stringify(reference.state),
        () => `ends as ${JSON.stringify(state)}, undisturbed as ${JSON.stringify(reference.state)}`,
      )
  } else if (outcome !== null) {
    // A line that is no success must name what happened, and show what Nova shows.
    check(outcome.code !== '' && outcome.message !== '', () => `the line says nothing: ${JSON.stringify(outcome)}`)
    const claims = outcome.after
    if (claims !== null && taskState === null)
      check(
        claims.host === now.host && claims.vmState === vmState && claims.powerState === powerState,
        () =>
          `the line shows ${JSON.stringify(claims)}, Nova ${JSON.stringify({ host: now.host, vmState, powerState })}`,
      )
  }
  return { problems, outcome, recovery, state }
}

function tables(path: string): unknown[] {
  const db = new Database(path, { readonly: true })
  const rows = ['incidents', 'instances', 'steps'].map((table) => db.prepare(`SELECT * FROM ${table}`).all())
  db.close()
  return rows
}
