/** A standby that takes over after an outage of the whole control plane: what it could not see of hosts was not silence (law L7). */
import { expect, it } from 'vitest'
import { simulatedSegment } from '../../src/rehearsal/simulated-parts.ts'
import { SmallWorld } from './small-world.ts'

// No witness: silence alone speaks.
const parts = { segmentOf: () => ({ ...simulatedSegment, probes: [] }) }
const hosts = ['cmp01', 'cmp02', 'cmp03', 'cmp04', 'cmp05', 'cmp06']

it(
  'powers no living host off that answers a little later than the others, and has its freeze on record',
  SmallWorld.run({ hosts: hosts.length, parts }, async (world) => {
    const { simulator, clock } = world
    simulator.addInstance({ name: 'web', host: 'cmp02' })
    const standby = world.another()
    const watching = new AbortController()
    const watched = standby.standBy(watching.signal)
    await clock.advance(120_000)
    // The active one dies with the controllers, and records no freeze any more.
    await clock.run(world.daemon.stop('dies'))
    const over = simulator.apiFault({ kind: 'refuse', status: 503 })
    simulator.isolate(...hosts)
    await clock.advance(90_000)
    simulator.start(...hosts.filter((host) => host !== 'cmp02'))
    await clock.advance(10_000)
    over()
    watching.abort()
    await clock.run(watched)
    standby.supersede()
    world.daemon = world.another({ learnt: standby.monitor })
    world.daemon.start()
    await clock.advance(20_000)
    expect(simulator.bmc('cmp02').power).toBe('On')
    const [frozen] = world.journal.read({ kinds: ['monitor.frozen'] })
    expect(frozen?.data).toMatchObject({ reason: 'API_FAILED' })
  }),
)
