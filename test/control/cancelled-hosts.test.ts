/** A host whose incident a person cancelled: left alone until it has lived, whatever happens to the daemon meanwhile. */
import { expect, it } from 'vitest'
import { SmallWorld } from '../daemon/small-world.ts'

const host = 'cmp01'
const incidents = (world: SmallWorld): number => world.daemon.operations.incidents({ host }).length

/** Dead without a way to prove it, and cancelled by a person. */
async function cancelled(world: SmallWorld): Promise<void> {
  world.simulator.bmc(host, { reachable: false })
  world.simulator.crash(host)
  await world.until(() => world.incident(host)?.held?.code === 'FENCE_FAILED')
  const id = world.incident(host)?.id ?? ''
  await world.clock.run(world.daemon.operations.cancel(id, { by: 'ann', reason: 'it is being repaired' }))
  await world.ended(host)
}

async function restart(world: SmallWorld, meanwhile = (): void => undefined): Promise<void> {
  await world.stop()
  meanwhile()
  world.compose()
  world.daemon.start()
}

it(
  'gets no new incident after a restart',
  SmallWorld.run({}, async (world) => {
    await cancelled(world)
    await restart(world)
    await world.clock.advance(600_000)
    expect([world.daemon.monitor.verdict(host)?.kind, incidents(world)]).toEqual(['host-down', 1])
  }),
)

it(
  'gets one when it lived before the restart and failed again during it',
  SmallWorld.run({}, async (world) => {
    await cancelled(world)
    world.simulator.start(host)
    await world.until(() => world.daemon.monitor.verdict(host)?.kind === 'healthy')
    await restart(world, () => world.simulator.crash(host))
    await world.until(() => incidents(world) === 2)
  }),
)

const executorSettings = {
  ...{ maxParallel: 32, tickMs: 2_000, reconcileQuietMs: 5_000, longestRequestMs: 600_000 },
  ...{ fenceRetryMs: 2_000, fenceRetryMaxMs: 8_000 },
}

it(
  'is enabled again when Nova takes our force-down only minutes after the host came back',
  SmallWorld.run({ parts: { executorSettings } }, async (world) => {
    const { simulator, daemon, clock } = world
    const service = () => simulator.world.host(host).service
    simulator.apiFault({ kind: 'act-late', body: /forced_down/, times: 1, delayMs: 240_000 })
    simulator.crash(host)
    await world.until(() => simulator.requests().some(({ fault }) => fault === 'act-late'))
    await clock.run(
      daemon.operations.cancel(world.incident(host)?.id ?? '', { by: 'ann', reason: 'it was the switch' }),
    )
    await world.ended(host)
    simulator.start(host)
    await world.until(() => service().forcedDown, 300_000)
    await world.until(() => !daemon.store.hasOurFlags(host))
    expect(service()).toMatchObject({ forcedDown: false, status: 'enabled' })
    const way = world.journal
      .read({ host, kinds: ['return.changed'] })
      .map(({ data }) => (data as { code: string }).code)
    expect(way).toEqual(['UNANSWERED', 'CLEARING', 'PROVING', 'ENABLING', 'BACK'])
  }),
)
