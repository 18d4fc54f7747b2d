/** Servers on healthy hosts: shapes, lists, states, locks, history. */
import { beforeAll, describe, expect, it } from 'vitest'
import { nova } from './cloud-under-test.ts'
import type { Scene } from './nova-contract.ts'

export function serverSentences(scene: Scene): void {
  describe('servers', () => {
    let ids: string[] = []
    let first = ''
    const list = (query: string, minor = 90): ReturnType<typeof nova> =>
      nova(scene.cloud, 'GET', `/servers/detail?all_tenants=1&name=^${scene.cloud.prefix}-${query}`, undefined, {
        minor,
      })

    beforeAll(async () => {
      ids = await Promise.all([0, 1, 2].map(() => scene.steps.boot(scene.cloud.hosts[2])))
      first = ids[0] ?? ''
    })

    it('show where they are, their three states, lock, flavor and volumes', async () => {
      const server = await scene.steps.show(first)
      expect(server).toMatchObject({
        status: 'ACTIVE',
        'OS-EXT-STS:vm_state': 'active',
        'OS-EXT-STS:task_state': null,
        'OS-EXT-STS:power_state': 1,
        'OS-EXT-SRV-ATTR:host': scene.cloud.hosts[2],
        'OS-EXT-AZ:availability_zone': 'nova',
        'os-extended-volumes:volumes_attached': [],
        locked: false,
        locked_reason: null,
        tags: [],
        metadata: {},
        host_status: 'UP',
        flavor: { vcpus: 1, ram: 64, disk: 1, ephemeral: 0, swap: 0, original_name: 'm1.tiny', extra_specs: {} },
        image: { id: '00000000-0000-0000-0000-0000000000a1' },
      })
      expect(server['OS-SRV-USG:launched_at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000000$/)
      expect(server.updated).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    })

    it('have exactly the keys of real Nova at each microversion', async () => {
      const keys = Object.keys(await scene.steps.show(first)).sort()
      expect(keys).toEqual(serverKeys)
      const before = Object.keys(await scene.steps.show(first, 1))
      expect(before).toEqual(expect.arrayContaining(['OS-EXT-SRV-ATTR:host', 'flavor', 'id', 'progress']))
      for (const later of ['locked', 'host_status', 'tags']) expect(before).not.toContain(later)
    })

    it('name a flavor by id below 2.47', async () => {
      expect((await scene.steps.show(first, 46)).flavor.id).toBe('1')
    })

    it('show server_groups alone in a single show', async () => {
      expect(await scene.steps.show(first)).toHaveProperty('server_groups', [])
      expect((await list('')).body.servers[0]).not.toHaveProperty('server_groups')
    })

    it('are listed newest first, by page, with a link whenever a page is exactly full', async () => {
      const seen: string[] = []
      let marker = ''
      for (let page = 0; page < 4; page++) {
        const { body } = await list(`&limit=1${marker}`)
        if (body.servers.length === 0) {
          expect(body).not.toHaveProperty('servers_links')
          break
        }
        expect(body.servers_links[0].rel).toBe('next')
        expect(body.servers_links[0].href).toContain(`marker=${body.servers[0].id}`)
        seen.push(body.servers[0].id)
        marker = `&marker=${body.servers[0].id}`
      }
      expect(seen.sort()).toEqual([...ids].sort())
    })

    it('are listed all the same when soft-deleted ones are asked for beside them', async () => {
      const { status, body } = await list(`&host=${scene.cloud.hosts[2]}&soft_deleted=1`)
      expect([status, body.servers.map(({ id }: { id: string }) => id).sort()]).toEqual([200, [...ids].sort()])
    })

    it('with limit=0 are none, and an unknown marker is 400', async () => {
      expect((await list('&limit=0')).body.servers).toEqual([])
      expect((await list('&marker=nope')).status).toBe(400)
    })

    it('are filtered by exact host', async () => {
      expect((await list(`&host=${scene.cloud.hosts[2]}`)).body.servers).toHaveLength(3)
      expect((await list(`&host=${scene.cloud.hosts[2].slice(0, 4)}`)).body.servers).toHaveLength(0)
    })

    it('refuse joined tables as a filter, and unknown keys from 2.75', async () => {
      expect((await list('&system_metadata=1')).body.badRequest.message).toBe('Invalid filter field: system_metadata.')
      expect((await list('&foo=1')).status).toBe(400)
      expect((await list('&foo=1', 74)).status).toBe(200)
    })

    it('are locked with a reason, stopped by an admin all the same, and unlocked', async () => {
      expect((await scene.steps.act(first, { lock: { locked_reason: 'contract' } })).status).toBe(202)
      expect(await scene.steps.show(first)).toMatchObject({ locked: true, locked_reason: 'contract' })
      const stop = await scene.steps.act(first, { 'os-stop': null })
      expect([stop.status, stop.text]).toEqual([202, ''])
      await scene.steps.settled(first, 'stopped')
      expect(await scene.steps.state(first)).toMatchObject({ status: 'SHUTOFF', power: 4 })
      expect((await scene.steps.act(first, { unlock: null })).status).toBe(202)
      expect(await scene.steps.show(first)).toMatchObject({ locked: false, locked_reason: null })
    })

    it('are refused a stop while stopped and a start while active, each naming vm_state', async () => {
      const stop = await scene.steps.act(first, { 'os-stop': null })
      expect([stop.status, stop.body.conflictingRequest.message]).toEqual([
        409,
        `Cannot 'stop' instance ${first} while it is in vm_state stopped`,
      ])
      await scene.steps.into(first, { 'os-start': null }, 'active')
      const start = await scene.steps.act(first, { 'os-start': null })
      expect([start.status, start.body.conflictingRequest.message]).toEqual([
        409,
        `Cannot 'start' instance ${first} while it is in vm_state active`,
      ])
    })

    it('are reset to a state by name, power untouched', async () => {
      expect((await scene.steps.act(first, { 'os-resetState': { state: 'error' } })).status).toBe(202)
      expect(await scene.steps.state(first)).toMatchObject({ vm: 'error', task: null, power: 1, status: 'ERROR' })
      expect((await scene.steps.act(first, { 'os-resetState': { state: 'active' } })).status).toBe(202)
      expect(await scene.steps.state(first)).toMatchObject({ vm: 'active', task: null, power: 1 })
      expect((await scene.steps.act(first, { 'os-resetState': { state: 'stopped' } })).status).toBe(400)
    })

    it('keep their history: newest first, one entry per request, named by the request id', async () => {
      const { body } = await nova(scene.cloud, 'GET', `/servers/${first}/os-instance-actions`)
      expect(body.instanceActions.map((action: any) => action.action)).toEqual([
        'resetState',
        'resetState',
        'start',
        'unlock',
        'stop',
        'lock',
        'create',
      ])
      const stop = body.instanceActions[4]
      expect(Object.keys(stop).sort()).toEqual([
        'action',
        'instance_uuid',
        'message',
        'project_id',
        'request_id',
        'start_time',
        'updated_at',
        'user_id',
      ])
      expect(stop).not.toHaveProperty('events')
      const shown = await nova(scene.cloud, 'GET', `/servers/${first}/os-instance-actions/${stop.request_id}`)
      expect(shown.body.instanceAction.events).toEqual([
        expect.objectContaining({
          event: 'compute_stop_instance',
          result: 'Success',
          host: scene.cloud.hosts[2],
          details: null,
        }),
      ])
      const unknown = await nova(scene.cloud, 'GET', `/servers/${first}/os-instance-actions/req-${first}`)
      expect([unknown.status, unknown.body.itemNotFound.message]).toEqual([404, `Action req-${first} not found`])
    })

    it('refuse unknown actions and empty bodies with 400', async () => {
      expect((await scene.steps.act(first, { fooo: {} })).body.badRequest.message).toBe('There is no such action: fooo')
      expect((await scene.steps.act(first, {})).body.badRequest.message).toBe('Malformed request body')
    })

    it('cannot be confirmed when they were not resized', async () => {
      const reply = await scene.steps.act(first, { confirmResize: null })
      expect([reply.status, reply.body.conflictingRequest.message]).toEqual([
        409,
        `Cannot 'confirmResize' instance ${first} while it is in vm_state active`,
      ])
    })

    it.each([
      ['its host is up', {}, 400, 'is still in use.'],
      ['the host is null', { host: null }, 400, "None is not of type 'string'"],
      ['the host is its own', 'own', 400, "The target host can't be the same one."],
      ['the host is unknown', { host: 'nope' }, 404, 'Compute host nope not found.'],
      [
        'the body has a key of an older microversion',
        { onSharedStorage: true },
        400,
        'Additional properties are not allowed',
      ],
      ['force is given', { force: true, host: 'x' }, 400, 'Additional properties are not allowed'],
    ])('refuse to be evacuated when %s', async (_why, body, status, message) => {
      const evacuate = body === 'own' ? { host: scene.cloud.hosts[2] } : body
      const reply = await scene.steps.act(first, { evacuate })
      expect(reply.status).toBe(status)
      expect((Object.values(reply.body as object)[0] as { message: string }).message).toContain(message)
    })

    it.each([
      ['metadata', 'POST', '/metadata', { metadata: { lifeboat: 'leave' } }, true],
      ['tags', 'PUT', '/tags/lifeboat:leave', undefined, false],
    ] as const)('whose %s were changed show whether that is an update', async (_what, method, path, body, moves) => {
      const { updated } = await scene.steps.show(first)
      await scene.steps.until(async () => Date.now() > Date.parse(updated) + 2_000, 'two seconds have passed')
      expect((await nova(scene.cloud, method, `/servers/${first}${path}`, body)).status).toBeLessThan(300)
      expect((await scene.steps.show(first)).updated > updated).toBe(moves)
    })

    it('that were deleted are gone from lists, and there again with changes-since', async () => {
      const gone = ids[2] ?? ''
      const since = new Date(Date.now() - 5_000).toISOString().replace(/\.\d+Z$/, 'Z')
      expect((await nova(scene.cloud, 'DELETE', `/servers/${gone}`)).status).toBe(204)
      await scene.steps.until(
        async () => (await nova(scene.cloud, 'GET', `/servers/${gone}`)).status === 404,
        'deleted',
      )
      expect((await list('')).body.servers.map((server: any) => server.id)).not.toContain(gone)
      const changed = (await list(`&changes-since=${since}`)).body.servers
      expect(changed.find((server: any) => server.id === gone)).toMatchObject({
        status: 'DELETED',
        'OS-EXT-STS:vm_state': 'deleted',
      })
      const history = await nova(scene.cloud, 'GET', `/servers/${gone}/os-instance-actions`)
      expect(history.body.instanceActions[0].action).toBe('delete')
    })
  })
}

/** Of an ACTIVE server at 2.90, as an admin sees it. */
const serverKeys = [
  ...['OS-DCF:diskConfig', 'OS-EXT-AZ:availability_zone', 'OS-EXT-SRV-ATTR:host', 'OS-EXT-SRV-ATTR:hostname'],
  ...['OS-EXT-SRV-ATTR:hypervisor_hostname', 'OS-EXT-SRV-ATTR:instance_name', 'OS-EXT-SRV-ATTR:kernel_id'],
  ...['OS-EXT-SRV-ATTR:launch_index', 'OS-EXT-SRV-ATTR:ramdisk_id', 'OS-EXT-SRV-ATTR:reservation_id'],
  ...[
    'OS-EXT-SRV-ATTR:root_device_name',
    'OS-EXT-SRV-ATTR:user_data',
    'OS-EXT-STS:power_state',
    'OS-EXT-STS:task_state',
  ],
  ...[
    'OS-EXT-STS:vm_state',
    'OS-SRV-USG:launched_at',
    'OS-SRV-USG:terminated_at',
    'accessIPv4',
    'accessIPv6',
    'addresses',
  ],
  ...[
    'config_drive',
    'created',
    'description',
    'flavor',
    'hostId',
    'host_status',
    'id',
    'image',
    'key_name',
    'links',
    'locked',
  ],
  ...[
    'locked_reason',
    'metadata',
    'name',
    'os-extended-volumes:volumes_attached',
    'progress',
    'server_groups',
    'status',
  ],
  ...['tags', 'tenant_id', 'trusted_image_certificates', 'updated', 'user_id'],
].sort()
