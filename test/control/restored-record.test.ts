/** A host whose record Nova loses and gets back without life: a database was restored, and nobody may be forgotten over it. */
import { expect, it } from 'vitest'
import { SmallWorld } from '../daemon/small-world.ts'

const host = 'cmp01'
const incidents = (world: SmallWorld): number => world.daemon.operations.incidents({ host }).length

async function waiting(world: SmallWorld): Promise<void> {
  world.simulator.bmc(host, { reachable: false })
  world.simulator.crash(host)
  await world.until(() => world.incident(host)?.held?.code === 'FENCE_FAILED')
}

it(
  'gets its incident again when the first ended because Nova listed it no longer',
  SmallWorld.run({}, async (world) => {
    await waiting(world)
    world.simulator.world.deletedServices.add(host)
    await world.ended(host)
    world.simulator.world.deletedServices.delete(host)
    await world.until(() => incidents(world) === 2)
    expect(world.daemon.operations.incidents({ open: true })).toMatchObject([{ host }])
  }),
)

it(
  'is left alone when a person cancelled it',
  SmallWorld.run({}, async (world) => {
    await waiting(world)
    const id = world.incident(host)?.id ?? ''
    await world.clock.run(world.daemon.operations.cancel(id, { by: 'ann', reason: 'it is scrap' }))
    await world.ended(host)
    world.simulator.world.deletedServices.add(host)
    await world.until(() => world.daemon.monitor.verdict(host)?.reason === 'ROW_MISSING')
    world.simulator.world.deletedServices.delete(host)
    await world.until(() => world.daemon.monitor.verdict(host)?.kind === 'host-down')
    await world.clock.advance(60_000)
    expect(incidents(world)).toBe(1)
  }),
)
