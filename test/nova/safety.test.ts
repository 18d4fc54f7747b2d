/** What Lifeboat refuses to do, and what it does when its first way of proving a death is gone, on a real Nova. */
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { nova } from '../contract/cloud-under-test.ts'
import { until } from './daemon-process.ts'
import { lab } from './lab.ts'
import { LabStage, outcomeOf, pauseMs } from './stage.ts'
import { truth } from './tenants.ts'

const dead = 'cmp01'
const outlet = fileURLToPath(new URL('./power-outlet.sh', import.meta.url))
let stage: LabStage

beforeAll(async () => {
  stage = await LabStage.open('safety')
})

beforeEach(() => {
  stage.freshDaemon()
})

afterEach(() => stage.tidy())

afterAll(() => stage.close())

describe('a host whose nova-compute alone is gone', () => {
  it('is fenced first and evacuated second where the segment fences isolated hosts, and no guest runs twice', async () => {
    const began = Date.now()
    const { tenants } = stage
    const daemon = stage.freshDaemon({ segment: { on_service_down: 'fence' } })
    const boots = Promise.all([tenants.boot('isolated', dead), tenants.stopped('stopped', dead)])
    const [id, stopped] = await stage.watchBeside(boots)
    await lab('isolate', dead)
    const incident = await daemon.incident(dead, (at) => at.closed !== null)
    const kinds = daemon.entries().filter((entry) => entry.incident === incident.id)
    const proofAt = kinds.findIndex(({ kind }) => kind === 'proof.recorded')
    const orderAt = kinds.findIndex((entry) => entry.kind === 'step.intended' && entry.data.kind === 'evacuate')
    expect(incident.verdict?.kind).toBe('service-down')
    expect(proofAt).toBeGreaterThan(0)
    expect(orderAt).toBeGreaterThan(proofAt)
    expect(outcomeOf(incident, id)).toMatch(/^recovered /)
    expect((await stage.tenants.steps.state(stopped)).vm).toBe('stopped')
    expect((await truth()).running[id]).toEqual([(await stage.tenants.steps.state(id)).host])
    await stage.nothingRanTwice(began)
  })
})

describe('a host with a dead BMC', () => {
  it('is proven dead by the next method of its chain, and the journal says what was tried', async () => {
    const began = Date.now()
    const daemon = stage.freshDaemon({
      segment: { fencing: ['bmc', 'outlet'] },
      fencing: { outlet: { kind: 'command', fence: [outlet, 'off', '{host}'], verify: [outlet, 'verify', '{host}'] } },
    })
    const id = await stage.watchBeside(stage.tenants.boot('chained', dead))
    await lab('bmc', dead, 'reachable=false')
    await lab('partition', dead)
    const incident = await daemon.incident(dead, (at) => at.closed !== null)
    expect(incident.proof).toMatchObject({ method: 'outlet', strength: 'command-verified' })
    const attempts = daemon.entries().flatMap((entry) => (entry.kind === 'fence.attempt' ? [entry.data] : []))
    expect(attempts.filter(({ phase }) => phase === 'failed').map(({ method }) => method)).toContain('bmc')
    expect(attempts.at(-1)).toMatchObject({ method: 'outlet', phase: 'succeeded' })
    expect(outcomeOf(incident, id)).toMatch(/^recovered /)
    expect((await truth()).running[id]).toEqual([(await stage.tenants.steps.state(id)).host])
    await stage.nothingRanTwice(began)
  })
})

describe('a host that returns', () => {
  const quick = { return: { mode: 'automatic', healthy: '5s', max_returns: 2, within: '30m' } }

  it('in the middle of its recovery loses nothing, and nothing runs twice', async () => {
    const began = Date.now()
    const { tenants } = stage
    const daemon = stage.freshDaemon({ segment: quick })
    const slow = Promise.all(['cmp02', 'cmp03', 'cmp04'].map((host) => lab('fault', host, 'slow=4')))
    const boots = Promise.all([tenants.bootMany(8, dead), tenants.stopped('stopped', dead), slow])
    const [ids, stopped] = await stage.watchBeside(boots)
    await lab('crash', dead)
    await until('the first evacuation', () =>
      Promise.resolve(stage.has((entry) => entry.kind === 'step.issued' && entry.step?.includes('evacuate') === true)),
    )
    await lab('start', dead)
    for (const host of ['cmp02', 'cmp03', 'cmp04']) await lab('fault', host, 'slow=null')
    const incident = await daemon.incident(dead, (at) => at.closed !== null)
    for (const id of [...ids, stopped]) expect(outcomeOf(incident, id)).toMatch(/^recovered /)
    for (const id of ids) {
      const { vm, host } = await stage.tenants.steps.state(id)
      expect(vm).toBe('active')
      expect((await truth()).running[id]).toEqual([host])
    }
    expect((await stage.tenants.steps.state(stopped)).vm).toBe('stopped')
    expect((await truth()).running[stopped]).toBeUndefined()
    await stage.nothingRanTwice(began)
  })

  it('four times is let in as often as its segment allows, and then kept out until a person says so', async () => {
    const daemon = stage.freshDaemon({ segment: quick })
    await stage.watch()
    let returns = 0
    for (let flap = 1; flap <= 4; flap++) {
      await lab('crash', dead)
      // Kept out, it is forced down already: its death needs no incident.
      const incidents = Math.min(flap, 3)
      await until(`incident ${incidents}`, () =>
        Promise.resolve(daemon.incidents().filter(({ closed }) => closed !== null).length >= incidents),
      )
      await lab('start', dead)
      const settled = await until(`return or refusal ${flap}`, async () => {
        const service = await stage.tenants.steps.service(dead)
        if (service.status === 'enabled' && service.state === 'up') return 'back'
        return stage.has((entry) => entry.kind === 'return.changed' && entry.data.to === 'kept-out') && 'kept out'
      })
      if (settled === 'back') returns++
    }
    expect(returns).toBe(2)
    await pauseMs(5_000)
    expect((await stage.tenants.steps.service(dead)).status).toBe('disabled')
    const told = await daemon.command('host', 'return', dead, '--reason', 'its memory was replaced')
    expect(told.code, told.stderr).toBe(0)
    await until('its return', async () => (await stage.tenants.steps.service(dead)).status === 'enabled')
  })
})

describe('an instance that its owner soft-deleted', () => {
  // Nova keeps it for so long, restorable, and reclaims it then.
  beforeEach(() => lab('api', 'reclaim_instance_interval=3600'))
  afterEach(() => lab('api'))

  it('is left on its dead host with a line of its own, and Nova would refuse to evacuate it', async () => {
    const { tenants } = stage
    const { steps } = tenants
    const boots = Promise.all([tenants.boot('soft-deleted', dead), tenants.boot('beside', dead)])
    const [id, beside] = await stage.watchBeside(boots)
    await nova(stage.cloud, 'DELETE', `/servers/${id}`)
    await until('soft-deleted', async () => (await steps.state(id)).vm === 'soft-delete')
    await lab('crash', dead)
    const incident = await stage.daemon.incident(dead, (at) => at.closed !== null)
    expect(outcomeOf(incident, beside)).toMatch(/^recovered /)
    expect(outcomeOf(incident, id)).toMatch(/^left SOFT_DELETED:/)
    expect(await stage.evacuations(id)).toEqual([])
    const asked = await nova(stage.cloud, 'POST', `/servers/${id}/action`, { evacuate: {} }, { minor: 95 })
    expect(asked.status, asked.text).toBe(409)
    // Its host is gone: Nova deletes what is left of it by itself.
    expect((await nova(stage.cloud, 'POST', `/servers/${id}/action`, { forceDelete: null })).status).toBe(202)
  })
})
