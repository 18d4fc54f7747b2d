/** How long no daemon acts when the active daemon dies while database nodes fail: three daemons on three real nodes, each with its own connections. */
import { describe, expect, it } from 'vitest'
import { sleep } from '../../src/domain/clock.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { Machines, type Machine } from './machine.ts'
import { Stage } from './stage.ts'

const stage = new Stage()
const { cluster } = stage
const machines = new Machines(stage)

/** The first is active and acts, the others stand by. */
async function threeDaemons(): Promise<[Machine, Machine, Machine]> {
  const one = machines.start('ctl1')
  await expect.poll(() => one.state).toBe('active')
  const [two, three] = [machines.start('ctl2'), machines.start('ctl3')]
  for (const machine of [two, three]) await expect.poll(() => machine.state).toBe('standby')
  await one.acts()
  await sleep(clock, 3_000)
  return [one, two, three]
}

/** From now until one of them has acted, ms. */
async function untilNextAct(standbys: readonly Machine[]): Promise<number> {
  const since = clock.now()
  let next: Machine | undefined
  await expect
    .poll(() => (next = standbys.find(({ state }) => state === 'active')), { interval: 20, timeout: 40_000 })
    .toBeDefined()
  await next?.acts()
  return clock.now() - since
}

const limitMs = 10_000

describe('the next daemon acts within ten seconds of the death of the active one', () => {
  it.each([0, 300, 900])('that dies %i ms after the node that all ask has stopped', async (beforeMs) => {
    const [one, ...standbys] = await threeDaemons()
    cluster.signal(1, 'SIGSTOP')
    await sleep(clock, beforeMs)
    one.dies()
    const tookMs = await untilNextAct(standbys)
    cluster.signal(1, 'SIGCONT')
    await cluster.whole()
    expect(tookMs).toBeLessThan(limitMs)
  })

  it('that dies with the node that all ask', async () => {
    const [one, ...standbys] = await threeDaemons()
    cluster.signal(1, 'SIGKILL')
    one.dies()
    const tookMs = await untilNextAct(standbys)
    await cluster.run(1)
    expect(tookMs).toBeLessThan(limitMs)
  })

  it('that dies as the node that all ask is parted from the others', async () => {
    const [one, ...standbys] = await threeDaemons()
    await cluster.isolate(1)
    one.dies()
    const tookMs = await untilNextAct(standbys)
    await cluster.rejoin(1)
    expect(tookMs).toBeLessThan(limitMs)
  })

  it.each([3_000, 7_000])('that dies right after a node stood still for %i ms and goes on', async (forMs) => {
    const [one, ...standbys] = await threeDaemons()
    cluster.signal(1, 'SIGSTOP')
    await sleep(clock, forMs)
    cluster.signal(1, 'SIGCONT')
    await sleep(clock, 500)
    one.dies()
    const tookMs = await untilNextAct(standbys)
    await cluster.whole()
    expect(tookMs).toBeLessThan(limitMs)
  })
})

it('waits a lease from the end of a vote for a renewal that the dead one had sent into it, and no longer', async () => {
  const [one, ...standbys] = await threeDaemons()
  cluster.signal(1, 'SIGKILL')
  await sleep(clock, 2_000)
  one.dies()
  const tookMs = await untilNextAct(standbys)
  await cluster.run(1)
  // From the death: what is left of the vote, and all that an undisturbed take-over takes.
  expect(tookMs).toBeLessThan(6_500 - 2_000 + 7_400)
})
