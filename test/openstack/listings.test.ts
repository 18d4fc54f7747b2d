import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RehearsedCloud, failure, fault, serverJson } from './rehearsed-cloud.ts'
import type { Asked, Reply } from './rehearsed-cloud.ts'

let cloud: RehearsedCloud
beforeEach(async () => {
  cloud = await RehearsedCloud.open()
})
afterEach(() => cloud.shut())

const servers = 'GET /v2.1/servers/detail'
const link = [{ rel: 'next', href: 'http://wrong.example/servers' }]
const ids = (from: number, count: number): string[] => Array.from({ length: count }, (_none, at) => `i${from + at}`)

/** A listing of `all`, `cap` to a page, as Nova pages: by marker, with a link while the page is full. */
function paged(all: string[], cap: number): (asked: Asked) => Reply {
  return (asked) => {
    const marker = asked.query.get('marker')
    const start = marker === null ? 0 : all.indexOf(marker) + 1
    const page = all.slice(start, start + cap)
    return {
      json: { servers: page.map((id) => serverJson(id)), ...(page.length === cap ? { servers_links: link } : {}) },
    }
  }
}

describe('a listing of instances', () => {
  it.each([
    ['full pages of 1000 and a short one', 2500, 1000, 3],
    ['exactly full pages, the last one empty', 2000, 1000, 3],
    ['a cap of the server below the asked limit', 25, 10, 3],
    ['one short page', 3, 1000, 1],
    ['nothing', 0, 1000, 1],
  ])('is complete with %s', async (_name, count, cap, requests) => {
    cloud.on(servers, paged(ids(0, count), cap))
    const found = await cloud.client().listInstances('cmp01')
    expect(found.map((instance) => instance.id)).toEqual(ids(0, count))
    expect(cloud.requests(servers)).toHaveLength(requests)
    expect(Object.fromEntries(cloud.requests(servers)[0]?.query ?? [])).toEqual({
      all_tenants: '1',
      host: 'cmp01',
      soft_deleted: '1',
      limit: '1000',
    })
  })

  it('goes on after a full page without a link', async () => {
    cloud.on(servers, (_asked, nth) => ({
      json: { servers: (nth === 1 ? ids(0, 1000) : ids(1000, 5)).map((id) => serverJson(id)) },
    }))
    expect(await cloud.client().listInstances('cmp01')).toHaveLength(1005)
  })

  it('fails when the service shows the same page for ever', async () => {
    cloud.on(servers, () => ({ json: { servers: [serverJson('i1')], servers_links: link } }))
    expect(await failure(cloud.client().listInstances('cmp01'))).toMatchObject({ code: 'API_MALFORMED' })
    expect(cloud.requests(servers)).toHaveLength(2)
  })

  it('fails as a whole when a later page fails: half a list would leave instances behind', async () => {
    cloud.on(servers, (asked, nth) => (nth === 1 ? paged(ids(0, 10), 5)(asked) : fault(500, 'cell')))
    expect(await failure(cloud.client().listInstances('cmp01'))).toMatchObject({ code: 'API_FAULT' })
  })

  it('fails when Nova shows an instance of a cell that it cannot reach', async () => {
    cloud.on(servers, () => ({
      json: { servers: [{ id: 'i1', status: 'UNKNOWN', tenant_id: 'p', created: 'x', links: [] }] },
    }))
    expect(await failure(cloud.client().listInstances('cmp01'))).toMatchObject({ code: 'API_UNAVAILABLE' })
  })

  it('understands what Nova leaves out or empty', async () => {
    const odd = serverJson('i1', {
      'OS-EXT-SRV-ATTR:host': null,
      'OS-EXT-STS:power_state': null,
      'OS-EXT-AZ:availability_zone': '',
      image: null,
      unheard_of: { nested: true },
      fault: { code: 500, created: 'x', message: 'No valid host was found.' },
      'os-extended-volumes:volumes_attached': [{ id: 'v1', delete_on_termination: false }],
    })
    delete odd['locked_reason']
    cloud.on(servers, () => ({ json: { servers: [odd, serverJson('i2', { image: { id: 'img', links: [] } })] } }))
    const [first, second] = await cloud.client().listInstances('cmp01')
    expect(first).toMatchObject({
      host: null,
      powerState: 0,
      availabilityZone: null,
      imageId: null,
      lockedReason: null,
    })
    expect(first).toMatchObject({ fault: 'No valid host was found.', volumeIds: ['v1'] })
    expect(second?.imageId).toBe('img')
  })

  it('of what changed asks for all projects since that time', async () => {
    cloud.on(servers, () => ({
      json: { servers: [serverJson('i1', { status: 'DELETED', 'OS-EXT-STS:vm_state': 'deleted' })] },
    }))
    expect((await cloud.client().listChangedInstances('2026-01-01T00:00:00Z'))[0]?.status).toBe('DELETED')
    expect(cloud.requests(servers)[0]?.query.get('changes-since')).toBe('2026-01-01T00:00:00Z')
  })
})

describe('the services', () => {
  it('come with the rows of unreachable cells and the clock of the API', async () => {
    const date = 'Sat, 21 Nov 2026 06:00:00 GMT'
    const row = { id: 's1', binary: 'nova-compute', host: 'cmp01', zone: 'nova', status: 'disabled', state: 'down' }
    cloud.on('GET /v2.1/os-services', () => ({
      headers: { date },
      json: {
        services: [
          { ...row, forced_down: true, updated_at: '2026-11-21T05:00:00.000000', disabled_reason: 'why' },
          { binary: 'nova-compute', host: 'cmp02', status: 'UNKNOWN' },
        ],
      },
    }))
    const reading = await cloud.client().listServices()
    expect(reading.serverTimeMs).toBe(Date.parse(date))
    expect(reading.services[0]).toMatchObject({ forcedDown: true, status: 'disabled', disabledReason: 'why' })
    expect(reading.services[1]).toMatchObject({ id: null, host: 'cmp02', status: 'unknown', state: null })
  })
})

describe('other listings', () => {
  const migration = (id: number): Record<string, unknown> => ({
    id,
    uuid: `u${id}`,
    instance_uuid: 'i1',
    migration_type: 'evacuation',
    status: 'done',
    source_compute: 'cmp01',
    dest_compute: null,
    created_at: '2026-01-01T00:00:00.000000',
    updated_at: null,
  })

  it('of migrations page by uuid and carry every filter', async () => {
    cloud.on('GET /v2.1/os-migrations', (_asked, nth) =>
      nth === 1
        ? { json: { migrations: [migration(3), migration(2)], migrations_links: link } }
        : { json: { migrations: [migration(1)] } },
    )
    const filter = { sourceHost: 'cmp01', host: 'cmp01', instanceId: 'i1', type: 'evacuation', status: 'done' } as const
    const found = await cloud.client().listMigrations(filter)
    expect(found.map(({ id, uuid, destHost }) => [id, uuid, destHost])).toEqual([
      [3, 'u3', null],
      [2, 'u2', null],
      [1, 'u1', null],
    ])
    expect(Object.fromEntries(cloud.requests('GET /v2.1/os-migrations')[1]?.query ?? [])).toEqual({
      source_compute: 'cmp01',
      host: 'cmp01',
      instance_uuid: 'i1',
      migration_type: 'evacuation',
      status: 'done',
      limit: '1000',
      marker: 'u2',
    })
  })

  it('of migrations of several cells are whole, although each cell counts its records by itself', async () => {
    const other = { ...migration(1), uuid: 'other-cell', instance_uuid: 'i2' }
    cloud.on('GET /v2.1/os-migrations', () => ({ json: { migrations: [migration(1), other] } }))
    const found = await cloud.client().listMigrations({ status: 'done' })
    expect(found.map(({ uuid }) => uuid)).toEqual(['u1', 'other-cell'])
  })

  it('of migrations ask for no page where Nova has none (below 2.59)', async () => {
    cloud.max = '2.53'
    cloud.on('GET /v2.1/os-migrations', () => ({ json: { migrations: [{ ...migration(1), uuid: undefined }] } }))
    // Told apart all the same: one that is taken for another would be an evacuation sent twice.
    expect(await cloud.client().listMigrations({})).toMatchObject([{ id: 1, uuid: '1' }])
    expect(cloud.requests('GET /v2.1/os-migrations')[0]?.query.size).toBe(0)
  })

  it('of server groups go on until a page is empty, whatever the cap', async () => {
    const groups = ids(0, 5).map((id) => ({ id, name: id, policy: 'anti-affinity', members: ['i1'], rules: {} }))
    cloud.on('GET /v2.1/os-server-groups', (asked) => {
      const offset = Number(asked.query.get('offset'))
      return { json: { server_groups: groups.slice(offset, offset + 2) } }
    })
    expect((await cloud.client().listServerGroups()).map((group) => group.id)).toEqual(ids(0, 5))
  })

  it('of server groups know the older form of a policy (below 2.64)', async () => {
    cloud.max = '2.60'
    cloud.on('GET /v2.1/os-server-groups', (_asked, nth) => ({
      json: {
        server_groups: nth === 1 ? [{ id: 'g', name: 'g', policies: ['affinity'], members: [], metadata: {} }] : [],
      },
    }))
    expect((await cloud.client().listServerGroups())[0]?.policy).toBe('affinity')
  })

  it('of actions keep the null user of a power sync stop', async () => {
    const stop = {
      action: 'stop',
      request_id: 'req-2',
      user_id: null,
      project_id: null,
      start_time: 't',
      message: null,
    }
    cloud.on('GET /v2.1/servers/i1/os-instance-actions', () => ({ json: { instanceActions: [stop] } }))
    expect((await cloud.client().listActions('i1'))[0]).toMatchObject({ action: 'stop', userId: null, events: [] })
  })
})

describe('volumes', () => {
  const volume = (id: string): string => `GET /volume/v3/a0000000000000000000000000000001/volumes/${id}`

  it('that Cinder does not know are missing, the others are there', async () => {
    cloud.on(volume('v1'), () => ({ json: { volume: { id: 'v1', encrypted: true, status: 'in-use' } } }))
    cloud.on(volume('v2'), () => fault(404, 'Volume v2 could not be found.'))
    expect([...(await cloud.client().getVolumes(['v1', 'v2', 'v1']))]).toEqual([['v1', { id: 'v1', encrypted: true }]])
    expect(cloud.requests(volume('v1'))).toHaveLength(1)
  })

  it('of which none can be read fail: unknown encryption is not "none"', async () => {
    cloud.on(volume('v1'), () => fault(500, 'x'))
    expect(await failure(cloud.client().getVolumes(['v1']))).toMatchObject({ code: 'API_FAULT' })
  })

  it.each([500, 403])('of which one cannot be read (%i) are told without it', async (status) => {
    cloud.on(volume('v1'), () => fault(status, 'x'))
    cloud.on(volume('v2'), () => ({ json: { volume: { id: 'v2', encrypted: false } } }))
    expect([...(await cloud.client().getVolumes(['v1', 'v2'])).keys()]).toEqual(['v2'])
  })

  it('of a Cinder that does not answer fail at once, however many they are', async () => {
    const ids = Array.from({ length: 20 }, (_none, at) => `v${at}`)
    for (const id of ids) cloud.on(volume(id), () => fault(503, 'x'))
    expect(await failure(cloud.client().getVolumes(ids))).toMatchObject({ code: 'API_UNAVAILABLE' })
    expect(new Set(cloud.asked.map(({ path }) => path)).size).toBeLessThan(20)
  })

  it('are asked for one by one when a page of the listing fails', async () => {
    const ids = Array.from({ length: 64 }, (_none, at) => `v${at}`)
    cloud.on('GET /volume/v3/a0000000000000000000000000000001/volumes/detail', () => fault(500, 'x'))
    for (const id of ids) cloud.on(volume(id), () => ({ json: { volume: { id, encrypted: false } } }))
    expect((await cloud.client().getVolumes(ids)).size).toBe(64)
  })

  it('are listed when they are many, and asked one by one for what the listing does not show', async () => {
    const many = Array.from({ length: 80 }, (_none, at) => `v${at}`)
    cloud.on('GET /volume/v3/a0000000000000000000000000000001/volumes/detail', () => ({
      json: { volumes: many.slice(1).map((id) => ({ id, encrypted: false })) },
    }))
    cloud.on(volume('v0'), () => ({ json: { volume: { id: 'v0', encrypted: true } } }))
    const found = await cloud.client().getVolumes(many)
    expect(found.size).toBe(80)
    expect(found.get('v0')?.encrypted).toBe(true)
    expect(cloud.asked.filter((asked) => asked.path.includes('/volumes/'))).toHaveLength(2)
  })
})

describe('the fault of an instance', () => {
  it.each([
    ['QEMU was refused the write lock', 'qemu: Failed to get "write" lock', true],
    ['the image is in use', 'Is another process using the image [/var/lib/nova/instances/x/disk]?', true],
    ['something else failed', 'Cannot find a free loop device', undefined],
  ])('tells by its details whether the disk is in use: %s', async (_why, details, inUse) => {
    const server = { ...(serverJson('one') as object), fault: { message: 'libvirtError', code: 500, details } }
    cloud.on(servers, () => ({ json: { servers: [server] } }))
    const [instance] = await cloud.client().listInstances('cmp01')
    expect([instance?.fault, instance?.diskInUse]).toEqual(['libvirtError', inUse])
  })
})
