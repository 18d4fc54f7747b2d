/** Masakari's own clients and its process monitor, unmodified, against Lifeboat in Masakari's place: the catalogue leads them here. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Entry } from '../../src/domain/entry.ts'
import { until } from './daemon-process.ts'
import { lab } from './lab.ts'
import { OpenstackClient } from './openstack-client.ts'
import { LabStage } from './stage.ts'

const host = 'cmp02'
const masakariApi = { listen: '127.0.0.1:15868', projects: [{ name: 'service' }] }
let stage: LabStage
let client: OpenstackClient

beforeAll(async () => {
  stage = await LabStage.open('reports')
  client = new OpenstackClient()
})
beforeEach(() => {
  stage.freshDaemon({ segment: { return: { mode: 'automatic', healthy: '10s' } }, masakari_api: masakariApi })
})
afterEach(async () => {
  await lab('start', host)
  await stage.tenants.steps.put(host, { status: 'enabled' })
  await stage.tidy()
})
afterAll(() => {
  client.close()
  stage.close()
})

/** Of the first such entry, ms. */
function momentOf(isIt: (entry: Entry) => boolean): number {
  return Date.parse(stage.daemon.entries().find(isIt)?.at ?? '')
}

const isDisable = (entry: Entry): boolean => entry.kind === 'service.set-aside' && entry.data.to === 'set'

describe("Masakari's clients", () => {
  it.each(['1.0', '1.3'])('list and show segments, hosts and notifications at %s', async (version) => {
    await stage.watch()
    const [segment] = await client.many(version, 'segment', 'list')
    expect(segment).toMatchObject({ name: 'lab', service_type: 'COMPUTE', recovery_method: 'auto' })
    expect(await client.one(version, 'segment', 'show', 'lab')).toMatchObject({ uuid: segment?.['uuid'] })
    const hosts = await client.many(version, 'segment', 'host', 'list', 'lab')
    expect(hosts.map(({ name }) => name).sort()).toEqual(['cmp01', 'cmp02', 'cmp03', 'cmp04'])
    expect(await client.one(version, 'segment', 'host', 'show', 'lab', host)).toMatchObject({
      name: host,
      on_maintenance: false,
    })
    const payload = '{"event": "STARTED", "process_name": "nova-compute"}'
    const now = new Date().toISOString()
    const sent = await client.one(version, 'notification', 'create', 'PROCESS', host, now, payload)
    const id = String(sent['notification_uuid'])
    expect(await client.one(version, 'notification', 'show', id)).toMatchObject({ type: 'PROCESS', status: 'finished' })
    expect(await client.many(version, 'notification', 'list')).toHaveLength(1)
  })
})

describe("Masakari's process monitor", () => {
  it('has the service of a dead nova-compute disabled by its report, and enabled when it is well again', async () => {
    const id = await stage.watchBeside(stage.tenants.boot('guest', host))
    await lab('isolate', host)
    const log = await lab('process-monitor', host)
    expect(log).toMatch(/Response: .*status=(running|finished)/)
    await until(`${host} is disabled`, async () => (await stage.tenants.steps.service(host)).status === 'disabled')
    // It is on record once Nova's answer is.
    await until('the disable is on record', () => Promise.resolve(stage.has(isDisable)))
    const disabledMs = momentOf(isDisable) - momentOf(({ kind }) => kind === 'report.received')
    console.log(`process monitor: ${JSON.stringify({ disabledMs })}`)
    expect((await stage.tenants.steps.service(host)).disabled_reason).toContain('its nova-compute is down')
    const incidents = stage.daemon.incidents()
    expect(incidents).toHaveLength(1)
    expect(incidents[0]).toMatchObject({ host, process: 'nova-compute', openedBy: 'masakari' })
    const [notification] = await client.many('1.3', 'notification', 'list')
    await until('the report is finished', async () => {
      const shown = await client.one('1.3', 'notification', 'show', String(notification?.['notification_uuid']))
      return shown['status'] === 'finished'
    })
    await lab('start', host)
    await until(`${host} is enabled`, async () => (await stage.tenants.steps.service(host)).status === 'enabled')
    expect(await stage.tenants.steps.state(id)).toMatchObject({ vm: 'active', task: null, host })
  })
})
