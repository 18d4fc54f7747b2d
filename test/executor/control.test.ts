/** Proof, journal, pause, cancel and stop: what must hold before a write, and that a person can always stop it. */
import { describe, expect, test } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import { runIncident } from '../../src/executor/run-incident.ts'
import { Slots } from '../../src/executor/slots.ts'
import { dead, failingJournal, withRig, type Rig } from './rig.ts'

/** Requests that change something in Nova. */
function writes(rig: Rig): string[] {
  return rig.simulator
    .requests()
    .filter((at) => at.path.startsWith('compute/') && at.method !== 'GET')
    .map((at) => at.action ?? at.method)
}

/** The daemon stops after its first write: a paused instance is locked, and nothing more is done. Its uuid. */
async function stoppedInTheMiddle(rig: Rig): Promise<string> {
  const { uuid } = rig.simulator.addInstance({ host: dead, state: 'paused' })
  const stop = new AbortController()
  rig.onWrite = () => stop.abort()
  rig.hostDies()
  await rig.run(stop.signal)
  expect(rig.simulator.instance(uuid).locked).toBe(true)
  rig.onWrite = () => undefined
  return uuid
}

describe.concurrent('no evacuation without proof of death (L1)', () => {
  test(
    'a forged proof, true in every field, sends nothing',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      rig.wrapFencer = (fencer) => ({
        ...fencer,
        fence: async (...order) => ({ ...(await fencer.fence(...order)) }),
      })
      rig.hostDies()
      await rig.run()
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'failed', code: 'PROOF_INVALID' })
      expect(rig.sent('evacuate')).toBe(0)
    }),
  )

  test(
    'a proof for another host sends nothing',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      rig.wrapFencer = (fencer) => ({ ...fencer, fence: async () => fencer.attest('cmp02', 'ann', 'it is off') })
      rig.hostDies()
      await rig.run()
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'failed', code: 'PROOF_INVALID' })
      expect(rig.sent('evacuate')).toBe(0)
    }),
  )

  test(
    'a BMC that does not answer holds the incident; nothing is sent until a person states that the host is dead',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      rig.simulator.bmc(dead, { reachable: false })
      rig.hostDies()
      const run = rig.run()
      await rig.until(() => rig.incident.held?.code === 'FENCE_FAILED', 'held')
      expect(writes(rig)).toEqual([])
      const data = { by: 'ann', statement: 'I pulled the plug' }
      rig.journal.append([{ kind: 'operator.statement', incident: rig.id, host: dead, data }])
      await run
      expect(rig.outcome(uuid).outcome).toBe('recovered')
      expect(rig.incident.proof).toMatchObject({ strength: 'statement', statedBy: 'ann' })
    }),
  )

  test(
    'after a restart the host is read again: one that is on holds everything; a cancel then takes back what is ours',
    withRig({}, async (rig) => {
      const uuid = await stoppedInTheMiddle(rig)
      rig.simulator.bmc(dead, { power: 'On' })
      rig.restart()
      const run = rig.run()
      await rig.until(() => rig.incident.held?.code === 'HOST_ALIVE', 'held')
      expect(rig.sent('evacuate')).toBe(0)
      rig.cancel()
      await run
      expect(rig.incident.closed?.outcome).toBe('cancelled')
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'left', code: 'CANCELLED' })
      expect(rig.simulator.instance(uuid).locked).toBe(false)
      expect(rig.sent('evacuate')).toBe(0)
    }),
  )
})

describe.concurrent('record before act (L2)', () => {
  for (const kind of ['step.intended', 'plan.made', 'service.marked', 'proof.recorded'] as const) {
    test(
      `a journal that cannot write ${kind} ends the run before the act`,
      withRig({}, async (rig) => {
        rig.simulator.addInstance({ host: dead })
        const full = new LifeboatError('JOURNAL_UNAVAILABLE', 'disk full')
        rig.wrapJournal = (journal) =>
          failingJournal(journal, (entry) =>
            entry.kind === kind && (kind !== 'step.intended' || entry.instance !== undefined) ? full : null,
          )
        rig.hostDies()
        await expect(rig.run()).rejects.toMatchObject({ code: 'JOURNAL_UNAVAILABLE' })
        expect(rig.sent('evacuate')).toBe(0)
        if (kind === 'service.marked') expect(rig.simulator.world.host(dead).service.forcedDown).toBe(false)
      }),
    )
  }

  test(
    'a journal that fails right after the write was sent: the next run finds the evacuation and sends no second one',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      const full = new LifeboatError('JOURNAL_UNAVAILABLE', 'disk full')
      rig.wrapJournal = (journal) => failingJournal(journal, (entry) => (entry.kind === 'step.issued' ? full : null))
      rig.hostDies()
      await expect(rig.run()).rejects.toMatchObject({ code: 'JOURNAL_UNAVAILABLE' })
      rig.wrapJournal = (journal) => journal
      await rig.run()
      expect(rig.outcome(uuid).outcome).toBe('recovered')
      expect(rig.sent('evacuate', uuid)).toBe(1)
    }),
  )
})

describe.concurrent('a person can always stop it (L10)', () => {
  test(
    'a pause in the middle holds every further write, and the recovery goes on when it ends',
    withRig({ segment: { maxParallelPerHost: 1 } }, async (rig) => {
      const instances = Array.from({ length: 6 }, () => rig.simulator.addInstance({ host: dead }).uuid)
      rig.onWrite = () => {
        if (rig.sent('evacuate') === 2) rig.hold = { allowed: false, hold: 'PAUSED', message: 'lunch' }
      }
      rig.hostDies()
      const run = rig.run()
      await rig.until(() => rig.incident.held?.code === 'PAUSED', 'held')
      await new Promise((resolve) => setTimeout(resolve, 700))
      expect(rig.sent('evacuate')).toBe(2)
      rig.hold = null
      rig.onWrite = () => undefined
      await run
      expect(rig.incident.held).toBeNull()
      expect(instances.map((uuid) => rig.outcome(uuid).outcome)).toEqual(Array(6).fill('recovered'))
      expect(rig.entries(['incident.continued'])).not.toEqual([])
    }),
  )

  test(
    'a pause that comes while a step reads what it will change still stops its write',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'paused' })
      const slow = { kind: 'slow', method: 'GET', path: new RegExp(`servers/${uuid}$`), delayMs: 300 } as const
      rig.wrapJournal = (journal) => ({
        ...journal,
        append: (entries) => {
          if (entries.some((entry) => entry.kind === 'plan.made')) {
            rig.simulator.apiFault(slow)
            setTimeout(() => (rig.hold = { allowed: false, hold: 'PAUSED', message: 'lunch' }), 100)
          }
          return journal.append(entries)
        },
      })
      rig.hostDies()
      const run = rig.run()
      await rig.until(() => rig.incident.held?.code === 'PAUSED', 'held')
      expect(rig.sent('lock')).toBe(0)
      rig.simulator.clearApiFaults()
      rig.hold = null
      await run
      expect(rig.outcome(uuid).outcome).toBe('recovered')
    }),
  )

  test(
    'an incident that is held keeps no slot from the others',
    withRig({}, async (rig) => {
      Array.from({ length: 4 }, () => rig.simulator.addInstance({ host: dead }))
      rig.hostDies()
      rig.hold = null
      const slots = Slots.shared(2)
      rig.wrapJournal = (journal) => ({
        ...journal,
        append: (entries) => {
          if (entries.some((entry) => entry.kind === 'plan.made'))
            rig.hold = { allowed: false, hold: 'HOST_ALIVE', message: 'it beats' }
          return journal.append(entries)
        },
      })
      const run = runIncident(rig.context(), rig.id, slots, new AbortController().signal)
      await rig.until(() => rig.incident.held?.code === 'HOST_ALIVE', 'held')
      expect(slots.pending + slots.size).toBe(0)
      rig.hold = null
      await run
      expect(rig.incident.closed?.counts).toEqual({ recovered: 4 })
    }),
  )

  test(
    'a cancel in the middle follows what is in flight to its end and leaves the rest, each with a line',
    withRig({ segment: { maxParallelPerHost: 2 } }, async (rig) => {
      const instances = Array.from({ length: 6 }, () => rig.simulator.addInstance({ host: dead }).uuid)
      for (const host of ['cmp02', 'cmp03']) rig.simulator.fault(host, { slowSpawnMs: 200 })
      rig.onWrite = () => {
        if (rig.sent('evacuate') === 2) rig.cancel()
      }
      rig.hostDies()
      await rig.run()
      const ends = instances.map((uuid) => rig.outcome(uuid)).map(({ outcome, code }) => `${outcome} ${code}`)
      expect(ends.toSorted()).toEqual([...Array(4).fill('left CANCELLED'), ...Array(2).fill('recovered RUNNING')])
      expect(rig.incident.closed).toMatchObject({ outcome: 'cancelled', counts: { recovered: 2, left: 4 } })
    }),
  )

  test(
    'a cancel that a restart finds ends what was begun, also where Nova refuses to list its services',
    withRig({}, async (rig) => {
      const uuid = await stoppedInTheMiddle(rig)
      rig.restart()
      rig.cancel()
      rig.simulator.apiFault({ kind: 'refuse', method: 'GET', path: /os-services/, status: 403 })
      await rig.run()
      expect(rig.incident.closed?.outcome).toBe('cancelled')
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'left', code: 'CANCELLED' })
      expect(rig.simulator.instance(uuid).locked).toBe(false)
    }),
  )

  test(
    'a stop that cuts off a reading of the survey leaves no plan made of what was not read',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'stopped' })
      const stop = new AbortController()
      rig.simulator.apiFault({ kind: 'slow', method: 'GET', path: /os-instance-actions/, delayMs: 300 })
      rig.hostDies()
      const run = rig.run(stop.signal)
      const asked = (): boolean => rig.simulator.requests().some((at) => at.path.includes('os-instance-actions'))
      await rig.until(asked, 'its history is asked for')
      // The survey is needed by now, and waits for that answer.
      await rig.until(() => rig.incident.phase === 'surveying', 'surveying')
      stop.abort()
      await run
      expect(rig.entries(['plan.made'])).toEqual([])
      rig.simulator.clearApiFaults()
      rig.restart()
      await rig.run()
      expect(rig.outcome(uuid).outcome).toBe('recovered')
      expect(rig.recovery(uuid).plan.original.flagged).toBe(false)
    }),
  )

  test(
    'a cancel while the recovery is paused takes effect at once',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      rig.onWrite = () => undefined
      rig.hostDies()
      const held = { allowed: false, hold: 'PAUSED', message: 'lunch' } as const
      rig.wrapJournal = (journal) => ({
        ...journal,
        append: (entries) => {
          const written = journal.append(entries)
          if (entries.some((entry) => entry.kind === 'plan.made')) rig.hold = held
          return written
        },
      })
      const run = rig.run()
      await rig.until(() => rig.incident.held?.code === 'PAUSED', 'held')
      rig.cancel()
      await run
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'left', code: 'CANCELLED' })
      expect(rig.sent('evacuate')).toBe(0)
    }),
  )
})

describe.concurrent('an orderly stop in the middle, and a new start over the same journal', () => {
  for (const after of [1, 2, 4, 6]) {
    test(
      `stopped after ${after} writes: each instance is evacuated once and has one line`,
      withRig({ segment: { maxParallelPerHost: 3 } }, async (rig) => {
        const running = Array.from({ length: 3 }, () => rig.simulator.addInstance({ host: dead }).uuid)
        const stopped = rig.simulator.addInstance({ host: dead, state: 'stopped' }).uuid
        const paused = rig.simulator.addInstance({ host: dead, state: 'paused' }).uuid
        const resized = rig.simulator.addInstance({ host: dead, state: 'resized-running', otherHost: 'cmp02' }).uuid
        for (const host of ['cmp02', 'cmp03']) rig.simulator.fault(host, { slowSpawnMs: 50 })
        const stop = new AbortController()
        let seen = 0
        rig.beforeWrite = () => {
          if (++seen === after) stop.abort()
        }
        rig.hostDies()
        await rig.run(stop.signal)
        expect(rig.incident.closed).toBeNull()
        rig.restart()
        await rig.run()
        for (const uuid of [...running, stopped, paused, resized]) {
          expect(rig.outcome(uuid).outcome).toBe('recovered')
          expect(rig.simulator.evacuationsOf(uuid)).toHaveLength(1)
          expect(rig.simulator.instance(uuid).locked).toBe(false)
        }
        expect(rig.simulator.instance(stopped).vmState).toBe('stopped')
        expect(rig.simulator.instance(paused).vmState).toBe('stopped')
        for (const uuid of [...running, resized]) expect(rig.simulator.instance(uuid).vmState).toBe('active')
      }),
    )
  }
})
