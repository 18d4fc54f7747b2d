/** Masakari's own host monitor with its consul driver, unmodified, beside Lifeboat; what it asks consul, the lab answers (test/lab). */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Entry } from '../../src/domain/entry.ts'
import { until } from './daemon-process.ts'
import { lab } from './lab.ts'
import { LabStage, outcomeOf } from './stage.ts'

const host = 'cmp02'
/** The monitor watches every host but its own. */
const watcher = 'cmp04'
const masakari_api = { listen: '127.0.0.1:15868', projects: [{ name: 'service' }] }
type EntryOf<K extends Entry['kind']> = Extract<Entry, { kind: K }>
let stage: LabStage

beforeAll(async () => {
  stage = await LabStage.open('host-monitor')
})
beforeEach(() => {
  stage.freshDaemon({ masakari_api })
})
afterEach(async () => {
  await lab('kill', `${watcher}-host-monitor`)
  await lab('address', host, 'on')
  await stage.tidy()
})
afterAll(() => stage.close())

/** The guest, once the monitor and the daemon both watch its host. The monitor has nothing to report before. */
async function watchedTwice(): Promise<string> {
  const both = Promise.all([stage.tenants.boot('guest', host), lab('host-monitor', watcher)])
  const [id] = await stage.watchBeside(both)
  return id
}

/** What the monitor posted about the host, oldest first. */
function reports(): EntryOf<'report.received'>[] {
  return stage.daemon
    .entries()
    .filter((entry) => entry.kind === 'report.received')
    .filter((entry) => entry.host === host)
}

/** Waits until the monitor has posted so many reports of that event. */
async function reported(event: 'STARTED' | 'STOPPED', count = 1): Promise<EntryOf<'report.received'>> {
  return until(`${count} reports of ${event}`, () =>
    Promise.resolve(reports().filter(({ data }) => data.payload['event'] === event)[count - 1]),
  )
}

async function settled(report: EntryOf<'report.received'>): Promise<EntryOf<'report.settled'>['data']> {
  return until(`what became of ${report.data.payload['event']}`, () =>
    Promise.resolve(
      stage.daemon
        .entries()
        .filter((entry) => entry.kind === 'report.settled')
        .map(({ data }) => data)
        .find(({ uuid }) => uuid === report.data.uuid),
    ),
  )
}

describe("a host that Masakari's host monitor reports", () => {
  it('and whose nova-compute beats is left alone, and the report says why', async () => {
    const id = await watchedTwice()
    await lab('address', host, 'off')
    const report = await reported('STOPPED')
    expect(report.data).toMatchObject({
      about: 'COMPUTE_HOST',
      payload: { event: 'STOPPED', cluster_status: 'OFFLINE', host_status: 'NORMAL' },
    })
    const { status, message } = await settled(report)
    expect(status).toBe('ignored')
    expect(message).toContain('nova-compute beats')
    await lab('address', host, 'on')
    expect((await settled(await reported('STARTED', 2))).status).toBe('finished')
    expect(stage.daemon.incidents()).toEqual([])
    expect(await stage.tenants.steps.state(id)).toMatchObject({ vm: 'active', task: null, host })
    expect(await stage.tenants.steps.service(host)).toMatchObject({ status: 'enabled', state: 'up' })
  })

  /** test/masakari/notifications.test.ts compares the times with and without the report, on a simulated clock. */
  it('and that is dead gets one incident, with which the report ends; it is fenced before anything is evacuated, and STARTED clears nothing', async () => {
    const began = Date.now()
    // A minute by default, and longer each time: so long the incident would wait once its BMC answers again.
    stage.freshDaemon({ masakari_api, fence_retry: '5s', fence_retry_max: '5s' })
    const id = await watchedTwice()
    await lab('bmc', host, 'reachable=false')
    await lab('crash', host)
    await stage.daemon.incident(host, ({ held }) => held?.code === 'FENCE_FAILED')
    // Masakari 19 takes the moment in which its samples differ for a start (Launchpad 2153543).
    const stopped = await reported('STOPPED')
    expect((await reported('STARTED')).seq).toBeLessThan(stopped.seq)
    expect(await stage.evacuations(id)).toEqual([])
    await lab('bmc', host, 'reachable=true')
    const incident = await stage.daemon.incident(host, ({ closed }) => closed !== null)
    expect(outcomeOf(incident, id)).toMatch(/^recovered /)
    const { status, of } = await settled(stopped)
    expect({ status, of }).toEqual({ status: 'finished', of: incident.id })
    // Something answers at its address again, but no nova-compute beats.
    await lab('address', host, 'on')
    expect((await settled(await reported('STARTED', 2))).status).toBe('finished')
    expect(stage.daemon.incidents().map((at) => at.id)).toEqual([incident.id])
    expect(await stage.tenants.steps.service(host)).toMatchObject({ status: 'disabled', forced_down: true })
    expect(await stage.tenants.steps.state(id)).toMatchObject({ vm: 'active', task: null })
    await stage.nothingRanTwice(began)
  })
})
