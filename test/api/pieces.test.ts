/** Long answers as JSON: the same as at once, with a turn for others in between. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { journalInPieces, jsonPieces } from '../../src/api/pieces.ts'
import { onSocket, restServer } from '../../src/api/rest-server.ts'
import { withLists } from '../../src/domain/columns.ts'
import type { IncidentDetail } from '../../src/domain/operations.ts'
import type { IncidentReview, JournalPage, Review } from '../../src/domain/review.ts'
import { VirtualClock } from '../../src/simulator/index.ts'
import { fakeOperations } from './fake-operations.ts'
import { fakeReview } from './fake-review.ts'

async function written(answer: object, lists?: 'columns'): Promise<{ text: string; pauses: number }> {
  let [text, pauses] = ['', 0]
  for await (const piece of jsonPieces(answer, async () => void pauses++, lists)) text += piece
  return { text, pauses }
}

it('are the same JSON, whatever is in them', async () => {
  const list = fc.tuple(fc.jsonValue(), fc.integer({ min: 1, max: 600 })).map(([one, times]) => Array(times).fill(one))
  const field = fc.oneof(fc.jsonValue(), list, fc.constant(undefined))
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), field, { noNullPrototype: true }), async (answer) => {
      expect((await written(answer)).text).toBe(JSON.stringify(answer))
    }),
    { numRuns: 100 },
  )
})

it('pause after every 250 of a list, and not at all for a short answer', async () => {
  expect(await written({ a: Array(1_000).fill('x') })).toMatchObject({ pauses: 4 })
  expect(await written({ a: Array(250).fill('x'), b: {} })).toMatchObject({ pauses: 0 })
})

it('by columns, a list that was written before is read again only in the parts of which an element is another', async () => {
  let reads = 0
  const element = (id: number): object => ({
    state: 'recovered',
    get id() {
      reads++
      return id
    },
  })
  const list = Array.from({ length: 600 }, (_, nth) => element(nth))
  const readBy = async (some: object[]): Promise<number> => {
    reads = 0
    const { text } = await written({ list: some }, 'columns')
    const read = reads
    expect(withLists(JSON.parse(text) as object)).toEqual({ list: some })
    return read
  }
  const all = await readBy(list)
  expect(await readBy(list)).toBe(0)
  for (const changed of [...[0, 300, 599].map((nth) => list.with(nth, element(7))), list.slice(0, 599)]) {
    const read = await readBy(changed)
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThan((all * 2) / 3)
  }
})

const instances = Array.from({ length: 600 }, (_, nth) => ({ id: `i-${nth}` }))
it.each([
  ['/v1/incidents/i-1', { id: 'i-1', instanceList: instances }],
  ['/v1/incidents/i-1/review', { id: 'i-1', lines: instances }],
])('%s of many instances lets others have their turn', async (url, answer) => {
  const clock = new VirtualClock()
  const { operations } = fakeOperations({ incident: () => answer as unknown as IncidentDetail })
  const review = fakeReview([], { incident: () => answer as unknown as IncidentReview })
  const server = restServer({ operations, review, clock }, onSocket)
  let came = false
  const asked = server.inject(url).finally(() => (came = true))
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(came).toBe(false)
  const { headers, body } = await clock.run(asked)
  expect([headers['content-type'], JSON.parse(body)]).toEqual(['application/json; charset=utf-8', answer])
  await server.close()
})

it('a long page of the newest entries ends where it was asked: what is written meanwhile comes after its head', async () => {
  const clock = new VirtualClock()
  let newest = 1_000
  const journal: Review['journal'] = ({ after = newest + 1, limit = 100 }) => {
    const entries = Array.from({ length: limit }, (_, nth) => ({ seq: after - nth - 1 })) as never
    return { entries, next: after - limit, head: { seq: newest++, hash: '' } }
  }
  const page = await clock.run(journalInPieces({ journal }, { newestFirst: true, limit: 450 }, clock))
  expect([page.entries[0]?.seq, page.entries.at(-1)?.seq, page.head.seq]).toEqual([1_000, 551, 1_000])
})

it('a long page of the journal is read in turns, and is the page that was asked for', async () => {
  const clock = new VirtualClock()
  const asked: unknown[] = []
  const journal: Review['journal'] = ({ after = 0, limit = 100 }) => {
    asked.push(limit)
    const size = Math.min(limit, 1_000 - after)
    const entries = Array.from({ length: size }, (_, nth) => ({ seq: after + nth + 1 })) as never
    return { entries, next: after + size < 1_000 ? after + size : null, head: { seq: 1_000, hash: '' } }
  }
  const seqs = (page: JournalPage) => page.entries.map(({ seq }) => seq)
  const long = journalInPieces({ journal }, { after: 100, limit: 550 }, clock)
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toEqual([200])
  const page = await clock.run(long)
  expect(asked).toEqual([200, 200, 150])
  expect([seqs(page), page.next]).toEqual([Array.from({ length: 550 }, (_, nth) => 101 + nth), 650])
  const last = await clock.run(journalInPieces({ journal }, { after: 500, limit: 1_000 }, clock))
  expect([seqs(last).length, seqs(last).at(-1), last.next]).toEqual([500, 1_000, null])
})

it('an incident of many instances is read by columns as it is without', async () => {
  const clock = new VirtualClock()
  const lines = instances.map(({ id }, nth) => ({ id, code: 'RUNNING', endedAt: nth % 3 === 0 ? null : `${nth}` }))
  const answer = { id: 'i-1', lines, notes: [] }
  const { operations } = fakeOperations({})
  const review = fakeReview([], { incident: () => answer as unknown as IncidentReview })
  const server = restServer({ operations, review, clock }, onSocket)
  const ask = (query: string) => clock.run(server.inject(`/v1/incidents/i-1/review${query}`))
  const { body } = await ask('?lists=columns')
  expect(JSON.parse(body).lines.byColumns).toHaveLength(3)
  expect(withLists(JSON.parse(body))).toEqual(JSON.parse((await ask('')).body))
  expect((await ask('?lists=rows')).json()).toMatchObject({ error: { code: 'USAGE' } })
  await server.close()
})
