/** Masakari's REST API as Lifeboat speaks it, over a daemon on a simulated cloud: its contract, sentence by sentence. */
import { describe, expect, it } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import { defaultReturnRules } from '../../src/domain/host-return.ts'
import { simulatedSegment } from '../../src/rehearsal/simulated-parts.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'
import { masakariServer } from '../../src/masakari/api/server.ts'
import { uuidOf } from '../../src/masakari/api/views.ts'
import { People } from '../api/people.ts'
import { SmallWorld } from '../daemon/small-world.ts'
import { Cloud, faultOf, played, project, stopped } from './cloud.ts'

/** In upper case and without dashes, as Masakari takes it. */
const qemuDied = {
  ...{ event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED' },
  instance_uuid: '2F2A7D1B1B1B4B1B8B1B000000000001',
}

describe('versions', () => {
  it(
    'are told without a token',
    played(async (cloud) => {
      const list = await cloud.ask('/', { as: null })
      expect([list.statusCode, list.json()]).toMatchObject([
        200,
        { versions: [{ id: 'v1.0', status: 'CURRENT', min_version: '1.0', version: '1.3' }] },
      ])
      for (const path of ['/v1', '/v1/']) {
        const one = await cloud.ask(path, { as: null })
        expect(one.json()).toMatchObject({ version: { id: 'v1.0', links: [{ rel: 'self' }, { rel: 'describedby' }] } })
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

describe('who may do what', () => {
  it.each([
    ['without a token 401', null, '/v1/segments', 'GET', 401, 'error'],
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
    'no secret of a payload comes to the log, whether its report is taken or refused',
    played(async (cloud) => {
      const secret = 'hunter2'
      const payloads = [
        [{ event: 'STOPPED', process_name: `agent --password=${secret}` }, 202],
        [{ event: secret, process_name: 'nova-compute' }, 400],
        [{ event: 'STOPPED', process_name: 'nova-compute', [secret]: 'x' }, 400],
      ] as const
      for (const [payload, status] of payloads) expect((await cloud.report({ payload })).statusCode).toBe(status)
      const guest = { ...qemuDied, event: `token=${secret}` }
      expect((await cloud.report({ type: 'VM', payload: guest })).statusCode).toBe(202)
      expect((await cloud.report({ hostname: 'zzz', payload: payloads[0][0] })).statusCode).toBe(400)
      await cloud.world.clock.advance(30_000)
      expect(cloud.world.log.length).toBeGreaterThan(0)
      expect(cloud.world.log.filter((line) => JSON.stringify(line).includes(secret))).toEqual([])
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

describe('a notification', () => {
  it(
    'is on record before it is answered 202, and shows what Lifeboat did',
    played(async (cloud) => {
      const answer = await cloud.report()
      const { notification } = answer.json<{ notification: Record<string, unknown> }>()
      expect([answer.statusCode, notification]).toMatchObject([
        202,
        { type: 'PROCESS', status: 'running', generated_time: '2026-01-01T00:00:01.938564', payload: stopped },
      ])
      const [entry] = cloud.world.journal.read({ kinds: ['report.received'] })
      expect(entry).toMatchObject({ host: 'cmp01', actor: 'operator:mona', data: { via: { by: 'token' } } })
      await cloud.world.clock.advance(10_000)
      const url = `/v1/notifications/${String(notification['notification_uuid'])}`
      const shown = (await cloud.ask(url)).json<{ notification: Record<string, unknown> }>().notification
      expect(shown).toMatchObject({ status: 'finished', message: 'Its service is disabled' })
      expect(shown).not.toHaveProperty('recovery_workflow_details')
      const headers = { 'openstack-api-version': 'instance-ha 1.1' }
      expect((await cloud.ask(url, { headers })).json()).toMatchObject({
        notification: { recovery_workflow_details: [] },
      })
      expect(faultOf(await cloud.ask(`${url}/vmoves`))).toEqual([400, 'badRequest'])
    }),
  )

  it(
    'that was sent before is refused, and one of another outage is not',
    played(async (cloud) => {
      expect((await cloud.report()).statusCode).toBe(202)
      const again = await cloud.report({ generated_time: '2026-01-01 00:03:00' })
      expect([faultOf(again), again.body]).toEqual([
        [409, 'conflictingRequest'],
        expect.stringContaining('Notification received from host cmp01 of type PROCESS is duplicate.'),
      ])
      expect((await cloud.report({ generated_time: '2026-01-01 00:03:02' })).statusCode).toBe(202)
      await cloud.world.clock.advance(5_000)
      expect(cloud.world.journal.read({ kinds: ['process.failed'] })).toHaveLength(1)
    }),
  )

  it(
    'of a second outage within 180 s of the first is taken, and opens an incident of its own',
    played(
      async (cloud) => {
        const { world } = cloud
        const { simulator, clock, journal } = world
        const send = async (): Promise<number> => {
          const answer = await cloud.report({ generated_time: new Date(clock.wall()).toISOString() })
          return answer.statusCode
        }
        const began = clock.now()
        for (let outage = 0; outage < 2; outage++) {
          simulator.isolate('cmp01')
          expect(await send()).toBe(202)
          await clock.advance(5_000)
          // A report during the open one opens nothing.
          expect(await send()).toBe(409)
          simulator.start('cmp01')
          await world.ended('cmp01')
          await world.until(() => simulator.world.host('cmp01').service.status === 'enabled')
        }
        expect(clock.now() - began).toBeLessThan(180_000)
        expect(journal.read({ kinds: ['process.failed'] })).toHaveLength(2)
      },
      { parts: { segmentOf: () => ({ ...simulatedSegment, return: { ...defaultReturnRules, healthyMs: 20_000 } }) } },
    ),
  )

  it(
    'of a host that Nova does not know, or that is in maintenance, is refused',
    played(async (cloud) => {
      const unknown = await cloud.report({ hostname: 'zzz' })
      expect([faultOf(unknown), unknown.body]).toEqual([
        [400, 'badRequest'],
        expect.stringContaining('Host with name zzz could not be found.'),
      ])
      const by = { by: 'ann', reason: 'new memory', scope: { kind: 'host', name: 'cmp02' } as const }
      await cloud.world.clock.run(cloud.world.daemon.operations.startMaintenance({ ...by, until: null }))
      expect(faultOf(await cloud.report({ hostname: 'cmp02' }))).toEqual([409, 'conflictingRequest'])
    }),
  )

  it(
    'is answered 503 while the journal cannot be written',
    played(
      async (cloud) => {
        full.is = true
        const answer = await cloud.report().finally(() => (full.is = false))
        expect(faultOf(answer)).toEqual([503, 'serviceUnavailable'])
      },
      { wrapJournal: (journal) => fullAtTimes(journal) },
    ),
  )

  it(
    'is answered 503 while a daemon that has just started cannot read Nova, and taken once it can',
    played(async ({ world }) => {
      await world.stop()
      world.simulator.apiFault({ kind: 'refuse', status: 503, path: /compute/ })
      world.compose()
      world.daemon.start()
      const cloud = await Cloud.over(world)
      await world.clock.advance(30_000)
      const answer = await cloud.report()
      expect([faultOf(answer), answer.headers['retry-after']]).toEqual([[503, 'serviceUnavailable'], '10'])
      expect(world.journal.read({ kinds: ['report.received'] })).toHaveLength(0)
      world.simulator.clearApiFaults()
      await world.clock.advance(30_000)
      expect((await cloud.report()).statusCode).toBe(202)
    }),
  )

  it(
    'of a guest that did not crash is ignored, and stays out of the journal',
    played(async (cloud) => {
      const payload = { ...qemuDied, vir_domain_event: 'STOPPED_SHUTDOWN' }
      const answer = await cloud.report({ type: 'VM', payload })
      expect([answer.statusCode, answer.json()]).toMatchObject([202, { notification: { status: 'ignored' } }])
      expect(cloud.world.journal.read({ kinds: ['report.received'] })).toHaveLength(0)
      const { notifications } = (await cloud.ask('/v1/notifications?type=VM')).json<{ notifications: object[] }>()
      expect(notifications).toHaveLength(1)
    }),
  )

  it(
    'of a guest that crashed is on record before its answer; repeated it is refused until it is dealt with, and taken after that',
    played(async (cloud) => {
      const crash = { type: 'VM', payload: qemuDied }
      const first = await cloud.report(crash)
      expect([first.statusCode, first.json()]).toMatchObject([202, { notification: { status: 'running' } }])
      expect(cloud.world.journal.read({ kinds: ['report.received'] })).toHaveLength(1)
      expect(faultOf(await cloud.report(crash))).toEqual([409, 'conflictingRequest'])
      await cloud.world.clock.advance(10_000)
      const { notifications } = (await cloud.ask('/v1/notifications?type=VM')).json<{ notifications: object[] }>()
      expect(notifications).toMatchObject([{ status: 'ignored', message: 'Nova has no such instance' }])
      expect((await cloud.report(crash)).statusCode).toBe(202)
    }),
  )

  it.each<[string, object]>([
    ['no type', { type: undefined }],
    ['another type', { type: 'GUEST' }],
    ['a host name with blanks', { hostname: 'cmp 01' }],
    ['a host name that is too long', { hostname: 'h'.repeat(256) }],
    ['no time', { generated_time: 'now' }],
    ['an empty time', { generated_time: '' }],
    ['a payload that is text', { payload: 'STOPPED' }],
    ['lower-case words', { payload: { ...stopped, event: 'stopped' } }],
    ['no process', { payload: { event: 'STOPPED' } }],
    ['further keys', { payload: { ...stopped, more: 'x' } }],
    ['a nested payload', { payload: { ...stopped, process_name: { a: { b: 1 } } } }],
    ['further fields', { status: 'finished' }],
    ['a guest that is no UUID', { type: 'VM', payload: { event: 'a', vir_domain_event: 'b', instance_uuid: 'c' } }],
  ])('with %s is refused', (_what, change) =>
    played(async (cloud) => {
      expect(faultOf(await cloud.report(change))).toEqual([400, 'badRequest'])
      expect(cloud.world.journal.read({ kinds: ['report.received'] })).toHaveLength(0)
    })(),
  )

  it.each([
    '2026-01-01T00:00:01',
    '2026-01-01 00:00:01.5',
    '2026-01-01T02:00:01+02:00',
    '2026-01-01T02:00:01+0200',
    '20260101T000001Z',
    '2026-01-01',
  ])('may say its time as %s', (time) =>
    played(async (cloud) => {
      const { notification } = (await cloud.report({ generated_time: time })).json<{
        notification: { generated_time: string }
      }>()
      expect(notification.generated_time).toMatch(/^2026-01-01T00:00:0[01]\.[05]00000$/)
    })(),
  )

  it.each<[string, string, string, number]>([
    ['no JSON', 'application/json', '{', 400],
    ['an empty body', 'application/json', '', 400],
    ['another kind of body', 'text/xml', '<a/>', 415],
    ['a body that is too large', 'application/json', `{"a":"${'x'.repeat(200_000)}"}`, 413],
    ['deep nesting', 'application/json', `${'['.repeat(5_000)}${']'.repeat(5_000)}`, 400],
  ])('that is %s is refused', (_what, type, payload, status) =>
    played(async (cloud) => {
      const options = { method: 'POST', payload, headers: { 'content-type': type }, as: 'mona' } as const
      expect((await cloud.ask('/v1/notifications', options)).statusCode).toBe(status)
    })(),
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

describe('the report of a dead host', () => {
  it('opens its incident no later than without it, and changes nothing about its fencing', async () => {
    const openedAfter = async (isReported: boolean): Promise<{ afterMs: number; kinds: string[] }> => {
      let found = { afterMs: NaN, kinds: [] as string[] }
      await played(async (cloud) => {
        const { world } = cloud
        world.simulator.addInstance({ name: 'web', host: 'cmp01' })
        const diedAt = world.clock.wall()
        world.simulator.crash('cmp01')
        if (isReported)
          await cloud.report({ type: 'COMPUTE_HOST', payload: { event: 'STOPPED', host_status: 'NORMAL' } })
        const { id, openedAt } = await world.ended('cmp01')
        const kinds = world.journal.read({ incident: id }).map(({ kind }) => kind)
        found = { afterMs: Date.parse(openedAt) - diedAt, kinds }
      })()
      return found
    }
    const [without, withIt] = [await openedAfter(false), await openedAfter(true)]
    expect(withIt.afterMs).toBeLessThanOrEqual(without.afterMs)
    expect(withIt.kinds).toEqual(without.kinds)
    expect(withIt.kinds.indexOf('proof.recorded')).toBeLessThan(withIt.kinds.indexOf('plan.made'))
  })

  it(
    'ends with its incident, and shows each instance as a move',
    played(async (cloud) => {
      const { world } = cloud
      world.simulator.addInstance({ name: 'web', host: 'cmp01' })
      world.simulator.crash('cmp01')
      const sent = await cloud.report({ type: 'COMPUTE_HOST', payload: { event: 'STOPPED', host_status: 'NORMAL' } })
      const { notification_uuid: uuid } = sent.json<{ notification: { notification_uuid: string } }>().notification
      await world.ended('cmp01')
      await world.clock.advance(5_000)
      const headers = { 'openstack-api-version': 'instance-ha 1.3' }
      const shown = await cloud.ask(`/v1/notifications/${uuid}`, { headers })
      expect(shown.json()).toMatchObject({
        notification: { status: 'finished', recovery_workflow_details: [{ name: 'web', state: 'SUCCESS' }] },
      })
      const { vmoves } = (await cloud.ask(`/v1/notifications/${uuid}/vmoves`)).json<{ vmoves: { uuid: string }[] }>()
      expect(vmoves).toMatchObject([{ instance_name: 'web', status: 'succeeded', source_host: 'cmp01' }])
      const one = await cloud.ask(`/v1/notifications/${uuid}/vmoves/${vmoves[0]?.uuid}`)
      expect(one.json()).toEqual({ vmove: vmoves[0] })
      expect(faultOf(await cloud.ask(`/v1/notifications/${uuid}/vmoves/none`))).toEqual([404, 'itemNotFound'])
    }),
  )
})

const full = { is: false }

/** A journal whose disk is full while a test says so. */
function fullAtTimes(journal: JournalWriter): JournalWriter {
  return new Proxy(journal, {
    get: (own, key: keyof JournalWriter) => {
      if (key !== 'append') {
        const value = own[key] as unknown
        return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(own) : value
      }
      return (...args: Parameters<JournalWriter['append']>) => {
        if (full.is) throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
        return own.append(...args)
      }
    },
  })
}
