/**
 * What others wrote for Masakari, unmodified, against Lifeboat in its place: the functional tests of openstacksdk and of Masakari itself, and
 * every command of its client in each version. The configuration names no segment here: Masakari's tests want to find their own alone.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from './daemon-process.ts'
import { lab } from './lab.ts'
import { LabStage } from './stage.ts'

const host = 'cmp02'
const masakariApi = { listen: '127.0.0.1:15868', projects: [{ name: 'service' }] }
const defaults = {
  ...{ storage: 'shared', fencing: ['bmc'], probes: ['agent', 'ping'] },
  return: { mode: 'automatic', healthy: '10s' },
}
/** Each command of the client is a Python program of its own, which takes seconds to start, and more on a machine that is busy. */
const slow = 900_000
let stage: LabStage

beforeAll(async () => {
  await lab('masakari', 'down')
  stage = await LabStage.open('suites')
})
beforeEach(() => {
  stage.freshDaemon({ segments: [], defaults, masakari_api: masakariApi })
})
afterEach(async () => {
  await lab('masakari', 'down')
  await stage.tidy()
})
afterAll(() => stage.close())

/** Tests that a suite ran, each with what became of it. */
async function suite(name: string, ...excluded: string[]): Promise<Record<string, string>> {
  const printed = await lab('suite', name, ...excluded).catch(
    (failed: unknown) => (failed as { stdout: string }).stdout,
  )
  const lines = [...printed.matchAll(/^\{0\} (\S+)\.(\w+)\.(\w+) \[.*?\] \.\.\. (\w+)/gm)]
  const ran = Object.fromEntries(lines.map(([, , where, test, result]) => [`${where}.${test}`, result ?? '']))
  console.log(`${name}: ${JSON.stringify(ran, null, 1)}`)
  if (Object.values(ran).some((result) => result !== 'ok')) console.log(printed)
  return ran
}

function allOk(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, 'ok']))
}

describe('the functional tests', () => {
  it('of openstacksdk pass', async () => {
    await stage.watch()
    expect(await suite('openstacksdk')).toEqual(
      allOk('TestHost.test_list', 'TestHost.test_update', 'TestSegment.test_list', 'TestSegment.test_update'),
    )
  })

  /** Its two tests of VM stop an instance and then want a report to start it: what its owner stopped stays stopped. */
  it(
    'of Masakari pass, but for those that start what its owner stopped',
    async () => {
      await stage.watch()
      const process = ['test_create_notification_event_start', 'test_create_notification_event_stopped']
      expect(await suite('masakari', 'test_vm_notifications')).toEqual(
        allOk(
          ...['create_get', 'create_list_with_filter_1', 'create_list_with_filter_2', 'list'].map(
            (name) => `TestHosts.test_${name}`,
          ),
          ...['TestHosts.test_update_get_delete', 'TestHosts.test_update_host_name'],
          ...process.map((name) => `NotificationProcessTestCase.${name}`),
          ...process.map((name) => `NotificationProcessTestCase_V1_1.${name}`),
          ...['create_delete_with_host', 'create_get_delete', 'list', 'list_with_filter', 'update_with_host'].map(
            (name) => `TestSegments.test_${name}`,
          ),
        ),
      )
    },
    slow,
  )
})

type Row = Record<string, unknown>

/** What the openstack client prints, as JSON. */
async function openstack(version: string, ...words: string[]): Promise<Row | Row[]> {
  return JSON.parse(await lab('openstack', '--os-ha-api-version', version, ...words, '-f', 'json'))
}

/** The columns that have a value, of one row or of the first of several. Whether something was changed by now is a matter of moments. */
function filled(printed: Row | Row[]): string[] {
  const [row = {}] = [printed].flat()
  return Object.keys(row).filter((column) => column !== 'updated_at' && ![null, ''].includes(row[column] as null))
}

/** Every command that writes, and those that list and show what it wrote: each with the columns that it fills. */
async function commands(version: string): Promise<Record<string, string[]>> {
  const columns: Record<string, string[]> = {}
  const run = async (...words: string[]): Promise<Row | Row[]> => {
    const printed = await openstack(version, ...words)
    columns[
      words
        .filter((word) => /^[a-z]+$/.test(word))
        .slice(0, 3)
        .join(' ')
    ] = filled(printed)
    return printed
  }
  const name = `rack ${version}`
  const made = (await run('segment', 'create', name, 'auto', 'COMPUTE', '--description', 'Row 1')) as Row
  await run('segment', 'list')
  await run('segment', 'show', name)
  await run('segment', 'update', name, '--recovery_method', 'reserved_host', '--description', 'Row 2')
  await run('segment', 'host', 'create', host, 'COMPUTE', 'SSH', name)
  await run('segment', 'host', 'list', String(made['uuid']))
  await run('segment', 'host', 'show', name, host)
  await run('segment', 'host', 'update', name, host, '--reserved', 'True', '--on_maintenance', 'True')
  await run('segment', 'host', 'update', name, host, '--on_maintenance', 'False')
  const payload = '{"event": "STARTED", "process_name": "nova-compute"}'
  const sent = (await run('notification', 'create', 'PROCESS', host, new Date().toISOString(), payload)) as Row
  const id = String(sent['notification_uuid'])
  await until('the notification is finished', 30_000, async () => {
    const shown = (await openstack(version, 'notification', 'show', id)) as Row
    return shown['status'] === 'finished'
  })
  await run('notification', 'list')
  await run('notification', 'show', id)
  await lab('openstack', '--os-ha-api-version', version, 'segment', 'host', 'delete', name, host)
  await lab('openstack', '--os-ha-api-version', version, 'segment', 'delete', name)
  return columns
}

describe("each command of Masakari's client", () => {
  it(
    'fills the columns that it fills against Masakari',
    async () => {
      await lab('masakari', 'wipe')
      await lab('masakari', 'up')
      const ofMasakari = await commands('1.3')
      await lab('masakari', 'down')
      await stage.watch()
      expect(await commands('1.3')).toEqual(ofMasakari)
    },
    slow,
  )

  it.each(['1.0', '1.1', '1.2'])(
    'succeeds in version %s',
    async (version) => {
      await stage.watch()
      expect(Object.keys(await commands(version))).toHaveLength(11)
    },
    slow,
  )

  it(
    'shows a failure that nobody reported, with what became of its instances',
    async () => {
      const id = await stage.tenants.boot('guest', host)
      await stage.watch()
      await lab('crash', host)
      await until('the notification is finished', 120_000, async () => {
        const [row] = (await openstack('1.3', 'notification', 'list')) as Row[]
        return row?.['status'] === 'finished'
      })
      const [row] = (await openstack('1.3', 'notification', 'list')) as Row[]
      const notification = String(row?.['notification_uuid'])
      expect(await openstack('1.3', 'notification', 'show', notification)).toMatchObject({ type: 'COMPUTE_HOST' })
      const [move] = (await openstack('1.3', 'notification', 'vmove', 'list', notification)) as Row[]
      expect(move).toMatchObject({ server_id: id, source_host: host, type: 'evacuation', status: 'succeeded' })
      expect(
        await openstack('1.3', 'notification', 'vmove', 'show', notification, String(move?.['uuid'])),
      ).toMatchObject({ server_id: id })
    },
    slow,
  )
})
