/**
 * Reports of crashed guests that need no restart, on a real Nova: of guests that are not the reported host's, that something else is being done
 * with, or whose host dies. They come as Masakari's instance monitors send them.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { nova, tokenFor } from '../contract/cloud-under-test.ts'
import { until } from './daemon-process.ts'
import { lab } from './lab.ts'
import { LabStage, outcomeOf } from './stage.ts'
import { image } from './tenants.ts'

const host = 'cmp02'
const elsewhere = 'cmp03'
const listen = '127.0.0.1:15868'
const asked = { metadata: { HA_Enabled: 'True' } }
let stage: LabStage

beforeAll(async () => {
  stage = await LabStage.open('guest-reports')
})
beforeEach(() => {
  stage.freshDaemon({ masakari_api: { listen, projects: [{ name: 'service' }] } })
})
afterEach(() => stage.tidy())
afterAll(() => stage.close())

/** That the guest's QEMU failed on `host`. */
async function report(guest: string): Promise<number> {
  const payload = {
    event: 'LIFECYCLE',
    vir_domain_event: 'STOPPED_FAILED',
    instance_uuid: guest,
  }
  const notification = { type: 'VM', hostname: host, generated_time: new Date().toISOString(), payload }
  const headers = { 'X-Auth-Token': await tokenFor(stage.cloud), 'Content-Type': 'application/json' }
  const body = JSON.stringify({ notification })
  return (await fetch(`http://${listen}/v1/notifications`, { method: 'POST', headers, body })).status
}

/** The power orders of users that Nova has for it. */
async function powerOrders(guest: string): Promise<string[]> {
  const { body } = await nova(stage.cloud, 'GET', `/servers/${guest}/os-instance-actions`)
  const actions = body.instanceActions as { action: string }[]
  return actions.map(({ action }) => action).filter((action) => action === 'reboot' || action === 'start')
}

describe('reports of guests', () => {
  it('that are elsewhere, busy, gone, or in a state their owner chose cause only reads', async () => {
    const { tenants } = stage
    const { steps: owner } = tenants
    const boot = (name: string, on = host): Promise<string> => tenants.boot(name, on, asked)
    const [away, busy, stopped, paused, suspended, rescued, deleted] = await Promise.all([
      boot('away', elsewhere),
      ...['busy', 'stopped', 'paused', 'suspended', 'rescued', 'deleted'].map((name) => boot(name)),
    ])
    const resized = await tenants.resized('resized', elsewhere, host, false)
    await Promise.all([
      owner.into(stopped!, { 'os-stop': null }, 'stopped'),
      owner.into(paused!, { pause: null }, 'paused'),
      owner.into(suspended!, { suspend: null }, 'suspended'),
      owner.into(rescued!, { rescue: null }, 'rescued'),
      nova(stage.cloud, 'DELETE', `/servers/${deleted}`),
    ])
    // A rescue starts the guest again, from another disk; of one that runs nobody would be told.
    await stage.cloud.crashGuest(rescued!, 'unheard')
    await stage.watch()
    await lab('fault', host, 'slow=20')
    expect((await owner.act(busy!, { rebuild: { imageRef: image } })).status).toBe(202)
    const all = [away, busy!, stopped!, paused!, suspended!, rescued!, deleted!, resized]
    expect(await Promise.all(all.map(report))).toEqual(all.map(() => 202))
    await until('what became of each report is on record', () =>
      Promise.resolve(stage.daemon.entries().filter(({ kind }) => kind === 'report.settled').length === all.length),
    )
    expect(stage.has(({ kind }) => kind === 'step.intended')).toBe(false)
    // People are told of those that may have lost what their owner was doing, and nothing more.
    const told = stage.daemon
      .incidents()
      .flatMap(({ instances }) => [...instances].map(([guest, { outcome }]) => [guest, outcome?.code]))
    expect(told.toSorted()).toEqual(
      [paused!, suspended!, rescued!].map((guest) => [guest, 'CRASHED_PAUSED']).toSorted(),
    )
    for (const guest of all.filter((id) => id !== deleted)) expect(await powerOrders(guest)).toEqual([])
    const shown = await Promise.all([stopped!, paused!, suspended!, rescued!, resized].map((id) => owner.state(id)))
    expect(shown.map(({ vm }) => vm)).toEqual(['stopped', 'paused', 'suspended', 'rescued', 'resized'])
  })

  it('fifty in the second in which their host dies end in its one incident, and none of them is restarted there', async () => {
    const began = Date.now()
    const boots = Array.from({ length: 10 }, (_, nth) => stage.tenants.boot(`dying-${nth}`, host, asked))
    const guests = await stage.watchBeside(Promise.all(boots))
    const crashed = lab('crash', host)
    const fifty = Array.from({ length: 50 }, (_, nth) => guests[nth % guests.length]!)
    // One that is there already is refused as repeated, as Masakari does.
    expect(new Set(await Promise.all(fifty.map(report)))).toEqual(new Set([202, 409]))
    await crashed
    const incident = await stage.daemon.incident(host, ({ closed }) => closed !== null)
    expect(stage.daemon.incidents().map(({ id }) => id)).toEqual([incident.id])
    for (const guest of guests) {
      expect(outcomeOf(incident, guest)).toMatch(/^recovered /)
      expect(await powerOrders(guest)).toEqual([])
    }
    await stage.nothingRanTwice(began)
  })
})
