/** Segments and hosts written through Masakari's API: what is kept, and what is refused. */
import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, it } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'
import { SmallWorld } from '../daemon/small-world.ts'
import { Cloud, faultOf, stopped } from './cloud.ts'
import { played, rack, cmp02, made, added, put, putHost, parts, type Segment, type Host } from './segment-acts.ts'

describe('a segment', () => {
  it(
    'is made, changed and deleted, each on record with who did it',
    played(async (cloud) => {
      const answer = await cloud.write('POST', '/segments', { segment: { ...rack, description: 'Row 1' } })
      expect([answer.statusCode, answer.json()]).toMatchObject([
        201,
        { segment: { id: 1, ...rack, description: 'Row 1', enabled: true, updated_at: null, deleted: false } },
      ])
      const segment = answer.json<{ segment: Segment }>().segment
      const changed = await put(cloud, segment, { name: 'row', recovery_method: 'reserved_host' })
      expect([changed.statusCode, changed.json()]).toMatchObject([
        200,
        { segment: { id: 1, uuid: segment.uuid, name: 'row', recovery_method: 'reserved_host', description: 'Row 1' } },
      ])
      expect(changed.json<{ segment: Segment }>().segment.updated_at).not.toBeNull()
      expect((await cloud.write('DELETE', `/segments/${segment.uuid}`)).statusCode).toBe(204)
      expect(faultOf(await cloud.ask(`/v1/segments/${segment.uuid}`))).toEqual([404, 'itemNotFound'])
      const entries = cloud.world.journal.read({ kinds: ['segment.written'] })
      expect(entries).toMatchObject([
        { actor: 'operator:ann', data: { before: null, after: { name: 'rack' }, by: 'ann', via: { by: 'token' } } },
        { data: { before: { name: 'rack' }, after: { name: 'row' } } },
        { data: { before: { name: 'row' }, after: null } },
      ])
    }),
  )

  it(
    'has a number that no other ever gets, also after a restart',
    played(async (cloud) => {
      const first = await made(cloud)
      await cloud.write('DELETE', `/segments/${first.uuid}`)
      await cloud.world.stop()
      cloud.world.compose()
      cloud.world.daemon.start()
      await cloud.world.clock.advance(30_000)
      const again = await Cloud.over(cloud.world)
      expect((await made(again)).id).toBe(2)
    }),
  )

  it(
    'of the configuration keeps its time of creation over a restart',
    played(async (cloud) => {
      const before = await cloud.list<{ created_at: string }>('/segments')
      await cloud.world.stop()
      cloud.world.compose()
      cloud.world.daemon.start()
      await cloud.world.clock.advance(30_000)
      const after = await (await Cloud.over(cloud.world)).list('/segments')
      expect(before).toMatchObject([{ name: 'configured', created_at: expect.any(String) }])
      expect(after).toMatchObject([{ name: 'configured', created_at: before[0]?.created_at }])
    }),
  )

  it(
    'whose answer was lost is there all the same, and the second attempt is told so',
    SmallWorld.run({ hosts: 4, parts, wrapJournal: (journal) => breaksAfterCommit(journal) }, async (world) => {
      const cloud = await Cloud.over(world)
      broken.is = true
      const lost = await cloud.write('POST', '/segments', { segment: { ...rack, enabled: false } })
      broken.is = false
      expect(faultOf(lost)).toEqual([503, 'serviceUnavailable'])
      await world.stop()
      world.compose()
      world.daemon.start()
      const again = await Cloud.over(world)
      expect(faultOf(await again.write('POST', '/segments', { segment: rack }))).toEqual([409, 'conflictingRequest'])
      expect(await again.list('/segments?name=rack')).toMatchObject([{ id: 1, enabled: false }])
    }),
  )

  it(
    'is as it was after a restart, with its hosts and its orders',
    played(async (cloud) => {
      const segment = await made(cloud, { enabled: false })
      await added(cloud, segment, { reserved: true })
      const before = await cloud.list(`/segments/${segment.uuid}/hosts`)
      await cloud.world.stop()
      cloud.world.compose()
      cloud.world.daemon.start()
      await cloud.world.clock.advance(30_000)
      const again = await Cloud.over(cloud.world)
      expect(await again.list(`/segments/${segment.uuid}/hosts`)).toEqual(before)
      expect(before).toMatchObject([{ reserved: true, on_maintenance: true, failover_segment: { enabled: false } }])
    }),
  )

  it.each([
    ['one that there is', 'rack'],
    ["one of the configuration's", 'configured'],
    ['that of hosts in no segment', 'default'],
  ])('cannot have the name of %s', (_what, name) =>
    played(async (cloud) => {
      await made(cloud)
      const answer = await cloud.write('POST', '/segments', { segment: { ...rack, name } })
      expect([faultOf(answer), answer.body]).toEqual([
        [409, 'conflictingRequest'],
        expect.stringContaining(`Failover segment with name ${name} already exists.`),
      ])
      const other = await made(cloud, { name: 'other' })
      expect(faultOf(await put(cloud, other, { name }))).toEqual([409, 'conflictingRequest'])
    })(),
  )

  it.each<[string, object]>([
    ['no name', { name: undefined }],
    ['an empty name', { name: '' }],
    ['a name with a blank at its end', { name: 'rack ' }],
    ['a name that is too long', { name: 'n'.repeat(256) }],
    ['a name with a control character', { name: 'ra\u0007ck' }],
    ['a name outside of the basic plane', { name: 'rack \u{1F680}' }],
    ['a name that is a number', { name: 7 }],
    ['another recovery method', { recovery_method: 'any' }],
    ['no service type', { service_type: undefined }],
    ['a tab in its description', { description: 'a\tb' }],
    ['a number for enabled', { enabled: 1 }],
    ['another field', { owner: 'ann' }],
  ])('with %s is refused, and leaves no trace', (_what, change) =>
    played(async (cloud) => {
      const answer = await cloud.write('POST', '/segments', { segment: { ...rack, ...change } })
      expect(faultOf(answer)).toEqual([400, 'badRequest'])
      expect(cloud.world.journal.read({ kinds: ['segment.written'] })).toEqual([])
    })(),
  )

  it(
    'takes enabled since version 1.2 only, and shows it in each',
    played(async (cloud) => {
      const segment = { ...rack, enabled: true }
      const old = {
        method: 'POST',
        payload: { segment },
        headers: { 'openstack-api-version': 'instance-ha 1.1' },
      } as const
      expect(faultOf(await cloud.ask('/v1/segments', old))).toEqual([400, 'badRequest'])
      await made(cloud)
      expect(await cloud.list('/segments?name=rack')).toMatchObject([{ enabled: true }])
    }),
  )

  it(
    'is written by those whose role may, and by nobody else',
    played(async (cloud) => {
      for (const as of ['rita', 'mona', 'max', 'ted'])
        expect(faultOf(await cloud.write('POST', '/segments', { segment: rack }, as))).toEqual([403, 'forbidden'])
    }),
  )

  it(
    'is not written with a token that was revoked a moment ago',
    played(async (cloud) => {
      const segment = await made(cloud)
      await cloud.ask('/v1/segments')
      cloud.people.tokens.delete('token-of-ann')
      expect(faultOf(await put(cloud, segment, { enabled: false }))[0]).toBe(401)
      expect(faultOf(await cloud.write('DELETE', `/segments/${segment.uuid}`))[0]).toBe(401)
    }),
  )

  it(
    'is neither renamed nor deleted while a failure of one of its hosts is open',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      cloud.world.simulator.crash('cmp02')
      await cloud.world.until(() => cloud.world.incident('cmp02') !== undefined)
      expect(faultOf(await put(cloud, segment, { name: 'row' }))).toEqual([409, 'conflictingRequest'])
      expect(faultOf(await cloud.write('DELETE', `/segments/${segment.uuid}`))).toEqual([409, 'conflictingRequest'])
      const hostUrl = `/segments/${segment.uuid}/hosts/${host.uuid}`
      expect(faultOf(await cloud.write('DELETE', hostUrl))).toEqual([409, 'conflictingRequest'])
      await cloud.world.ended('cmp02')
      expect((await cloud.write('DELETE', `/segments/${segment.uuid}`)).statusCode).toBe(204)
    }),
  )
})

const broken = { is: false }

/** A journal that commits and then, while a test says so, tells nobody: as a daemon that is killed in between. */
function breaksAfterCommit(journal: JournalWriter): JournalWriter {
  return new Proxy(journal, {
    get: (own, key: keyof JournalWriter) => {
      const value = own[key] as unknown
      if (typeof value !== 'function') return value
      const call = (value as (...args: unknown[]) => unknown).bind(own)
      if (key !== 'append') return call
      return (...args: unknown[]) => {
        const answer = call(...args)
        if (broken.is) throw new LifeboatError('JOURNAL_UNAVAILABLE', 'gone')
        return answer
      }
    },
  })
}

const given = { by: 'bob', reason: 'firmware', until: null, scope: { kind: 'segment', name: 'rack' } } as const

describe.each<[string, (cloud: Cloud) => Promise<unknown>]>([
  ['maintenance', ({ world }) => world.daemon.operations.startMaintenance(given)],
  ['a pause', ({ world }) => world.daemon.operations.pause(given)],
  [
    'a plan',
    ({ world }) => {
      const from = new Date(world.clock.wall() + 3_600_000).toISOString()
      return world.daemon.operations.planMaintenance({ ...given, from })
    },
  ],
])('%s that a person ordered for the segment elsewhere', (_what, order) => {
  it.each<[string, (cloud: Cloud, of: Segment, host: Host) => Promise<LightMyRequestResponse>]>([
    ['removed from it', (cloud, of, { uuid }) => cloud.write('DELETE', `/segments/${of.uuid}/hosts/${uuid}`)],
    ['renamed', (cloud, of, host) => putHost(cloud, of, host, { name: 'cmp03' })],
  ])('keeps a host from being %s, and nothing else of it from being written', (_act, write) =>
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      await cloud.world.clock.run(order(cloud))
      const answer = await write(cloud, segment, host)
      expect([faultOf(answer), answer.body]).toEqual([
        [409, 'conflictingRequest'],
        expect.stringContaining('segment rack'),
      ])
      expect(await cloud.list(`/segments/${segment.uuid}/hosts`)).toMatchObject([{ name: 'cmp02' }])
      expect((await putHost(cloud, segment, host, { name: 'cmp02', reserved: true })).statusCode).toBe(200)
    })(),
  )
})

describe('a host', () => {
  it(
    'is added, changed and removed, and goes with its segment',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      expect(host).toMatchObject({ id: 1, ...cmp02, reserved: false, on_maintenance: false })
      expect(host).toMatchObject({ failover_segment_id: segment.uuid, failover_segment: { name: 'rack' } })
      const changed = await putHost(cloud, segment, host, { reserved: 'True', control_attributes: 'IPMI' })
      expect(changed.json()).toMatchObject({ host: { uuid: host.uuid, reserved: true, control_attributes: 'IPMI' } })
      expect((await cloud.write('DELETE', `/segments/${segment.uuid}/hosts/${host.uuid}`)).statusCode).toBe(204)
      const again = await added(cloud, segment)
      expect([again.id, again.uuid === host.uuid]).toEqual([2, false])
      await cloud.write('DELETE', `/segments/${segment.uuid}`)
      const last = cloud.world.journal.read({ kinds: ['segment.host.written'] }).at(-1)
      expect(last).toMatchObject({ host: 'cmp02', data: { segment: { name: 'rack' }, after: null } })
    }),
  )

  it.each<[string, object, number]>([
    ['that Nova does not list', { name: 'zzz' }, 400],
    ['that is in a segment of the configuration', { name: 'cmp01' }, 409],
    ['that is in a segment already', {}, 409],
    ['without a type', { name: 'cmp03', type: null }, 400],
    ['with a type of other characters', { name: 'cmp03', type: 'a b' }, 400],
    ['with a number for reserved', { name: 'cmp03', reserved: 1 }, 400],
  ])('%s is refused', (_what, change, status) =>
    played(async (cloud) => {
      const segment = await made(cloud)
      await added(cloud, segment)
      const answer = await cloud.write('POST', `/segments/${segment.uuid}/hosts`, { host: { ...cmp02, ...change } })
      expect(answer.statusCode).toBe(status)
      expect(await cloud.list(`/segments/${segment.uuid}/hosts`)).toHaveLength(1)
    })(),
  )

  it(
    'that Nova lists in another way of writing is refused with the name that Nova has',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = { ...cmp02, name: 'CMP02.example.org' }
      const answer = await cloud.write('POST', `/segments/${segment.uuid}/hosts`, { host })
      expect([faultOf(answer), answer.body]).toEqual([
        [400, 'badRequest'],
        expect.stringContaining('Nova lists cmp02.'),
      ])
    }),
  )

  it(
    'is found under its own segment alone',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      const other = await made(cloud, { name: 'other' })
      const url = `/segments/${other.uuid}/hosts/${host.uuid}`
      for (const answer of [await cloud.ask(`/v1${url}`), await cloud.write('DELETE', url)])
        expect(faultOf(answer)).toEqual([404, 'itemNotFound'])
      expect(faultOf(await cloud.write('DELETE', `/segments/${host.uuid}/hosts/${segment.uuid}`))[0]).toBe(404)
    }),
  )

  it(
    'whose segment has another recovery method is recovered all the same, and its notifications say so',
    played(async (cloud) => {
      await added(cloud, await made(cloud, { recovery_method: 'rh_priority' }))
      const answer = await cloud.report({ hostname: 'cmp02', payload: { ...stopped, event: 'STARTED' } })
      expect(answer.json<{ notification: { message: string } }>().notification.message).toContain('rh_priority')
    }),
  )
})
