/** The reader of Masakari, against answers that a real Masakari 19 gave (masakari-answers.json says of which release). */
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { masakariClient, type MasakariClient } from '../../src/openstack/masakari.ts'
import { RehearsedCloud, type Asked, type Reply } from './rehearsed-cloud.ts'

interface Recorded {
  status: number
  body: Record<string, unknown>
}
const { answers } = JSON.parse(readFileSync('test/openstack/masakari-answers.json', 'utf8')) as {
  answers: Record<string, Recorded>
}
type Row = Record<string, unknown> & { id: number }
const recorded = (name: string): Reply => {
  const answer = answers[name]
  if (answer === undefined) throw new Error(`nothing was recorded as "${name}"`)
  return { status: answer.status, json: answer.body }
}
const rows = (name: string, key: string): Row[] => (answers[name]?.body[key] ?? []) as Row[]

let cloud: RehearsedCloud
let client: MasakariClient
beforeEach(async () => {
  cloud = await RehearsedCloud.open()
  client = masakari(`${cloud.url}/v1/project`)
})
afterEach(async () => {
  client.close()
  await cloud.shut()
})

function masakari(override: string | null): MasakariClient {
  const endpoint = { interfaces: ['public'], region: null, override: null }
  const { endpoints, ...config } = cloud.config()
  const instanceHa = { ...endpoint, override }
  return masakariClient({
    config: { ...config, endpoints: { ...endpoints, 'instance-ha': instanceHa } },
    clock: cloud.clock,
    observer: {},
  })
}

/** Serves rows as Masakari does: sorted, after the numeric marker, at most `most` at once. A uuid is no marker. */
function paged(key: string, all: Row[], most = 1000): (asked: Asked) => Reply {
  return ({ query }) => {
    expect([query.get('sort_key'), query.get('sort_dir')]).toEqual(['id', 'asc'])
    const marker = query.get('marker')
    const sorted = all.toSorted((a, b) => a.id - b.id)
    if (marker !== null && !sorted.some(({ id }) => String(id) === marker)) return recorded('segments marker uuid')
    const left = sorted.filter(({ id }) => marker === null || id > Number(marker))
    return { json: { [key]: left.slice(0, Math.min(most, Number(query.get('limit')))) } }
  }
}

function rehearse(most?: number): void {
  const segments = rows('segments 1.2', 'segments')
  cloud.on('GET /v1/project/segments', paged('segments', segments, most))
  for (const { uuid, name } of segments)
    cloud.on(
      `GET /v1/project/segments/${String(uuid)}/hosts`,
      paged('hosts', rows(`hosts of ${String(name)}`, 'hosts'), most),
    )
  cloud.on('GET /v1/project/notifications', (asked) => {
    const name = `notifications ${asked.query.get('status') ?? ''}`
    return paged('notifications', rows(name, 'notifications'), most)(asked)
  })
}

describe('what Masakari has', () => {
  it('segments with their hosts, the oldest first, and what is not finished', async () => {
    rehearse()
    const { segments, notifications } = await client.inventory()
    expect(
      segments.map(({ name, recoveryMethod, enabled, hosts }) => [name, recoveryMethod, enabled, hosts.length]),
    ).toEqual([
      ['rack-a', 'auto', true, 2],
      ['Rack B / ceph', 'rh_priority', true, 2],
      ['retired', 'reserved_host', false, 0],
      ['empty', 'auto_priority', true, 0],
    ])
    expect(segments[0]?.hosts.map(({ name, onMaintenance }) => [name, onMaintenance])).toEqual([
      ['cmp01', false],
      ['cmp02', true],
    ])
    expect(
      segments[1]?.hosts.map(({ name, reserved, controlAttributes }) => [name, reserved, controlAttributes]),
    ).toEqual([
      ['cmp03', false, '{"ipmi": "10.0.0.3"}'],
      ['cmp04', true, 'SSH'],
    ])
    expect(notifications).toMatchObject([{ type: 'VM', status: 'error', hostUuid: segments[0]?.hosts[0]?.uuid }])
  })

  it("asks at 1.2, only reads, and pages by the numeric id whatever the service's own limit is", async () => {
    rehearse(1)
    expect((await client.inventory()).segments).toHaveLength(4)
    const asked = cloud.asked.filter(({ path }) => path.startsWith('/v1/'))
    expect(new Set(asked.map(({ method, microversion }) => `${method} ${microversion ?? ''}`))).toEqual(
      new Set(['GET instance-ha 1.2']),
    )
  })

  it('an older Masakari is asked at 1.0, and its segments count as enabled', async () => {
    rehearse()
    const serve = paged(
      'segments',
      rows('segments 1.2', 'segments').map((row) => ({ ...row, enabled: undefined })),
    )
    cloud.on('GET /v1/project/segments', (asked) =>
      asked.microversion === 'instance-ha 1.0' ? serve(asked) : recorded('version not supported'),
    )
    const { segments } = await client.inventory()
    expect(segments.map(({ enabled }) => enabled)).toEqual([true, true, true, true])
  })

  it('an endpoint without a version gets one', async () => {
    cloud.on('GET /v1/segments', () => ({ json: { segments: [] } }))
    cloud.on('GET /v1/notifications', () => ({ json: { notifications: [] } }))
    client = masakari(cloud.url)
    expect(await client.inventory()).toEqual({ segments: [], notifications: [] })
  })
})

describe('what goes wrong', () => {
  it('a cloud without Masakari: the catalogue says what there is', async () => {
    client = masakari(null)
    await expect(client.inventory()).rejects.toMatchObject({
      code: 'CATALOG_MISSING',
      message: expect.stringContaining('the catalogue has no instance-ha'),
    })
  })
  it('a role that is not allowed', async () => {
    cloud.on('GET /v1/project/segments', () => ({ status: 403, json: { forbidden: { code: 403, message: 'no' } } }))
    await expect(client.inventory()).rejects.toMatchObject({ code: 'AUTH_FORBIDDEN' })
  })
  it('an answer that is not as documented names the place', async () => {
    cloud.on('GET /v1/project/segments', () => ({ json: { segments: [{ id: 1, uuid: 'u', name: 7 }] } }))
    await expect(client.inventory()).rejects.toMatchObject({
      code: 'API_MALFORMED',
      message: expect.stringContaining('segments.0.name'),
    })
  })
})
