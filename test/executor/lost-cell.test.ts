/** Nova lists nothing of a cell that it cannot reach, without a word: no empty list ends an incident (laws L7, L9). */
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../src/domain/entry.ts'
import type { ServiceRecord, ServicesReading } from '../../src/domain/service.ts'
import { isRemoved, requireCell } from '../../src/executor/survey.ts'
import { dead, withRig, type Rig } from './rig.ts'

/** Loses the dead host's cell in the moment in which the incident enters that phase. */
function loseCellAt(rig: Rig, phase: string): { lost: () => boolean; giveBack: () => void } {
  let lost = false
  rig.wrapJournal = (journal) => ({
    ...journal,
    append: (entries) => {
      const written = journal.append(entries)
      const enters = (entry: Entry): boolean => entry.kind === 'incident.phase' && entry.data.to === phase
      if (!lost && written.some(enters)) {
        lost = true
        rig.simulator.cellDown([dead])
      }
      return written
    },
  })
  return { lost: () => lost, giveBack: () => rig.simulator.cellDown([dead], false) }
}

describe.concurrent('a cell that is lost', () => {
  test(
    'before the survey: the incident waits, and every instance has its outcome',
    withRig({ segment: { onServiceDown: 'fence' } }, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      // Isolated: surveyed only once it is fenced.
      rig.wrapPermissions = (permissions) => ({
        ...permissions,
        lookAgain: async (...asked) => {
          const look = await permissions.lookAgain(...asked)
          return { ...look, verdict: { ...look.verdict, kind: 'service-down' } }
        },
      })
      const cell = loseCellAt(rig, 'surveying')
      rig.hostDies()
      const run = rig.run()
      await rig.until(() => rig.incident.held?.code === 'CLOUD_UNAVAILABLE', 'held')
      expect(cell.lost()).toBe(true)
      expect(rig.incident).toMatchObject({ phase: 'surveying', closed: null })
      cell.giveBack()
      rig.cancel()
      await run
      expect(rig.sent('evacuate', uuid)).toBe(0)
    }),
  )

  test(
    'just while the host is listed for the last time: the empty list ends nothing',
    withRig({}, async (rig) => {
      rig.simulator.addInstance({ host: dead })
      const late: string[] = []
      let sweptOnce = false
      rig.wrapCloud = (cloud) => ({
        ...cloud,
        listInstances: async (...asked) => {
          const listed = await cloud.listInstances(...asked)
          rig.simulator.cellDown([dead], false)
          return listed
        },
      })
      rig.onWrite = (kind) => {
        // Scheduled to the host in the moment of its death, and shown only now.
        if (kind === 'evacuate' && late.length === 0)
          late.push(rig.simulator.addInstance({ host: dead, state: 'stopped' }).uuid)
      }
      rig.wrapJournal = (journal) => ({
        ...journal,
        append: (entries) => {
          const written = journal.append(entries)
          const sweeps = (entry: Entry): boolean => entry.kind === 'incident.phase' && entry.data.to === 'sweeping'
          if (!sweptOnce && written.some(sweeps)) {
            sweptOnce = true
            rig.simulator.cellDown([dead])
          }
          return written
        },
      })
      rig.hostDies()
      await rig.run()
      expect(rig.outcome(late[0] ?? '')).toMatchObject({ outcome: 'recovered' })
    }),
  )

  test(
    'before the last sweep: the incident is not closed',
    withRig({}, async (rig) => {
      rig.simulator.addInstance({ host: dead })
      const cell = loseCellAt(rig, 'sweeping')
      rig.hostDies()
      const run = rig.run()
      await rig.until(() => rig.incident.held?.code === 'CLOUD_UNAVAILABLE', 'held')
      expect(cell.lost()).toBe(true)
      expect(rig.incident).toMatchObject({ phase: 'sweeping', closed: null })
      cell.giveBack()
      rig.cancel()
      await run
    }),
  )
})

describe('a host was deleted from Nova', () => {
  const row = (host: string, change: Partial<ServiceRecord> = {}): ServiceRecord =>
    ({ id: host, binary: 'nova-compute', host, status: 'enabled', ...change }) as ServiceRecord
  const reading = (services: ServiceRecord[], showsLostCells = true): ServicesReading => ({
    ...{ services, showsLostCells, serverTimeMs: null, tookMs: 1 },
  })

  test.each([
    ['its row is gone and every other can be read', reading([row('other')]), true],
    ['its row is there', reading([row('other'), row('h')]), false],
    ['its row is there and unreadable', reading([row('other'), row('h', { status: 'unknown' })]), false],
    ['some other cell does not answer', reading([row('other'), row('far', { status: 'unknown' })]), false],
    ['this Nova leaves out the rows of such a cell', reading([row('other')], false), false],
    ['no host is listed at all', reading([row('conductor', { binary: 'nova-conductor' })]), false],
    ['only another service of its name is left', reading([row('other'), row('h', { binary: 'nova-scheduler' })]), true],
  ])('%s', (_, services, is) => {
    expect(isRemoved(services, 'h')).toBe(is)
  })
})

describe('the row of a host says whether its cell was there to be listed', () => {
  const row = (change: Partial<ServiceRecord> = {}): ServiceRecord => ({
    ...{ id: 's-1', binary: 'nova-compute', host: 'h', zone: null, status: 'enabled', state: 'down' },
    ...{ updatedAt: null, forcedDown: false, disabledReason: null },
    ...change,
  })

  test('known, whatever it says', () => {
    expect(() => requireCell([row({ host: 'other', status: 'unknown' }), row()], 'h')).not.toThrow()
  })

  test('unknown: the cell cannot be reached', () => {
    const unknown = row({ id: null, status: 'unknown', state: null })
    expect(() => requireCell([unknown], 'h')).toThrow(expect.objectContaining({ code: 'API_UNAVAILABLE' }))
  })

  test('missing: older Novas leave it out, or someone removed it', () => {
    const others = [row({ host: 'other' }), row({ binary: 'nova-scheduler' })]
    expect(() => requireCell(others, 'h')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
  })
})
