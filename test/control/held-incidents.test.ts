/** What may happen while an incident waits: hosts come back, the daemon restarts, people change their minds, disks fill up. */
import { describe, expect, test } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import { Fleet } from '../daemon/fleet.ts'

const dead = 'cmp01'
const ann = { by: 'ann', reason: 'repair' }

/** The host dies and its BMC does not answer: the incident waits for a proof. */
async function waitsForProof(fleet: Fleet): Promise<string> {
  const { uuid } = fleet.simulator.addInstance({ host: dead })
  await fleet.healthy()
  fleet.simulator.bmc(dead, { reachable: false })
  fleet.simulator.crash(dead)
  await fleet.held(dead, 'FENCE_FAILED')
  return uuid
}

function comesBack(fleet: Fleet): void {
  fleet.simulator.bmc(dead, { reachable: true })
  fleet.simulator.start(dead)
}

async function expectUntouched(fleet: Fleet): Promise<void> {
  await fleet.polls(4)
  expect(fleet.writes()).toEqual([])
  expect(fleet.powerOffs()).toBe(0)
  expect(fleet.simulator.bmc(dead).power).toBe('On')
}

describe.concurrent('a host that came back is neither powered off nor evacuated', () => {
  test(
    'when it was repaired while its incident waited for a proof and no daemon ran',
    Fleet.run({}, async (fleet) => {
      await waitsForProof(fleet)
      await fleet.restart({}, async () => {
        comesBack(fleet)
        const { service } = fleet.simulator.world.host(dead)
        await fleet.until(() => service.beatingSince !== null, 'beating')
      })
      expect(await fleet.ended(dead)).toMatchObject({ ended: { outcome: 'returned' } })
      await expectUntouched(fleet)
    }),
  )

  test(
    'when it was repaired under a pause',
    Fleet.run({}, async (fleet) => {
      await waitsForProof(fleet)
      await fleet.daemon.operations.pause({ ...ann, until: null })
      await fleet.held(dead, 'PAUSED')
      comesBack(fleet)
      await fleet.until(() => fleet.verdict(dead) === 'healthy', 'healthy')
      await fleet.daemon.operations.resume(ann)
      expect(await fleet.ended(dead)).toMatchObject({ ended: { outcome: 'returned' } })
      await expectUntouched(fleet)
    }),
  )

  test(
    'when a person had stated its death before it was repaired under a pause',
    Fleet.run({}, async (fleet) => {
      await waitsForProof(fleet)
      await fleet.daemon.operations.pause({ ...ann, until: null })
      await fleet.held(dead, 'PAUSED')
      await fleet.daemon.operations.recover({ host: dead, by: 'ann', proof: 'it is dark' })
      comesBack(fleet)
      await fleet.until(() => fleet.verdict(dead) === 'healthy', 'healthy')
      await fleet.daemon.operations.resume(ann)
      expect(await fleet.ended(dead)).toMatchObject({ ended: { outcome: 'returned' } })
      await expectUntouched(fleet)
    }),
  )

  test(
    'when someone powered it on again between its proof and the first word to Nova',
    Fleet.run({}, async (fleet) => {
      const { uuid } = fleet.simulator.addInstance({ host: dead })
      await fleet.healthy()
      fleet.journal.onAppend(({ kind }) => {
        if (kind === 'proof.recorded') void fleet.daemon.operations.pause({ ...ann, until: null })
      })
      fleet.simulator.crash(dead)
      await fleet.held(dead, 'PAUSED')
      fleet.simulator.start(dead)
      await fleet.until(() => fleet.verdict(dead) === 'healthy', 'healthy')
      await fleet.daemon.operations.resume(ann)
      await fleet.held(dead, 'HOST_ALIVE')
      await fleet.polls(4)
      expect(fleet.writes()).toEqual([])
      expect(fleet.simulator.instance(uuid).host).toBe(dead)
    }),
  )
})

describe.concurrent('what a person decided outlives a restart', () => {
  test(
    'an armed incident sends nothing once the daemon only observes, and goes on when it is armed again',
    Fleet.run({}, async (fleet) => {
      const uuid = await waitsForProof(fleet)
      await fleet.restart({ mode: 'observe' }, () => void fleet.simulator.bmc(dead, { reachable: true }))
      await fleet.held(dead, 'OBSERVING')
      await expectUntouched(fleet)
      await fleet.restart({ mode: 'armed' })
      expect(await fleet.ended(dead)).toMatchObject({ outcomes: { recovered: 1 } })
      expect(fleet.simulator.evacuationsOf(uuid)).toHaveLength(1)
    }),
  )

  test(
    'a cancelled incident is not opened again for the same death',
    Fleet.run({}, async (fleet) => {
      await waitsForProof(fleet)
      await fleet.daemon.operations.cancel(fleet.incident(dead)?.id ?? '', ann)
      await fleet.ended(dead)
      await fleet.restart({}, () => void fleet.simulator.bmc(dead, { reachable: true }))
      await fleet.until(() => fleet.verdict(dead) === 'host-down', 'host-down')
      await expectUntouched(fleet)
      expect(fleet.daemon.operations.incidents({})).toHaveLength(1)
    }),
  )
})

test.concurrent(
  'a host that a person left dead, and that lives while nothing can be written, is recovered when it dies again',
  Fleet.run({}, async (fleet) => {
    await waitsForProof(fleet)
    await fleet.daemon.operations.cancel(fleet.incident(dead)?.id ?? '', ann)
    await fleet.ended(dead)
    const { append } = fleet.journal
    fleet.journal.append = () => {
      throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
    }
    fleet.simulator.start(dead)
    await fleet.until(() => fleet.verdict(dead) === 'healthy', 'healthy')
    fleet.simulator.crash(dead)
    fleet.simulator.bmc(dead, { reachable: true })
    await fleet.until(() => fleet.verdict(dead) === 'host-down', 'host-down')
    fleet.journal.append = append
    await fleet.until(() => fleet.daemon.operations.incidents({}).length === 2, 'a second incident')
    await fleet.ended(dead)
  }),
)

test.concurrent(
  'a disk that is full when a host dies: nothing is done without a record, and the host is recovered once there is room',
  Fleet.run({}, async (fleet) => {
    const { uuid } = fleet.simulator.addInstance({ host: dead })
    await fleet.healthy()
    const { append } = fleet.journal
    let refused = 0
    fleet.journal.append = (entries) => {
      if (!entries.some(({ kind }) => kind === 'incident.opened') || refused >= 3) return append(entries)
      refused += 1
      throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
    }
    fleet.simulator.crash(dead)
    await fleet.until(() => refused === 2, 'refused twice')
    expect(fleet.writes()).toEqual([])
    expect(await fleet.ended(dead)).toMatchObject({ outcomes: { recovered: 1 } })
    expect(fleet.simulator.instance(uuid).host).not.toBe(dead)
  }),
)
