/** The whole daemon, from heartbeats to the last outcome of an incident. */
import { describe, expect, test } from 'vitest'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { Fleet } from './fleet.ts'

const dead = 'cmp01'

describe.concurrent('the daemon', () => {
  test(
    'a host dies: everything on it comes back as it was, once, and the host stays out until it is returned',
    Fleet.run({}, async (fleet) => {
      const { simulator } = fleet
      const running = simulator.addInstance({ host: dead }).uuid
      const stopped = simulator.addInstance({ host: dead, state: 'stopped' }).uuid
      const paused = simulator.addInstance({ host: dead, state: 'paused' }).uuid
      const elsewhere = simulator.addInstance({ host: 'cmp02' }).uuid
      await fleet.healthy()
      simulator.crash(dead)

      const incident = await fleet.ended(dead)
      expect(incident).toMatchObject({ ended: { outcome: 'done' }, outcomes: { recovered: 3 } })
      expect(incident.proof).toMatchObject({ host: dead, strength: 'power-off' })
      expect(simulator.instance(running)).toMatchObject({ vmState: 'active', powerState: 1 })
      expect(simulator.instance(stopped)).toMatchObject({ vmState: 'stopped', powerState: 4 })
      expect(simulator.instance(paused)).toMatchObject({ vmState: 'stopped', powerState: 4, locked: false })
      for (const uuid of [running, stopped, paused]) expect(simulator.evacuationsOf(uuid)).toHaveLength(1)
      expect(simulator.instance(elsewhere).host).toBe('cmp02')
      expect(simulator.world.host(dead).service).toMatchObject({ forcedDown: true, status: 'disabled' })
      expect(simulator.truth().doubles).toEqual([])

      await fleet.polls(4)
      expect(fleet.daemon.operations.incidents({})).toHaveLength(1)
      expect(fleet.journal.verify().broken).toBeNull()
    }),
  )

  test(
    'a BMC that does not answer holds the incident; nothing is sent until a person states the death, then it goes on',
    Fleet.run({}, async (fleet) => {
      const { uuid } = fleet.simulator.addInstance({ host: dead })
      await fleet.healthy()
      fleet.simulator.bmc(dead, { reachable: false })
      fleet.simulator.crash(dead)
      await fleet.held(dead, 'FENCE_FAILED')
      expect(fleet.writes()).toEqual([])

      await fleet.daemon.operations.recover({ host: dead, by: 'ann', proof: 'I pulled the plug' })
      const incident = await fleet.ended(dead)
      expect(incident).toMatchObject({ ended: { outcome: 'done' }, outcomes: { recovered: 1 }, openedBy: 'daemon' })
      expect(incident.proof).toMatchObject({ strength: 'statement', statedBy: 'ann' })
      expect(fleet.simulator.instance(uuid).host).not.toBe(dead)
    }),
  )

  test(
    'an incident that is held as before a restart is shown at once: nothing is written of it that would show it',
    Fleet.run({}, async (fleet) => {
      await fleet.healthy()
      fleet.simulator.bmc(dead, { reachable: false })
      fleet.simulator.crash(dead)
      const { id } = await fleet.held(dead, 'FENCE_FAILED')
      const shown: string[][] = []
      await fleet.restart({ observer: { incidents: (open) => shown.push(open.map((incident) => incident.id)) } })
      expect(shown[0]).toEqual([id])
    }),
  )

  test(
    'observe mode decides and journals everything and sends nothing, neither to Nova nor to a BMC',
    Fleet.run({ mode: 'observe' }, async (fleet) => {
      const { uuid } = fleet.simulator.addInstance({ host: dead })
      await fleet.healthy()
      fleet.simulator.crash(dead)
      const incident = await fleet.ended(dead)
      expect(incident).toMatchObject({ mode: 'observe', ended: { outcome: 'observed' } })
      expect(incident.instanceList).toMatchObject([{ id: uuid, decision: 'recover', reason: 'RUNNING' }])
      expect(fleet.writes()).toEqual([])
      expect(fleet.powerOffs()).toBe(0)
      expect(fleet.simulator.bmc(dead).power).toBe('On')
    }),
  )

  test(
    'three of four hosts die: the brake holds them all, and one that a person lets through is recovered',
    Fleet.run({}, async (fleet) => {
      const { uuid } = fleet.simulator.addInstance({ host: dead })
      await fleet.healthy()
      fleet.simulator.crash('cmp01', 'cmp02', 'cmp03')
      for (const host of ['cmp01', 'cmp02', 'cmp03']) await fleet.held(host, 'BRAKE')
      await fleet.polls(2)
      expect(fleet.writes()).toEqual([])

      const { id } = await fleet.held(dead, 'BRAKE')
      await fleet.daemon.operations.override(id, { by: 'ann', reason: 'a rack lost power' })
      expect(await fleet.ended(dead)).toMatchObject({ ended: { outcome: 'done' }, outcomes: { recovered: 1 } })
      expect(fleet.simulator.instance(uuid).host).toBe('cmp04')
      for (const host of ['cmp02', 'cmp03']) expect(fleet.incident(host)?.held?.code).toBe('BRAKE')
    }),
  )

  test(
    'someone forces a living host down: an alarm, and nothing else',
    Fleet.run({}, async (fleet) => {
      fleet.simulator.addInstance({ host: dead })
      await fleet.healthy()
      Object.assign(fleet.simulator.world.host(dead).service, { forcedDown: true, lastWrite: Date.now() })
      await fleet.until(() => fleet.verdict(dead) === 'contradiction', 'contradiction')
      const alarms = fleet.journal.read({ kinds: ['alarm.raised'], host: dead })
      expect(alarms.length).toBeGreaterThan(0)
      expect(fleet.daemon.operations.incidents({})).toEqual([])
      expect(fleet.writes()).toEqual([])
      await expect(
        (async () => fleet.daemon.operations.recover({ host: dead, by: 'ann', proof: 'sure' }))(),
      ).rejects.toMatchObject({ code: 'HOST_ALIVE' })
    }),
  )

  test(
    'nova-compute dies and its host lives: service-down, no incident, no evacuation',
    Fleet.run({}, async (fleet) => {
      fleet.simulator.addInstance({ host: dead })
      await fleet.healthy()
      fleet.simulator.isolate(dead)
      await fleet.until(() => fleet.verdict(dead) === 'service-down', 'service-down')
      await fleet.polls(4)
      expect(fleet.daemon.operations.incidents({})).toEqual([])
      expect(fleet.writes()).toEqual([])
    }),
  )

  test(
    'paused before a host dies: held, and recovered when a person resumes',
    Fleet.run({}, async (fleet) => {
      const { uuid } = fleet.simulator.addInstance({ host: dead })
      await fleet.healthy()
      await fleet.daemon.operations.pause({ by: 'ann', reason: 'network work', until: null })
      fleet.simulator.crash(dead)
      const { held } = await fleet.held(dead, 'PAUSED')
      expect(held?.message).toContain('network work')
      await fleet.polls(2)
      expect(fleet.writes()).toEqual([])
      expect(fleet.simulator.bmc(dead).power).toBe('On')

      await fleet.daemon.operations.resume({ by: 'ann', reason: 'done' })
      expect(await fleet.ended(dead)).toMatchObject({ outcomes: { recovered: 1 }, held: null })
      expect(fleet.simulator.evacuationsOf(uuid)).toHaveLength(1)
    }),
  )

  test(
    'a daemon stopped in the middle of a recovery: the next one finishes it, and opens no second incident',
    Fleet.run({ segment: { maxParallelPerHost: 2 } }, async (fleet) => {
      const instances = Array.from({ length: 6 }, () => fleet.simulator.addInstance({ host: dead }).uuid)
      for (const host of ['cmp02', 'cmp03', 'cmp04']) fleet.simulator.fault(host, { slowSpawnMs: 300 })
      await fleet.healthy()
      fleet.simulator.crash(dead)
      await fleet.until(() => fleet.writes().filter((at) => at === 'POST evacuate').length >= 3, 'three evacuations')
      await fleet.restart()
      expect(fleet.incident(dead)?.ended).toBeNull()
      expect(await fleet.ended(dead)).toMatchObject({ ended: { outcome: 'done' }, outcomes: { recovered: 6 } })
      for (const uuid of instances) expect(fleet.simulator.evacuationsOf(uuid)).toHaveLength(1)
      await fleet.polls(4)
      expect(fleet.daemon.operations.incidents({})).toHaveLength(1)
      expect(fleet.simulator.truth().doubles).toEqual([])
    }),
  )

  test(
    'a second daemon over the same journal refuses to start',
    Fleet.run({ hosts: 1 }, async (fleet) => {
      expect(() => openJournal(fleet.journalPath, { clock })).toThrow(
        expect.objectContaining({ code: 'JOURNAL_UNAVAILABLE' }),
      )
    }),
  )
})
