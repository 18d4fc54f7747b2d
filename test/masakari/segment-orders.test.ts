/** Which orders the fields `enabled` of a segment and `on_maintenance` of a host stand for, in Masakari's API. */
import { describe, expect, it } from 'vitest'
import type { Scope } from '../../src/domain/order.ts'
import { faultOf, type Cloud } from './cloud.ts'
import {
  played,
  cmp02,
  rack,
  made,
  added,
  put,
  putHost,
  hostOf,
  orders,
  type Segment,
  type Host,
} from './segment-acts.ts'

/** Bob orders maintenance on the command line. */
function maintained({ world }: Cloud, scope: Scope, until: string | null = null): void {
  const host = scope.kind === 'host' && scope.name !== null ? { host: scope.name } : {}
  const data = { scope, by: 'bob', reason: 'new disks', until }
  world.journal.append([{ kind: 'operator.maintenance', actor: 'operator:bob', ...host, data }])
}

describe('enabled: false', () => {
  it(
    'is maintenance of the segment by that person, until it is true again',
    played(async (cloud) => {
      const segment = await made(cloud)
      await added(cloud, segment)
      await put(cloud, segment, { enabled: false })
      expect(orders(cloud)).toEqual(['maintenance of segment rack by ann'])
      cloud.world.simulator.crash('cmp02')
      await cloud.world.clock.advance(300_000)
      expect(cloud.world.incident('cmp02')).toBeUndefined()
      await put(cloud, segment, { enabled: true })
      expect(orders(cloud)).toEqual([])
      await cloud.world.ended('cmp02')
    }),
  )

  it(
    'is not ended by the creation of the segment that it was ordered for',
    played(async (cloud) => {
      maintained(cloud, { kind: 'segment', name: 'rack' })
      expect((await made(cloud)).enabled).toBe(false)
      expect(orders(cloud)).toEqual(['maintenance of segment rack by bob'])
    }),
  )

  it(
    'makes Lifeboat refuse notifications for its hosts, and for no others',
    played(async (cloud) => {
      await added(cloud, await made(cloud, { enabled: false }))
      const answer = await cloud.report({ hostname: 'cmp02' })
      expect([faultOf(answer), answer.body]).toEqual([
        [409, 'conflictingRequest'],
        expect.stringContaining('Host cmp02 is under maintenance'),
      ])
      expect((await cloud.report({ hostname: 'cmp03' })).statusCode).toBe(202)
    }),
  )

  it(
    'makes Lifeboat refuse them also while recoveries are paused',
    played(async (cloud) => {
      await added(cloud, await made(cloud, { enabled: false }))
      await cloud.world.daemon.operations.pause({
        scope: { kind: 'cloud', name: '' },
        by: 'ann',
        reason: 'a new switch',
        until: null,
      })
      expect(faultOf(await cloud.report({ hostname: 'cmp02' }))).toEqual([409, 'conflictingRequest'])
    }),
  )

  it(
    'holds a recovery that is under way before its next write, and true lets it go on',
    played(async (cloud) => {
      const { world } = cloud
      const segment = await made(cloud)
      await added(cloud, segment)
      world.simulator.addInstance({ name: 'web', host: 'cmp02' })
      world.simulator.crash('cmp02')
      await world.until(() => world.incident('cmp02') !== undefined)
      expect((await put(cloud, segment, { enabled: false })).statusCode).toBe(200)
      await world.until(() => world.incident('cmp02')?.held?.code === 'MAINTENANCE')
      const sent = world.writes().length
      await world.clock.advance(300_000)
      expect(world.writes().slice(sent)).toEqual([])
      expect((await put(cloud, segment, { enabled: true })).statusCode).toBe(200)
      expect((await world.ended('cmp02')).closed?.counts).toEqual({ recovered: 1 })
    }),
  )

  it(
    'that a form only sends back makes no maintenance last that ends by itself; sent by itself it does',
    played(async (cloud) => {
      const segment = await made(cloud)
      await added(cloud, segment)
      const until = new Date(cloud.world.clock.wall() + 600_000).toISOString()
      maintained(cloud, { kind: 'segment', name: 'rack' }, until)
      await put(cloud, segment, { ...rack, description: 'new disks', enabled: false })
      expect(orders(cloud)).toEqual(['maintenance of segment rack by bob'])
      await put(cloud, segment, { enabled: false })
      expect(orders(cloud)).toEqual(['maintenance of segment rack by bob', 'maintenance of segment rack by ann'])
    }),
  )

  it.each([
    ['of the same name', { description: 'new disks' }],
    ['with a new name', { name: 'row' }],
  ])('that a form %s says is over ends no order that was given elsewhere; sent by itself it does', (_what, change) =>
    played(async (cloud) => {
      const segment = await made(cloud)
      maintained(cloud, { kind: 'segment', name: 'rack' })
      const saved = await put(cloud, segment, { ...rack, ...change, enabled: true })
      expect([faultOf(saved), saved.body]).toEqual([
        [409, 'conflictingRequest'],
        expect.stringContaining('Failover segment rack stays disabled: it is in maintenance by bob'),
      ])
      expect(orders(cloud)).toEqual(['maintenance of segment rack by bob'])
      await put(cloud, segment, { enabled: true })
      expect(orders(cloud)).toEqual([])
    })(),
  )

  it(
    'goes with the segment to its new name, and is over when it is deleted',
    played(async (cloud) => {
      const segment = await made(cloud, { enabled: false })
      await put(cloud, segment, { name: 'row' })
      expect(orders(cloud)).toEqual(['maintenance of segment row by ann'])
      await cloud.write('DELETE', `/segments/${segment.uuid}`)
      expect(orders(cloud)).toEqual([])
    }),
  )

  it.each([
    [true, []],
    [false, ['maintenance of segment row by ann']],
  ])('said with a new name decides: %s', (enabled, expected) =>
    played(async (cloud) => {
      const segment = await made(cloud, { enabled: !enabled })
      const answer = await put(cloud, segment, { name: 'row', enabled })
      expect(answer.json()).toMatchObject({ segment: { name: 'row', enabled } })
      expect(orders(cloud)).toEqual(expected)
    })(),
  )

  it(
    "is also said of the configuration's segments, of which nothing else is written",
    played(async (cloud) => {
      const [segment] = await cloud.list<Segment>('/segments')
      const [host] = await cloud.list<Host>(`/segments/${segment?.uuid}/hosts`)
      const { name, enabled } = (await put(cloud, segment!, { name: 'configured', enabled: 'off' })).json<{
        segment: Segment
      }>().segment
      expect([name, enabled, orders(cloud)]).toEqual([
        'configured',
        false,
        ['maintenance of segment configured by ann'],
      ])
      for (const answer of [
        await put(cloud, segment!, { description: 'mine' }),
        await cloud.write('DELETE', `/segments/${segment?.uuid}`),
        await cloud.write('POST', `/segments/${segment?.uuid}/hosts`, { host: cmp02 }),
        await putHost(cloud, segment!, host!, { reserved: true }),
        await cloud.write('DELETE', `/segments/${segment?.uuid}/hosts/${host?.uuid}`),
      ])
        expect([faultOf(answer), answer.body]).toEqual([
          [409, 'conflictingRequest'],
          expect.stringContaining('kept in the configuration'),
        ])
    }),
  )

  it(
    'that somebody ordered elsewhere keeps the segment from being deleted',
    played(async (cloud) => {
      const segment = await made(cloud)
      const scope = { kind: 'segment', name: 'rack' } as const
      await cloud.world.clock.run(
        cloud.world.daemon.operations.pause({ by: 'bob', reason: 'new switch', until: null, scope }),
      )
      const answer = await cloud.write('DELETE', `/segments/${segment.uuid}`)
      expect([faultOf(answer), answer.body]).toEqual([
        [409, 'conflictingRequest'],
        expect.stringContaining('paused by bob'),
      ])
    }),
  )
})

describe('on_maintenance: true', () => {
  it(
    'is maintenance of the host by that person, until it is false or the host is removed',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment, { on_maintenance: 'True' })
      expect([host.on_maintenance, orders(cloud)]).toEqual([true, ['maintenance of host cmp02 by ann']])
      expect(faultOf(await cloud.report({ hostname: 'cmp02' }))).toEqual([409, 'conflictingRequest'])
      expect(hostOf(await putHost(cloud, segment, host, { on_maintenance: 'False' })).on_maintenance).toBe(false)
      expect(orders(cloud)).toEqual([])
      await putHost(cloud, segment, host, { on_maintenance: true })
      await cloud.write('DELETE', `/segments/${segment.uuid}/hosts/${host.uuid}`)
      expect(orders(cloud)).toEqual([])
    }),
  )

  it(
    'leaves an order that was given elsewhere as it is, and a removed host keeps that',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      const scope = { kind: 'host', name: 'cmp02' } as const
      const { operations } = cloud.world.daemon
      await cloud.world.clock.run(operations.startMaintenance({ by: 'bob', reason: 'memory', until: null, scope }))
      await putHost(cloud, segment, host, { on_maintenance: true })
      await cloud.write('DELETE', `/segments/${segment.uuid}`)
      expect(orders(cloud)).toEqual(['maintenance of host cmp02 by bob'])
    }),
  )

  it(
    'outlasts an order that ends by itself',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      const { operations } = cloud.world.daemon
      const until = new Date(cloud.world.clock.wall() + 600_000).toISOString()
      for (const scope of [{ kind: 'host', name: 'cmp02' } as const, { kind: 'segment', name: 'rack' } as const])
        await cloud.world.clock.run(operations.startMaintenance({ by: 'bob', reason: 'memory', until, scope }))
      await putHost(cloud, segment, host, { on_maintenance: true })
      await put(cloud, segment, { enabled: false, name: 'row' })
      await cloud.world.clock.advance(900_000)
      expect(orders(cloud)).toEqual(['maintenance of host cmp02 by ann', 'maintenance of segment row by ann'])
    }),
  )

  it(
    'stands beside an order that ends by itself, which outlasts the removal of the host',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      const until = new Date(cloud.world.clock.wall() + 600_000).toISOString()
      maintained(cloud, { kind: 'host', name: 'cmp02' }, until)
      await putHost(cloud, segment, host, { on_maintenance: true })
      expect(orders(cloud)).toEqual(['maintenance of host cmp02 by bob', 'maintenance of host cmp02 by ann'])
      expect((await cloud.write('DELETE', `/segments/${segment.uuid}/hosts/${host.uuid}`)).statusCode).toBe(204)
      expect(orders(cloud)).toEqual(['maintenance of host cmp02 by bob'])
    }),
  )

  it(
    'does not keep another person from an order that ends by itself, and outlasts it',
    played(async (cloud) => {
      const segment = await made(cloud)
      await putHost(cloud, segment, await added(cloud, segment), { on_maintenance: true })
      const until = new Date(cloud.world.clock.wall() + 600_000).toISOString()
      const scope = { kind: 'host', name: 'cmp02' } as const
      await cloud.world.daemon.operations.startMaintenance({ by: 'bob', reason: 'new disks', until, scope })
      expect(orders(cloud)).toEqual(['maintenance of host cmp02 by ann', 'maintenance of host cmp02 by bob'])
      await cloud.world.clock.advance(660_000)
      expect(orders(cloud)).toEqual(['maintenance of host cmp02 by ann'])
    }),
  )

  it(
    "is replaced by that person's own order that ends by itself",
    played(async (cloud) => {
      const segment = await made(cloud)
      await putHost(cloud, segment, await added(cloud, segment), { on_maintenance: true })
      const until = new Date(cloud.world.clock.wall() + 600_000).toISOString()
      const scope = { kind: 'host', name: 'cmp02' } as const
      await cloud.world.daemon.operations.startMaintenance({ by: 'ann', reason: 'soon over', until, scope })
      expect(orders(cloud)).toEqual(['maintenance of host cmp02 by ann'])
      await cloud.world.clock.advance(660_000)
      expect(orders(cloud)).toEqual([])
    }),
  )

  it(
    'does not keep a host from being removed where it is of the segment, for it ends there',
    played(async (cloud) => {
      const segment = await made(cloud, { enabled: false })
      const host = await added(cloud, segment)
      expect((await cloud.write('DELETE', `/segments/${segment.uuid}/hosts/${host.uuid}`)).statusCode).toBe(204)
      expect(orders(cloud)).toEqual(['maintenance of segment rack by ann'])
    }),
  )

  it(
    'is not cleared for one host of a segment that is disabled',
    played(async (cloud) => {
      const segment = await made(cloud, { enabled: false })
      const host = await added(cloud, segment)
      const answer = await putHost(cloud, segment, host, { on_maintenance: false })
      expect([faultOf(answer), answer.body]).toEqual([
        [409, 'conflictingRequest'],
        expect.stringContaining('segment rack'),
      ])
    }),
  )

  it.each<[string, (cloud: Cloud, segment: Segment) => Promise<unknown>]>([
    ['its segment is disabled', (cloud, segment) => put(cloud, segment, { enabled: false })],
    [
      'it is recovered',
      ({ world }) => {
        world.simulator.crash('cmp02')
        return world.until(() => world.incident('cmp02') !== undefined)
      },
    ],
  ])('that a form only sends back as it was shown, since %s, orders nothing; sent by itself it does', (_why, begin) =>
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      await begin(cloud, segment)
      const before = orders(cloud)
      const form = { name: 'cmp02', type: 'COMPUTE', control_attributes: 'IPMI', reserved: 'False' }
      const saved = hostOf(await putHost(cloud, segment, host, { ...form, on_maintenance: 'True' }))
      expect(saved).toMatchObject({ control_attributes: 'IPMI', on_maintenance: true })
      expect(orders(cloud)).toEqual(before)
      await putHost(cloud, segment, host, { on_maintenance: true })
      expect(orders(cloud)).toEqual([...before, 'maintenance of host cmp02 by ann'])
    })(),
  )

  it(
    'that a form changes is ordered, and goes with a new name that it sends',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      const form = { ...cmp02, reserved: false, on_maintenance: true }
      await putHost(cloud, segment, host, form)
      expect(orders(cloud)).toEqual(['maintenance of host cmp02 by ann'])
      await putHost(cloud, segment, host, { ...form, name: 'cmp03' })
      expect(orders(cloud)).toEqual(['maintenance of host cmp03 by ann'])
    }),
  )

  it(
    'that a form clears ends no order that was given elsewhere, for the form may be older; sent by itself it does',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      maintained(cloud, { kind: 'host', name: 'cmp02' })
      const saved = await putHost(cloud, segment, host, { ...cmp02, reserved: false, on_maintenance: false })
      expect([faultOf(saved), saved.body]).toEqual([
        [409, 'conflictingRequest'],
        expect.stringContaining('Host cmp02 stays on maintenance: it is in maintenance by bob'),
      ])
      expect(orders(cloud)).toEqual(['maintenance of host cmp02 by bob'])
      await putHost(cloud, segment, host, { on_maintenance: false })
      expect(orders(cloud)).toEqual([])
    }),
  )

  it(
    'that a form clears lets no host back that a person keeps out; sent by itself it does',
    played(async (cloud) => {
      const { world } = cloud
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      world.simulator.crash('cmp02')
      await world.ended('cmp02')
      await world.daemon.operations.returnHost({ host: 'cmp02', by: 'bob', reason: 'bad memory', keepOut: true })
      const saved = await putHost(cloud, segment, host, { ...cmp02, reserved: false, on_maintenance: false })
      expect([faultOf(saved), saved.body]).toEqual([
        [409, 'conflictingRequest'],
        expect.stringContaining('bob keeps it out (bad memory)'),
      ])
      const returns = (): unknown[] =>
        world.journal.read({ kinds: ['operator.return'] }).map(({ data }) => 'keepOut' in data && data.keepOut)
      expect(returns()).toEqual([true])
      expect((await putHost(cloud, segment, host, { on_maintenance: false })).statusCode).toBe(200)
      expect(returns()).toEqual([true, false])
    }),
  )

  it(
    'when cleared ends the maintenance and not a keep-out; cleared again, ends that too',
    played(async (cloud) => {
      const { world } = cloud
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      world.simulator.crash('cmp02')
      await world.ended('cmp02')
      await putHost(cloud, segment, host, { on_maintenance: true })
      await world.daemon.operations.returnHost({ host: 'cmp02', by: 'bob', reason: 'bad memory', keepOut: true })
      const keepsOut = (): unknown => world.daemon.store.returnOf('cmp02').order?.keepOut
      await putHost(cloud, segment, host, { on_maintenance: false })
      expect([orders(cloud), keepsOut()]).toEqual([[], true])
      await putHost(cloud, segment, host, { on_maintenance: false })
      expect(keepsOut()).toBe(false)
    }),
  )

  it(
    'when cleared does not say that no guest runs twice there; cleared again, it does',
    played(async (cloud) => {
      const { world } = cloud
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      world.simulator.crash('cmp02')
      await world.ended('cmp02')
      await putHost(cloud, segment, host, { on_maintenance: true })
      const data = { code: 'STALE_ORDER', migration: 'm', end: 'struck', message: '', keepsOut: true } as const
      world.journal.append([{ kind: 'debt.settled', incident: 'x', instance: 'web', host: 'cmp02', data }])
      const strays = (): readonly string[] => world.daemon.store.returnOf('cmp02').strays
      await putHost(cloud, segment, host, { on_maintenance: false })
      expect([orders(cloud), strays()]).toEqual([[], ['web']])
      const form = await putHost(cloud, segment, host, { ...cmp02, reserved: false, on_maintenance: false })
      expect([faultOf(form), form.body]).toEqual([
        [409, 'conflictingRequest'],
        expect.stringContaining('guests may run there that Nova has elsewhere (web)'),
      ])
      await putHost(cloud, segment, host, { on_maintenance: false })
      expect(strays()).toEqual([])
    }),
  )

  it(
    'that is cleared does not end a keep-out that is for the next return',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      const data = { by: 'bob', reason: 'bad memory', keepOut: true }
      cloud.world.journal.append([{ kind: 'operator.return', host: 'cmp02', data }])
      await putHost(cloud, segment, host, { on_maintenance: false })
      expect(cloud.world.daemon.store.returnOf('cmp02').order?.keepOut).toBe(true)
    }),
  )

  it(
    'that a form shows as false says nothing of the host whose name it sends',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      maintained(cloud, { kind: 'host', name: 'cmp03' })
      await putHost(cloud, segment, host, { ...cmp02, reserved: false, on_maintenance: false, name: 'cmp03' })
      expect(orders(cloud)).toEqual(['maintenance of host cmp03 by bob'])
    }),
  )

  it(
    "works for a host of the configuration's segment",
    played(async (cloud) => {
      const [segment] = await cloud.list<Segment>('/segments')
      const [host] = await cloud.list<Host>(`/segments/${segment?.uuid}/hosts`)
      expect(hostOf(await putHost(cloud, segment!, host!, { on_maintenance: true })).on_maintenance).toBe(true)
      expect(hostOf(await putHost(cloud, segment!, host!, { on_maintenance: false })).on_maintenance).toBe(false)
    }),
  )

  it(
    'is false again when a host that Lifeboat took out may return',
    played(async (cloud) => {
      const segment = await made(cloud)
      const host = await added(cloud, segment)
      cloud.world.simulator.crash('cmp02')
      await cloud.world.ended('cmp02')
      const hosts = `/segments/${segment.uuid}/hosts`
      expect(await cloud.list(hosts)).toMatchObject([{ on_maintenance: true }])
      await putHost(cloud, segment, host, { on_maintenance: false })
      const [order] = cloud.world.journal.read({ kinds: ['operator.return'] })
      expect(order).toMatchObject({ host: 'cmp02', actor: 'operator:ann', data: { keepOut: false } })
      cloud.world.simulator.start('cmp02')
      await cloud.world.until(() => !cloud.world.daemon.store.hasOurFlags('cmp02'))
      await cloud.world.clock.advance(60_000)
      expect(await cloud.list(hosts)).toMatchObject([{ on_maintenance: false }])
    }),
  )
})
