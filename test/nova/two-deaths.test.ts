/** Two hosts that die within seconds of each other, on a real Nova: everything comes back, and stays so when they return. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from './daemon-process.ts'
import { lab } from './lab.ts'
import { LabStage, outcomeOf, pauseMs } from './stage.ts'
import { truth } from './tenants.ts'

const [first, second] = ['cmp01', 'cmp03'] as const
let stage: LabStage

beforeAll(async () => {
  stage = await LabStage.open('twins')
})
beforeEach(() => {
  stage.freshDaemon()
})
afterEach(async () => {
  for (const host of ['cmp02', 'cmp04']) await stage.tenants.steps.put(host, { status: 'enabled' })
  await stage.tidy()
})
afterAll(() => stage.close())

/** Who runs and who is stopped, by Nova and by the hypervisors. */
async function allAsTheyWere(running: readonly string[], stopped: readonly string[]): Promise<boolean> {
  const { running: runs } = await truth()
  for (const id of [...running, ...stopped]) {
    const { vm, task, host } = await stage.tenants.steps.state(id)
    const shown = running.includes(id) ? 'active' : 'stopped'
    const on = running.includes(id) ? [host] : undefined
    if (vm !== shown || task !== null || JSON.stringify(runs[id]) !== JSON.stringify(on)) return false
  }
  return true
}

/** Both return, the one in whose queue orders may wait first, and nothing is worse for it. */
async function bothReturn(running: readonly string[], stopped: readonly string[]): Promise<void> {
  for (const host of [second, first]) {
    const before = (await stage.tenants.steps.service(host)).updated_at
    await lab('start', host)
    await until(`${host} beats`, async () => (await stage.tenants.steps.service(host)).updated_at > before)
    const beatAt = Date.now()
    await pauseMs(9_000)
    await until(`all as they were after the start of ${host}`, () => allAsTheyWere(running, stopped))
    console.log(`two deaths: ${JSON.stringify({ host, asTheyWereAfterMs: Date.now() - beatAt })}`)
  }
}

describe('two hosts that die within four seconds of each other', () => {
  it('have their twenty instances back, and nothing is broken when both have returned', async () => {
    const began = Date.now()
    const { tenants } = stage
    const [running, other, stopped] = await Promise.all([
      tenants.bootMany(14, first),
      Promise.all([1, 2, 3].map((n) => tenants.boot(`second-${n}`, second))),
      Promise.all([1, 2, 3].map((n) => tenants.stopped(`off-${n}`, first))),
    ])
    await stage.watch()
    const crashed = Date.now()
    await lab('crash', first)
    await pauseMs(Math.max(0, 3_500 - (Date.now() - crashed)))
    await lab('crash', second)
    const incidents = []
    for (const host of [first, second]) incidents.push(await stage.daemon.incident(host, (at) => at.closed !== null))
    const ends = stage.daemon.entries().filter(({ kind }) => kind === 'outcome.recorded')
    const backS = (Date.parse(ends.at(-1)?.at ?? '') - crashed) / 1_000
    const again = stage.daemon.entries().filter(({ kind }) => kind === 'debt.recorded').length
    console.log(`two deaths: ${JSON.stringify({ backS, sentToTheSecond: again })}`)
    for (const id of [...running, ...stopped]) expect(outcomeOf(incidents[0]!, id)).toMatch(/^recovered /)
    for (const id of other) expect(outcomeOf(incidents[1]!, id)).toMatch(/^recovered /)
    expect(await allAsTheyWere([...running, ...other], stopped)).toBe(true)
    await bothReturn([...running, ...other], stopped)
    await stage.nothingRanTwice(began)
  })
})

describe('orders that wait for a dead host', () => {
  it('are sent again elsewhere, and what they break when that host starts is put right by itself', async () => {
    const began = Date.now()
    const { tenants } = stage
    const boots = Promise.all([
      Promise.all([1, 2].map((n) => tenants.boot(`on-${n}`, first))),
      Promise.all([1, 2].map((n) => tenants.stopped(`off-${n}`, first))),
    ])
    const [running, stopped] = await stage.watchBeside(boots)
    // The scheduler has no other choice than the host that dies next.
    for (const host of ['cmp02', 'cmp04']) await tenants.steps.put(host, { status: 'disabled' })
    await lab('crash', first)
    await stage.daemon.incident(first, (at) => at.phase === 'fencing' || at.proof !== null)
    await lab('crash', second)
    await until('orders wait', () =>
      Promise.resolve(stage.has(({ kind, step }) => kind === 'step.issued' && step?.includes('evacuate') === true)),
    )
    await pauseMs(2_000)
    for (const host of ['cmp02', 'cmp04']) await tenants.steps.put(host, { status: 'enabled' })
    const incident = await stage.daemon.incident(first, (at) => at.closed !== null)
    for (const id of [...running, ...stopped]) expect(outcomeOf(incident, id)).toMatch(/^recovered /)
    expect(stage.has((entry) => entry.kind === 'debt.recorded' && entry.data.waitsAt?.host === second)).toBe(true)
    expect(stage.has((entry) => entry.kind === 'alarm.raised' && entry.data.code === 'STALE_ORDER')).toBe(true)
    await bothReturn(running, stopped)
    const ended = stage.daemon.entries().flatMap((entry) => (entry.kind === 'debt.settled' ? [entry.data.end] : []))
    expect(ended).toContain('repaired')
    await stage.nothingRanTwice(began)
  })
})

describe('an instance that was recovered before', () => {
  it('is ordered away once though no scheduler answers for a while: Placement still names the host that it had left', async () => {
    const began = Date.now()
    const { tenants } = stage
    const running = await stage.watchBeside(Promise.all([1, 2].map((n) => tenants.boot(`moved-${n}`, first))))
    for (const host of ['cmp02', 'cmp04']) await tenants.steps.put(host, { status: 'disabled' })
    await lab('crash', first)
    await stage.daemon.incident(first, (at) => at.closed !== null)
    for (const host of ['cmp02', 'cmp04']) await tenants.steps.put(host, { status: 'enabled' })
    await lab('crash', second)
    await stage.daemon.incident(second, (at) => at.proof !== null)
    await lab('freeze', 'nova-scheduler')
    await until('orders wait', () =>
      Promise.resolve(
        stage.daemon
          .entries()
          .filter(
            ({ kind, host, step }) => kind === 'step.issued' && host === second && step?.includes('evacuate') === true,
          ).length === 2,
      ),
    )
    // Long enough for Placement to be asked where they went, and shorter than a conductor's patience.
    await pauseMs(12_000)
    await lab('thaw', 'nova-scheduler')
    const incident = await stage.daemon.incident(second, (at) => at.closed !== null)
    for (const id of running) {
      expect(outcomeOf(incident, id)).toMatch(/^recovered /)
      expect(await stage.evacuations(id)).toEqual(['done', 'done'])
    }
    expect(stage.has(({ kind }) => kind === 'debt.recorded')).toBe(false)
    await bothReturn(running, [])
    await stage.nothingRanTwice(began)
  })
})
