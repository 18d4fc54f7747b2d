/** What Lifeboat would do if the guest of an instance crashed now, or nova-compute failed: asked of the daemon, which changes nothing. */
import { describe, expect, it } from 'vitest'
import type { PlanSubject } from '../../src/domain/plan.ts'
import type { PlanRun } from '../../src/domain/review.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { People } from '../../src/rehearsal/people.ts'
import { shippedWorkflows } from '../../src/rehearsal/shipped-workflows.ts'
import { simulatedParts } from '../../src/rehearsal/simulated-parts.ts'
import { beatMs, SmallWorld } from './small-world.ts'

function planned({ daemon, clock }: SmallWorld, subject: PlanSubject): Promise<PlanRun> {
  const { id } = daemon.review.startPlan(subject)
  return clock.run(daemon.review.finishedPlan(id, 10_000))
}

describe('the plan of an instance whose guest would crash', () => {
  const ofCrash = (instance: string): PlanSubject => ({ host: 'cmp01', failure: 'instance', instance })

  it(
    'is what its workflow decides, and sends nothing',
    SmallWorld.run({}, async (world) => {
      const { simulator } = world
      const asked = { HA_Enabled: 'true' }
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: asked })
      simulator.addInstance({ host: 'cmp01', name: 'plain' })
      simulator.addInstance({ host: 'cmp01', name: 'paused', state: 'paused', metadata: asked })
      const decisions = await Promise.all(
        ['web', uuid].map(async (name) => (await planned(world, ofCrash(name))).plan?.instances),
      )
      for (const instances of decisions)
        expect(instances).toMatchObject([
          { instanceId: uuid, rule: 'crashed', decision: 'recover', reason: 'CRASHED', recipe: 'reboot' },
        ])
      expect((await planned(world, ofCrash('plain'))).plan).toMatchObject({
        workflow: { name: 'instance-failure' },
        instances: [{ rule: 'not-asked', decision: 'leave', reason: 'NOT_ASKED', recipe: null }],
      })
      expect((await planned(world, ofCrash('paused'))).plan?.instances).toMatchObject([
        { rule: 'paused', decision: 'leave', reason: 'CRASHED_PAUSED' },
      ])
      expect(world.writes()).toEqual([])
      expect(world.daemon.operations.incidents({})).toEqual([])
    }),
  )

  it(
    'says of one that its owner stopped that it stays off',
    SmallWorld.run({}, async (world) => {
      const { simulator, clock } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      await clock.run(new People(simulator, (id) => id).server({ instance: uuid, action: 'os-stop', as: 'tenant' }))
      await clock.advance(30_000)
      const { plan } = await planned(world, ofCrash('web'))
      const message = 'Its owner stopped it, so it stays off'
      expect(plan?.instances).toMatchObject([{ decision: 'leave', reason: 'STOPPED_BY_OWNER', message }])
    }),
  )

  it(
    'is of each instance of that name, and of none on another host',
    SmallWorld.run({}, async (world) => {
      const { simulator } = world
      for (const host of ['cmp01', 'cmp01', 'cmp02']) simulator.addInstance({ host, name: 'web' })
      expect((await planned(world, ofCrash('web'))).plan?.instances).toHaveLength(2)
      const { state, error } = await planned(world, ofCrash('api'))
      expect([state, error?.code, error?.message]).toEqual([
        ...['failed', 'NOT_FOUND', 'Nova shows no instance api on cmp01'],
      ])
    }),
  )
})

describe('the plan of a host whose nova-compute would fail', () => {
  it(
    'is the ruling on its service',
    SmallWorld.run({}, async (world) => {
      world.simulator.addInstance({ host: 'cmp01', name: 'web' })
      expect(await planned(world, { host: 'cmp01', failure: 'process' })).toMatchObject({
        ...{ host: 'cmp01', failure: 'process', instance: null, state: 'done' },
        plan: {
          workflow: { name: 'process-failure' },
          instances: [],
          service: { rule: 'down', do: 'disable', enable: null },
        },
      })
      expect(world.writes()).toEqual([])
    }),
  )

  it.each(['disabled', 'forced down'] as const)('leaves its service alone if that is %s already', (how) =>
    SmallWorld.run({}, async (world) => {
      const people = new People(world.simulator, (id) => id)
      const order = how === 'disabled' ? { status: 'disabled', disabledReason: 'new memory' } : { forcedDown: true }
      await world.clock.run(people.service({ host: 'cmp01', ...order }))
      const { plan } = await planned(world, { host: 'cmp01', failure: 'process' })
      const reason = how === 'disabled' ? ' (new memory)' : ''
      expect(plan?.service).toEqual({
        ...{ rule: '', do: 'leave', enable: null },
        because: `it is ${how} already${reason}, and stays so`,
      })
    })(),
  )

  it(
    'is asked of the workflow although Lifeboat itself has its service disabled for a while',
    SmallWorld.run({}, async (world) => {
      const { simulator, daemon } = world
      simulator.isolate('cmp01')
      await world.until(() => daemon.store.returnOf('cmp01').setAside?.state === 'set')
      const { plan } = await planned(world, { host: 'cmp01', failure: 'process' })
      expect(plan?.service).toMatchObject({ rule: 'down', do: 'disable' })
    }),
  )

  it(
    'is the plan of the host where its segment fences it then',
    SmallWorld.run({}, async (world) => {
      await world.stop()
      const { segmentOf } = simulatedParts(world.simulator, {
        ...{ clock: world.clock, journal: world.journal, workflow: shippedWorkflows(defaultOwnerPolicy).host, beatMs },
        ...{ wire: world.simulator.wire(), segment: { onServiceDown: 'fence' } },
      })
      world.compose({ segmentOf })
      world.daemon.start()
      world.simulator.addInstance({ host: 'cmp01', name: 'web', volumeBacked: true })
      await world.clock.advance(60_000)
      const run = await planned(world, { host: 'cmp01', failure: 'process' })
      expect(run).toMatchObject({ failure: 'process', progress: '1 instances decided' })
      expect(run.plan).toMatchObject({ workflow: { name: 'host-failure' }, instances: [{ decision: 'recover' }] })
      expect(run.plan).not.toHaveProperty('service')
    }),
  )
})
