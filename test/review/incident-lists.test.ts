/** Lists of incidents are made without folding them, and say what their folds say. */
import { expect, it } from 'vitest'
import { incidentSummary } from '../../src/review/incident-views.ts'
import { openJournalAccess } from '../../src/review/journal-access.ts'
import { ProvenTimes } from '../../src/review/proven-times.ts'
import type { Entry } from '../../src/domain/entry.ts'
import { SmallWorld } from '../daemon/small-world.ts'

it(
  'of the command line says of open ones and of those that are over what their folds say',
  SmallWorld.run({}, async (world) => {
    const { simulator, daemon } = world
    simulator.addInstance({ name: 'web', host: 'cmp01' })
    simulator.addInstance({ name: 'half', host: 'cmp01', state: 'building' })
    simulator.crash('cmp01')
    await world.ended('cmp01')
    simulator.crash('cmp02')
    simulator.bmc('cmp02').reachable = false
    await world.until(() => (daemon.store.openOn('cmp02')?.fencing ?? null) !== null)
    const access = openJournalAccess(world.path, { fenceRetryMs: 60_000, fenceRetryMaxMs: 900_000 })
    try {
      const listed = access.incidents({})
      const folded = listed.map(({ id }) => ({ ...incidentSummary(daemon.store.get(id)), signedOff: null }))
      expect(listed).toEqual(folded)
      expect(listed.map(({ host, ended, fencing }) => [host, ended?.outcome, fencing !== null])).toEqual([
        ['cmp02', undefined, true],
        ['cmp01', 'done', false],
      ])
      expect(listed[1]?.outcomes).toEqual({ recovered: 1, left: 1 })
      const unsettled = () => access.incidents({ unsettled: true }).map(({ host }) => host)
      expect(unsettled()).toEqual(['cmp01'])
      daemon.review.signOff(listed[1]?.id ?? '', { by: 'ann', text: 'read' })
      expect(unsettled()).toEqual([])
      expect(access.incidents({ host: 'cmp01' })[0]?.signedOff).toMatchObject({ by: 'ann' })
    } finally {
      access.close()
    }
  }),
)

it(
  'anyone who names a host in place of an incident is offered the newest of its incidents',
  SmallWorld.run({}, async (world) => {
    world.simulator.crash('cmp01')
    const { id } = await world.ended('cmp01')
    const access = openJournalAccess(world.path, { fenceRetryMs: 60_000, fenceRetryMaxMs: 900_000 })
    try {
      const problems = [expect.stringMatching(`^${id}, opened 20.*Z: done$`)]
      for (const ask of [
        () => access.incident('cmp01'),
        () => access.advice('cmp01'),
        () => [...access.export('markdown', 'cmp01')],
      ])
        expect(ask).toThrow(expect.objectContaining({ code: 'NOT_FOUND', details: { problems } }))
      expect(() => access.incident('cmp09')).toThrow('There is no incident cmp09 (lifeboat incident list shows them)')
    } finally {
      access.close()
    }
  }),
)

it('of recoveries read the proofs on record once, and follow those that are written', () => {
  const proof = (incident: string, provenAt: string): Entry =>
    ({ kind: 'proof.recorded', incident, data: { proof: { provenAt } } }) as unknown as Entry
  let reads = 0
  let tell: (entry: Entry) => void = () => undefined
  const times = new ProvenTimes({
    read: () => {
      reads += 1
      return [proof('a', 't1'), proof('a', 't2')]
    },
    onAppend: (listen) => (tell = listen),
  })
  tell(proof('b', 'on record by the time it is asked for'))
  expect([times.of('a'), times.of('b')]).toEqual(['t2', null])
  tell(proof('b', 't3'))
  expect([times.of('a'), times.of('b'), reads]).toEqual(['t2', 't3', 1])
})
