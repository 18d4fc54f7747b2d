/** Readiness of a whole cloud, as the daemon reads it beside everything else. */
import { expect, it } from 'vitest'
import type { FenceAttempt } from '../../src/domain/fencing.ts'
import type { Readiness } from '../../src/domain/readiness.ts'
import { SmallWorld } from './small-world.ts'

const minuteMs = 60_000

const readiness = async (world: SmallWorld): Promise<Readiness> => {
  let found: Readiness | null = null
  await world.clock.run(world.daemon.review.readiness().then((it) => void (found = it)))
  return found as unknown as Readiness
}
const bmcReads = ({ simulator }: SmallWorld, host: string): string[] =>
  simulator
    .requests()
    .filter(({ path }) => path.includes(`Systems/${host}`))
    .map(({ method }) => method)

const fenceTries = ({ journal }: SmallWorld): number =>
  journal.read({ kinds: ['fence.attempt'] }).filter(({ data }) => (data as FenceAttempt).phase === 'trying').length

it(
  'within minutes every host has its plan and the answer of its fencing device, and nothing was written',
  SmallWorld.run({}, async (world) => {
    const { simulator, clock, daemon } = world
    simulator.addInstance({ name: 'web', host: 'cmp01', volumeBacked: true })
    simulator.addInstance({ name: 'broken', host: 'cmp01', state: 'error', volumeBacked: true })
    simulator.bmc('cmp02', { reachable: false })
    daemon.watchReadiness()
    await clock.advance(2 * minuteMs)
    const { hosts, sentences } = await readiness(world)
    expect(hosts.map(({ host, plan, fencing }) => [host, plan?.instances, plan?.back, fencing.state])).toEqual([
      ['cmp01', 2, 1, 'answers'],
      ['cmp02', 0, 0, 'silent'],
      ['cmp03', 0, 0, 'answers'],
      ['cmp04', 0, 0, 'answers'],
    ])
    expect(hosts[0]?.plan?.left).toMatchObject([{ reason: 'ERROR_BEFORE', instances: 1, names: ['broken'] }])
    expect(hosts[1]?.missing[0]?.message).toMatch(/^bmc did not answer at \S+: The BMC did not answer within 2 s/)
    expect(sentences).toEqual([
      'Lifeboat can handle 2 host failures now; the cloud has the least room.',
      'cmp02 cannot recover by itself: no fencing device answers.',
    ])
    expect(world.writes()).toEqual([])
  }),
)

it(
  'the estimate comes from the recoveries on record',
  SmallWorld.run({}, async (world) => {
    const { simulator, clock, daemon } = world
    for (const host of ['cmp01', 'cmp02']) simulator.addInstance({ name: `web-${host}`, host, volumeBacked: true })
    daemon.watchReadiness()
    await clock.advance(2 * minuteMs)
    expect(daemon.review.hostReadiness('cmp02').estimateMs).toBeNull()
    simulator.crash('cmp01')
    await world.ended('cmp01')
    expect(daemon.review.hostReadiness('cmp02').estimateMs).toBeGreaterThan(0)
  }),
)

it(
  'from the moment its incident opens the device of a host is asked by the fencing alone',
  SmallWorld.run({}, async (world) => {
    const { simulator, clock, daemon } = world
    simulator.bmc('cmp01', { reachable: false })
    daemon.watchReadiness()
    simulator.crash('cmp01')
    await world.until(() => (world.incident('cmp01')?.held ?? null) !== null)
    const [reads, tries] = [bmcReads(world, 'cmp01').length, fenceTries(world)]
    await clock.advance(30 * minuteMs)
    expect(fenceTries(world)).toBeGreaterThan(tries)
    expect(bmcReads(world, 'cmp01').length - reads).toBe(fenceTries(world) - tries)
    expect(bmcReads(world, 'cmp02').length).toBeGreaterThan(2)
  }),
)

it(
  'while Nova is away the last plan stays, and the sentence says that no failure can be taken',
  SmallWorld.run({}, async (world) => {
    const { simulator, clock, daemon } = world
    daemon.watchReadiness()
    await clock.advance(2 * minuteMs)
    const read = daemon.review.hostReadiness('cmp01').plan?.at
    simulator.kill('nova-api')
    await clock.advance(45 * minuteMs)
    const { hosts, failures, sentences } = await readiness(world)
    expect([failures, hosts[0]?.plan?.at]).toEqual([0, read])
    expect(sentences[0]).toMatch(/^Lifeboat can handle no host failure now: verdicts are frozen \(/)
  }),
)

it(
  'a plan that someone asks for is known at once',
  SmallWorld.run({}, async (world) => {
    const { clock, daemon } = world
    const { id } = daemon.review.startPlan({ host: 'cmp03', failure: 'host' })
    await clock.run(daemon.review.finishedPlan(id, minuteMs))
    expect(daemon.review.hostReadiness('cmp03').plan).toMatchObject({ instances: 0 })
    expect(daemon.review.hostReadiness('cmp01').plan).toBeNull()
  }),
)

it(
  'a host that Nova does not list is refused by name',
  SmallWorld.run({}, ({ daemon }) => {
    expect(() => daemon.review.hostReadiness('cmp99')).toThrow('Nova shows no nova-compute on cmp99')
    return Promise.resolve()
  }),
)
