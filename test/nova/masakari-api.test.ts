/** Masakari's own clients and its process monitor, unmodified, against Lifeboat in Masakari's place: the catalogue leads them here. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from './daemon-process.ts'
import { lab, labCommand } from './lab.ts'
import { LabStage } from './stage.ts'

const host = 'cmp02'
const masakariApi = { listen: '127.0.0.1:15868', projects: [{ name: 'service' }] }
let stage: LabStage

beforeAll(async () => {
  stage = await LabStage.open('reports')
})
beforeEach(() => {
  stage.freshDaemon({ segment: { return: { mode: 'automatic', healthy: '10s' } }, masakari_api: masakariApi })
})
afterEach(async () => {
  await lab('start', host)
  await stage.tenants.steps.put(host, { status: 'enabled' })
  await stage.tidy()
})
afterAll(() => stage.close())

/** What the openstack client prints, as JSON. */
async function openstack(version: string, ...words: string[]): Promise<unknown> {
  return JSON.parse(await lab('openstack', '--os-ha-api-version', version, ...words, '-f', 'json'))
}

type Rows = Record<string, unknown>[]

describe("Masakari's clients", () => {
  it.each(['1.0', '1.3'])('list and show segments, hosts and notifications at %s', async (version) => {
    await stage.watch()
    const [segment] = (await openstack(version, 'segment', 'list')) as Rows
    expect(segment).toMatchObject({ name: 'lab', service_type: 'COMPUTE', recovery_method: 'auto' })
    expect(await openstack(version, 'segment', 'show', 'lab')).toMatchObject({ uuid: segment?.['uuid'] })
    const hosts = (await openstack(version, 'segment', 'host', 'list', 'lab')) as Rows
    expect(hosts.map(({ name }) => name).sort()).toEqual(['cmp01', 'cmp02', 'cmp03', 'cmp04'])
    expect(await openstack(version, 'segment', 'host', 'show', 'lab', host)).toMatchObject({
      name: host,
      on_maintenance: false,
    })
    const payload = '{"event": "STARTED", "process_name": "nova-compute"}'
    const now = new Date().toISOString()
    const sent = (await openstack(version, 'notification', 'create', 'PROCESS', host, now, payload)) as Rows[number]
    const id = String(sent['notification_uuid'])
    expect(await openstack(version, 'notification', 'show', id)).toMatchObject({ type: 'PROCESS', status: 'finished' })
    expect((await openstack(version, 'notification', 'list')) as Rows).toHaveLength(1)
  })
})

describe("Masakari's process monitor", () => {
  it('has the service of a dead nova-compute disabled within 5 s of its report, and enabled when it is well again', async () => {
    const id = await stage.tenants.boot('guest', host)
    await stage.watch()
    await lab('isolate', host)
    const log = await lab('process-monitor', host)
    expect(log).toMatch(/Response: .*status=(running|finished)/)
    const reported = Date.now()
    await until(
      `${host} is disabled`,
      10_000,
      async () => (await stage.tenants.steps.service(host)).status === 'disabled',
    )
    const disabledMs = Date.now() - reported
    console.log(`process monitor: ${JSON.stringify({ disabledMs })}`)
    expect(disabledMs).toBeLessThan(5_000)
    expect((await stage.tenants.steps.service(host)).disabled_reason).toContain('its nova-compute is down')
    const incidents = stage.daemon.incidents()
    expect(incidents).toHaveLength(1)
    expect(incidents[0]).toMatchObject({ host, process: 'nova-compute', openedBy: 'masakari' })
    const [notification] = (await openstack('1.3', 'notification', 'list')) as Rows
    await until('the report is finished', 10_000, async () => {
      const shown = (await openstack(
        '1.3',
        'notification',
        'show',
        String(notification?.['notification_uuid']),
      )) as Rows[number]
      return shown['status'] === 'finished'
    })
    await lab('start', host)
    await until(
      `${host} is enabled`,
      90_000,
      async () => (await stage.tenants.steps.service(host)).status === 'enabled',
    )
    expect(await stage.tenants.steps.state(id)).toMatchObject({ vm: 'active', task: null, host })
  })

  it('reports again after a 503, and nothing is lost', async () => {
    await lab('kill', 'nova-api')
    stage.daemon.launch()
    await until("Masakari's API answers", 30_000, async () => (await asked()) !== null)
    await lab('isolate', host)
    const monitor = spawn(labCommand, ['process-monitor', host], { stdio: ['ignore', 'pipe', 'inherit'] })
    let log = ''
    monitor.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
    const ended = once(monitor, 'close')
    await until('it is told to come again', 60_000, () => Promise.resolve(/Retry sending .*503/.test(log)))
    await lab('start', 'nova-api')
    await ended
    expect(log).toMatch(/Response: .*status=(running|finished)/)
    await until(
      `${host} is disabled`,
      60_000,
      async () => (await stage.tenants.steps.service(host)).status === 'disabled',
    )
    expect(stage.daemon.incidents()).toMatchObject([{ host, process: 'nova-compute' }])
  })
})

function asked(): Promise<Response | null> {
  return fetch('http://127.0.0.1:15868/').catch(() => null)
}
