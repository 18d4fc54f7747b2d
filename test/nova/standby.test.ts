/** Two daemons on one shared journal in three real nodes of Galera, over a real Nova: one acts, and the other goes on where it was. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Entry } from '../../src/domain/entry.ts'
import { account, Cluster } from '../galera/cluster.ts'
import { until, type DaemonProcess } from './daemon-process.ts'
import { lab } from './lab.ts'
import { LabStage, pauseMs } from './stage.ts'
import { truth } from './tenants.ts'

const dead = 'cmp01'
/** By default. */
const leaseMs = 6_000
const cluster = new Cluster()
let stage: LabStage
let daemons: DaemonProcess[]

beforeAll(async () => {
  stage = await LabStage.open('standby')
  await cluster.start()
})
beforeEach(async () => {
  await cluster.tables('http://127.0.0.1:15000/v3')
  daemons = [1, 2].map((number) =>
    stage.freshDaemon({
      http: { listen: `127.0.0.1:${port(number)}` },
      shared_journal: {
        nodes: cluster.addresses.map(({ host, port: at }) => `${host}:${at}`),
        user: account.user,
        password: account.password,
        name: `ctl${number}`,
      },
    }),
  )
})
afterEach(async () => {
  for (const daemon of daemons) await daemon.stop()
  await stage.tidy()
})
afterAll(async () => {
  await cluster.stop()
  stage.close()
})

const port = (number: number): number => 9500 + number

async function isActive(number: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port(number)}/active`).catch(() => null)
  return answer?.ok === true
}

/** The first is active and has seen every host beat, and the second stands by. */
async function pair(): Promise<[DaemonProcess, DaemonProcess]> {
  const [first, second] = daemons
  if (first === undefined || second === undefined) throw new Error('there are two')
  first.launch()
  await until('the first is active', () => isActive(1)).catch((thrown: unknown) => {
    throw new Error(first.output.slice(-3_000), { cause: thrown })
  })
  second.launch()
  await first.watched()
  await until('the second has the whole journal', () => Promise.resolve(newest(second) === newest(first)))
  return [first, second]
}

function newest(daemon: DaemonProcess): number {
  try {
    return daemon.entries().at(-1)?.seq ?? 0
  } catch {
    return 0
  }
}

const isIssued = ({ kind, step }: Entry): boolean => kind === 'step.issued' && step !== null

/** Every instance is back once, by Nova and by the hypervisors. */
async function eachBackOnce(ids: readonly string[], since: number): Promise<void> {
  await stage.nothingRanTwice(since)
  const { running } = await truth()
  for (const id of ids) {
    expect(await stage.evacuations(id)).toEqual(['done'])
    const { vm, host } = await stage.tenants.steps.state(id)
    expect([vm, running[id]]).toEqual(['active', [host]])
  }
}

describe('a recovery of ten instances', () => {
  it('is finished by the standby when the active daemon is killed in the middle of it', async () => {
    const since = Date.now()
    const ids = await stage.tenants.bootMany(10, dead)
    const [first, second] = await pair()
    await lab('crash', dead)
    await until('an evacuation is issued', () => Promise.resolve(first.entries().some(isIssued)))
    await first.kill()
    const killedAt = Date.now()
    await until('the second is active', () => isActive(2)).catch((thrown: unknown) => {
      throw new Error(second.output.slice(-4_000), { cause: thrown })
    })
    const tookMs = Date.now() - killedAt
    console.log(`take-over: ${tookMs} ms`)
    await second.incident(dead, ({ closed }) => closed !== null)
    await eachBackOnce(ids, since)
  })

  it('is not touched any more by a daemon that stood still for longer than its lease', async () => {
    const since = Date.now()
    const ids = await stage.tenants.bootMany(10, dead)
    const [first, second] = await pair()
    await lab('crash', dead)
    await until('an evacuation is issued', () => Promise.resolve(first.entries().some(isIssued)))
    first.standStill()
    await until('the second is active', () => isActive(2))
    await pauseMs(3_000)
    first.goOn()
    await until('the first has ended', () => Promise.resolve(!first.runs))
    await second.incident(dead, ({ closed }) => closed !== null)
    await eachBackOnce(ids, since)
  })
})

it('lets people read on the standby, sends them to the active one with what they order, and hands over at once when that is stopped', async () => {
  const [first, second] = await pair()
  const status = await second.command('status', '-f', 'json')
  expect(JSON.parse(status.stdout)).toMatchObject({ Tenure: { state: 'standby', active: { name: 'ctl1' } } })
  const paused = await second.command('pause', '--reason', 'a new switch')
  expect(paused).toMatchObject({ code: 75, stderr: expect.stringContaining('ctl1 is active: do it there') as string })
  expect(await Promise.all([isActive(1), isActive(2)])).toEqual([true, false])

  // Stopped in order: its lease need not run out.
  await first.stop()
  await until('the second is active', () => isActive(2))
  const [ended, began] = (['tenure.ended', 'tenure.began'] as const).map((kind) =>
    Date.parse(second.entries().findLast((entry) => entry.kind === kind)?.at ?? ''),
  )
  expect((began ?? NaN) - (ended ?? NaN)).toBeLessThan(leaseMs)
})
