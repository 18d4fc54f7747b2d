/** What the page of an incident says to a person: commands that do what is meant, and counts of what was done. */
import { expect, it } from 'vitest'
import { SmallWorld } from './small-world.ts'

it.each([
  ['active', '2.53'],
  ['stopped', '2.95'],
] as const)('what could not be recovered is evacuated by hand as its owner had it: %s at %s', (state, version) =>
  SmallWorld.run({}, async (world) => {
    const { simulator, daemon } = world
    const { uuid } = simulator.addInstance({ name: 'hsm', host: 'cmp01', state, vtpm: true, volumeBacked: true })
    simulator.crash('cmp01')
    const { id } = await world.ended('cmp01')
    const { advice } = daemon.review.incident(id)
    expect(advice.find(({ code }) => code === 'INSTANCES_FAILED')?.command).toBe(
      `openstack --os-compute-api-version ${version} server evacuate ${uuid}`,
    )
  })(),
)

it(
  'one that was left is told from several; one that is back is shown in the state it was brought to',
  SmallWorld.run({ hosts: 6 }, async (world) => {
    const { simulator, daemon } = world
    const metadata = { HA_Enabled: 'False' }
    simulator.addInstance({ name: 'alone', host: 'cmp01', metadata })
    simulator.addInstance({ name: 'vault', host: 'cmp01', encrypted: true })
    simulator.addInstance({ name: 'one', host: 'cmp02', metadata })
    simulator.addInstance({ name: 'other', host: 'cmp02', metadata })
    const left = async (host: string) => {
      simulator.crash(host)
      const { advice, lines } = daemon.review.incident((await world.ended(host)).id)
      return { lines, text: advice.find(({ code }) => code === 'INSTANCES_LEFT')?.text }
    }
    const first = await left('cmp01')
    expect(first.text).toMatch(/^One instance is left where it was \(/)
    // Evacuated stopped, then started: how it landed is not how it is.
    expect(first.lines.find(({ name }) => name === 'vault')).toMatchObject({ landing: 'stopped', endedAs: 'active' })
    expect((await left('cmp02')).text).toMatch(/^2 instances are left where they were \(/)
  }),
)

it(
  'an incident that was observed says what would have been recovered, and counts nothing as open',
  SmallWorld.run({ parts: { mode: 'observe' } }, async (world) => {
    const { simulator, daemon } = world
    simulator.addInstance({ name: 'web', host: 'cmp01' })
    simulator.addInstance({ name: 'opted-out', host: 'cmp01', metadata: { HA_Enabled: 'False' } })
    simulator.crash('cmp01')
    const { id } = await world.ended('cmp01')
    expect(daemon.review.incident(id).headline).toMatch(/ Observed: 1 of 2 instances would have been recovered\.$/)
  }),
)

it(
  'whoever is to state that a host is dead gets a command that names them: root is nobody',
  SmallWorld.run({}, async (world) => {
    const { simulator, daemon } = world
    simulator.bmc('cmp01', { reachable: false })
    simulator.crash('cmp01')
    await world.until(() => world.incident('cmp01')?.held?.code === 'FENCE_FAILED')
    const { advice } = daemon.review.incident(world.incident('cmp01')?.id ?? '')
    expect(advice[0]?.command).toMatch(/^lifeboat recover cmp01 --by NAME --proof "/)
  }),
)
