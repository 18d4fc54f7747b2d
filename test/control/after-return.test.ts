/** What people read of a host that came back by itself, while Nova still shows its guests as running and afterwards. */
import { expect, it } from 'vitest'
import type { IncidentReview } from '../../src/domain/review.ts'
import { incidentReport } from '../../src/review/report.ts'
import { SmallWorld } from '../daemon/small-world.ts'

const ann = { by: 'ann', reason: 'power works' }

/** cmp01 dies while recoveries are paused, and is back before they are resumed. */
async function back(world: SmallWorld): Promise<() => IncidentReview> {
  const { simulator, daemon } = world
  await daemon.operations.pause({ ...ann, until: null })
  simulator.crash('cmp01')
  await world.until(() => world.incident('cmp01')?.held?.code === 'PAUSED')
  simulator.start('cmp01')
  await world.until(() => daemon.monitor.verdict('cmp01')?.kind === 'healthy')
  await daemon.operations.resume(ann)
  const { id } = await world.ended('cmp01')
  return () => daemon.review.incident(id)
}

it(
  'before Nova has compared nothing is said to be well, and afterwards each instance that is off has its line',
  SmallWorld.run({}, async (world) => {
    const { simulator, daemon } = world
    const { uuid } = simulator.addInstance({ name: 'web', host: 'cmp01' })
    const review = await back(world)
    expect(review()).toMatchObject({ ended: { outcome: 'returned' }, watched: { to: 'watching', off: 0 }, lines: [] })
    expect(review().headline).toMatch(/cmp01 is back; which of its instances are off is being found out\.$/)
    expect(review().advice.map(({ code }) => code)).toEqual(['INSTANCES_WATCHED'])

    await world.until(() => review().watched?.to === 'known')
    const { id, advice, headline, lines, outcomes } = review()
    expect(lines).toMatchObject([{ id: uuid, outcome: 'left', code: 'OFF_AFTER_RETURN' }])
    expect(outcomes).toEqual({ left: 1 })
    expect(headline).toMatch(/cmp01 is back, and one instance that ran on it before is off\.$/)
    expect(advice[0]).toMatchObject({
      code: 'INSTANCES_OFF',
      command: `lifeboat incident start ${id} --reason "why"`,
      instances: [uuid],
    })
    // The overview does not call that well, and it stays until someone signs.
    expect(daemon.operations.status().incidents.unsettled).toEqual({ incidents: 1, left: 1, lost: 0 })
    expect(incidentReport(id, world.journal.read({ incident: id }))).toContain(
      'cmp01 is back, and one instance that ran on it before is off',
    )

    await daemon.operations.startInstances(id, ann)
    await world.until(() => review().watched?.off === 0)
    expect(review().advice).toEqual([])
    expect(daemon.operations.status().incidents.unsettled.left).toBe(0)
    expect(simulator.truth().running[uuid]).toEqual(['cmp01'])
  }),
)

it(
  'an order to start is refused where there is nothing to start',
  SmallWorld.run({}, async (world) => {
    const { daemon } = world
    const asked = async (id: string): Promise<unknown> => daemon.operations.startInstances(id, ann)
    await expect(asked('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const review = await back(world)
    await world.until(() => review().watched?.to === 'known')
    await expect(asked(review().id)).rejects.toMatchObject({ code: 'CONFLICT' })
  }),
)

it(
  'advice about what was left changes once its host is back, and names only what is still there',
  SmallWorld.run({}, async (world) => {
    const { simulator, daemon } = world
    const there = simulator.addInstance({ name: 'there', host: 'cmp01', vtpm: true, volumeBacked: true })
    const gone = simulator.addInstance({ name: 'gone', host: 'cmp01', vtpm: true, volumeBacked: true })
    simulator.crash('cmp01')
    const { id } = await world.ended('cmp01')
    const failed = (): string[] => daemon.review.incident(id).advice.map(({ code }) => code)
    expect(failed()).toContain('INSTANCES_FAILED')
    Object.assign(gone, { vmState: 'deleted', deletedAt: simulator.world.wall() })
    simulator.start('cmp01')
    await world.until(() => world.journal.read({ kinds: ['service.restored'] }).length > 0)
    expect(failed()).not.toContain('INSTANCES_FAILED')
    const advice = daemon.review.incident(id).advice.find(({ code }) => code.startsWith('INSTANCES_ON_RETURNED_HOST'))
    expect(advice?.instances).toEqual([there.uuid])
    expect(advice?.text).toContain('still on cmp01 (API_REFUSED), which has been back since')
  }),
)
