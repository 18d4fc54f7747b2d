/** Plans that people ask for: how long an answer waits for one. */
import { expect, it } from 'vitest'
import { PlanRuns } from '../../src/review/plan-runs.ts'
import type { Cloud } from '../../src/domain/cloud.ts'
import { sleep } from '../../src/domain/clock.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { HostPlan } from '../../src/domain/plan.ts'
import { VirtualClock } from '../../src/simulator/virtual-clock.ts'

/** Runs whose plans take so long, or fail then. */
function runs(tookMs: number, failure: LifeboatError | null = null) {
  const clock = new VirtualClock()
  const plan = async (): Promise<HostPlan> => {
    await sleep(clock, tookMs)
    if (failure !== null) throw failure
    return { instances: [] } as unknown as HostPlan
  }
  const own = new PlanRuns({ clock, cloud: {} as Cloud, plan })
  /** How the plan stands when the answer came, and after how long. */
  const asked = async (withinMs: number) => {
    const began = clock.now()
    const { id } = own.start({ host: 'cmp01', failure: 'host' })
    const { state } = await clock.run(own.finished(id, withinMs))
    return { state, afterMs: clock.now() - began }
  }
  return { own, asked }
}

it('an answer comes as soon as the plan is made', async () => {
  expect(await runs(300).asked(10_000)).toEqual({ state: 'done', afterMs: 300 })
})

it('an answer comes as soon as the plan has failed', async () => {
  const failure = new LifeboatError('API_UNAVAILABLE', 'gone')
  expect(await runs(300, failure).asked(10_000)).toEqual({ state: 'failed', afterMs: 300 })
})

it('a plan that takes longer than the wait is answered as far as it is', async () => {
  expect(await runs(20_000).asked(500)).toEqual({ state: 'running', afterMs: 500 })
})

it('without a wait the answer comes at once', async () => {
  expect(await runs(300).asked(0)).toEqual({ state: 'running', afterMs: 0 })
})

it('a plan that nobody knows is said so, not waited for', async () => {
  await expect(runs(300).own.finished('other', 10_000)).rejects.toThrow('There is no plan other')
})

it('what is being read already is not read twice, and beside it one more of that host at most', () => {
  const { own } = runs(300)
  const start = (instance: string) => own.start({ host: 'cmp01', failure: 'instance', instance })
  const web = start('web')
  expect(web).toMatchObject({ failure: 'instance', instance: 'web' })
  expect(start('web').id).toBe(web.id)
  const process = own.start({ host: 'cmp01', failure: 'process' })
  expect(process).toMatchObject({ failure: 'process', instance: null })
  expect(process.id).not.toBe(web.id)
  expect(() => start('api')).toThrow('Plans of cmp01 are being made: wait for one')
})
