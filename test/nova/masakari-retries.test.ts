/**
 * Masakari's process monitor, unmodified, while Lifeboat in Masakari's place lacks what it needs to take a report: it is told to come again, and
 * its report is taken once that is back.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { tokenFor } from '../contract/cloud-under-test.ts'
import { until } from './daemon-process.ts'
import { lab, labCommand } from './lab.ts'
import { SmallDisk } from './small-disk.ts'
import { LabStage } from './stage.ts'

const host = 'cmp02'
const listen = '127.0.0.1:15868'
let stage: LabStage
/** The journal's, in the test that fills it. */
let disk: SmallDisk | null = null

beforeAll(async () => {
  await lab('masakari', 'down')
  stage = await LabStage.open('retries')
})
beforeEach(() => {
  stage.freshDaemon({ masakari_api: { listen, projects: [{ name: 'service' }] } })
})
afterEach(async () => {
  disk?.unmount()
  disk = null
  await lab('start', 'keystone', 'nova-api', host)
  await stage.tenants.steps.put(host, { status: 'enabled' })
  await stage.tidy()
})
afterAll(() => stage.close())

const outages = {
  "Nova's API": {
    // To have read Nova once is enough for a report, so the daemon starts without.
    begin: async () => {
      await lab('kill', 'nova-api')
      stage.daemon.launch()
      await until("Masakari's API answers", () => fetch(`http://${listen}/`).catch(() => false as const))
    },
    retry: /Retry sending .*503/,
    end: () => lab('start', 'nova-api'),
  },
  Keystone: {
    begin: async () => {
      await stage.watch()
      await lab('kill', 'keystone')
    },
    // The monitor has no token to report with either.
    retry: /Retry sending /,
    end: () => lab('start', 'keystone'),
  },
  "space on the journal's disk": {
    begin: async () => {
      disk = new SmallDisk(stage.daemon.stateDir)
      await stage.watch()
      disk.fill()
    },
    retry: /Retry sending .*503/,
    end: () => disk?.free(),
  },
}

it.each(Object.entries(outages))(
  'without %s a report gets 503, and the monitor repeats it until it is taken',
  async (_what, outage) => {
    const token = await tokenFor(stage.cloud)
    await outage.begin()
    await lab('isolate', host)
    const monitor = spawn(labCommand, ['process-monitor', host], { stdio: ['ignore', 'pipe', 'inherit'] })
    let log = ''
    monitor.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
    const ended = once(monitor, 'close')
    await until('the monitor tries again', () => Promise.resolve(outage.retry.test(log)))
    expect((await reported(token)).status).toBe(503)
    await outage.end()
    await ended
    expect(log).toMatch(/Response: .*status=(running|finished)/)
    await until(`${host} is disabled`, async () => (await stage.tenants.steps.service(host)).status === 'disabled')
    expect(stage.daemon.incidents()).toMatchObject([{ host, process: 'nova-compute' }])
  },
)

/** The report of someone who has a token. */
function reported(token: string): Promise<Response> {
  const payload = { event: 'STOPPED', process_name: 'nova-compute' }
  const notification = { type: 'PROCESS', hostname: host, generated_time: new Date().toISOString(), payload }
  const headers = { 'X-Auth-Token': token, 'Content-Type': 'application/json' }
  return fetch(`http://${listen}/v1/notifications`, { method: 'POST', headers, body: JSON.stringify({ notification }) })
}
