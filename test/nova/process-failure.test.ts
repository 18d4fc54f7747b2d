/** A nova-compute that fails on a host that lives, on a real Nova: nothing is scheduled there until it has been well for a while. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from './daemon-process.ts'
import { lab } from './lab.ts'
import { LabStage, outcomeOf, pauseMs } from './stage.ts'
import { truth } from './tenants.ts'

const host = 'cmp02'
const within = { return: { mode: 'automatic', healthy: '10s' } }
let stage: LabStage

beforeAll(async () => {
  stage = await LabStage.open('process')
})
beforeEach(() => {
  stage.freshDaemon({ segment: within })
})
afterEach(async () => {
  await lab('start', host)
  await stage.tenants.steps.put(host, { status: 'enabled' })
  await stage.tidy()
})
afterAll(() => stage.close())

/** What the journal has of the host's steps of one kind, by their number. */
function steps(of: string, kind: 'step.intended' | 'step.issued'): string[] {
  return stage.daemon
    .entries()
    .filter((entry) => entry.kind === kind && entry.host === host)
    .flatMap(({ step }) => (step?.startsWith(of) === true ? [step] : []))
}

/** The service's reason, or null while it is enabled. */
async function disabledBecause(): Promise<string | null> {
  const { status, disabled_reason: reason } = await stage.tenants.steps.service(host)
  return status === 'disabled' ? String(reason) : null
}

async function untilDisabled(): Promise<void> {
  await until(
    `${host} is disabled by us`,
    async () => (await disabledBecause())?.includes('its nova-compute is down') === true,
  )
}

describe('a nova-compute that is down on a host that lives', () => {
  it('is disabled with our reason, its guest is left alone, and it is enabled once it has been well', async () => {
    const began = Date.now()
    const id = await stage.watchBeside(stage.tenants.boot('guest', host))
    await lab('isolate', host)
    await untilDisabled()
    const verdicts = stage.daemon.entries().flatMap((entry) => (entry.kind === 'verdict.changed' ? [entry] : []))
    expect(verdicts.filter((entry) => entry.host === host).map(({ data }) => data.kind)).toContain('service-down')
    await pauseMs(5_000)
    expect(stage.has(({ kind }) => kind === 'incident.opened')).toBe(false)
    expect(await stage.evacuations(id)).toEqual([])
    expect((await truth()).running[id]).toEqual([host])
    await lab('start', host)
    await until(`${host} is enabled`, async () => (await disabledBecause()) === null)
    expect(await stage.tenants.steps.state(id)).toMatchObject({ vm: 'active', task: null, host })
    await stage.nothingRanTwice(began)
  })

  it('whose host then dies is recovered as a host, fenced once and enabled once', async () => {
    const began = Date.now()
    const id = await stage.watchBeside(stage.tenants.boot('guest', host))
    await lab('isolate', host)
    await untilDisabled()
    await lab('crash', host)
    await until('the host has its own incident', () =>
      Promise.resolve(stage.has(({ kind }) => kind === 'incident.opened')),
    )
    const incident = await stage.daemon.incident(host, ({ process, closed }) => process === null && closed !== null)
    expect(outcomeOf(incident, id)).toMatch(/^recovered /)
    await lab('start', host)
    await until(`${host} is enabled`, async () => (await disabledBecause()) === null)
    await until('its return is on record', () => Promise.resolve(stage.has(({ kind }) => kind === 'service.restored')))
    expect(steps('host.fence.', 'step.intended')).toHaveLength(1)
    expect(steps('return.enable.', 'step.issued')).toHaveLength(1)
    // The disable for its nova-compute is taken back with the rest, not by itself.
    expect(stage.has((entry) => entry.kind === 'service.set-aside' && entry.data.to === 'taking-back')).toBe(false)
    await stage.nothingRanTwice(began)
  })
})
