/** Maintenance for a later time: when it begins, what ends it, and what is said of a beginning that could not be recorded. */
import { describe, expect, it, test } from 'vitest'
import { sentenceOf } from '../../src/domain/text/entry-sentence.ts'
import { day, host, hour, minute, nightly, OrdersRig, segment } from './orders-rig.ts'

const ann = { by: 'ann', reason: 'work', until: null }
const atTwo = { ...ann, from: '2026-01-01T02:00Z', forMs: 4 * hour, scope: host('h') }
const inForce = 'in maintenance by ann until 2026-01-01T06:00:00.000Z (host h): work'

function plans(rig: OrdersRig): string[] {
  return rig.orders.planned().map(({ plan, from, until }) => `${plan}: ${from} to ${until}`)
}

function said(rig: OrdersRig): string[] {
  return rig.journal.read({ kinds: ['operator.maintenance', 'operator.maintenance-withdrawn'] }).map((entry) => {
    const { text } = sentenceOf(entry)
    return text
  })
}

/** The journal takes nothing until the returned function is called. */
function refusing(rig: OrdersRig): () => void {
  const { append } = rig.journal
  rig.journal.append = () => {
    throw new Error('disk full')
  }
  return () => void (rig.journal.append = append)
}

describe('planned maintenance', () => {
  test(
    'is in force from its time on, to the millisecond, and for its length',
    OrdersRig.run(async (rig) => {
      const { plan } = await rig.acts.planMaintenance(atTwo)
      expect([plans(rig), rig.inForce()]).toEqual([
        [`${plan}: 2026-01-01T02:00:00.000Z to 2026-01-01T06:00:00.000Z`],
        [],
      ])
      rig.pass(2 * hour - 1)
      expect([rig.inForce(), rig.orders.nextChangeInMs()]).toEqual([[], 1])
      rig.pass(1)
      expect([plans(rig), rig.inForce()]).toEqual([[], [inForce]])
      rig.pass(4 * hour - 1)
      expect(rig.inForce()).toEqual([inForce])
      rig.pass(1)
      expect(rig.inForce()).toEqual([])
      expect(rig.written('operator.')).toEqual([
        '01-01T00:00 operator:ann operator.maintenance-planned',
        '01-01T02:00 daemon operator.maintenance',
        '01-01T06:00 daemon operator.maintenance-ended',
      ])
      expect(said(rig)).toEqual([
        `Maintenance ${plan} of host h, planned by ann, began, until 2026-01-01T06:00:00.000Z: work`,
      ])
    }),
  )

  test(
    'replaces a plan for the same moment, but for one of somebody else that would end later',
    OrdersRig.run(async (rig) => {
      const { plan } = await rig.acts.planMaintenance(atTwo)
      const byBob = { ...atTwo, by: 'bob' }
      expect(() => rig.acts.planMaintenance({ ...byBob, forMs: hour })).toThrow(
        `There is maintenance ${plan} of host h (from 2026-01-01T02:00:00.000Z) by ann already; a plan that ends sooner would replace it`,
      )
      await rig.acts.planMaintenance({ ...atTwo, forMs: hour })
      await rig.acts.planMaintenance({ ...byBob, forMs: 2 * hour })
      expect(plans(rig)).toEqual([expect.stringContaining('02:00:00.000Z to 2026-01-01T04:00')])
    }),
  )

  test(
    'that passed by a wall clock that ran ahead begins in its time, also after a restart',
    OrdersRig.run(async (rig) => {
      await rig.acts.planMaintenance(atTwo)
      rig.stepWall(7 * hour)
      rig.pass(0)
      expect([plans(rig), rig.inForce()]).toEqual([[], []])
      rig.stepWall(-7 * hour)
      expect(plans(rig)).toHaveLength(1)
      rig.restart(0)
      rig.pass(2 * hour)
      expect(rig.inForce()).toEqual([inForce])
      rig.pass(4 * hour)
      expect(rig.inForce()).toEqual([])
    }),
  )

  test(
    'that passed is not taken up by a wall clock of before it was ordered, nor once a person withdrew it',
    OrdersRig.run(async (rig) => {
      const { plan } = await rig.acts.planMaintenance(atTwo)
      rig.stepWall(7 * hour)
      rig.pass(0)
      rig.stepWall(-8 * hour)
      expect(plans(rig)).toEqual([])
      rig.stepWall(hour)
      await rig.acts.withdrawMaintenance({ plan, by: 'ann', reason: 'not needed' })
      rig.pass(2 * hour)
      expect(rig.inForce()).toEqual([])
    }),
  )

  test(
    'that began by a wall clock that ran ahead lasts for its length and holds in its time',
    OrdersRig.run(async (rig) => {
      await rig.acts.planMaintenance(atTwo)
      rig.stepWall(5 * hour)
      rig.stepWall(-5 * hour)
      rig.pass(hour - 1)
      expect([rig.inForce(), plans(rig)]).toEqual([[inForce], []])
      rig.pass(1)
      expect([rig.inForce(), plans(rig)]).toEqual([[], [expect.stringContaining('02:00:00.000Z to 2026-01-01T06:00')]])
      rig.restart(0)
      rig.pass(hour)
      expect(rig.inForce()).toEqual([inForce])
      rig.pass(4 * hour)
      expect(rig.inForce()).toEqual([])
    }),
  )

  test(
    'that began by a wall clock that ran ahead and that a person ended then still takes place in its time',
    OrdersRig.run(async (rig) => {
      await rig.acts.planMaintenance(atTwo)
      rig.stepWall(5 * hour)
      rig.stepWall(-5 * hour)
      await rig.acts.endMaintenance({ ...ann, scope: host('h') })
      expect([rig.inForce(), plans(rig)]).toEqual([[], [expect.stringContaining('02:00:00.000Z to 2026-01-01T06:00')]])
      rig.restart(0)
      rig.pass(2 * hour)
      expect(rig.inForce()).toEqual([inForce])
    }),
  )

  test(
    'that began by a wall clock that ran ahead, and whose length is over in its time, lasts to its end',
    OrdersRig.run(async (rig) => {
      await rig.acts.planMaintenance(atTwo)
      rig.stepWall(5 * hour)
      rig.stepWall(-2.5 * hour)
      rig.pass(2 * hour)
      expect(rig.inForce()).toEqual([inForce])
      rig.pass(1.5 * hour)
      expect([rig.inForce(), plans(rig)]).toEqual([[], []])
    }),
  )

  test(
    'that passed is not ended with another order while the wall clock runs ahead',
    OrdersRig.run(async (rig) => {
      await rig.acts.planMaintenance(atTwo)
      await rig.acts.startMaintenance({ ...ann, until: null, scope: host('h') })
      rig.stepWall(7 * hour)
      await rig.acts.endMaintenance({ ...ann, scope: host('h') })
      rig.stepWall(-7 * hour)
      rig.pass(2 * hour)
      expect(rig.inForce()).toEqual([inForce])
    }),
  )

  test(
    'without an end lasts until someone ends it, and is brought to mind like any other',
    OrdersRig.run(async (rig) => {
      await rig.acts.planMaintenance({ ...ann, from: '2026-01-01T02:00Z', scope: host('h') })
      rig.pass(2 * hour)
      rig.pass(day)
      expect(rig.inForce()).toEqual(['in maintenance by ann until ended (host h): work'])
      expect(rig.journal.read({ kinds: ['alarm.raised'] })).toHaveLength(1)
      await rig.acts.endMaintenance({ ...ann, scope: host('h') })
      expect(rig.inForce()).toEqual([])
    }),
  )

  test(
    'stands beside another order of the same scope: neither ends the other early',
    OrdersRig.run(async (rig) => {
      await rig.acts.startMaintenance({ ...ann, by: 'bob', until: '2026-01-01T08:00:00.000Z', scope: host('h') })
      await rig.acts.planMaintenance(atTwo)
      rig.pass(2 * hour)
      const bobs = 'in maintenance by bob until 2026-01-01T08:00:00.000Z (host h): work'
      expect(rig.inForce()).toEqual([bobs, inForce])
      rig.pass(4 * hour)
      expect(rig.inForce()).toEqual([bobs])
    }),
  )

  test(
    'of one scope may be planned several times; the same beginning again replaces the first',
    OrdersRig.run(async (rig) => {
      await rig.acts.planMaintenance(atTwo)
      await rig.acts.planMaintenance({ ...atTwo, from: '2026-01-03T02:00Z' })
      const { plan } = await rig.acts.planMaintenance({ ...atTwo, forMs: hour })
      await rig.acts.planMaintenance({ ...atTwo, scope: segment('h') })
      expect(plans(rig)).toHaveLength(3)
      expect(plans(rig)).toContain(`${plan}: 2026-01-01T02:00:00.000Z to 2026-01-01T03:00:00.000Z`)
    }),
  )

  test(
    'and a calendar window of the same host end each on its own',
    OrdersRig.run(async (rig) => {
      rig.windows.push(nightly({ scopes: [host('h')], durationMs: hour }))
      await rig.acts.planMaintenance(atTwo)
      rig.pass(2 * hour)
      expect(rig.inForce()).toHaveLength(2)
      rig.pass(hour)
      expect(rig.inForce()).toEqual([inForce])
    }),
  )
})

describe('to withdraw a planned maintenance', () => {
  test(
    'keeps it from beginning, a millisecond before its time too',
    OrdersRig.run(async (rig) => {
      const { plan } = await rig.acts.planMaintenance(atTwo)
      rig.pass(2 * hour - 1)
      await rig.acts.withdrawMaintenance({ plan, by: 'bob', reason: 'no parts' })
      rig.pass(hour)
      rig.restart(minute)
      expect([plans(rig), rig.inForce()]).toEqual([[], []])
      expect(said(rig)).toEqual([`bob withdrew planned maintenance ${plan} of host h: no parts`])
    }),
  )

  test(
    'is refused once its time has come, whether that is on record or not',
    OrdersRig.run(async (rig) => {
      const { plan } = await rig.acts.planMaintenance(atTwo)
      const withdraw = async (): Promise<void> => rig.acts.withdrawMaintenance({ plan, by: 'bob', reason: 'no parts' })
      const refusal = {
        code: 'CONFLICT',
        message: `Maintenance ${plan} of host h began at 2026-01-01T02:00:00.000Z; it can no longer be withdrawn; end it instead`,
      }
      rig.clock.wallMs += 2 * hour
      await expect(withdraw()).rejects.toMatchObject(refusal)
      rig.pass(0)
      await expect(withdraw()).rejects.toMatchObject(refusal)
    }),
  )

  test(
    'is a conflict for the second of two people, who is told who was first',
    OrdersRig.run(async (rig) => {
      const { plan } = await rig.acts.planMaintenance(atTwo)
      const withdraw = async (by: string): Promise<void> =>
        rig.acts.withdrawMaintenance({ plan, by, reason: 'no parts' })
      await withdraw('bob')
      await expect(withdraw('carol')).rejects.toMatchObject({
        code: 'CONFLICT',
        message: `Maintenance ${plan} of host h was withdrawn at 2026-01-01T00:00:00.000Z by bob`,
      })
    }),
  )

  test(
    'is a conflict once it is over',
    OrdersRig.run(async (rig) => {
      const { plan } = await rig.acts.planMaintenance(atTwo)
      rig.pass(2 * hour)
      await rig.acts.endMaintenance({ ...ann, scope: host('h') })
      const late = async (): Promise<void> => rig.acts.withdrawMaintenance({ plan, by: 'bob', reason: 'no parts' })
      await expect(late()).rejects.toMatchObject({
        code: 'CONFLICT',
        message: `Maintenance ${plan} of host h is over`,
      })
    }),
  )

  test(
    'that nothing is known of is refused, with those that there are',
    OrdersRig.run(async (rig) => {
      const withdraw = async (): Promise<void> =>
        rig.acts.withdrawMaintenance({ plan: 99, by: 'bob', reason: 'no parts' })
      await expect(withdraw()).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'No maintenance 99 is planned (none is)',
      })
      const { plan } = await rig.acts.planMaintenance(atTwo)
      await expect(withdraw()).rejects.toMatchObject({ message: expect.stringContaining(`(planned: ${plan})`) })
    }),
  )

  test(
    'is what a person is told who would end it before it began',
    OrdersRig.run(async (rig) => {
      const { plan } = await rig.acts.planMaintenance(atTwo)
      const end = async (): Promise<void> => rig.acts.endMaintenance({ ...ann, scope: host('h') })
      await expect(end()).rejects.toMatchObject({
        message: `No maintenance of host h is in force (none is); maintenance ${plan} of host h (from 2026-01-01T02:00:00.000Z) is still to begin: withdraw it`,
      })
    }),
  )
})

describe('the beginning of a planned maintenance', () => {
  test(
    'passes while no daemon runs: the next one knows it at once, and it ends when it was ordered to',
    OrdersRig.run(async (rig) => {
      const { plan } = await rig.acts.planMaintenance(atTwo)
      rig.restart(3 * hour)
      expect(rig.inForce()).toEqual([inForce])
      expect(said(rig)).toEqual([
        `Maintenance ${plan} of host h, planned by ann, began at 2026-01-01T02:00:00.000Z while no daemon was active, until 2026-01-01T06:00:00.000Z: work`,
      ])
      rig.pass(3 * hour - 1)
      expect(rig.inForce()).toEqual([inForce])
      rig.pass(1)
      expect(rig.inForce()).toEqual([])
    }),
  )

  test(
    'passes while the journal cannot be written: it is in force all the same, and recorded later',
    OrdersRig.run(async (rig) => {
      const { plan } = await rig.acts.planMaintenance(atTwo)
      const mended = refusing(rig)
      expect(() => rig.pass(2 * hour)).toThrow('disk full')
      expect(rig.inForce()).toEqual([inForce])
      expect(() => rig.pass(hour)).toThrow('disk full')
      mended()
      rig.pass(1)
      expect(rig.inForce()).toEqual([inForce])
      expect(said(rig)).toEqual([
        `Maintenance ${plan} of host h, planned by ann, began at 2026-01-01T02:00:00.000Z while the journal could not be written, until 2026-01-01T06:00:00.000Z: work`,
      ])
      rig.pass(3 * hour - 1)
      expect(rig.inForce()).toEqual([])
    }),
  )

  test(
    'and its whole time pass while no daemon runs: it does not begin, and that is on record once',
    OrdersRig.run(async (rig) => {
      const { plan } = await rig.acts.planMaintenance(atTwo)
      rig.restart(6 * hour)
      rig.restart(minute)
      expect([plans(rig), rig.inForce()]).toEqual([[], []])
      expect(said(rig)).toEqual([
        `daemon withdrew planned maintenance ${plan} of host h: its time, 2026-01-01T02:00:00.000Z to 2026-01-01T06:00:00.000Z, passed while no daemon was active`,
      ])
    }),
  )

  test(
    'and its whole time pass while the journal cannot be written: it is in force until its end is on record',
    OrdersRig.run(async (rig) => {
      await rig.acts.planMaintenance(atTwo)
      const mended = refusing(rig)
      expect(() => rig.pass(2 * hour)).toThrow('disk full')
      expect(() => rig.pass(5 * hour)).toThrow('disk full')
      expect(rig.inForce()).toEqual([inForce])
      mended()
      rig.pass(1)
      expect(rig.inForce()).toEqual([])
      expect(said(rig).at(-1)).toMatch(/passed while the journal could not be written$/)
    }),
  )

  test(
    'is not on record yet when a person ends it: it ends',
    OrdersRig.run(async (rig) => {
      await rig.acts.planMaintenance(atTwo)
      await rig.acts.planMaintenance({ ...atTwo, from: '2026-01-02T02:00Z' })
      rig.clock.wallMs += 2 * hour
      await rig.acts.endMaintenance({ ...ann, scope: host('h') })
      rig.pass(0)
      rig.restart(minute)
      expect(rig.inForce()).toEqual([])
      expect(plans(rig)).toHaveLength(1)
    }),
  )

  it.each([
    ['forward over it', 3 * hour, [inForce]],
    ['back before it is there', -hour, []],
  ])('follows a wall clock that is set %s, as the calendar does', (_name, stepMs, expected) =>
    OrdersRig.run(async (rig) => {
      await rig.acts.planMaintenance(atTwo)
      rig.pass(0)
      rig.stepWall(stepMs)
      expect(rig.inForce()).toEqual(expected)
      expect(said(rig).join()).not.toContain('while')
    })(),
  )

  test(
    'is not undone by a wall clock that is set back behind it',
    OrdersRig.run(async (rig) => {
      await rig.acts.planMaintenance(atTwo)
      rig.pass(2 * hour)
      rig.stepWall(-hour)
      rig.restart(minute)
      expect([plans(rig), rig.inForce()]).toEqual([[], [inForce]])
    }),
  )
})
