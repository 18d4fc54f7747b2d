/** Notifications as monitors post them: what is taken, what is refused, and what comes of one. Over a daemon on a simulated cloud. */
import { describe, expect, it } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import { defaultReturnRules } from '../../src/domain/host-return.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'
import { simulatedSegment } from '../../src/rehearsal/simulated-parts.ts'
import { Cloud, faultOf, played, stopped } from './cloud.ts'

/** In upper case and without dashes, as Masakari takes it. */
const qemuDied = {
  ...{ event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED' },
  instance_uuid: '2F2A7D1B1B1B4B1B8B1B000000000001',
}

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
    'of a process that comes and goes raises an alarm once in ten minutes, for each host and process',
    played(async (cloud) => {
      const { clock, journal } = cloud.world
      const send = async (process: string, hostname = 'cmp01'): Promise<number> => {
        const payload = { event: 'STOPPED', process_name: process }
        const generated_time = new Date(clock.wall()).toISOString()
        return (await cloud.report({ hostname, generated_time, payload })).statusCode
      }
      const told = (): string[] =>
        journal
          .read({ kinds: ['alarm.raised'] })
          .map(({ data }) => /that (.*) is down/.exec((data as { message: string }).message)?.[1] ?? '')
      for (let minute = 0; minute < 10; minute += 1) {
        expect(await send('libvirtd')).toBe(202)
        await clock.advance(60_000)
      }
      expect(told()).toEqual(['libvirtd on cmp01'])
      await send('libvirtd')
      await send('virtlogd')
      await send('libvirtd', 'cmp02')
      expect(told().slice(1)).toEqual(['libvirtd on cmp01', 'virtlogd on cmp01', 'libvirtd on cmp02'])
    }),
  )

  it(
    'of a host that no segment names is taken',
    played(
      async (cloud) => {
        expect(await cloud.list('/segments')).toEqual([])
        const answer = await cloud.report()
        expect([answer.statusCode, answer.json()]).toMatchObject([
          202,
          { notification: { failover_segment_uuid: null } },
        ])
      },
      { parts: { segmentOf: () => ({ ...simulatedSegment, name: 'default:nova' }) } },
    ),
  )

  it(
    'is of the one host that its name may mean, and says which',
    played(async (cloud) => {
      const answer = await cloud.report({ hostname: 'CMP01.example.org' })
      expect(answer.json()).toMatchObject({
        notification: {
          source_host_uuid: expect.any(String),
          message: expect.stringContaining('; it was sent for CMP01.example.org, which Nova lists as cmp01'),
        },
      })
      await cloud.world.clock.advance(10_000)
      expect(await cloud.list('/notifications')).toMatchObject([
        { message: 'Its service is disabled; it was sent for CMP01.example.org, which Nova lists as cmp01' },
      ])
      expect(faultOf(await cloud.report({ hostname: 'cmp01' }))).toEqual([409, 'conflictingRequest'])
    }),
  )

  it(
    'whose name may mean two hosts is refused, and says which two',
    played(
      async (cloud) => {
        const answer = await cloud.report({ hostname: 'Cmp01' })
        expect([faultOf(answer), answer.body]).toEqual([
          [400, 'badRequest'],
          expect.stringContaining('Host with name Cmp01 could not be found. It may be cmp01.a or cmp01.b.'),
        ])
      },
      { hosts: ['cmp01.a', 'cmp01.b'] },
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

  it.each<[string, object]>([
    ['a dead process', {}],
    ['a guest that crashed', { type: 'VM', payload: qemuDied }],
  ])(
    'of %s is answered 503 until it is durable, however often it is sent, and refused as repeated then',
    (_of, report) =>
      played(async ({ world }) => {
        let durable = false
        const recorded = async (): Promise<void> => {
          if (!durable) throw new LifeboatError('JOURNAL_UNAVAILABLE', 'not confirmed in time')
        }
        const cloud = await Cloud.over(world, null, world.clock, undefined, { recorded })
        const answers = [await cloud.report(report), await cloud.report(report)]
        expect(answers.map(faultOf)).toEqual([
          [503, 'serviceUnavailable'],
          [503, 'serviceUnavailable'],
        ])
        durable = true
        expect((await cloud.report(report)).statusCode).toBe(409)
      })(),
  )

  it(
    'is answered 503 by a daemon that is not active, repeated or ignored or not, and neither kept nor dealt with there',
    played(async (active) => {
      await active.report({ type: 'VM', payload: qemuDied })
      const { world } = active
      const mayWrite = (): void => {
        throw new LifeboatError('NOT_ACTIVE', 'ctl2 is active')
      }
      const standby = await Cloud.over(world, null, world.clock, undefined, { mayWrite })
      const known = (await standby.ask('/v1/notifications')).json<{ notifications: object[] }>()
      const ended = { ...qemuDied, vir_domain_event: 'STOPPED_SHUTDOWN' }
      for (const payload of [qemuDied, ended])
        expect(faultOf(await standby.report({ type: 'VM', payload }))).toEqual([503, 'serviceUnavailable'])
      expect((await standby.ask('/v1/notifications')).json()).toEqual(known)
    }),
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

  it.each([
    ['', false],
    [', also if the daemon is restarted meanwhile', true],
  ])('that comes while Nova is away is taken, and the host is recovered once Nova is back%s', (_how, isRestarted) =>
    played(async (cloud) => {
      const { world } = cloud
      world.simulator.addInstance({ name: 'web', host: 'cmp01' })
      world.simulator.apiFault({ kind: 'refuse', status: 503, path: /compute/ })
      world.simulator.crash('cmp01')
      const sent = await cloud.report({ type: 'COMPUTE_HOST', payload: { event: 'STOPPED', host_status: 'NORMAL' } })
      expect([sent.statusCode, sent.json()]).toMatchObject([202, { notification: { status: 'running' } }])
      await world.clock.advance(60_000)
      if (isRestarted) {
        await world.stop()
        world.compose()
        world.daemon.start()
      }
      await world.clock.advance(60_000)
      expect(world.daemon.operations.incidents({})).toEqual([])
      world.simulator.clearApiFaults()
      expect((await world.ended('cmp01')).closed).toMatchObject({ outcome: 'done', counts: { recovered: 1 } })
      await world.clock.advance(5_000)
      const uuid = sent.json<{ notification: { notification_uuid: string } }>().notification.notification_uuid
      expect(await (await Cloud.over(world)).list('/notifications')).toMatchObject([
        { notification_uuid: uuid, status: 'finished' },
      ])
    })(),
  )

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
      const other = await cloud.report({ hostname: 'cmp02', type: 'COMPUTE_HOST', payload: { event: 'STARTED' } })
      const { notification } = other.json<{ notification: { notification_uuid: string } }>()
      for (const elsewhere of [`${uuid}/vmoves/none`, `${notification.notification_uuid}/vmoves/${vmoves[0]?.uuid}`])
        expect(faultOf(await cloud.ask(`/v1/notifications/${elsewhere}`))).toEqual([404, 'itemNotFound'])
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
