/** Daemons as real processes on a shared journal in real nodes: what a person orders of them, what they read again, and a copy that differs. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Entry, EntryKind } from '../../src/domain/entry.ts'
import type { TenureView } from '../../src/domain/tenure.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { startSimulator, type Simulator } from '../../src/simulator/index.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { temporaryDirectory } from '../journal/fixtures.ts'
import { account } from './cluster.ts'
import { Stage } from './stage.ts'

/** What is tested is built: `npm run build`. */
const program = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url))
const stage = new Stage()
const { cluster } = stage
let simulator: Simulator
const children: { process: ChildProcess; ended: Promise<number | null> }[] = []
/** By default. */
const leaseMs = 6_000
beforeAll(async () => {
  expect(existsSync(program), 'npm run build').toBe(true)
  simulator = await startSimulator({ clock, hosts: 2 })
  await cluster.start()
})
beforeEach(() => cluster.tables(simulator.cloud().auth_url))
// A daemon of a test that failed would hold the lease of the next one.
afterEach(async () => {
  for (const { process: child, ended } of children.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
})
afterAll(async () => {
  await simulator.close()
  await cluster.stop()
})

/** A controller: a configuration, and a daemon when it is started. */
class Machine {
  readonly #config: string
  readonly #journal: string
  #text = ''

  constructor(name: string) {
    const directory = temporaryDirectory()
    const nodes = cluster.addresses.map(({ host, port }) => `${host}:${port}`)
    const shared = `{ nodes: ${JSON.stringify(nodes)}, password: ${account.password}, name: ${name}, address: "https://${name}" }`
    this.#config = join(directory, 'lifeboat.yaml')
    this.#journal = join(directory, 'journal.db')
    const listeners = 'http: { listen: false }\nweb: { listen: false }'
    writeFileSync(this.#config, `mode: observe\nstate_dir: ${directory}\n${listeners}\nshared_journal: ${shared}\n`)
  }

  /** Writes its file again. */
  rewrites(from: string, to: string): void {
    writeFileSync(this.#config, readFileSync(this.#config, 'utf8').replace(from, to))
  }

  /** Gives the exit code, once it ends. */
  start(): { ended: Promise<number | null>; stop: () => void; hangUp: () => void } {
    const child = spawn(process.execPath, [program, 'run', '--config', this.#config], { env: environment() })
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    children.push({ process: child, ended })
    this.#text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (this.#text += chunk.toString()))
    return {
      ended,
      stop: () => child.kill('SIGTERM'),
      hangUp: () => child.kill('SIGHUP'),
    }
  }

  async says(text: string): Promise<void> {
    await expect.poll(() => this.#text).toContain(text)
  }

  /** The newest line of the log with an event. */
  line(event: string): string {
    return this.#text.split('\n').findLast((each) => each.includes(`"${event}"`)) ?? ''
  }

  lifeboat(...words: string[]): Promise<{ exit: number; text: string }> {
    return lifeboat(this.#config, ...words)
  }

  async verified(): Promise<unknown> {
    return JSON.parse((await this.lifeboat('journal', 'verify', '-f', 'json')).text)
  }

  /** The newest entry of a kind. */
  last(kind: EntryKind): Entry | undefined {
    const reader = openJournalReader(this.#journal)
    try {
      return reader.read({ kinds: [kind], newestFirst: true, limit: 1 })[0]
    } finally {
      reader.close()
    }
  }

  /** When that was recorded, ms. */
  lastAt(kind: EntryKind): number {
    return Date.parse(this.last(kind)?.at ?? '')
  }

  /** The mode and the rules of each daemon, as this one knows them. */
  async rules(): Promise<{ modes: string[]; digests: Set<string> }> {
    const status = JSON.parse((await this.lifeboat('status', '-f', 'json')).text) as { Tenure: TenureView }
    const { daemons } = status.Tenure
    return { modes: daemons.map(({ mode }) => mode), digests: new Set(daemons.map((it) => it.configDigest)) }
  }

  async kinds(): Promise<string[]> {
    const { text } = await this.lifeboat('journal', 'list', '-f', 'value', '-c', 'Kind')
    return text.trim().split('\n')
  }
}

function lifeboat(config: string, ...words: string[]): Promise<{ exit: number; text: string }> {
  return new Promise((resolve) => {
    const options = { env: { ...environment(), USER: 'ann' } }
    const child = execFile(process.execPath, [program, '--config', config, ...words], options, (_, out, err) =>
      resolve({ exit: child.exitCode ?? -1, text: `${out}${err}` }),
    )
  })
}

function environment(): Record<string, string> {
  const access = Object.entries(simulator.cloud()).map(([key, value]) => [`OS_${key.toUpperCase()}`, String(value)])
  return { PATH: process.env['PATH'] ?? '', ...(Object.fromEntries(access) as Record<string, string>) }
}

const handOver = ['hand-over', '--reason', 'new kernel']
const isActive = '"state":"active"'

it('one hands over to another in order, and the journal then moves to a machine of its own', async () => {
  const [one, two] = [new Machine('ctl1'), new Machine('ctl2')]
  const first = one.start()
  await one.says(isActive)
  expect(await one.lifeboat(...handOver)).toEqual({ exit: 3, text: expect.stringContaining('[CONFLICT]') as string })

  const second = two.start()
  await two.says('"state":"standby"')
  const refused = await two.lifeboat(...handOver)
  expect([refused.exit, refused.text]).toEqual([75, expect.stringMatching(/ctl1 is active.*https:\/\/ctl1/)])
  await expect
    .poll(() => one.lifeboat(...handOver), { interval: 500 })
    .toEqual({ exit: 0, text: expect.stringContaining('ctl2') as string })
  expect(await first.ended).toBe(75)
  await two.says(isActive)
  expect(two.lastAt('tenure.began') - two.lastAt('operator.hand-over')).toBeLessThan(leaseMs)
  expect((await two.kinds()).join(' ')).toMatch(/operator\.hand-over daemon\.stopped tenure\.ended tenure\.began/)

  const again = one.start()
  await one.says('"state":"standby"')
  expect((await one.lifeboat('journal', 'move', '--to', 'own', '--reason', 'x')).exit).toBe(74)
  again.stop()
  expect(await again.ended).toBe(0)
  expect(await one.lifeboat('journal', 'move', '--to', 'own', '--reason', 'x')).toEqual({
    exit: 75,
    text: expect.stringContaining('ctl2 holds the shared journal') as string,
  })
  second.stop()
  expect(await second.ended).toBe(0)
  expect((await one.lifeboat('journal', 'move', '--to', 'own', '--reason', 'one controller')).exit).toBe(0)

  const ended = two.start()
  expect(await ended.ended).toBe(78)
  await two.says("ctl1's own journal")
  expect(await two.verified()).toEqual(await one.verified())
  expect((await one.kinds()).at(-1)).toBe('journal.moved')
})

it('a reload of one makes daemons differ until the other reloads too, and the standby takes over with what it read', async () => {
  const [one, two] = [new Machine('ctl1'), new Machine('ctl2')]
  const first = one.start()
  await one.says(isActive)
  const second = two.start()
  await two.says('"state":"standby"')
  const [observe, armed] = ['mode: observe', 'mode: armed']
  one.rewrites(observe, armed)
  first.hangUp()
  await expect.poll(async () => (await two.rules()).modes, { interval: 500 }).toEqual(['armed', 'observe'])
  expect((await two.rules()).digests.size).toBe(2)
  two.rewrites(observe, armed)
  second.hangUp()
  await expect.poll(async () => (await one.rules()).modes, { interval: 500 }).toEqual(['armed', 'armed'])
  expect((await one.rules()).digests.size).toBe(1)
  first.stop()
  expect(await first.ended).toBe(0)
  await two.says(isActive)
  await expect.poll(() => two.last('daemon.started')).toMatchObject({ data: { mode: 'armed' } })
  expect(two.last('config.reloaded')?.seq, 'that of the active daemon').toBe(one.last('config.reloaded')?.seq)
  second.stop()
  expect(await second.ended).toBe(0)
})

it('a copy with entries that the shared journal lacks is put aside to be read there, and a new one is pulled', async () => {
  const [one, two] = [new Machine('ctl1'), new Machine('ctl2')]
  const first = one.start()
  await one.says(isActive)
  const second = two.start()
  await two.says('"state":"standby"')
  second.stop()
  expect(await second.ended).toBe(0)
  first.stop()
  expect(await first.ended).toBe(0)
  const kept = await one.verified()
  // The database is restored from its first entry, and another daemon goes on.
  await cluster.sql(1, 'DELETE FROM entries WHERE seq > 1')
  const third = new Machine('ctl3')
  third.start()
  await third.says(isActive)

  expect(await one.start().ended).toBe(75)
  await one.says('"event":"copy.put_aside"')
  const aside = /"path":"([^"]*)\/journal\.db"/.exec(one.line('copy.put_aside'))?.[1] ?? ''
  // As the runbook has it.
  const config = join(temporaryDirectory(), 'aside.yaml')
  writeFileSync(config, `state_dir: ${aside}\n`)
  const readThere = await lifeboat(config, 'journal', 'verify', '-f', 'json')
  expect(JSON.parse(readThere.text)).toEqual(kept)

  one.start()
  await one.says('"state":"standby"')
  // The active one may record something meanwhile.
  await expect.poll(async () => isDeepStrictEqual(await one.verified(), await third.verified())).toBe(true)
})
