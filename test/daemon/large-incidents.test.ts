/** An incident that is over and has a long record: reading it holds up nothing of the daemon's own. */
import { expect, it } from 'vitest'
import { onSocket, restServer } from '../../src/api/rest-server.ts'
import { readEndedIncident } from '../../src/control/ended-incidents.ts'
import type { Entry } from '../../src/domain/entry.ts'
import type { Journal } from '../../src/domain/journal.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'
import { SmallWorld } from './small-world.ts'

/** Lengths of what was read of one incident at once. */
let lengths: number[] = []
const counted = (journal: JournalWriter): JournalWriter => ({
  ...journal,
  read: (filter) => {
    const found = journal.read(filter)
    if (filter?.incident !== undefined) lengths.push(found.length)
    return found
  },
})

it(
  'is read in pieces, with a turn for others between them; an order that comes too late reads only its end',
  SmallWorld.run({ wrapJournal: counted }, async (world) => {
    const { simulator, clock, daemon } = world
    simulator.addInstance({ name: 'web', host: 'cmp01', volumeBacked: true })
    simulator.crash('cmp01')
    const { id } = await world.ended('cmp01')
    await world.until(() => daemon.store.inMemory(id) === undefined)
    for (let nth = 0; nth < 600; nth += 1) daemon.review.note(id, { by: 'ann', text: `note ${nth}` })

    const server = restServer({ operations: daemon.operations, review: daemon.review, clock }, onSocket)
    lengths = []
    let came = false
    const asked = server.inject(`/v1/incidents/${id}`).finally(() => (came = true))
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect([came, lengths]).toEqual([false, [250]])
    const answer = await clock.run(asked)
    expect(answer.json()).toMatchObject({ id, ended: { outcome: 'done' }, instanceList: [{ name: 'web' }] })
    expect(lengths.length).toBeGreaterThan(2)
    expect(Math.max(...lengths)).toBe(250)

    lengths = []
    for (const order of ['cancel', 'override']) {
      const payload = { by: 'ann', reason: 'too late' }
      const refused = await clock.run(server.inject({ method: 'POST', url: `/v1/incidents/${id}/${order}`, payload }))
      expect([refused.statusCode, refused.json().error.message]).toEqual([409, `Incident ${id} is over (done)`])
    }
    expect(lengths).toEqual([1, 1])
    await server.close()
  }),
)

it(
  'is not read as a whole for the return of its host, which knows what stays behind all the same',
  SmallWorld.run({ wrapJournal: counted }, async (world) => {
    const { simulator, daemon, clock } = world
    simulator.addInstance({ name: 'web', host: 'cmp01', volumeBacked: true })
    simulator.addInstance({ name: 'half', host: 'cmp01', state: 'building' })
    simulator.crash('cmp01')
    const { id } = await world.ended('cmp01')
    await world.until(() => daemon.store.inMemory(id) === undefined)
    for (let nth = 0; nth < 600; nth += 1) daemon.review.note(id, { by: 'ann', text: `note ${nth}` })

    lengths = []
    simulator.start('cmp01')
    await clock.advance(15_000)
    await world.until(() => !daemon.store.hasOurFlags('cmp01'))
    expect(daemon.store.returnOf('cmp01').leftovers).toMatchObject([{ code: 'INSTANCE_LEFT' }])
    expect(Math.max(...lengths)).toBeLessThanOrEqual(250)
  }),
)

it('is read for that in pieces, with a turn for others between them, and by what was said last', async () => {
  const entries = Array.from({ length: 600 }, (_, nth) => ({
    ...{ seq: nth + 1, kind: 'plan.made', incident: 'i', instance: `id-${nth}`, data: { name: `web-${nth}` } },
  }))
  const debt = { code: 'LEFTOVER', message: 'a leftover' }
  const left = { outcome: 'left', code: 'BUILDING', message: '', after: null }
  const rows = [
    ...entries,
    { seq: 601, kind: 'outcome.recorded', incident: 'i', instance: 'id-0', data: left },
    { seq: 602, kind: 'debt.recorded', incident: 'i', instance: 'id-1', data: debt },
    {
      seq: 603,
      kind: 'debt.recorded',
      incident: 'i',
      instance: 'id-1',
      data: { ...debt, waitsAt: { migration: 'm-1' } },
    },
    { seq: 604, kind: 'debt.settled', incident: 'i', instance: 'id-1', data: { migration: 'm-1' } },
  ] as unknown as Entry[]
  const turns: number[] = []
  const read: Journal['read'] = ({ after = 0, limit = Infinity } = {}) => {
    const found = rows.filter(({ seq }) => seq > after).slice(0, limit)
    turns.push(found.length)
    return found
  }
  const { instances } = await readEndedIncident({ read }, 'i', () => Promise.resolve(void turns.push(0)))
  expect(turns).toEqual([250, 0, 250, 0, 104])
  expect(instances.size).toBe(600)
  expect(instances.get('id-0')).toEqual({ plan: { name: 'web-0' }, outcome: left, leftovers: [] })
  expect(instances.get('id-1')).toEqual({ plan: { name: 'web-1' }, outcome: null, leftovers: [debt] })
})
