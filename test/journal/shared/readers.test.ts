/** What people and programs read of a shared journal, while some of it is not durable yet, or not in the copy. */
import { describe, expect, it } from 'vitest'
import { EventStreams } from '../../../src/api/event-stream.ts'
import type { Entry, NewEntry } from '../../../src/domain/entry.ts'
import { LifeboatError } from '../../../src/domain/errors.ts'
import type { JournalPage, JournalQuery } from '../../../src/domain/review.ts'
import { Followers } from '../../../src/review/followers.ts'
import { journalPage } from '../../../src/review/journal-pages.ts'
import { alarm, type Controller, type Site } from './controllers.ts'
import { eachOnASite } from './tenure-site.ts'

let site: Site
eachOnASite((it) => (site = it))

const pageOf = ({ journal }: Controller, query: JournalQuery = {}): JournalPage =>
  journalPage(journal, journal.head(), query)

const seqs = (page: JournalPage): number[] => page.entries.map(({ seq }) => seq)

/** Reads the stream of a daemon from its first entry on. Gives what it has told. */
function streamOf(of: Controller): () => number[] {
  const followers = new Followers({
    each: (filter) => of.journal.each(filter),
    onDurable: (listen) => of.journal.onDurable(listen),
  })
  const review = {
    journal: (query: JournalQuery) => pageOf(of, query),
    follow: (seq: number, listen: (entry: Entry) => void) => followers.follow(seq, listen),
  }
  let text = ''
  const answer = { write: (more: string) => (text += more) !== '', once: () => answer, on: () => answer }
  const options = { reader: null, after: 0, mayGoOn: async () => true }
  new EventStreams(review, of.life).open({ ...answer, writableLength: 0 } as never, options)
  return () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
}

/** One daemon is active, its first entry is durable, and the database commits nothing more. */
async function stalled(): Promise<Controller> {
  const one = site.start('ctl1')
  await site.untilActive(one)
  site.cluster.stall()
  return one
}

describe('an entry that is not durable', () => {
  it('is in no page of the journal, in either order, until it is', async () => {
    const one = await stalled()
    one.journal.append([alarm, alarm])
    const queries = [{}, { after: 1 }, { newestFirst: true }, { newestFirst: true, after: 3 }]
    expect(queries.map((query) => seqs(pageOf(one, query)))).toEqual([[1], [], [1], [1]])
    expect(pageOf(one).head.seq).toBe(1)
    site.cluster.flow()
    await site.clock.advance(100)
    expect(queries.map((query) => seqs(pageOf(one, query)))).toEqual([
      [1, 2, 3],
      [2, 3],
      [3, 2, 1],
      [2, 1],
    ])
  })

  it('is told by no event stream until it is, though the one before it is told', async () => {
    const one = await stalled()
    const told = streamOf(one)
    one.journal.append([alarm])
    site.cluster.flow()
    await site.clock.until(() => one.tenure.staged === 0)
    site.cluster.stall()
    one.journal.append([alarm])
    await site.clock.advance(1_000)
    expect(told()).toEqual([1, 2])
    site.cluster.flow()
    await site.clock.advance(100)
    expect(told()).toEqual([1, 2, 3])
  })
})

it('what is durable is read also while the copy cannot be written', async () => {
  const one = site.start('ctl1')
  await site.untilActive(one)
  const told = streamOf(one)
  one.copy.takeIn = () => {
    throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
  }
  const [entry] = one.journal.append([alarm])
  await site.clock.advance(100)
  expect([seqs(pageOf(one)), pageOf(one).head, told()]).toEqual([[1, 2], { seq: 2, hash: entry?.hash }, [1, 2]])
  expect(one.journal.isBehind?.()).toBe(true)
})

it('its lists lack nothing where all that is durable is in the copy', async () => {
  const one = await stalled()
  one.journal.append([alarm])
  expect(one.journal.isBehind?.()).toBe(false)
})

it('the entries of an instance are those about it and of the incidents of its own crashes, in the copy or not', async () => {
  const one = await stalled()
  const failed = {
    ...{ projectId: 'p', event: 'crashed', segment: 'az1', openedBy: 'masakari', report: 'r' },
    mode: 'armed' as const,
  }
  const crash = (name: string): NewEntry[] => [
    { kind: 'instance.failed', incident: `crash of ${name}`, instance: name, data: { ...failed, name } },
    { kind: 'incident.held', incident: `crash of ${name}`, data: { code: 'PAUSED', message: 'm' } },
  ]
  const goesOn = { kind: 'incident.continued', incident: 'crash of a', data: { because: 'b' } } as const
  one.journal.append([...crash('a'), ...crash('b')])
  const ofInstance = (instance: string): string[] =>
    one.journal.read({ allOfInstance: instance }).map(({ kind }) => kind)
  expect(ofInstance('a')).toEqual(['instance.failed', 'incident.held'])
  site.cluster.flow()
  await site.clock.advance(100)
  site.cluster.stall()
  one.journal.append([goesOn, { ...alarm, instance: 'a' }, alarm])
  expect(ofInstance('a')).toEqual(['instance.failed', 'incident.held', 'incident.continued', 'alarm.raised'])
  expect(ofInstance('b')).toEqual(['instance.failed', 'incident.held'])
})
