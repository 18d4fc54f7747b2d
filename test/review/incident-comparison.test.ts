/** Two incidents side by side: what took longer, and what was decided otherwise. */
import { expect, it } from 'vitest'
import type { ComparedFact } from '../../src/domain/incident-comparison.ts'
import { openJournalAccess } from '../../src/review/journal-access.ts'
import { SmallWorld } from '../daemon/small-world.ts'

const between = (from: string, to = ''): number => Date.parse(to) - Date.parse(from)

it(
  'says of two incidents how long each part took, how many ended how, and what was decided',
  SmallWorld.run({ hosts: 6 }, async (world) => {
    const { simulator, daemon } = world
    for (const name of ['a', 'b']) simulator.addInstance({ name, host: 'cmp01', state: 'active' })
    simulator.addInstance({ name: 'hsm', host: 'cmp02', state: 'active', vtpm: true })
    simulator.addInstance({ name: 'broken', host: 'cmp02', state: 'error' })
    simulator.crash('cmp01')
    const { id: first } = await world.ended('cmp01')
    simulator.crash('cmp02')
    const { id: second } = await world.ended('cmp02')

    const compared = daemon.review.compare(first, second)
    const told = new Map(compared.facts.map((fact) => [`${fact.part} ${fact.fact}`, fact]))
    const sides = (name: string): ComparedFact['first'][] => [
      told.get(name)?.first ?? null,
      told.get(name)?.second ?? null,
    ]
    expect(sides('incident host')).toEqual(['cmp01', 'cmp02'])
    expect(sides('instances recovered')).toEqual([2, 0])
    expect(sides('instances failed')).toEqual([0, 1])
    expect(sides('decisions recover: RUNNING')).toEqual([2, 1])
    expect(sides('decisions leave: ERROR_BEFORE')).toEqual([null, 1])
    expect(sides('trouble failed steps of instances')).toEqual([0, 1])
    const [opened, closed] = [daemon.store.get(first).openedAt, daemon.store.get(first).closed?.at ?? '']
    expect(told.get('time opening to end')?.first).toBe(Date.parse(closed) - Date.parse(opened))
    const proof = daemon.store.get(first).proof?.provenAt ?? ''
    const outcomes = world.journal.read({ incident: first, kinds: ['outcome.recorded'] })
    expect(sides('time proof to first instance back')).toEqual([between(proof, outcomes[0]?.at), null])
    expect(sides('time proof to last outcome')[0]).toBe(between(proof, outcomes.at(-1)?.at))
    const phases = compared.facts.filter(({ fact }) => fact.startsWith('phase '))
    expect(compared.open).toEqual([])
    const inPhases = phases.reduce((sum, fact) => sum + Number(fact.first), 0)
    expect(inPhases).toBe(told.get('time opening to end')?.first)
    expect(sides('instances median downtime')).toEqual([expect.any(Number), null])

    const access = openJournalAccess(world.path, { fenceRetryMs: 60_000, fenceRetryMaxMs: 900_000 })
    expect(access.compare(first, second)).toEqual(compared)
    expect(() => access.compare(first, 'none')).toThrow(/There is no incident none/)
    access.close()
  }),
)
