/**
 * Journals as a release wrote them, at moments that a later release must be able to go on from. `record` makes them with the
 * code as it is now; `restored` gives one back together with the simulated cloud as it was at that moment.
 *
 * A recorded folder is never made again: it is what daemons in the field have on their disks.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { Workflow } from '../../src/domain/plan.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { startSimulator, VirtualClock, type Simulator } from '../../src/simulator/index.ts'
import type { SimAction, SimHost, SimInstance, SimMigration } from '../../src/simulator/model.ts'
import { MortalDaemon } from '../crash/mortal-daemon.ts'

export const releases = fileURLToPath(new URL('./releases/', import.meta.url))

export const host = 'cmp01'
export const incident = 'i-1'

/** Beside each journal: the cloud when the daemon was gone and everything in the cloud had come to rest. */
interface Scenery {
  wall: number
  hosts: SimHost[]
  instances: SimInstance[]
  migrations: SimMigration[]
  actions: [string, SimAction[]][]
  allocations: [string, string[]][]
  guests: { host: string; uuid: string; running: boolean }[]
  /** How each instance ends when the journal is picked up by the release that wrote it. */
  ends: Ends
}

/** By the instance's name. */
export type Ends = Record<string, { outcome: string; code: string; vmState: string; moved: boolean; locked: boolean }>

interface Moment {
  /** The row after which the daemon dies; none: it lives to the end. */
  dies?: (entry: NewEntry) => boolean
  /** It dies right before that row is written: the write that the row would tell of has been sent. */
  before?: boolean
  /** The row after which a person acts, and how. */
  acts?: { after: NewEntry['kind']; row: NewEntry }
  bmcAway?: boolean
  /** Begins one phase earlier, on a person's word. */
  confirming?: boolean
}

const isStep = (kind: NewEntry['kind'], step: string) => (entry: NewEntry) =>
  entry.kind === kind && entry.step?.includes(step) === true
const isPhase = (to: string) => (entry: NewEntry) => entry.kind === 'incident.phase' && entry.data.to === to

/** Every moment, by the name of its file. */
const moments: Record<string, Moment> = {
  finished: {},
  confirming: { confirming: true, dies: ({ kind }) => kind === 'daemon.started' },
  fencing: { dies: ({ kind }) => kind === 'fence.attempt' },
  isolating: { dies: ({ kind }) => kind === 'service.marked' },
  surveying: { dies: isPhase('surveying') },
  recovering: { dies: isStep('step.issued', 'evacuate') },
  'lost-answer': { dies: isStep('step.issued', 'evacuate'), before: true },
  'in-the-second-recipe': { dies: ({ kind }) => kind === 'recipe.entered' },
  sweeping: { dies: isPhase('sweeping') },
  held: { bmcAway: true, dies: ({ kind }) => kind === 'incident.held' },
  cancelled: {
    acts: {
      after: 'step.issued',
      row: { kind: 'operator.cancelled', incident, host, actor: 'operator:ann', data: { by: 'ann', reason: 'wait' } },
    },
    dies: ({ kind }) => kind === 'operator.cancelled',
  },
  paused: {
    acts: {
      after: 'step.issued',
      row: { kind: 'operator.paused', actor: 'operator:ann', data: { by: 'ann', reason: 'look first', until: null } },
    },
    dies: ({ kind }) => kind === 'operator.paused',
  },
}

const workflowFile = new URL('../../recovery-workflows/host-failure.yaml', import.meta.url)

function workflowNow(): Workflow {
  return parseWorkflow(readFileSync(workflowFile, 'utf8'), 'host-failure.yaml', { ownerPolicy: defaultOwnerPolicy })
}

/** The fixtures of a release: [release, moment]. */
export function recorded(): [string, string][] {
  const names = readdirSync(releases, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return names.flatMap(({ name }) =>
    readdirSync(join(releases, name))
      .filter((file) => file.endsWith('.db'))
      .map((file): [string, string] => [name, file.slice(0, -'.db'.length)]),
  )
}

/** Makes the folder of a release. Throws when it is there: what a release has written stays as it is. */
export async function record(release: string): Promise<void> {
  const folder = join(releases, release)
  mkdirSync(folder)
  for (const [name, moment] of Object.entries(moments)) {
    const scene = await newScene(moment)
    const { path, clock, simulator } = scene
    const dead = newLife(scene, moment)
    await clock.until(() => dead.isOver, 1_800_000)
    await dead.stop()
    dead.die()
    await clock.advance(60_000)
    const file = join(folder, `${name}.db`)
    compact(path, file)
    const scenery: Scenery = { ...sceneryOf(simulator), ends: {} }
    await scene.close()
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(scenery, null, 1)}\n`)
    const again = await restored(release, name)
    writeFileSync(
      join(folder, `${name}.json`),
      `${JSON.stringify({ ...scenery, ends: await resume(again) } satisfies Scenery, null, 1)}\n`,
    )
    await again.close()
  }
}

export interface Scene {
  clock: VirtualClock
  simulator: Simulator
  /** A copy: the fixture itself is only read. */
  path: string
  ends: Ends
  close(): Promise<void>
}

/** A recorded journal, and the cloud as it stood. */
export async function restored(release: string, name: string): Promise<Scene> {
  const scenery = JSON.parse(readFileSync(join(releases, release, `${name}.json`), 'utf8')) as Scenery
  const scene = await emptyScene(scenery.wall)
  copyFileSync(join(releases, release, `${name}.db`), scene.path)
  const { world } = scene.simulator
  for (const kept of scenery.hosts) Object.assign(world.host(kept.name), kept)
  // What kept the recovery from going on has been repaired meanwhile.
  for (const { bmc } of world.hosts.values()) bmc.reachable = true
  for (const instance of scenery.instances) world.instances.set(instance.uuid, instance)
  world.migrations.push(...scenery.migrations)
  for (const [uuid, actions] of scenery.actions) world.actions.set(uuid, actions)
  for (const [consumer, hosts] of scenery.allocations) for (const each of hosts) world.allocate(consumer, each)
  for (const { host: on, uuid, running } of scenery.guests) world.hypervisors.set(on, uuid, running, 'restored')
  while (world.nextId() < 1_000);
  return { ...scene, ends: scenery.ends }
}

/** Goes on from the journal with the code as it is now, and gives how the instances end. */
export async function resume({ clock, simulator, path }: Scene): Promise<Ends> {
  const life = new MortalDaemon({ clock, simulator, path, workflow: workflowNow(), segment: {} })
  try {
    // What a person paused goes on when a person says so, not by a restart.
    await clock.advance(60_000)
    const { paused } = life.daemon.operations.status()
    if (paused !== null) await life.daemon.operations.resume({ by: 'ann', reason: 'looked' })
    await clock.until(() => life.isOver, 1_800_000)
    await life.stop()
    const instances = [...(life.daemon.store.find(incident)?.instances.values() ?? [])]
    return Object.fromEntries(
      instances.map(({ plan, outcome }) => {
        const { vmState, locked, host: on } = simulator.instance(plan.instanceId)
        const { outcome: kind, code } = outcome ?? { outcome: 'none', code: 'none' }
        return [plan.name, { outcome: kind, code, vmState, moved: on !== host, locked }]
      }),
    )
  } finally {
    life.die()
  }
}

async function emptyScene(wall?: number): Promise<Omit<Scene, 'ends'>> {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-release-'))
  const clock = new VirtualClock(wall)
  const simulator = await startSimulator({ clock, hosts: 4, port: null, serviceDownTimeMs: 3_600_000 })
  const close = async (): Promise<void> => {
    await simulator.close()
    rmSync(directory, { recursive: true, force: true })
  }
  return { clock, simulator, path: join(directory, 'journal.db'), close }
}

async function newScene(moment: Moment): Promise<Omit<Scene, 'ends'>> {
  const scene = await emptyScene()
  const { simulator, clock, path } = scene
  for (const state of ['active', 'stopped', 'paused'] as const) simulator.addInstance({ host, state, name: state })
  simulator.crash(host)
  simulator.bmc(host, { reachable: moment.bmcAway !== true })
  // The first evacuation fails, so that later recipes are on record too.
  for (const name of ['cmp02', 'cmp03', 'cmp04']) simulator.fault(name, { spawnFails: true })
  clock.after(1_500, () => {
    for (const name of ['cmp02', 'cmp03', 'cmp04']) simulator.fault(name, { spawnFails: false })
  })
  const journal = openJournal(path, { clock })
  const { name, revision, digest, source } = workflowNow()
  const base = { incident, host }
  const opened = { verdict: null, segment: 'simulated', failure: 'host', mode: 'armed', openedBy: 'daemon' } as const
  journal.append([
    { kind: 'workflow.pinned', data: { name, revision, digest, source } },
    { kind: 'incident.opened', ...base, data: { ...opened, workflowDigest: digest } },
    ...(moment.confirming === true
      ? [{ kind: 'operator.statement' as const, ...base, data: { by: 'ann', statement: 'I pulled its plug' } }]
      : [{ kind: 'incident.phase' as const, ...base, data: { from: 'confirming', to: 'fencing' } as const }]),
  ])
  journal.close()
  return scene
}

function newLife({ clock, simulator, path }: Omit<Scene, 'ends'>, { dies, before, acts }: Moment): MortalDaemon {
  let acted = false
  return new MortalDaemon({
    clock,
    simulator,
    path,
    workflow: workflowNow(),
    segment: {},
    onCommit: (_nth, entries, written, life) => {
      if (written && !acted && entries.some(({ kind }) => kind === acts?.after)) {
        acted = true
        // Not within the commit that it follows.
        clock.after(0, () => {
          if (acts === undefined || life.dead) return
          life.journal.append([acts.row])
          if (dies?.(acts.row) === true) life.die()
        })
      }
      if (dies !== undefined && entries.some(dies) && written !== (before === true)) life.die()
    },
  })
}

/** One file without a log, as small as it gets. */
function compact(from: string, to: string): void {
  const db = new Database(from)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.exec(`VACUUM INTO '${to}'`)
  db.close()
}

function sceneryOf({ world, clock }: Simulator): Omit<Scenery, 'ends'> {
  const hosts = [...world.hosts.values()]
  return {
    wall: clock.wall(),
    hosts,
    instances: [...world.instances.values()],
    migrations: world.migrations,
    actions: [...world.actions],
    allocations: [...world.allocations].map(([consumer, on]) => [consumer, [...on]]),
    guests: hosts.flatMap(({ name }) =>
      world.hypervisors
        .defined(name)
        .map((uuid) => ({ host: name, uuid, running: world.hypervisors.runs(name, uuid) })),
    ),
  }
}
