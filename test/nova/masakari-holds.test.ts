/** What people order with Masakari's client, unmodified, while Lifeboat recovers a host: it holds the recovery until they take it back. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { lab } from './lab.ts'
import { OpenstackClient } from './openstack-client.ts'
import { LabStage, pauseMs } from './stage.ts'

const host = 'cmp02'
const destinations = ['cmp01', 'cmp03', 'cmp04']
let stage: LabStage
let client: OpenstackClient

beforeAll(async () => {
  await lab('masakari', 'down')
  stage = await LabStage.open('holds')
  client = new OpenstackClient()
})
afterEach(() => stage.tidy())
afterAll(() => {
  client.close()
  stage.close()
})

function evacuations(kind: 'step.issued' | 'step.confirmed'): number {
  return stage.daemon.entries().filter((entry) => entry.kind === kind && entry.step?.includes('evacuate')).length
}

it('a segment that is disabled, and a host on maintenance, hold a recovery in its middle until that is taken back', async () => {
  const defaults = { storage: 'shared', fencing: ['bmc'], probes: ['agent', 'ping'], max_parallel_per_host: 1 }
  const masakari_api = { listen: '127.0.0.1:15868', projects: [{ name: 'service' }] }
  stage.freshDaemon({ segments: [], defaults, masakari_api })
  await stage.watchBeside(Promise.all(['a', 'b', 'c'].map((name) => stage.tenants.boot(name, host))))
  await client.one('1.3', 'segment', 'create', 'rack', 'auto', 'COMPUTE')
  await client.one('1.3', 'segment', 'host', 'create', host, 'COMPUTE', 'SSH', 'rack')
  const segment = ['segment', 'update', 'rack', '--is_enabled']
  const maintenance = ['segment', 'host', 'update', 'rack', host, '--on_maintenance']
  // An evacuation lasts until the client has acted.
  const slow = async (is: boolean): Promise<void> => {
    await Promise.all(destinations.map((destination) => stage.cloud.fault(destination, { slow: is })))
  }
  await slow(true)
  await lab('crash', host)
  for (const [turn, command, hold, release] of [
    [1, segment, 'False', 'True'],
    [2, maintenance, 'True', 'False'],
  ] as const) {
    await stage.daemon.incident(host, () => evacuations('step.issued') === turn)
    await client.one('1.3', ...command, hold)
    await slow(false)
    await stage.daemon.incident(host, ({ held }) => held?.code === 'MAINTENANCE')
    await stage.daemon.incident(host, () => evacuations('step.confirmed') === turn)
    await pauseMs(5_000)
    expect(evacuations('step.issued')).toBe(turn)
    await slow(turn === 1)
    await client.one('1.3', ...command, release)
  }
  const { closed } = await stage.daemon.incident(host, (incident) => incident.closed !== null)
  expect(closed?.counts).toEqual({ recovered: 3 })
})
