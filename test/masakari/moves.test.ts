/**
 * What clients see of a recovery while it goes on and when it is over: the vmoves and the progress of its notification, in each status. The
 * same whether the host was reported or Lifeboat found it dead by itself, and the same after a restart of the daemon.
 */
import { describe, expect, it } from 'vitest'
import { simulatedSegment } from '../../src/rehearsal/simulated-parts.ts'
import { Cloud, played } from './cloud.ts'

/** Long enough to look at it, and to restart the daemon, while one is under way. */
const spawnMs = 20_000

/** One after the other, so that there is always one that waits. */
const segmentOf = () => ({ ...simulatedSegment, maxParallelPerHost: 1 })

interface Shown {
  row: object | undefined
  /** By the instance's name. */
  moves: Record<string, Record<string, unknown>>
  progress: Record<string, Record<string, unknown>>
}

async function shown(cloud: Cloud): Promise<Shown> {
  const [row] = await cloud.list<{ notification_uuid: string }>('/notifications?type=COMPUTE_HOST')
  const url = `/notifications/${row?.notification_uuid}`
  const headers = { 'openstack-api-version': 'instance-ha 1.3' }
  const one = await cloud.ask(`/v1${url}`, { headers })
  const { recovery_workflow_details: tasks } = one.json<{
    notification: { recovery_workflow_details: Record<string, unknown>[] }
  }>().notification
  const moves = await cloud.list<Record<string, unknown>>(`${url}/vmoves`)
  const by = (name: string, rows: Record<string, unknown>[]) =>
    Object.fromEntries(rows.map((each) => [String(each[name]), each]))
  return { row, moves: by('instance_name', moves), progress: by('name', tasks) }
}

/** A new run of the daemon over the same journal. */
async function restarted({ world }: Cloud): Promise<Cloud> {
  await world.stop()
  world.compose()
  world.daemon.start()
  await world.clock.advance(5_000)
  return Cloud.over(world)
}

const time = expect.stringMatching(/^2026-01-01T00:0\d:\d\d\.\d{6}$/) as unknown
const stamp = expect.stringMatching(/^2026-01-01 00:0\d:\d\d\.\d{6}$/) as unknown
const comesBack = 'It was running; it comes back running on another host'
const noKey = expect.stringContaining('could not take it: Key manager error: Forbidden') as unknown
const isBack = expect.stringMatching(/^on cmp0[2-4], active$/) as unknown
const leftAlone = 'Its owner policy is to leave it (instance metadata HA_Enabled)'
const began = { start_time: time, end_time: null, dest_host: null }

describe.each([
  ['that was reported', true],
  ['that Lifeboat found by itself', false],
])('the recovery of a host %s', (_which, isReported) => {
  it('shows each instance with its steps', () =>
    played(
      async (cloud) => {
        const { world } = cloud
        const { simulator, clock } = world
        Object.assign(simulator.world.options.timings, { spawnMs })
        const add = (name: string, priority: number, rest: object = {}): string =>
          simulator.addInstance({
            ...{ host: 'cmp01', name, extraSpecs: { 'lifeboat:priority': String(priority) }, ...rest },
          }).uuid
        // Its key is nobody's but its owner's, so that Nova cannot bring it back.
        add('encrypted', 100, { encrypted: true, project: 'project-demo' })
        const web = add('web', 50)
        add('batch', 10)
        add('unwanted', 1, { metadata: { HA_Enabled: 'False' } })
        simulator.crash('cmp01')
        if (isReported)
          await cloud.report({ type: 'COMPUTE_HOST', payload: { event: 'STOPPED', host_status: 'NORMAL' } })
        await world.until(() => {
          const steps = [...(world.incident('cmp01')?.instances.get(web)?.steps.values() ?? [])]
          return steps.some(({ status }) => status === 'issued')
        })

        const under = await shown(cloud)
        expect(under.row).toMatchObject({ status: 'running' })
        const of = { type: 'evacuation', source_host: 'cmp01' }
        expect(under.moves).toMatchObject({
          encrypted: { ...of, status: 'failed', dest_host: null, start_time: time, end_time: time, message: noKey },
          web: { ...of, ...began, status: 'ongoing', message: comesBack },
          batch: { ...of, ...began, status: 'pending', start_time: null, message: comesBack },
          unwanted: { ...of, status: 'ignored', dest_host: null, start_time: null, end_time: time, message: leftAlone },
        })
        const details = (message: string, progress: string) => [{ timestamp: stamp, message, progress }]
        expect(under.progress).toEqual({
          encrypted: {
            ...{ name: 'encrypted', state: 'FAILURE', progress: 1 },
            progress_details: details('evacuate: failed', '1.0'),
          },
          web: {
            ...{ name: 'web', state: 'RUNNING', progress: 0 },
            progress_details: details('evacuate: issued', '0.0'),
          },
          batch: { name: 'batch', state: 'RUNNING', progress: 0, progress_details: [] },
          unwanted: { name: 'unwanted', state: 'SUCCESS', progress: 1, progress_details: [] },
        })

        const next = await restarted(cloud)
        expect(await shown(next)).toEqual(under)

        await world.ended('cmp01')
        await clock.advance(5_000)
        const over = await shown(next)
        // One could not be brought back.
        expect(over.row).toMatchObject({ status: 'failed' })
        expect(over.moves).toMatchObject({
          encrypted: under.moves['encrypted'],
          web: { status: 'succeeded', start_time: time, end_time: time, message: isBack },
          batch: { status: 'succeeded', start_time: time, end_time: time, message: isBack },
          unwanted: under.moves['unwanted'],
        })
        for (const [name, { dest_host: at, instance_uuid: id }] of Object.entries(over.moves))
          expect([name, simulator.truth().running[String(id)] ?? []]).toEqual([name, at === null ? [] : [at]])
        expect(over.progress).toMatchObject({
          encrypted: under.progress['encrypted'],
          web: { state: 'SUCCESS', progress: 1, progress_details: details('evacuate: confirmed', '1.0') },
          batch: { state: 'SUCCESS', progress: 1, progress_details: details('evacuate: confirmed', '1.0') },
          unwanted: under.progress['unwanted'],
        })
        expect(await shown(await restarted(next))).toEqual(over)
      },
      { parts: { segmentOf } },
    )())
})
