/**
 * What others wrote for Masakari, unmodified, against Lifeboat in its place: the functional tests of openstacksdk and of Masakari itself, and
 * openstacksdk's paging. The configuration names no segment here: Masakari's tests want to find their own alone.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { lab } from './lab.ts'
import { LabStage } from './stage.ts'

const masakariApi = { listen: '127.0.0.1:15868', projects: [{ name: 'service' }] }
const defaults = {
  ...{ storage: 'shared', fencing: ['bmc'], probes: ['agent', 'ping'] },
  return: { mode: 'automatic', healthy: '10s' },
}
/** Masakari's suite takes minutes, and more on a machine that is busy. */
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

/** Ids of a list without a limit, and of the same list by pages of one row. */
type Lists = [whole: number[], paged: number[]]

describe('openstacksdk', () => {
  it('pages by one row to the end and gives each row once, also while rows are added', async () => {
    await stage.watch()
    const kinds = JSON.parse(await lab('paging')) as Record<string, { few: Lists[]; growing: Lists }>
    expect(Object.keys(kinds)).toEqual(['segments', 'hosts', 'notifications'])
    for (const [kind, { few, growing }] of Object.entries(kinds)) {
      expect([...few, growing].map(([whole]) => whole.length)).toEqual([0, 1, 2, 3])
      for (const [whole, paged] of [...few, growing]) expect(paged, kind).toEqual(whole)
    }
  })
})
