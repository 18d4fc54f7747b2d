/** While its copy's disk is full a shared journal lists nothing of the newest incidents; what the daemon works on is listed all the same. */
import { expect, it } from 'vitest'
import { incidentSummaries } from '../../src/review/incident-listing.ts'
import { SmallWorld } from '../daemon/small-world.ts'

it(
  'an incident that is open is listed although the journal has no line of it yet',
  SmallWorld.run({}, async (world) => {
    world.simulator.addInstance({ name: 'web', host: 'cmp01' })
    world.simulator.bmc('cmp01').reachable = false
    world.simulator.crash('cmp01')
    await world.until(() => world.incident('cmp01') !== undefined)
    const { journal, daemon } = world
    const { store } = daemon
    const without = { read: journal.read, incidents: () => [] }
    const hosts = (filter: object): string[] => incidentSummaries(without, store, filter).map(({ host }) => host)
    expect([hosts({}), hosts({ open: true, host: 'cmp01' }), hosts({ host: 'cmp02' })]).toEqual([
      ['cmp01'],
      ['cmp01'],
      [],
    ])
    expect(hosts({ limit: 0 })).toEqual([])
    // Also where the journal has as many older ones as are asked for.
    const [older] = journal.incidents()
    const ofOld = {
      ...without,
      incidents: () => [{ ...older!, id: 'old', host: 'cmp09', openedAt: '2000-01-01T00:00:00.000Z' }],
    }
    expect(incidentSummaries(ofOld, store, { limit: 1 }).map(({ host }) => host)).toEqual(['cmp01'])
  }),
)
