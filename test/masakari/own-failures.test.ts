/** Failures that Lifeboat found by itself, as notifications of Masakari's API. */
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/domain/clock.ts'
import { Cloud, faultOf, played } from './cloud.ts'

interface Notification {
  id: number
  notification_uuid: string
  type: string
  status: string
}

const list = (cloud: Cloud, query = ''): Promise<Notification[]> => cloud.list(`/notifications${query}`)

async function recovered(cloud: Cloud): Promise<void> {
  cloud.world.simulator.addInstance({ name: 'web', host: 'cmp01' })
  cloud.world.simulator.crash('cmp01')
  await cloud.world.ended('cmp01')
  await cloud.world.clock.advance(5_000)
}

describe('a dead host that nobody reported', () => {
  it(
    'has a notification, with its instances as vmoves and its steps as progress',
    played(async (cloud) => {
      await recovered(cloud)
      const [row] = await list(cloud)
      expect(row).toMatchObject({ type: 'COMPUTE_HOST', status: 'finished', payload: { event: 'STOPPED' } })
      const url = `/notifications/${row?.notification_uuid}`
      expect(await cloud.list(`${url}/vmoves`)).toMatchObject([{ instance_name: 'web', status: 'succeeded' }])
      const headers = { 'openstack-api-version': 'instance-ha 1.1' }
      expect((await cloud.ask(`/v1${url}`, { headers })).json()).toMatchObject({
        notification: { id: row?.id, recovery_workflow_details: [{ name: 'web', state: 'SUCCESS', progress: 1 }] },
      })
    }),
  )

  it(
    'is running while it is recovered, and an error while a person is waited for',
    played(async (cloud) => {
      cloud.world.simulator.crash('cmp01')
      await cloud.world.until(() => cloud.world.incident('cmp01') !== undefined)
      expect(await list(cloud)).toMatchObject([{ status: 'running' }])
      const scope = { kind: 'host', name: 'cmp01' } as const
      await cloud.world.clock.run(
        cloud.world.daemon.operations.pause({ by: 'ann', reason: 'wait', until: null, scope }),
      )
      await cloud.world.until(() => (cloud.world.incident('cmp01')?.held ?? null) !== null)
      expect(await list(cloud)).toMatchObject([{ status: 'error', message: expect.stringContaining('paused by ann') }])
    }),
  )

  it(
    'is listed, filtered and paged with what was reported',
    played(async (cloud) => {
      await recovered(cloud)
      await cloud.report({ hostname: 'cmp02', payload: { event: 'STARTED', process_name: 'nova-compute' } })
      const all = await list(cloud)
      expect(all.map(({ type }) => type)).toEqual(['PROCESS', 'COMPUTE_HOST'])
      expect(await list(cloud, `?limit=1&marker=${all[0]?.id}`)).toEqual([all[1]])
      expect(await list(cloud, '?type=COMPUTE_HOST&status=finished')).toEqual([all[1]])
      expect(await list(cloud, '?sort_key=type&sort_dir=asc')).toEqual(all.toReversed())
      expect(await list(cloud, '?generated-since=2036-01-01')).toEqual([])
    }),
  )

  it(
    'is not told twice when it was reported first',
    played(async (cloud) => {
      cloud.world.simulator.crash('cmp01')
      await cloud.report({ type: 'COMPUTE_HOST', payload: { event: 'STOPPED', host_status: 'NORMAL' } })
      await cloud.world.ended('cmp01')
      await cloud.world.clock.advance(5_000)
      expect(await list(cloud)).toMatchObject([{ type: 'COMPUTE_HOST', status: 'finished' }])
    }),
  )

  it(
    'keeps its notification when it is reported afterwards',
    played(async (cloud) => {
      cloud.world.simulator.crash('cmp01')
      await cloud.world.until(() => cloud.world.incident('cmp01') !== undefined)
      const [own] = await list(cloud)
      await cloud.world.clock.advance(1_000)
      const answer = await cloud.report({ type: 'COMPUTE_HOST', payload: { event: 'STOPPED', host_status: 'NORMAL' } })
      expect(answer.statusCode).toBe(202)
      await cloud.world.ended('cmp01')
      expect((await list(cloud)).map(({ notification_uuid }) => notification_uuid)).toContain(own?.notification_uuid)
    }),
  )

  it(
    'is listed for thirty days',
    played(async (cloud) => {
      await recovered(cloud)
      const { clock } = cloud.world
      const later: Clock = {
        now: () => clock.now(),
        wall: () => clock.wall() + 31 * 86_400_000,
        after: (delayMs, fire) => clock.after(delayMs, fire),
      }
      const again = await Cloud.over(cloud.world, null, later)
      expect(await list(again)).toEqual([])
    }),
  )
})

describe('a dead nova-compute that nobody reported', () => {
  it(
    'has a notification of the process, and no vmoves',
    played(async (cloud) => {
      cloud.world.simulator.isolate('cmp01')
      await cloud.world.until(() => cloud.world.journal.read({ kinds: ['process.failed'] }).length > 0)
      await cloud.world.clock.advance(30_000)
      const [row] = await list(cloud)
      expect(row).toMatchObject({
        ...{ type: 'PROCESS', status: 'finished' },
        payload: { event: 'STOPPED', process_name: 'nova-compute' },
      })
      expect(faultOf(await cloud.ask(`/v1/notifications/${row?.notification_uuid}/vmoves`))).toEqual([
        400,
        'badRequest',
      ])
    }),
  )
})

describe('a guest that crashed', () => {
  it(
    'is listed once, by the report that told of it',
    played(async (cloud) => {
      const { simulator } = cloud.world
      const { uuid: id } = simulator.addInstance({ name: 'web', host: 'cmp01', metadata: { HA_Enabled: 'True' } })
      simulator.crashGuest(id)
      const payload = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: id }
      await cloud.report({ type: 'VM', payload })
      await cloud.world.clock.advance(60_000)
      expect(cloud.world.journal.read({ kinds: ['instance.failed'] })).toHaveLength(1)
      expect(await list(cloud)).toMatchObject([{ type: 'VM', status: 'finished' }])
    }),
  )
})
