/** Horizon with Masakari's dashboard, both unmodified, against Lifeboat in Masakari's place (test/lab/dashboard.py). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenFor } from '../contract/cloud-under-test.ts'
import { until } from './daemon-process.ts'
import { lab } from './lab.ts'
import { LabStage } from './stage.ts'

interface Page {
  status: number
  /** Warnings that Horizon shows if a call fails. */
  alerts: string[]
  /** Ids of the rows of its tables. */
  rows: string[]
  tables: string[][][]
  terms: Record<string, string>
}

const host = 'cmp02'
const listen = '127.0.0.1:15868'
let stage: LabStage
let guest: string
let notification: string

beforeAll(async () => {
  stage = await LabStage.open('dashboard')
  stage.freshDaemon({ masakari_api: { listen, projects: [{ name: 'service' }] } })
  guest = await stage.watchBeside(stage.tenants.boot('guest', host))
  await lab('crash', host)
  await stage.daemon.incident(host, ({ closed }) => closed !== null)
  notification = await until('the notification is listed', async () => (await list('notifications')).rows[0])
})
afterAll(async () => {
  await stage.tidy()
  stage.close()
})

async function pages(...paths: string[]): Promise<Page[]> {
  const shown = JSON.parse(await lab('dashboard', ...paths.map((path) => `masakaridashboard/${path}`))) as Page[]
  expect(shown.map(({ status, alerts }) => ({ status, alerts }))).toEqual(
    paths.map(() => ({ status: 200, alerts: [] })),
  )
  return shown
}

async function list(panel: string): Promise<Page> {
  const [page] = await pages(`${panel}/`)
  if (page === undefined) throw new Error('no page')
  return page
}

/** The cells of a table's rows below its heading, by column. */
function cells({ tables }: Page): Record<string, string>[] {
  const rows = tables.at(-1) ?? []
  const heading = rows.find((row) => row.length > 1) ?? []
  return rows
    .slice(rows.indexOf(heading) + 1)
    .filter((row) => row.length === heading.length)
    .map((row) => Object.fromEntries(heading.map((column, at) => [column, row[at] ?? ''])))
}

describe("Masakari's dashboard", () => {
  it('lists the segments and hosts of the configuration, and shows each', async () => {
    const segments = await list('segments')
    expect(cells(segments)).toMatchObject([{ Name: 'lab', 'Recovery Method': 'auto', Enabled: 'Yes' }])
    const hosts = await list('hosts')
    expect(cells(hosts).map(({ Name }) => Name)).toEqual(expect.arrayContaining(['cmp01', 'cmp02', 'cmp03', 'cmp04']))
    const [segment, shown] = await pages(`segments/${segments.rows[0]}/detail`, `hosts/${hosts.rows[0]}/detail`)
    expect(segment?.terms).toMatchObject({ Name: 'lab', 'Service Type': 'COMPUTE' })
    expect(shown?.terms).toMatchObject({ UUID: hosts.rows[0]?.split(',')[0], 'Failover Segment': segments.rows[0] })
  })

  it('lists a failure that nobody reported, and shows its progress and its vmoves', async () => {
    expect(cells(await list('notifications'))).toMatchObject([{ UUID: notification, Status: 'finished' }])
    const detail = `notifications/${notification}/detail`
    const tab = (name: string): string => `${detail}?tab=notification_details__${name}`
    const [overview, progress, moves] = (await pages(
      detail,
      tab('notification_progress_details'),
      tab('vmove_tab'),
    )) as [Page, Page, Page]
    expect(overview.terms).toMatchObject({ 'Notification UUID': notification, Type: 'COMPUTE_HOST' })
    const filled = expect.stringMatching(/\w/)
    expect(cells(progress)).toMatchObject([{ Action: filled, Timestamp: filled, Message: filled }])
    expect(cells(moves)).toMatchObject([{ 'Server ID': guest, 'Source Host': host, Status: 'succeeded' }])
  })

  it('lists all vmoves, and shows one', async () => {
    const moves = await list('vmoves')
    expect(cells(moves)).toMatchObject([{ 'Server ID': guest, 'Source Host': host, Status: 'succeeded' }])
    const [move] = await pages(`vmoves/${moves.rows[0]}/detail`)
    expect(move?.terms).toMatchObject({ 'Source Host': host })
  })

  it('pages through more segments than a page holds', async () => {
    const headers = { 'X-Auth-Token': await tokenFor(stage.cloud), 'Content-Type': 'application/json' }
    for (let n = 0; n < 24; n++) {
      const body = JSON.stringify({ segment: { name: `row ${n}`, recovery_method: 'auto', service_type: 'compute' } })
      const { status } = await fetch(`http://${listen}/v1/segments`, { method: 'POST', headers, body })
      expect(status).toBe(201)
    }
    const first = await list('segments')
    const [second] = await pages(`segments/?marker=${first.rows.at(-1)}`)
    expect(new Set([...first.rows, ...(second?.rows ?? [])]).size).toBe(25)
    expect([first.rows.length, second?.rows.length]).toEqual([20, 5])
  })
})
