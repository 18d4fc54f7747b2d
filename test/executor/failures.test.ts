/** Evacuations that fail, and what is done about it: cured where that is safe, stuck where only a person can tell. */
import { describe, expect, test } from 'vitest'
import { dead, withRig } from './rig.ts'
import type { StartState } from '../../src/simulator/instance-builder.ts'

describe.concurrent('no valid host, until capacity returns', () => {
  for (const [state, vmState, powerState] of [
    ['active', 'active', 1],
    ['stopped', 'stopped', 4],
    ['paused', 'stopped', 4],
    ['resized-stopped', 'stopped', 4],
  ] as [StartState, string, number][]) {
    test(
      `${state} still ends ${vmState}`,
      withRig({ hosts: 2 }, async (rig) => {
        const { uuid } = rig.simulator.addInstance({ host: dead, state, otherHost: 'cmp02' })
        rig.simulator.world.host('cmp02').service.status = 'disabled'
        rig.hostDies()
        const run = rig.run()
        await rig.until(() => rig.simulator.evacuationsOf(uuid).some((at) => at.status === 'error'), 'no valid host')
        Object.assign(rig.simulator.world.host('cmp02').service, { status: 'enabled' })
        rig.simulator.world.host('cmp02').disabledTrait = false
        await run
        expect(rig.outcome(uuid)).toMatchObject({ outcome: 'recovered' })
        expect(rig.simulator.instance(uuid)).toMatchObject({ vmState, powerState, host: 'cmp02', locked: false })
        expect(rig.simulator.evacuationsOf(uuid).at(-1)?.status).toBe('done')
      }),
    )
  }
})

test(
  'deleted by its owner before its turn came: nothing is sent for it',
  withRig({ segment: { maxParallelPerHost: 1 } }, async (rig) => {
    const first = rig.simulator.addInstance({ host: dead, metadata: { lifeboat_priority: '9' } }).uuid
    const second = rig.simulator.addInstance({ host: dead }).uuid
    rig.onWrite = (kind) => {
      if (kind !== 'evacuate') return
      rig.simulator.world.save(rig.simulator.instance(second), {
        vmState: 'deleted',
        taskState: null,
        deletedAt: rig.simulator.world.wall(),
      })
    }
    rig.hostDies()
    await rig.run()
    expect(rig.outcome(first).outcome).toBe('recovered')
    expect(rig.outcome(second)).toMatchObject({ outcome: 'left', code: 'INSTANCE_GONE' })
    expect(rig.sent('evacuate', second)).toBe(0)
  }),
)

test(
  "the resize's source dies after it was asked to confirm: its state is reset, and it lands as it was",
  withRig({}, async (rig) => {
    const { uuid } = rig.simulator.addInstance({ host: dead, state: 'resized-stopped', otherHost: 'cmp02' })
    rig.onWrite = (kind) => {
      if (kind !== 'confirm-resize') return
      rig.simulator.crash('cmp02')
      Object.assign(rig.simulator.world.host('cmp02').service, { forcedDown: true, status: 'disabled' })
      rig.fenced.add('cmp02')
    }
    rig.hostDies()
    await rig.run()
    expect(rig.outcome(uuid)).toMatchObject({ outcome: 'recovered' })
    expect(rig.simulator.instance(uuid)).toMatchObject({ vmState: 'stopped', host: 'cmp03', locked: false })
  }),
)

describe.concurrent('a resize that Nova would mistake for another', () => {
  test(
    'an older finished record between other hosts: nothing is confirmed, the state is reset',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'resized-running', otherHost: 'cmp02' })
      const [own] = rig.simulator.world.migrations
      if (own === undefined) throw new Error('no resize')
      const older = rig.simulator.world.addMigration({
        instanceUuid: uuid,
        type: 'resize',
        status: 'finished',
        source: 'cmp03',
        dest: 'cmp02',
      })
      Object.assign(older, { id: own.id, createdAt: own.createdAt - 60_000 })
      Object.assign(own, { id: own.id + 1 })
      rig.simulator.world.migrations.reverse()
      rig.hostDies()
      await rig.run()
      expect(rig.sent('confirmResize')).toBe(0)
      expect(older.status).toBe('finished')
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'recovered' })
      expect(rig.simulator.instance(uuid)).toMatchObject({ vmState: 'active', powerState: 1, locked: false })
    }),
  )
})

describe.concurrent('a destination that fails', () => {
  test(
    'spawn fails once: the instance goes elsewhere or comes again, in its original state',
    withRig({}, async (rig) => {
      const stopped = rig.simulator.addInstance({ host: dead, state: 'stopped' }).uuid
      const running = rig.simulator.addInstance({ host: dead }).uuid
      for (const host of ['cmp02', 'cmp03']) rig.simulator.fault(host, { spawnFails: true })
      rig.hostDies()
      const run = rig.run()
      const failed = (uuid: string): boolean => rig.simulator.evacuationsOf(uuid).some((at) => at.status === 'failed')
      await rig.until(() => failed(stopped) && failed(running), 'both failed')
      for (const host of ['cmp02', 'cmp03']) rig.simulator.fault(host, { spawnFails: false })
      await run
      expect(rig.outcome(stopped).outcome).toBe('recovered')
      expect(rig.simulator.instance(stopped)).toMatchObject({ vmState: 'stopped', powerState: 4, locked: false })
      expect(rig.outcome(running).outcome).toBe('recovered')
      expect(rig.simulator.instance(running)).toMatchObject({ vmState: 'active', powerState: 1, locked: false })
    }),
  )

  test(
    'the claim refuses: nothing started there, so it is tried again',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      for (const host of ['cmp02', 'cmp03']) rig.simulator.fault(host, { claimFails: true })
      rig.hostDies()
      const run = rig.run()
      await rig.until(() => rig.simulator.evacuationsOf(uuid).some((at) => at.status === 'failed'), 'failed')
      for (const host of ['cmp02', 'cmp03']) rig.simulator.fault(host, { claimFails: false })
      await run
      const [first] = rig.recovery(uuid).steps.values()
      expect(first?.error?.message).toMatch(/^cmp0\d could not take it: .*Insufficient compute resources/)
      expect(rig.outcome(uuid).outcome).toBe('recovered')
      expect(rig.simulator.instance(uuid)).toMatchObject({ vmState: 'active', powerState: 1, locked: false })
    }),
  )

  test(
    'the guest starts and cannot be stopped again: stuck, and never evacuated a second time',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'stopped' })
      for (const host of ['cmp02', 'cmp03']) rig.simulator.fault(host, { stopFails: true })
      rig.hostDies()
      await rig.run()
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'stuck', code: 'GUEST_ON_DESTINATION' })
      expect(rig.simulator.evacuationsOf(uuid)).toHaveLength(1)
      expect(rig.sent('evacuate', uuid)).toBe(1)
    }),
  )

  test(
    'it dies in the middle: the instance waits until that host is fenced, then goes elsewhere',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      rig.simulator.fault('cmp02', { diesWhileSpawning: true })
      rig.simulator.world.host('cmp03').service.status = 'disabled'
      rig.hostDies()
      const run = rig.run()
      await rig.until(() => !rig.simulator.world.host('cmp02').alive, 'the destination died')
      Object.assign(rig.simulator.world.host('cmp03').service, { status: 'enabled' })
      rig.simulator.world.host('cmp03').disabledTrait = false
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(rig.sent('evacuate', uuid)).toBe(1)
      rig.fenced.add('cmp02')
      Object.assign(rig.simulator.world.host('cmp02').service, { forcedDown: true, status: 'disabled' })
      await run
      expect(rig.outcome(uuid).outcome).toBe('recovered')
      expect(rig.simulator.instance(uuid)).toMatchObject({ host: 'cmp03', vmState: 'active', powerState: 1 })
      expect(rig.sent('evacuate', uuid)).toBe(2)
    }),
  )

  test(
    'the record says done but the instance is in ERROR (two evacuations met): stuck, nothing more is sent',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      // Nova itself does nothing more: how it ended is written below.
      rig.simulator.kill('conductor')
      rig.onWrite = (kind) => {
        if (kind !== 'evacuate') return
        const record = rig.simulator.evacuationsOf(uuid)[0]
        rig.simulator.world.saveMigration(record!, { status: 'done', dest: 'cmp02' })
        rig.simulator.world.save(rig.simulator.instance(uuid), { host: 'cmp02', vmState: 'error', taskState: null })
      }
      rig.hostDies()
      await rig.run()
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'stuck', code: 'GUEST_ON_DESTINATION' })
      expect(rig.sent('evacuate', uuid)).toBe(1)
    }),
  )
})

describe.concurrent('an instance that its owner deletes meanwhile is left', () => {
  for (const moment of ['before its evacuation', 'during its evacuation'] as const) {
    test(
      moment,
      withRig({}, async (rig) => {
        const { uuid } = rig.simulator.addInstance({ host: dead, state: 'paused' })
        for (const host of ['cmp02', 'cmp03']) rig.simulator.fault(host, { slowSpawnMs: 100 })
        rig.onWrite = (kind) => {
          if (kind !== (moment === 'before its evacuation' ? 'reset-state' : 'evacuate')) return
          const change = { vmState: 'deleted', taskState: null, deletedAt: Date.now() }
          rig.simulator.world.save(rig.simulator.instance(uuid), change)
        }
        rig.hostDies()
        await rig.run()
        expect(rig.outcome(uuid)).toMatchObject({ outcome: 'left', code: 'INSTANCE_GONE' })
      }),
    )
  }
})
