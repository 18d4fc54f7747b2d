/** Each kind of instance comes back in the state that its owner left it in, or has a line that says why not. */
import { describe, expect, test } from 'vitest'
import { dead, withRig } from './rig.ts'
import type { StartState } from '../../src/simulator/instance-builder.ts'

/** What it was, and how it must end: vm_state and whether the guest runs. */
const restored: [StartState, string, boolean][] = [
  ['active', 'active', true],
  ['stopped', 'stopped', false],
  ['stopped-by-power-sync', 'stopped', false],
  ['resized-running', 'active', true],
  ['resized-stopped', 'stopped', false],
  ['migrated-running', 'active', true],
  ['paused', 'stopped', false],
  ['suspended', 'stopped', false],
  ['rescued', 'stopped', false],
  ['powering-off', 'stopped', false],
]

describe.concurrent('the original state is restored', () => {
  for (const maxMicroversion of ['2.100', '2.93']) {
    for (const [state, vmState, runs] of restored) {
      test(
        `${state} ends ${vmState} elsewhere, with Nova up to ${maxMicroversion}`,
        withRig({ simulator: { maxMicroversion } }, async (rig) => {
          const { uuid } = rig.simulator.addInstance({ host: dead, state, otherHost: 'cmp02' })
          rig.hostDies()
          await rig.run()

          expect(rig.outcome(uuid)).toMatchObject({ outcome: 'recovered' })
          const after = rig.simulator.instance(uuid)
          expect(after).toMatchObject({ vmState, taskState: null, locked: false })
          expect(after.host).not.toBe(dead)
          expect(rig.simulator.truth().running[uuid] ?? []).toEqual(runs ? [after.host] : [])
          expect(rig.simulator.evacuationsOf(uuid)).toHaveLength(1)
        }),
      )
    }
  }

  test(
    'a resized instance whose source died too is reset, evacuated away from both, and its leftover is recorded as a debt',
    withRig({ hosts: 4 }, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'resized-running', otherHost: 'cmp02' })
      rig.simulator.crash('cmp02')
      rig.simulator.world.host('cmp02').service.forcedDown = true
      rig.hostDies()
      await rig.run()

      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'recovered', code: 'RESIZED_SOURCE_DOWN' })
      expect(rig.simulator.instance(uuid)).toMatchObject({ vmState: 'active', powerState: 1, locked: false })
      expect(rig.recovery(uuid).leftovers.map((debt) => debt.code)).toEqual(['RESIZE_LEFTOVER'])
      expect(rig.sent('confirmResize')).toBe(0)
    }),
  )

  test(
    'what cannot be brought back is left untouched, each with its reason',
    withRig({}, async (rig) => {
      const states: StartState[] = ['shelved', 'building', 'deleting', 'error', 'error-never-launched']
      const left = states.map((state) => rig.simulator.addInstance({ host: dead, state }))
      const vtpm = rig.simulator.addInstance({ host: dead, vtpm: true })
      vtpm.flavor = { ...vtpm.flavor, extraSpecs: { 'hw:tpm_version': '2.0' } }
      const live = rig.simulator.addInstance({ host: dead, state: 'live-migrating' })
      rig.hostDies()
      await rig.run()

      for (const { uuid } of [...left, vtpm]) {
        expect(rig.outcome(uuid).outcome).toBe('left')
        expect(rig.simulator.instance(uuid).host).toBe(dead)
      }
      expect(rig.outcome(live.uuid)).toMatchObject({ outcome: 'stuck', code: 'LIVE_MIGRATION' })
      expect(rig.simulator.requests().filter((at) => at.action !== null)).toEqual([])
    }),
  )
})

describe.concurrent('locks (L6)', () => {
  test(
    "an owner's lock is kept as found",
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'paused', lockedReason: 'mine' })
      rig.hostDies()
      await rig.run()
      expect(rig.outcome(uuid).outcome).toBe('recovered')
      expect(rig.simulator.instance(uuid)).toMatchObject({ locked: true, lockedReason: 'mine' })
    }),
  )

  test(
    'our lock is taken back when the evacuation fails for good',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'paused' })
      for (const host of ['cmp02', 'cmp03']) rig.simulator.fault(host, { stopFails: true })
      rig.hostDies()
      await rig.run()
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'stuck', code: 'GUEST_ON_DESTINATION' })
      expect(rig.simulator.instance(uuid).locked).toBe(false)
    }),
  )

  test(
    'our lock is taken back when a person cancels in the middle',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'paused' })
      rig.onWrite = (kind) => {
        if (kind === 'lock') rig.cancel()
      }
      rig.hostDies()
      await rig.run()
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'left', code: 'CANCELLED' })
      expect(rig.simulator.instance(uuid).locked).toBe(false)
      expect(rig.incident.closed?.outcome).toBe('cancelled')
    }),
  )

  test(
    'a lock that the owner sets while we hold ours is not taken away',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'paused' })
      rig.onWrite = (kind) => {
        if (kind === 'evacuate') Object.assign(rig.simulator.instance(uuid), { locked: true, lockedReason: 'mine' })
      }
      rig.hostDies()
      await rig.run()
      expect(rig.outcome(uuid).outcome).toBe('recovered')
      expect(rig.simulator.instance(uuid)).toMatchObject({ locked: true, lockedReason: 'mine' })
    }),
  )
})

test(
  'members of an anti-affinity group are evacuated one after another and all arrive',
  withRig({ hosts: 7 }, async (rig) => {
    const members = Array.from({ length: 5 }, () => rig.simulator.addInstance({ host: dead }).uuid)
    rig.simulator.addServerGroup('anti-affinity', members)
    let mostAtOnce = 0
    rig.beforeWrite = (kind) => {
      if (kind !== 'evacuate') return
      const open = rig.simulator.world.migrations.filter((at) => ['accepted', 'pre-migrating'].includes(at.status))
      mostAtOnce = Math.max(mostAtOnce, open.length + 1)
    }
    rig.hostDies()
    await rig.run()
    expect(members.map((uuid) => rig.outcome(uuid).outcome)).toEqual(Array(5).fill('recovered'))
    expect(new Set(members.map((uuid) => rig.simulator.instance(uuid).host)).size).toBe(5)
    expect(mostAtOnce).toBe(1)
  }),
)

test(
  'an instance that turns up on the dead host during the recovery is found by the sweep and recovered',
  withRig({}, async (rig) => {
    rig.simulator.addInstance({ host: dead })
    let late = ''
    rig.onWrite = (kind) => {
      if (kind !== 'evacuate' || late !== '') return
      late = rig.simulator.addInstance({ host: dead }).uuid
      rig.simulator.world.hypervisors.lose(dead)
    }
    rig.hostDies()
    await rig.run()
    expect(rig.outcome(late).outcome).toBe('recovered')
    expect(rig.simulator.instance(late).host).not.toBe(dead)
  }),
)
