/**
 * Every command of Masakari's client, unmodified, in each version, against Lifeboat in Masakari's place: it prints the columns that it prints
 * against Masakari. Those are on record, and the record is held against the lab's real Masakari. `RECORD_MASAKARI=1` writes it again; read the
 * diff like code.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyCommand, failureCommands, type Columns } from './client-commands.ts'
import { until } from './daemon-process.ts'
import { lab } from './lab.ts'
import { OpenstackClient } from './openstack-client.ts'
import { LabStage } from './stage.ts'

const host = 'cmp02'
const versions = ['1.0', '1.1', '1.2', '1.3']
const isRecording = process.env['RECORD_MASAKARI'] === '1'
let stage: LabStage
let client: OpenstackClient

beforeAll(async () => {
  await lab('masakari', 'down')
  stage = await LabStage.open('client')
  client = new OpenstackClient()
})
afterAll(() => {
  client.close()
  stage.close()
})

const recordFile = new URL('../masakari/differential/columns.json', import.meta.url)
const recorded = (): Record<string, Columns> => JSON.parse(readFileSync(recordFile, 'utf8')) as Record<string, Columns>

function record(what: string, columns: Columns): void {
  const others = existsSync(recordFile) ? recorded() : {}
  writeFileSync(recordFile, `${JSON.stringify({ ...others, [what]: columns }, null, 2)}\n`)
}

function expectOnRecord(what: string, columns: Columns): void {
  if (isRecording) record(what, columns)
  expect(columns).toEqual(recorded()[what])
}

describe("the record of what Masakari's client prints against Masakari", () => {
  beforeAll(async () => {
    await lab('masakari', 'wipe')
    // Nova takes the host for down after 8 s here; Masakari waits three minutes by default.
    await lab('masakari', 'up', 'wait_period_after_service_update=15')
  })
  afterAll(async () => {
    await lab('masakari', 'down')
    await stage.tidy()
  })

  // Each version takes half a minute on a busy machine, and Masakari 19 does not change.
  it.each(isRecording ? versions : ['1.3'])('is what it prints in version %s', async (version) => {
    expectOnRecord(version, await everyCommand(client, version, host))
  })

  it("is what it prints of a dead host's instances", async () => {
    await stage.tenants.boot('guest', host)
    await client.one('1.3', 'segment', 'create', 'rack', 'auto', 'COMPUTE')
    for (const name of [host, 'cmp03', 'cmp04'])
      await client.one('1.3', 'segment', 'host', 'create', name, 'COMPUTE', 'SSH', 'rack')
    await lab('crash', host)
    // Masakari first disables the service, for which Nova calls nova-compute if it takes the host for up: both give up after half a minute.
    await until('Nova shows it down', async () => (await stage.tenants.steps.service(host)).state === 'down')
    const now = new Date().toISOString()
    const payload = '{"event": "STOPPED", "host_status": "NORMAL", "cluster_status": "OFFLINE"}'
    const sent = await client.one('1.3', 'notification', 'create', 'COMPUTE_HOST', host, now, payload)
    for (const version of versions)
      expectOnRecord(`failure ${version}`, await failureCommands(client, version, String(sent['notification_uuid'])))
  })
})

describe("each command of Masakari's client", () => {
  beforeAll(async () => {
    const masakari_api = { listen: '127.0.0.1:15868', projects: [{ name: 'service' }] }
    const defaults = { storage: 'shared', fencing: ['bmc'], probes: ['agent', 'ping'] }
    stage.freshDaemon({ segments: [], defaults, masakari_api })
    await stage.watch()
  })
  afterAll(() => stage.tidy())

  it.each(versions)('succeeds in version %s and prints what it prints against Masakari', async (version) => {
    expect(await everyCommand(client, version, host)).toEqual(recorded()[version])
  })

  it('shows a failure that nobody reported, with what became of its instances', async () => {
    const id = await stage.tenants.boot('guest', host)
    await lab('crash', host)
    const failure = ['notification', 'list', '--filters', 'type=COMPUTE_HOST']
    const row = await until('it is listed', async () => (await client.many('1.3', ...failure))[0])
    const notification = String(row['notification_uuid'])
    for (const version of versions) {
      const { 'notification vmove show': move = '', ...others } = recorded()[`failure ${version}`] ?? {}
      // Lifeboat says what came of a move that succeeded too.
      const said = { ...others, 'notification vmove show': move.replace('message (empty)', 'message') }
      expect(await failureCommands(client, version, notification)).toEqual(said)
    }
    const [shown] = await client.many('1.3', 'notification', 'vmove', 'list', notification)
    expect(shown).toMatchObject({ server_id: id, source_host: host, type: 'evacuation', status: 'succeeded' })
  })
})
