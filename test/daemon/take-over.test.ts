/** A standby that takes over after an outage of the whole control plane: what it could not see of hosts was not silence (law L7). */
import { expect, it } from 'vitest'
import { Life } from '../../src/rehearsal/life.ts'
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
    world.daemon = world.another({ watched: standby })
    world.daemon.start()
    await clock.advance(20_000)
    expect(simulator.bmc('cmp02').power).toBe('On')
    const [frozen] = world.journal.read({ kinds: ['monitor.frozen'] })
    expect(frozen?.data).toMatchObject({ reason: 'API_FAILED' })
  }),
)

// Its machine answers, so silence alone kills nobody.
const isolated = { segmentOf: () => ({ ...simulatedSegment, probes: ['network'], onServiceDown: 'fence' as const }) }

it(
  'fences no living host that was silent in an outage through which it stood still',
  SmallWorld.run({ hosts: hosts.length, parts: isolated }, async (world) => {
    const { simulator, clock } = world
    simulator.addInstance({ name: 'web', host: 'cmp02' })
    const life = new Life(clock)
    const standby = world.another({ clock: life })
    const watching = new AbortController()
    const watched = standby.standBy(watching.signal)
    await clock.advance(120_000)
    await clock.run(world.daemon.stop('dies'))
    life.stall(120_000)
    simulator.isolate(...hosts)
    await clock.advance(115_000)
    simulator.start(...hosts.filter((host) => host !== 'cmp02'))
    await clock.advance(25_000)
    watching.abort()
    await clock.run(watched)
    standby.supersede()
    world.daemon = world.another({ clock: life, watched: standby })
    world.daemon.start()
    await clock.advance(20_000)
    expect(simulator.bmc('cmp02').power).toBe('On')
    expect(world.incident('cmp02')?.held?.code).toBe('FROZEN')
    simulator.start('cmp02')
    expect((await world.ended('cmp02')).closed?.outcome).toBe('returned')
    expect(simulator.bmc('cmp02').power).toBe('On')
  }),
)

it(
  'keeps no incident in memory, while it stands by, whose host came back and whose instances are known',
  SmallWorld.run({}, async (world) => {
    const { simulator, clock } = world
    simulator.addInstance({ name: 'web', host: 'cmp02' })
    simulator.bmc('cmp02', { reachable: false })
    const standby = world.another()
    const watching = new AbortController()
    const watched = standby.standBy(watching.signal)
    simulator.crash('cmp02')
    await world.until(() => world.incident('cmp02')?.held?.code === 'FENCE_FAILED')
    simulator.start('cmp02')
    expect((await world.ended('cmp02')).closed?.outcome).toBe('returned')
    expect(standby.store.size).toBe(1)
    const isKnown = (): boolean => world.journal.read({ kinds: ['instances.watched'] }).length > 0
    await world.until(isKnown)
    simulator.syncPower('cmp02')
    await clock.advance(900_000)
    await clock.run(
      world.daemon.operations.startInstances(world.incident('cmp02')?.id ?? '', { by: 'ann', reason: 'x' }),
    )
    await clock.advance(900_000)
    expect([world.daemon.store.size, standby.store.size]).toEqual([0, 0])
    watching.abort()
    await clock.run(watched)
  }),
)
