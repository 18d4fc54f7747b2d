/**
 * Rounds of trouble for daemons that share a journal, on a real Nova and a real Galera: a host with twenty guests dies, and at random moments of
 * its recovery the active daemon, its machine, its wire or database nodes fail. Judged by the hypervisors' own log, by Nova's migrations, and by the
 * journal's copies: each guest is back, once, with one outcome, in one history; and by the kernel's count of what each daemon sent: a deposed one
 * sent no write.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { foldIncidents } from '../../src/domain/incident.ts'
import { until } from '../nova/daemon-process.ts'
import { lab } from '../nova/lab.ts'
import { pauseMs } from '../nova/stage.ts'
import { truth } from '../nova/tenants.ts'
import { Random } from './random.ts'
import { StandbyStage, type Controller } from './standby-stage.ts'

const dead = 'cmp01'
const guests = 20
const troublesInARound = 4
const recoveryLimitMs = 240_000

type Strike = (stage: StandbyStage, active: Controller, forMs: number) => Promise<void>

/** Each with how long it lasts, ms. */
const troubles: Record<string, { forMs: [number, number]; strike: Strike }> = {
  'the active daemon is killed': {
    forMs: [0, 0],
    strike: async (_stage, { daemon }) => daemon.kill(),
  },
  'its machine dies': {
    forMs: [10_000, 25_000],
    strike: async (_stage, active, forMs) => {
      active.awayUntil = Date.now() + forMs
      await active.daemon.kill()
    },
  },
  'it stands still': {
    forMs: [3_000, 60_000],
    strike: async (_stage, { daemon }, forMs) => {
      daemon.standStill()
      await pauseMs(forMs)
      daemon.goOn()
    },
  },
  'it is cut off from the database': {
    forMs: [3_000, 20_000],
    strike: async (_stage, { wires }, forMs) => {
      for (const wire of wires) wire.cut()
      await pauseMs(forMs)
      for (const wire of wires) wire.join()
    },
  },
  'its database node is killed': {
    forMs: [5_000, 15_000],
    strike: async ({ cluster }, _active, forMs) => {
      cluster.signal(1, 'SIGKILL')
      await pauseMs(forMs)
      await cluster.run(1)
    },
  },
  'its database node stands still': {
    forMs: [3_000, 15_000],
    strike: async ({ cluster }, _active, forMs) => {
      cluster.signal(1, 'SIGSTOP')
      await pauseMs(forMs)
      cluster.signal(1, 'SIGCONT')
    },
  },
  'its database node is parted from the others': {
    forMs: [5_000, 15_000],
    strike: async ({ cluster }, _active, forMs) => {
      await cluster.isolate(1)
      await pauseMs(forMs)
      await cluster.rejoin(1)
    },
  },
  // Forward or back by as much as the trouble lasts; it stays so.
  'its clock is set': {
    forMs: [1_000, 120_000],
    strike: async (_stage, { clockFile }, forMs) => {
      writeFileSync(clockFile, `${forMs % 2 === 0 ? '+' : '-'}${forMs / 1_000}s`)
      await pauseMs(2_000)
    },
  },
  'it is stopped in order': {
    forMs: [0, 0],
    strike: async (_stage, { daemon }) => daemon.stop(),
  },
}

/** Gives the exit code. */
export async function standbyChaos(words: string[]): Promise<number> {
  const { values } = parseArgs({
    args: words,
    options: { rounds: { type: 'string', default: '15' }, seed: { type: 'string', default: '1' } },
  })
  const rounds = Number(values.rounds)
  const stage = await StandbyStage.open()
  let failed = 0
  const delays: number[] = []
  try {
    for (let nth = 0; nth < rounds; nth += 1) {
      const seed = Number(values.seed) + nth
      const { failures, told, tookOver } = await round(stage, new Random(seed * 7_919))
      delays.push(...tookOver)
      if (failures.length > 0) failed += 1
      console.log(`${nth + 1}/${rounds} seed ${seed}: ${failures.length === 0 ? 'ok' : 'FAILED'}; ${told.join('; ')}`)
      for (const failure of failures) console.log(`    ${failure}`)
    }
  } finally {
    await stage.close()
  }
  console.log(`${rounds} rounds, ${rounds * troublesInARound} troubles, ${failed} failed`)
  console.log(`take-overs, ms from a death to the next one active: ${delays.toSorted((a, b) => a - b).join(' ')}`)
  return failed === 0 ? 0 : 1
}

async function round(
  stage: StandbyStage,
  random: Random,
): Promise<{ failures: string[]; told: string[]; tookOver: number[] }> {
  const began = Date.now()
  const failures: string[] = []
  const told: string[] = []
  const tookOver: number[] = []
  try {
    const ids = await stage.lab.tenants.bootMany(guests, dead)
    await stage.set()
    const atOnce = random.next() < 0.25
    const died = lab('crash', dead)
    if (atOnce) await strikeOne(stage, random, 'its machine dies', told, tookOver)
    await died
    for (let nth = atOnce ? 1 : 0; nth < troublesInARound; nth += 1) {
      await pauseMs(random.ms(500, 12_000))
      const kind = random.of(Object.keys(troubles))
      await strikeOne(stage, random, kind, told, tookOver)
    }
    await stage.peace()
    failures.push(...(await judged(stage, ids, began)))
    const { wrong, writes } = await stage.counted()
    failures.push(...wrong)
    // Each guest was evacuated once at least: fewer writes than guests, and the kernel counted nothing.
    if (writes < guests) failures.push(`the kernel counted ${writes} writes for ${guests} guests`)
    told.push(`${writes} writes counted`)
  } catch (thrown) {
    failures.push(thrown instanceof Error ? `${thrown.message}\n${thrown.stack}` : String(thrown))
    for (const { name, daemon } of stage.controllers) console.log(name, daemon.output.slice(-1_500))
  }
  await stage.end().catch((thrown: unknown) => failures.push(`not clean afterwards: ${String(thrown)}`))
  return { failures, told, tookOver }
}

async function theActive(stage: StandbyStage): Promise<Controller> {
  return until('someone is active', async () => (await stage.active()) ?? undefined)
}

async function strikeOne(
  stage: StandbyStage,
  random: Random,
  kind: string,
  told: string[],
  tookOver: number[],
): Promise<void> {
  const trouble = troubles[kind]
  const active = await theActive(stage)
  if (trouble === undefined) throw new Error(`no trouble ${kind}`)
  const forMs = random.ms(...trouble.forMs)
  told.push(`${kind}${forMs > 0 ? ` for ${forMs / 1_000} s` : ''}`)
  const at = Date.now()
  const struck = trouble.strike(stage, active, forMs)
  if (kind === 'the active daemon is killed' || kind === 'its machine dies') {
    await until('it is gone', () => Promise.resolve(!active.daemon.runs))
    await theActive(stage)
    tookOver.push(Date.now() - at)
  }
  await struck
}

async function judged(stage: StandbyStage, ids: readonly string[], began: number): Promise<string[]> {
  const active = await theActive(stage)
  const entries = (): ReturnType<Controller['daemon']['entries']> => active.daemon.entries()
  const isOver = (): boolean => {
    const incidents = [...foldIncidents(entries()).values()].filter(({ host }) => host === dead)
    return incidents.length > 0 && incidents.every(({ closed }) => closed !== null)
  }
  await until('every incident is over', () => Promise.resolve(isOver()), recoveryLimitMs)
  const wrong: string[] = []
  const { running, doubles } = await truth()
  wrong.push(
    ...doubles.filter(({ t }) => t * 1_000 >= began).map((double) => `a guest ran twice: ${JSON.stringify(double)}`),
  )
  const incidents = [...foldIncidents(entries()).values()].filter(({ host }) => host === dead)
  for (const id of ids) {
    const { vm, host, task } = await stage.lab.tenants.steps.state(id)
    const evacuations = await stage.lab.evacuations(id)
    const outcomes = incidents.flatMap((incident) => incident.instances.get(id)?.outcome ?? [])
    const asItShould =
      vm === 'active' &&
      task === null &&
      host !== dead &&
      running[id]?.join() === host &&
      evacuations.join() === 'done' &&
      outcomes.map(({ outcome }) => outcome).join() === 'recovered'
    if (!asItShould)
      wrong.push(
        `${id}: ${vm} on ${host}, task ${task}, runs on ${running[id]?.join() ?? 'no host'}, evacuations ${evacuations.join()}, told ${outcomes.map(({ outcome, code }) => `${outcome} ${code}`).join()}`,
      )
  }
  await pauseMs(3_000)
  const heads = await Promise.all(
    stage.controllers.map(async ({ name, daemon }) => {
      const { stdout } = await daemon.command('journal', 'verify', '-f', 'json')
      const { Result, Entries, Head } = JSON.parse(stdout) as { Result: string; Entries: number; Head: string }
      return { name, result: Result, entries: Entries, head: Head }
    }),
  )
  // The active one may have written between two looks; then one copy begins with the other.
  const nodes = (await rowsOnEachNode(stage)).map((rows) => new Map(rows.map(({ seq, hash }) => [seq, hash])))
  for (const { name, result, entries: count, head } of heads) {
    if (result !== 'whole') wrong.push(`the copy of ${name} is ${result}`)
    for (const [node, hashes] of nodes.entries())
      if (hashes.get(count) !== head) wrong.push(`entry ${count} of ${name} is not that of node ${node + 1}`)
  }
  return wrong
}

async function rowsOnEachNode({ cluster }: StandbyStage): Promise<{ seq: number; hash: string }[][]> {
  const read = [1, 2, 3].map((number) =>
    cluster.sql(number, 'SET SESSION wsrep_sync_wait = 1', 'SELECT seq, hash FROM entries ORDER BY seq'),
  )
  return (await Promise.all(read)) as { seq: number; hash: string }[][]
}
