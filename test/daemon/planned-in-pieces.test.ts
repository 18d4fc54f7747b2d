/** A host of many instances: others have their turn while it is planned and begun, and a death in between loses nothing. */
import { expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'
import { SmallWorld } from './small-world.ts'

const instances = 60

/** Of each transaction that has plans: how many. */
let pieces: number[] = []
/** The journal takes nothing any more after so many transactions with plans, as if the process had died there. */
let diesAfter = Infinity

const watched = (journal: JournalWriter): JournalWriter => ({
  ...journal,
  append: (entries: NewEntry[]) => {
    if (pieces.length >= diesAfter) throw new Error('the process is dead')
    const written = journal.append(entries)
    const plans = entries.filter(({ kind }) => kind === 'plan.made').length
    if (plans > 0) pieces.push(plans)
    return written
  },
})

/** A full host dies. */
function crash({ simulator }: SmallWorld): void {
  pieces = []
  for (let nth = 0; nth < instances; nth++)
    simulator.addInstance({
      name: `app-${nth}`,
      host: 'cmp01',
      state: nth % 3 === 0 ? 'building' : 'active',
      volumeBacked: true,
    })
  simulator.crash('cmp01')
}

/** Every instance is planned once, all before the first is touched, and evacuated once. */
function expectWhole({ simulator, journal }: SmallWorld, id: string): void {
  const entries = journal.read({ incident: id })
  const planned = entries.filter(({ kind }) => kind === 'plan.made')
  expect(new Set(planned.map(({ instance }) => instance)).size).toBe(instances)
  expect(planned).toHaveLength(instances)
  const touched = entries.find(({ kind, instance }) => kind === 'step.intended' && instance !== null)
  expect(touched?.seq).toBeGreaterThan(planned.at(-1)?.seq ?? Infinity)
  for (const { instance } of planned) expect(simulator.evacuationsOf(instance ?? '').length).toBeLessThanOrEqual(1)
}

it(
  'is planned and recorded in pieces, with a turn for others between them',
  SmallWorld.run({ wrapJournal: watched }, async (world) => {
    diesAfter = Infinity
    crash(world)
    const { id, instances: ended } = await world.ended('cmp01')
    expect(pieces).toEqual([25, 25, 10])
    expectWhole(world, id)
    const outcomes = [...ended.values()].map(({ outcome }) => outcome?.outcome)
    expect(outcomes.filter((outcome) => outcome === 'recovered')).toHaveLength(40)
    expect(outcomes).not.toContain(undefined)
  }),
)

it.each([1, 2])('a daemon that dies after %i of the pieces has the rest planned by the next one', (after) =>
  SmallWorld.run({ wrapJournal: watched }, async (world) => {
    diesAfter = after
    crash(world)
    await world.until(() => pieces.length === after)
    await world.clock.advance(30_000)
    await world.stop().catch(() => undefined)
    expect(pieces).toHaveLength(after)
    diesAfter = Infinity
    world.compose()
    world.daemon.start()
    const { id, instances: ended } = await world.ended('cmp01')
    expect(pieces.reduce((sum, piece) => sum + piece, 0)).toBe(instances)
    expectWhole(world, id)
    expect([...ended.values()].filter(({ outcome }) => outcome?.outcome === 'recovered')).toHaveLength(40)
  })(),
)
