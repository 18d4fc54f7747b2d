/**
 * A journal of the newest recorded release moves to real nodes, goes on under three daemons that hand over to each other in the middle of a
 * recovery, as an upgrade has it, and moves back. LIFEBOAT_OLDER=/path/to/main.js: the daemons that are not upgraded yet are of that build.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { foldIncidents } from '../../src/domain/incident.ts'
import type { Entry } from '../../src/domain/entry.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { startSimulator, type Simulator } from '../../src/simulator/index.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { temporaryDirectory } from '../journal/fixtures.ts'
import { recorded, releases } from '../journal/release-journals.ts'
import { account } from './cluster.ts'
import { Stage } from './stage.ts'

/** What is tested is built: `npm run build`. */
const program = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url))
const older = process.env['LIFEBOAT_OLDER'] ?? program
const dead = 'cmp02'
const guests = 20
const beatMs = 2_000
/** By default. */
const leaseMs = 6_000

const stage = new Stage()
const { cluster } = stage
const alive = temporaryDirectory()
const children: ChildProcess[] = []
let simulator: Simulator
beforeAll(async () => {
  expect(existsSync(program), 'npm run build').toBe(true)
  const timings = { spawnMs: 4_000, rebuildMs: 500 }
  simulator = await startSimulator({
    ...{ clock, hosts: 4, timings, reportIntervalMs: beatMs, serviceDownTimeMs: 4 * beatMs },
  })
  mkdirSync(alive, { recursive: true })
  for (const name of simulator.world.hosts.keys()) writeFileSync(join(alive, name), '')
  for (let n = 0; n < guests; n++) simulator.addInstance({ host: dead, name: `app-${n}`, state: 'active' })
  await cluster.start()
  await cluster.tables(simulator.cloud().auth_url)
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await simulator.close()
  await cluster.stop()
})

function environment(): Record<string, string> {
  const access = Object.entries(simulator.cloud()).map(([key, value]) => [`OS_${key.toUpperCase()}`, String(value)])
  return {
    PATH: process.env['PATH'] ?? '',
    USER: 'ann',
    ...(Object.fromEntries(access) as Record<string, string>),
  }
}

class Controller {
  readonly journal: string
  readonly #config: string
  #child: ChildProcess | null = null
  #text = ''

  constructor(name: string) {
    const directory = temporaryDirectory()
    this.journal = join(directory, 'journal.db')
    this.#config = join(directory, 'lifeboat.yaml')
    const brake = { max_hosts: 1000, max_share: 1 }
    const bmc = { kind: 'redfish', system: `${simulator.url}/redfish/v1/Systems/{host}`, ...simulator.bmcAccess }
    const config = {
      ...{ mode: 'armed', state_dir: directory, http: { listen: false }, web: { listen: false }, brake },
      monitor: {
        ...{ poll_interval: `${beatMs / 2}ms`, default_beat_interval: `${beatMs}ms` },
        ...{ start_silence: `${4 * beatMs}ms`, min_dead_probe_kinds: 1 },
      },
      probes: { power: { kind: 'command', argv: ['test', '-e', join(alive, '{host}')], timeout: '10s' } },
      fencing: { bmc: { ...bmc, off_timeout: '15s' } },
      // Few at once, so that both hand-overs meet the recovery.
      defaults: { storage: 'shared', fencing: ['bmc'], probes: ['power'], max_parallel_per_host: 3, brake },
      shared_journal: {
        nodes: cluster.addresses.map(({ host, port }) => `${host}:${port}`),
        ...{ password: account.password, name, address: `https://${name}` },
      },
    }
    writeFileSync(this.#config, stringify(config))
  }

  /** Gives the exit code, once it ends. */
  start(build: string): Promise<number | null> {
    const child = spawn(process.execPath, [build, 'run', '--config', this.#config], { env: environment() })
    children.push(child)
    this.#child = child
    this.#text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (this.#text += chunk.toString()))
    return new Promise((resolve) => child.once('close', resolve))
  }

  stop(): void {
    this.#child?.kill('SIGTERM')
  }

  async is(state: string): Promise<void> {
    await expect.poll(() => this.#text, { timeout: 30_000, interval: 20 }).toContain(`"state":"${state}"`)
  }

  entries(filter: Parameters<ReturnType<typeof openJournalReader>['read']>[0] = {}): Entry[] {
    const reader = openJournalReader(this.journal)
    try {
      return reader.read(filter)
    } finally {
      reader.close()
    }
  }

  lifeboat(...words: string[]): Promise<{ exit: number; text: string }> {
    return new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        [program, '--config', this.#config, ...words],
        { env: environment() },
        (_, out, err) => resolve({ exit: child.exitCode ?? -1, text: `${out}${err}` }),
      )
    })
  }

  async verified(): Promise<{ Result: string; Head: string }> {
    return JSON.parse((await this.lifeboat('journal', 'verify', '-f', 'json')).text) as { Result: string; Head: string }
  }
}

/** From the last entry of one tenure to the first of the next, ms, by the clock of this one machine. */
function gapsOf(entries: readonly Entry[]): number[] {
  const at = (kind: string): number[] => entries.filter((it) => it.kind === kind).map((it) => Date.parse(it.at))
  const began = at('tenure.began')
  return at('tenure.ended').map((ended) => Math.min(...began.filter((each) => each >= ended)) - ended)
}

/** Guests whose evacuation begins from now on; those under way keep their time. */
function spawnSlower(slowSpawnMs: number): void {
  for (const host of simulator.world.hosts.keys()) simulator.fault(host, { slowSpawnMs })
}

it('a journal of the last release goes to three daemons that are upgraded in a recovery of twenty, and back, whole', async () => {
  const [one, two, three] = [new Controller('ctl1'), new Controller('ctl2'), new Controller('ctl3')]
  const release =
    recorded()
      .map(([name]) => name)
      .toSorted()
      .at(-1) ?? ''
  copyFileSync(join(releases, release, 'finished.db'), one.journal)
  const recordedEntries = one.entries()
  const before = recordedEntries.length
  expect((await one.lifeboat('journal', 'move', '--to', 'shared', '--reason', 'three')).exit).toBe(0)

  const first = one.start(older)
  await one.is('active')
  // The standbys first.
  void two.start(program)
  void three.start(program)
  await two.is('standby')
  await three.is('standby')
  await expect
    .poll(() => one.entries({ kinds: ['verdict.changed'] }).filter(({ seq }) => seq > before).length, {
      timeout: 60_000,
    })
    .toBeGreaterThanOrEqual(4)
  rmSync(join(alive, dead))
  simulator.crash(dead)
  const outcomes = (controller: Controller): number =>
    controller.entries({ kinds: ['outcome.recorded'] }).filter(({ seq }) => seq > before).length
  await expect.poll(() => outcomes(one), { timeout: 90_000 }).toBeGreaterThanOrEqual(2)
  // Both hand-overs meet the recovery, however long the commands and the starts between them take here.
  spawnSlower(15_000)

  expect((await one.lifeboat('hand-over', '--reason', 'upgrade')).exit).toBe(0)
  expect(await first).toBe(75)
  void one.start(program)
  await expect
    .poll(() => [two, three].flatMap((it) => it.entries({ kinds: ['tenure.ended'] })).length)
    .toBeGreaterThan(0)
  await one.is('standby')
  // SIGTERM does the same.
  const last = two.entries({ kinds: ['tenure.began'] }).at(-1)
  const next = last?.kind === 'tenure.began' && last.data.holder.startsWith('ctl2/') ? two : three
  expect(outcomes(next)).toBeLessThan(guests)
  spawnSlower(0)
  next.stop()
  await expect.poll(() => outcomes(one), { timeout: 120_000 }).toBe(guests)

  const closed = one.entries({ kinds: ['incident.opened'] }).findLast(({ host }) => host === dead)
  await expect
    .poll(() => foldIncidents(one.entries({ incident: closed?.incident ?? '' })).get(closed?.incident ?? '')?.phase, {
      timeout: 60_000,
    })
    .toBe('closed')
  expect(simulator.truth().doubles).toEqual([])
  expect(Math.max(...gapsOf(one.entries())), 'handed over: the lease of the one before did not run out').toBeLessThan(
    leaseMs,
  )

  for (const controller of [one, two, three]) controller.stop()
  await expect.poll(() => children.every((child) => child.exitCode !== null || child.signalCode !== null)).toBe(true)
  expect((await two.lifeboat('journal', 'move', '--to', 'own', '--reason', 'one')).exit).toBe(0)
  // Each pulls what it lacks as it starts, and ends: the journal is another's.
  for (const controller of [one, three]) expect(await controller.start(program)).toBe(78)
  const ends = [await one.verified(), await two.verified(), await three.verified()]
  expect(ends).toEqual(Array(3).fill({ ...ends[0], Result: 'whole' }))
  const lastHashes = (await stage.onEachNode()).map((rows) => rows.at(-1)?.hash)
  expect(lastHashes).toEqual(Array(3).fill(ends[0]?.Head))
  expect(two.entries().slice(0, before)).toEqual(recordedEntries)
}, 600_000)
