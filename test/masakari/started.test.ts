/**
 * STARTED is taken, and changes nothing: Masakari 19 sends it also while a host goes down, and a monitor that has just begun sends it for what
 * it has not seen yet. Lifeboat sees for itself what is back.
 */
import { describe, expect, it } from 'vitest'
import { SmallWorld } from '../daemon/small-world.ts'
import { type Cloud, played, stopped } from './cloud.ts'

const reports = {
  COMPUTE_HOST: { event: 'STARTED', host_status: 'NORMAL', cluster_status: 'ONLINE' },
  PROCESS: { ...stopped, event: 'STARTED' },
} as const

async function started(cloud: Cloud, type: keyof typeof reports): Promise<void> {
  const generated_time = new Date(cloud.world.clock.wall()).toISOString()
  expect((await cloud.report({ type, generated_time, payload: reports[type] })).statusCode).toBe(202)
}

const isDead = async ({ world }: Cloud): Promise<void> => {
  world.simulator.crash('cmp01')
  await world.ended('cmp01')
  await world.clock.advance(5_000)
}

const onlyNovaComputeIsDead = async ({ world }: Cloud): Promise<void> => {
  world.simulator.isolate('cmp01')
  await world.until(() => world.journal.read({ kinds: ['service.set-aside'] }).length > 1)
  await world.clock.advance(30_000)
}

describe('STARTED', () => {
  it.each([
    ['COMPUTE_HOST', 'a host that was recovered and is dead still', isDead],
    ['PROCESS', 'a host that was recovered and is dead still', isDead],
    ['PROCESS', 'a nova-compute that is down', onlyNovaComputeIsDead],
    ['COMPUTE_HOST', 'a host whose nova-compute is down', onlyNovaComputeIsDead],
  ] as const)('as %s of %s is finished, and clears nothing', (type, _what, fail) =>
    played(async (cloud) => {
      const { simulator, clock, journal } = cloud.world
      await fail(cloud)
      const service = { ...simulator.world.host('cmp01').service }
      const [sent, written] = [cloud.world.writes(), journal.read().length]
      expect(service.status).toBe('disabled')
      await started(cloud, type)
      await clock.advance(120_000)
      expect(journal.read().slice(written)).toMatchObject([
        { kind: 'report.received' },
        { kind: 'report.settled', data: { status: 'finished' } },
      ])
      expect(cloud.world.writes()).toEqual(sent)
      const { status, disabledReason, forcedDown } = service
      expect(simulator.world.host('cmp01').service).toMatchObject({ status, disabledReason, forcedDown })
    })(),
  )

  it('of a host that dies delays neither its incident nor its fencing', async () => {
    const recovery = async (isReported: boolean): Promise<string[]> => {
      let steps: string[] = []
      await SmallWorld.run({}, async (world) => {
        const { simulator, clock, daemon, journal } = world
        simulator.addInstance({ name: 'web', host: 'cmp01' })
        simulator.crash('cmp01')
        const report = { about: 'COMPUTE_HOST', host: 'cmp01', payload: reports.COMPUTE_HOST, by: 'monitor' } as const
        for (let seconds = 0; seconds < 60; seconds += 10) {
          const generatedAt = new Date(clock.wall()).toISOString()
          if (isReported) daemon.reports.receive({ ...report, via: null, generatedAt })
          await clock.advance(10_000)
        }
        const { id } = await world.ended('cmp01')
        steps = journal.read({ incident: id }).map(({ at, kind }) => `${at} ${kind}`)
      })()
      return steps
    }
    const without = await recovery(false)
    expect(without.join()).toContain('proof.recorded')
    expect(await recovery(true)).toEqual(without)
  })
})
