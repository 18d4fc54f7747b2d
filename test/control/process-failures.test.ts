/** Failures of nova-compute in the running daemon: whose word about its service counts. How single ones end is told by the scenarios. */
import { expect, it } from 'vitest'
import { defaultReturnRules } from '../../src/domain/host-return.ts'
import { defaultMonitorSettings } from '../../src/monitor/settings.ts'
import { People } from '../../src/rehearsal/people.ts'
import { simulatedSegment } from '../../src/rehearsal/simulated-parts.ts'
import { SmallWorld } from '../daemon/small-world.ts'

const segmentOf = () => ({ ...simulatedSegment, return: { ...defaultReturnRules, healthyMs: 30_000 } })

it.each(['AUTO: Connection to libvirt lost: 1', 'AUTO: new memory', 'disk is being replaced'])(
  'a service that is disabled with %s over our reason stays so when nova-compute is well again',
  (reason) =>
    SmallWorld.run({ parts: { segmentOf } }, async (world) => {
      const { simulator, clock } = world
      simulator.isolate('cmp01')
      await world.until(() => world.writes().length === 1)
      const people = new People(simulator, (id) => id)
      await clock.run(people.service({ host: 'cmp01', status: 'disabled', disabledReason: reason }))
      const before = world.writes().length
      simulator.start('cmp01')
      await world.ended('cmp01')
      await clock.advance(600_000)
      const { status, disabledReason } = simulator.world.host('cmp01').service
      expect([status, disabledReason]).toEqual(['disabled', reason])
      expect(world.writes()).toHaveLength(before)
    })(),
)

/** Polled so rarely that only a look at once is in time. */
const monitorSettings = { ...defaultMonitorSettings, pollIntervalMs: 20_000 }

it.each([0, 6_000, 12_000, 18_000])(
  'a nova-compute that is reported %i ms after a poll is disabled within five seconds, with our reason, and no instance is touched',
  (afterPollMs) =>
    SmallWorld.run({ parts: { monitorSettings } }, async (world) => {
      const { simulator, clock, journal, daemon } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web' })
      await clock.advance(afterPollMs)
      simulator.isolate('cmp01')
      await clock.advance(1_000)
      const payload = { event: 'STOPPED', process_name: 'nova-compute' }
      const generatedAt = new Date(clock.wall()).toISOString()
      daemon.reports.receive({ about: 'PROCESS', host: 'cmp01', payload, by: 'monitor', via: null, generatedAt })
      await clock.advance(5_000)
      expect(simulator.world.host('cmp01').service).toMatchObject({
        ...{ status: 'disabled', forcedDown: false },
        disabledReason: expect.stringContaining('its nova-compute is down') as unknown,
      })
      expect(world.writes()).toHaveLength(1)
      expect(simulator.truth().running[uuid]).toEqual(['cmp01'])
      const opened = journal.read({ kinds: ['incident.opened', 'process.failed', 'instance.failed'] })
      expect(opened.map(({ kind }) => kind)).toEqual(['process.failed'])
    })(),
)
