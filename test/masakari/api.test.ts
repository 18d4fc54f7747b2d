/** Masakari's REST API as Lifeboat speaks it, over a daemon on a simulated cloud: its contract, sentence by sentence. */
import { describe, expect, it } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import { masakariServer } from '../../src/masakari/api/server.ts'
import { uuidOf } from '../../src/masakari/api/views.ts'
import { People } from '../api/people.ts'
import { SmallWorld } from '../daemon/small-world.ts'
import { Cloud, faultOf, played, project, stopped } from './cloud.ts'

describe('versions', () => {
  it(
    'are told without a token',
    played(async (cloud) => {
      const told = {
        id: 'v1.0',
        status: 'CURRENT',
        min_version: '1.0',
        version: '1.3',
        updated: '2016-07-01T11:33:21Z',
      }
      const self = { rel: 'self', href: expect.stringMatching(/^http:\/\/[^/]+\/v1\/$/) as unknown }
      const list = await cloud.ask('/', { as: null })
      expect([list.statusCode, list.json()]).toEqual([200, { versions: [{ ...told, links: [self] }] }])
      const type = 'application/vnd.openstack.masakari+json;version=1'
      for (const path of ['/v1', '/v1/']) {
        const one = await cloud.ask(path, { as: null })
        const links = [self, expect.objectContaining({ rel: 'describedby' })]
        const version = { ...told, links, 'media-types': [{ base: 'application/json', type }] }
        expect([one.statusCode, one.json()]).toEqual([200, { version }])
      }
    }),
  )

  it(
    'carry the path that a proxy puts before them',
    SmallWorld.run({}, async (world) => {
      const cloud = await Cloud.over(world, 'https://cloud.example/instance-ha')
      const { version } = (await cloud.ask('/v1', { as: null })).json<{ version: { links: { href: string }[] } }>()
      expect(version.links[0]?.href).toBe('https://cloud.example/instance-ha/v1/')
    }),
  )

  it.each([
    ['directly', null, '', ''],
    ['directly, with a project in the endpoint', null, '', `/${project}`],
    ['behind a proxy with a prefix', 'https://cloud.example/instance-ha', '/instance-ha', ''],
    ['behind such a proxy, with a project', 'https://cloud.example/instance-ha', '/instance-ha', `/${project}`],
  ])('lead a client that follows them to the segments %s', (_how, publicUrl, prefix, ofProject) =>
    SmallWorld.run({}, async (world) => {
      await world.clock.advance(30_000)
      const cloud = await Cloud.over(world, publicUrl)
      // As keystoneauth does it: the endpoint without the project is asked, and the path of the link is what counts.
      const { version } = (await cloud.ask('/v1', { as: null })).json<{
        version: { links: { rel: string; href: string }[] }
      }>()
      const self = new URL(version.links.find(({ rel }) => rel === 'self')?.href ?? '').pathname.replace(/\/$/, '')
      expect(self).toBe(`${prefix}/v1`)
      expect((await cloud.ask(`${self.slice(prefix.length)}${ofProject}/segments`)).statusCode).toBe(200)
    })(),
  )

  it.each([
    [undefined, 200, '1.0'],
    ['masakari 1.2', 200, '1.0'],
    ['compute 2.1', 200, '1.0'],
    ['compute 2.1, instance-ha 1.1', 200, '1.1'],
    ['instance-ha latest', 200, '1.3'],
    ['instance-ha 1', 400, '1.0'],
    ['instance-ha 0.9', 400, '1.0'],
    ['instance-ha 1.4', 406, '1.0'],
  ])('asked for as %s are answered %i in %s', (header, status, version) =>
    played(async (cloud) => {
      const headers = header === undefined ? {} : { 'openstack-api-version': header }
      const answer = await cloud.ask('/v1/segments', { headers })
      expect([answer.statusCode, answer.headers['openstack-api-version']]).toEqual([status, `instance-ha ${version}`])
      expect(answer.headers['vary']).toBe('OpenStack-API-Version')
      expect(answer.headers['x-openstack-request-id']).toMatch(/^req-[0-9a-f-]{36}$/)
    })(),
  )
})

it(
  'a check of its health by a proxy needs no token',
  played(async (cloud) => {
    const { statusCode, body } = await cloud.ask('/healthcheck', { as: null })
    expect([statusCode, body]).toEqual([200, 'OK'])
  }),
)

describe('who may do what', () => {
  it.each([
    ['a route', '/v1/segments', '1.0'],
    ['a version that does not exist', '/v1/segments', '1.4'],
    ['a version that is none', '/v1/segments', 'x'],
    ['a path that does not exist', '/v1/nothing', '1.0'],
  ])(
    'a request without a token for %s is refused before anything else, and told where tokens are given',
    (_what, url, version) =>
      played(async (cloud) => {
        const headers = { 'openstack-api-version': `instance-ha ${version}` }
        const answer = await cloud.ask(url, { as: null, headers })
        expect(faultOf(answer)).toEqual([401, 'error'])
        expect(answer.headers['www-authenticate']).toBe('Keystone uri="https://keystone.example:5000/v3"')
      })(),
  )

  it.each([
    ['a token that Keystone does not know 401', 'nobody', '/v1/segments', 'GET', 401, 'error'],
    ['no role 403', 'max', '/v1/segments', 'GET', 403, 'forbidden'],
    ['an admin of another project 403', 'ted', '/v1/segments', 'GET', 403, 'forbidden'],
    ['a monitor may list nothing', 'mona', '/v1/notifications', 'GET', 403, 'forbidden'],
    ['a reader may report nothing', 'rita', '/v1/notifications', 'POST', 403, 'forbidden'],
    ['a monitor may make no segment', 'mona', '/v1/segments', 'POST', 403, 'forbidden'],
  ] as const)('%s', (_what, as, url, method, status, fault) =>
    played(async (cloud) => {
      const payload = method === 'POST' ? { payload: { notification: {} } } : {}
      expect(faultOf(await cloud.ask(url, { as, method, ...payload }))).toEqual([status, fault])
    })(),
  )

  it(
    'a monitor may post notifications, and nothing else whatever the path and the method',
    played(async (cloud) => {
      const segment = '/v1/segments/2f2a7d1b-1b1b-4b1b-8b1b-000000000001'
      const paths = ['/v1/segments', segment, `${segment}/hosts`, `${segment}/hosts/x`, '/v1/extensions/segments']
      const told = ['/v1/notifications/x', '/v1/notifications/x/vmoves', '/v1/notifications/x/vmoves/y']
      for (const url of [...paths, ...told, '/v1/notifications', '/v1/extensions'])
        for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
          if (method === 'POST' && url === '/v1/notifications') continue
          const payload = method === 'POST' || method === 'PUT' ? { payload: {} } : {}
          const { statusCode } = await cloud.ask(url, { as: 'mona', method, ...payload })
          expect([method, url, [403, 404, 405].includes(statusCode)]).toEqual([method, url, true])
          if (method === 'GET') expect([url, statusCode]).toEqual([url, 403])
        }
      expect((await cloud.report()).statusCode).toBe(202)
    }),
  )

  it(
    'the project in the address must be that of the token',
    played(async (cloud) => {
      expect((await cloud.ask(`/v1/${project}/segments`)).statusCode).toBe(200)
      const other = await cloud.ask('/v1/dddd/segments')
      expect([other.statusCode, other.body]).toEqual([400, expect.stringContaining("URL's project_id 'dddd'")])
    }),
  )

  it(
    'while Keystone cannot be asked the answer is 503, and the sender may try again',
    SmallWorld.run({}, async (world) => {
      await world.clock.advance(30_000)
      const people = new People()
      people.trouble = new LifeboatError('API_UNAVAILABLE', 'Keystone is away')
      const { operations, review, reports, failover } = world.daemon
      const parts = {
        operations,
        review,
        reports,
        failover,
        people,
        clock: world.clock,
        observer: world.telemetry.observer,
      }
      const uuids = { segments: new Map(), hosts: new Map() }
      const rules = () => ({ readers: [], writers: [], reporters: ['monitor'], projects: [], uuids })
      const server = await masakariServer(parts, { rules, publicUrl: null })
      const headers = { 'x-auth-token': 'any' }
      const answer = await server.inject({ method: 'POST', url: '/v1/notifications', headers, payload: {} })
      expect([faultOf(answer), answer.headers['retry-after']]).toEqual([[503, 'serviceUnavailable'], '10'])
    }),
  )
})

describe('paths', () => {
  it.each([
    ['below /v1 that are none are told in another shape', 'GET', '/v1/nothing', 404, 'message'],
    ['elsewhere get the versions that there are', 'GET', '/healthier', 300, 'choices'],
    ['that exist refuse a method that they do not have', 'DELETE', '/v1/notifications/none', 405, 'badMethod'],
    ['of an unknown segment are not found', 'GET', '/v1/segments/none', 404, 'itemNotFound'],
    ['of an unknown notification are not found', 'GET', '/v1/notifications/none', 404, 'itemNotFound'],
  ] as const)('%s', (_what, method, url, status, fault) =>
    played(async (cloud) => {
      expect(faultOf(await cloud.ask(url, { method }))).toEqual([status, fault])
    })(),
  )
})

describe('segments and hosts', () => {
  it(
    'are those of the configuration, with the same ids in every run, and refuse changes with the reason',
    played(async (cloud) => {
      const { segments } = (await cloud.ask('/v1/segments')).json<{ segments: Record<string, unknown>[] }>()
      expect(segments).toMatchObject([{ service_type: 'COMPUTE', recovery_method: 'auto', enabled: true }])
      const uuid = String(segments[0]?.['uuid'])
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      const { hosts } = (await cloud.ask(`/v1/segments/${uuid}/hosts`)).json<{ hosts: Record<string, unknown>[] }>()
      expect(hosts.map(({ name }) => name).toSorted()).toEqual(['cmp01', 'cmp02', 'cmp03', 'cmp04'])
      const one = await cloud.ask(`/v1/segments/${uuid}/hosts/${String(hosts[0]?.['uuid'])}.json`)
      expect(one.json()).toEqual({ host: hosts[0] })
      const refused = await cloud.ask(`/v1/segments/${uuid}`, { method: 'PUT', payload: { segment: { name: 'x' } } })
      expect([faultOf(refused), refused.body]).toEqual([
        [409, 'conflictingRequest'],
        expect.stringContaining('configuration'),
      ])
    }),
  )

  it('keep the UUIDs that a Masakari gave them', () =>
    SmallWorld.run({ hosts: 2 }, async (world) => {
      await world.clock.advance(30_000)
      const name = world.daemon.review.segments()[0]?.name ?? ''
      const uuids = { segments: new Map([[name, uuidOf('a segment')]]), hosts: new Map([['cmp02', uuidOf('a host')]]) }
      const cloud = await Cloud.over(world, null, world.clock, uuids)
      const one = await cloud.ask(`/v1/segments/${uuidOf('a segment')}/hosts/${uuidOf('a host')}`)
      expect(one.json()).toMatchObject({
        host: { name: 'cmp02', failover_segment: { uuid: uuidOf('a segment'), name } },
      })
      await cloud.report({ hostname: 'cmp02' })
      expect(await cloud.list('/notifications')).toMatchObject([{ source_host_uuid: uuidOf('a host') }])
    }))

  it(
    'say that a host is on maintenance while people or Lifeboat keep it out',
    played(async (cloud) => {
      const { operations } = cloud.world.daemon
      const by = { by: 'ann', reason: 'new memory', scope: { kind: 'host', name: 'cmp02' } as const }
      await cloud.world.clock.run(operations.startMaintenance({ ...by, until: null }))
      await cloud.report()
      await cloud.world.clock.advance(5_000)
      const { segments } = (await cloud.ask('/v1/segments')).json<{ segments: { uuid: string }[] }>()
      const url = `/v1/segments/${segments[0]?.uuid}/hosts?on_maintenance=True&sort_key=name&sort_dir=asc`
      const { hosts } = (await cloud.ask(url)).json<{ hosts: { name: string }[] }>()
      expect(hosts.map(({ name }) => name)).toEqual(['cmp01', 'cmp02'])
    }),
  )
})

describe('lists', () => {
  it(
    'page to their end and give each row once, also while rows are added',
    played(async (cloud) => {
      const hosts = ['cmp01', 'cmp02', 'cmp03', 'cmp04']
      for (const hostname of hosts) {
        await cloud.report({ hostname, type: 'COMPUTE_HOST', payload: { event: 'STARTED' } })
        await cloud.world.clock.advance(1_000)
      }
      const seen: string[] = []
      let marker = ''
      for (let page = 0; page < 10; page++) {
        const { notifications } = (await cloud.ask(`/v1/notifications?limit=1${marker}`)).json<{
          notifications: { id: number; notification_uuid: string }[]
        }>()
        if (notifications[0] === undefined) break
        seen.push(notifications[0].notification_uuid)
        marker = `&marker=${notifications[0].id}`
        if (page === 1) await cloud.report({ payload: stopped })
      }
      expect([seen.length, new Set(seen).size]).toEqual([4, 4])
    }),
  )

  it(
    'that are filtered page on where the last row of a page is filtered out by then',
    played(async (cloud) => {
      const names = ['row 1', 'row 2', 'row 3']
      for (const name of names) {
        const segment = { name, recovery_method: 'auto', service_type: 'compute' }
        await cloud.write('POST', '/segments', { segment })
        await cloud.world.clock.advance(1_000)
      }
      const query = '?enabled=true&sort_key=name&sort_dir=asc&limit=1'
      const [first] = await cloud.list<{ id: number; uuid: string; name: string }>(`/segments${query}`)
      await cloud.write('PUT', `/segments/${first?.uuid}`, { segment: { enabled: false } })
      const rest = await cloud.list<{ name: string }>(`/segments${query}&marker=${first?.id}`)
      expect([first?.name, rest.map(({ name }) => name)]).toEqual(['row 1', ['row 2']])
    }),
  )

  it.each([0, 1, 2, 4])('of %i segments and notifications give each row once, by pages of one', (count) =>
    played(async (cloud) => {
      const made = Array.from({ length: count }, (_, n) => `row ${n}`)
      for (const name of made) {
        const segment = { name, recovery_method: 'auto', service_type: 'compute' }
        expect((await cloud.write('POST', '/segments', { segment })).statusCode).toBe(201)
        await cloud.report({
          type: 'COMPUTE_HOST',
          payload: { event: 'STARTED' },
          hostname: `cmp0${(made.indexOf(name) % 4) + 1}`,
        })
        await cloud.world.clock.advance(200_000)
      }
      for (const list of ['/segments', '/notifications']) {
        const whole = await cloud.list<{ id: number }>(list)
        const paged: { id: number }[] = []
        for (let marker = ''; ; marker = `&marker=${paged.at(-1)?.id}`) {
          const page = await cloud.list<{ id: number }>(`${list}?limit=1${marker}`)
          if (page.length === 0) break
          paged.push(...page)
          expect(paged.length).toBeLessThanOrEqual(whole.length)
        }
        expect([list, paged]).toEqual([list, whole])
      }
      expect(await cloud.list('/notifications')).toHaveLength(count)
    })(),
  )

  it.each([
    ['limit=0', 200],
    ['limit=-1', 400],
    ['limit=many', 400],
    ['marker=none', 400],
    ['sort_key=none', 400],
    ['sort_dir=up', 400],
    ['sort_key=name&sort_dir=asc&sort_dir=desc', 400],
    ['enabled=perhaps', 400],
    ['unknown=1', 200],
  ])('asked for with %s are answered %i', (query, status) =>
    played(async (cloud) => {
      expect((await cloud.ask(`/v1/segments?${query}`)).statusCode).toBe(status)
    })(),
  )
})
