/** An incident that is over and has a long record: reading it holds up nothing of the daemon's own. */
import { expect, it } from 'vitest'
import { onSocket, restServer } from '../../src/api/rest-server.ts'
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
    await world.until(() => daemon.book.inMemory(id) === undefined)
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
      expect([refused.statusCode, refused.json().error.message]).toEqual([400, `Incident ${id} is over (done)`])
    }
    expect(lengths).toEqual([1, 1])
    await server.close()
  }),
)
