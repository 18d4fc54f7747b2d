/**
 * Hosts with a libvirtd and real QEMU guests, on a real Nova: what a crash, a return, and the write lock of a disk that is still open are in a data
 * centre, where the fake driver has only records.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { until } from './daemon-process.ts'
import { bringBack, lab } from './lab.ts'
import { RealHost } from './real-host.ts'
import { LabStage, outcomeOf, pauseMs } from './stage.ts'
import { image, truth } from './tenants.ts'

let stage: LabStage
let dying: RealHost
let other: RealHost
/** Nova would send their guests to hosts that only pretend. */
let pretending: string[]
const began = Date.now()

beforeAll(async () => {
  stage = await LabStage.open('real')
  pretending = [...stage.cloud.hosts, stage.cloud.quietHost]
  ;[dying, other] = await RealHost.joinBoth('cmp05', 'cmp06')
})
// Each, for what tidies up after a test enables them.
beforeEach(async () => {
  for (const host of pretending)
    await stage.tenants.steps.put(host, { status: 'disabled', disabled_reason: 'they run no QEMU' })
})
// Also after a test that failed: on a host that it left dead, the next one boots nothing.
afterEach(async () => {
  await stage.tidy()
  await bringBack(stage.cloud, [dying.name, other.name])
})
afterAll(async () => {
  for (const host of [dying, other]) await host.leave()
  for (const host of pretending) await stage.tenants.steps.put(host, { status: 'enabled' })
  stage.close()
})

const quickReturn = { segment: { return: { mode: 'automatic', healthy: '10s' } } }

const isInService = async (): Promise<boolean> => {
  const { status, forced_down: forcedDown }: { status: string; forced_down: boolean } =
    await stage.tenants.steps.service(dying.name)
  return status === 'enabled' && !forcedDown
}

const runsOn = async (id: string): Promise<string[]> => (await truth()).running[id] ?? []

it('guests of a host that crashed run elsewhere or stay off, and its return starts none of them again', async () => {
  stage.freshDaemon(quickReturn)
  const boots = Promise.all([
    stage.tenants.boot('runs', dying.name),
    stage.tenants.stopped('off', dying.name),
    stage.tenants.paused('paused', dying.name),
  ])
  const [runs, off, paused] = await stage.watchBeside(boots)
  await lab('crash', dying.name)
  const ended = await stage.daemon.incident(dying.name, ({ closed }) => closed !== null)
  const outcomes = [runs, off, paused].map((id) => outcomeOf(ended, id).split(':')[0])
  expect(outcomes).toEqual(['recovered RUNNING', 'recovered STOPPED', 'recovered MEMORY_LOST_STOPPED'])
  expect(await stage.tenants.steps.state(runs)).toMatchObject({ vm: 'active', power: 1, host: other.name })
  for (const id of [off, paused])
    expect(await stage.tenants.steps.state(id)).toMatchObject({ vm: 'stopped', power: 4, host: other.name })
  expect(await Promise.all([runs, off, paused].map(runsOn))).toEqual([[other.name], [], []])

  await lab('bmc', dying.name, 'power=On')
  await lab('start', dying.name)
  await until(`${dying.name} is enabled`, isInService)
  // libvirtd found them on its disk, off; nova-compute removed each, for it was evacuated.
  expect(await lab('in', dying.name, 'virsh', 'list', '--all', '--uuid')).toBe('\n')
  expect(await runsOn(runs)).toEqual([other.name])
  await stage.nothingRanTwice(began)
})

it('a resume that waited for a dead host starts its guest there, which people are told, and keeps it out until they have ended that; what a rebuild broke there is put right', async () => {
  stage.freshDaemon(quickReturn)
  const { tenants } = stage
  const suspended = async (): Promise<string> => {
    const id = await tenants.boot('saved', dying.name)
    await tenants.steps.into(id, { suspend: null }, 'suspended')
    return id
  }
  const [saved, web] = await stage.watchBeside(Promise.all([suspended(), tenants.boot('web', dying.name)]))
  // Six seconds after the crash it evacuates both, and Nova takes neither order any more.
  const reason = 'the orders of their owners come first'
  expect(await stage.daemon.command('pause', '--reason', reason)).toMatchObject({ code: 0 })
  await lab('crash', dying.name)
  expect((await tenants.steps.act(saved, { resume: null })).status).toBe(202)
  expect((await tenants.steps.act(web, { rebuild: { imageRef: image } })).status).toBe(202)
  expect(await stage.daemon.command('resume', '--reason', reason)).toMatchObject({ code: 0 })
  const ended = await stage.daemon.incident(dying.name, ({ closed }) => closed !== null)
  const outcomes = [saved, web].map((id) => outcomeOf(ended, id).split(':')[0])
  expect(outcomes).toEqual(['recovered MEMORY_LOST_STOPPED', 'recovered REBUILD_CUT_OFF'])
  expect(stage.has(({ kind, data }) => kind === 'alarm.raised' && 'code' in data && data.code === 'STALE_ORDER')).toBe(
    true,
  )

  await lab('bmc', dying.name, 'power=On')
  await lab('start', dying.name)
  const settled = (id: string): string[] =>
    stage.daemon
      .entries()
      .flatMap(({ kind, instance, data }) => (kind === 'debt.settled' && instance === id ? [data.end] : []))
  await until('both orders are settled', () => Promise.resolve([saved, web].every((id) => settled(id).length > 0)))
  expect([settled(saved), settled(web)]).toEqual([['struck'], ['repaired']])
  expect(await Promise.all([saved, web].map(runsOn))).toEqual([[dying.name], [other.name]])
  expect(await tenants.steps.state(saved)).toMatchObject({ vm: 'stopped', host: other.name })
  expect(await tenants.steps.state(web)).toMatchObject({ vm: 'active', task: null, host: other.name })
  const keptOut = (): boolean =>
    stage.has(({ kind, data }) => kind === 'return.changed' && 'code' in data && data.code === 'GUESTS_MAY_RUN_TWICE')
  await until(`${dying.name} is kept out`, () => Promise.resolve(keptOut()))
  // Half as long again as it would have to be well.
  await pauseMs(15_000)
  expect(await isInService()).toBe(false)
  await dying.virsh('destroy', saved)
  await dying.virsh('undefine', saved)
  const returned = await stage.daemon.command('host', 'return', dying.name, '--reason', 'its guest has ended')
  expect(returned).toMatchObject({ code: 0 })
  await until(`${dying.name} is enabled`, isInService)
})

it('a destination that is refused the write lock of a disk voids the proof of death: the guest that lives is left alone', async () => {
  // It says that the host is off, and does nothing.
  const lies = {
    kind: 'command',
    fence: ['true', '{host}'],
    verify: ['true', '{host}'],
    proves: 'power',
    timeout: '5s',
  }
  stage.freshDaemon({ fencing: { lies }, segment: { fencing: ['lies'], probes: [] } })
  const id = await stage.watchBeside(stage.tenants.boot('lives', dying.name))
  await lab('isolate', dying.name)
  await until('the proof is void', () =>
    Promise.resolve(
      stage.has(({ kind, data }) => kind === 'proof.voided' && 'code' in data && data.code === 'DISK_IN_USE'),
    ),
  )
  expect(await runsOn(id)).toEqual([dying.name])
  const { id: incident } = await stage.daemon.incident(dying.name, () => true)
  await stage.daemon.command('incident', 'cancel', incident, '--reason', 'it lives')
  await stage.daemon.incident(dying.name, ({ closed }) => closed !== null)
  const refused = stage.daemon
    .entries()
    .filter(({ kind, step }) => kind === 'step.failed' && step?.includes('.evacuate.'))
  const voided = stage.daemon.entries().filter(({ kind }) => kind === 'proof.voided')
  expect(refused).toHaveLength(voided.length)
  await lab('start', dying.name)
  expect(await runsOn(id)).toEqual([dying.name])
  await stage.nothingRanTwice(began)
})
