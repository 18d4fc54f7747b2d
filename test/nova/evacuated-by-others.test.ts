/**
 * An operator evacuates by hand at any moment between the crash and our first order, on a real Nova: nothing is doubled, and our
 * lines say where each guest truly runs. LIFEBOAT_LAB_SWEEP=all tries each half second; otherwise one moment stands for all.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { lab } from './lab.ts'
import { LabStage, pauseMs } from './stage.ts'
import { truth } from './tenants.ts'

const dead = 'cmp01'
const moments = process.env['LIFEBOAT_LAB_SWEEP'] === 'all' ? Array.from({ length: 15 }, (_, step) => step / 2) : [5.5]
let stage: LabStage

beforeAll(async () => {
  stage = await LabStage.open('by-hand')
})
beforeEach(async () => {
  stage.freshDaemon({ segment: { on_declared_down: 'recover' } })
  await Promise.all(stage.cloud.hosts.slice(1).map((host) => lab('fault', host, 'slow=3')))
})
afterEach(() => stage.tidy())
afterAll(() => stage.close())

/** As a person does: Nova is told that the host is down, and each instance is sent elsewhere. What Nova refuses by then was ours. */
async function evacuateByHand(ids: readonly string[]): Promise<void> {
  const { steps } = stage.tenants
  await steps.put(dead, { forced_down: true })
  await Promise.all(ids.map((id) => steps.act(id, { evacuate: {} }, 90)))
}

describe('what someone evacuates by hand', () => {
  it.each(moments)('%d s after the crash is neither doubled nor told as it is not', async (afterS) => {
    const { tenants } = stage
    const boots = Promise.all([tenants.bootMany(2, dead), tenants.stopped('off', dead)])
    const ids = (await stage.watchBeside(boots)).flat()
    const crashedAt = Date.now()
    await lab('crash', dead)
    await pauseMs(Math.max(0, afterS * 1_000 - (Date.now() - crashedAt)))
    await evacuateByHand(ids)
    const byHandAt = Date.now()
    const incident = await stage.daemon.incident(dead, ({ closed }) => closed !== null)
    // Nova takes a second order at any time: one that meets ours can only be told, and is never called a success.
    const metOurs = (id: string): boolean =>
      stage.has(
        ({ kind, instance, step, at }) =>
          kind === 'step.intended' &&
          instance === id &&
          step?.includes('.evacuate.') === true &&
          Date.parse(at) < byHandAt,
      )
    const { running, doubles } = await truth()
    for (const id of ids) {
      const line = incident.instances.get(id)?.outcome ?? null
      if (metOurs(id) && line?.code === 'GUEST_ON_DESTINATION') continue
      expect(doubles.filter((double) => double.uuid === id)).toEqual([])
      const { host } = await tenants.steps.state(id)
      expect(host).not.toBe(dead)
      expect([[], [host]]).toContainEqual(running[id] ?? [])
      if (line !== null) expect(line.after?.host, line.message).toBe(host)
    }
  })
})
