/** Instances that crashed and wait: what they cost Nova meanwhile. How each ends is told by the scenarios. */
import { describe, expect, it } from 'vitest'
import { SmallWorld } from '../daemon/small-world.ts'

const heldForMs = 600_000

/** Reads of one instance, aggregates, volumes and hypervisors at one look, and a few more. */
const readsALook = 5

describe('an instance that crashed and is held', () => {
  it(
    'is looked at twice a minute, and restarted as soon as nothing holds it',
    SmallWorld.run({}, async (world) => {
      const { simulator, daemon, clock } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      await daemon.operations.pause({ by: 'ann', reason: 'network works', until: null })
      simulator.crashGuest(uuid, { unheard: true })
      const payload = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: uuid }
      const generatedAt = new Date(clock.wall()).toISOString()
      daemon.reports.receive({ about: 'VM', host: 'cmp01', payload, by: 'monitor', via: null, generatedAt })
      await world.until(() => world.incident('cmp01')?.held?.code === 'PAUSED')
      const before = asked(world, uuid)
      await clock.advance(heldForMs)
      expect(asked(world, uuid) - before).toBeLessThanOrEqual((readsALook * heldForMs) / 30_000)
      await daemon.operations.resume({ by: 'ann', reason: 'done' })
      await world.ended('cmp01')
      expect(simulator.truth().running[uuid]).toEqual(['cmp01'])
    }),
  )
})

function asked({ simulator }: SmallWorld, uuid: string): number {
  return simulator.requests().filter(({ path }) => path.includes(uuid)).length
}
