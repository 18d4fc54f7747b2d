import { describe, expect, it } from 'vitest'
import type { JournalAccess } from '../../src/review/journal-access.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { Entry } from '../../src/domain/entry.ts'
import type { FoundInstance } from '../../src/domain/review.ts'
import type { EntryFilter } from '../../src/domain/journal.ts'
import { anEntry, fakeJournal, run, type Ran } from './fake-commands.ts'
import { HandClock, settled } from './screens.ts'

async function asked(...argv: string[]): Promise<EntryFilter> {
  const filters: EntryFilter[] = []
  const read = (filter: EntryFilter = {}): Entry[] => {
    filters.push(filter)
    return []
  }
  const { exit, err } = await run(['journal', 'list', ...argv], { openReader: () => fakeJournal({ read, instances }) })
  if (exit !== 0) throw new Error(err)
  return filters[0] ?? {}
}
const id = '0a1b2c3d-0000-4000-8000-000000000001'
const foundInstance: FoundInstance = {
  ...{ id, name: 'web', projectId: 'p', incident: 'i-1', host: 'cmp01', openedAt: '2026-01-02T01:04:05.000Z' },
  ...{ outcome: 'recovered', landedOn: 'cmp01', incidents: 1 },
}
const instances = (text: string) => (text === 'web' ? [foundInstance] : [])
const usual = { limit: 50, newestFirst: true }

describe('filters', () => {
  it.each([
    [['--kind', 'verdict.changed', '--kind', 'step.failed'], { kinds: ['verdict.changed', 'step.failed'] }],
    [['--actor', 'operator:ann'], { actor: 'operator:ann' }],
    [['--since', '2h'], { since: '2026-01-02T01:04:05.000Z' }],
    [
      ['--since', '2026-01-02', '--until', '2026-01-02 03:00'],
      { since: '2026-01-02T00:00:00.000Z', until: '2026-01-02T03:00:00.000Z' },
    ],
    [['--until', '2026-01-02T03:00:00+01:00'], { until: '2026-01-02T02:00:00.000Z' }],
    [
      ['--host', 'a', '--instance', id.toUpperCase(), '--incident', 'c'],
      { host: 'a', allOfInstance: id, incident: 'c' },
    ],
    [['--instance', 'web'], { allOfInstance: id }],
  ])('%j', async (argv, filter) => expect(await asked(...argv)).toEqual({ ...usual, ...filter }))

  it('a name that no incident knows is an error, and no empty list', async () => {
    const { exit, err } = await run(['journal', 'list', '--instance', 'wbe'], {
      openReader: () => fakeJournal({ instances }),
    })
    expect([exit, err]).toEqual([1, 'lifeboat: No incident is about an instance wbe [NOT_FOUND]\n'])
  })

  it('--after gives the first ones after it', async () => {
    expect(await asked('--after', '7', '--limit', '3')).toEqual({ after: 7, limit: 3, newestFirst: false })
  })

  it.each([
    [['--kind', 'verdict']],
    [['--since', 'yesterday']],
    [['--since', '2026-13-45']],
    [['--since', '9999-12-31T23:59:59-23:59']],
    [['--follow', '--until', '1h']],
    [['--follow', '--after', '1']],
    [['--follow', '-f', 'csv']],
  ])('%j is a slip', async (argv) => expect((await run(['journal', 'list', ...argv])).exit).toBe(2))
})

describe('--follow', () => {
  /** A journal that grows: `more` are its entries in turn, each second. */
  async function following(argv: string[], more: (Entry[] | Error)[]): Promise<Ran> {
    const clock = new HandClock()
    const journal: Entry[] = [anEntry]
    let failure: Error | null = null
    const read = ({ after, newestFirst, limit }: EntryFilter = {}): Entry[] => {
      const found = journal.filter(({ seq }) => after === undefined || seq > after)
      return newestFirst === true ? found.toReversed().slice(0, limit) : found
    }
    const openReader = (): JournalAccess => {
      if (failure !== null) throw failure
      return fakeJournal({ read })
    }
    let end = (): void => undefined
    const onInterrupt = (listen: () => void) => {
      end = listen
      return () => undefined
    }
    const done = run(['journal', 'list', '--follow', ...argv], { clock, openReader }, { terminal: { onInterrupt } })
    await settled()
    for (const next of more) {
      failure = next instanceof Error ? next : null
      if (!(next instanceof Error)) journal.push(...next)
      await clock.pass(1000)
    }
    end()
    return done
  }
  const entry = (seq: number): Entry => ({ ...anEntry, seq })

  it('prints what there is, then each new entry once', async () => {
    const { exit, out } = await following(['-f', 'value', '-c', 'Seq'], [[entry(6), entry(7)], [], [entry(8)]])
    expect([exit, out]).toEqual([0, '5\n6\n7\n8\n'])
  })

  it('loses no entry that is written while it begins', async () => {
    const journal: Entry[] = [entry(5)]
    const read = ({ after, newestFirst, limit }: EntryFilter = {}): Entry[] => {
      const found = journal.filter(({ seq }) => after === undefined || seq > after)
      journal.push(entry(journal.length + 5))
      return newestFirst === true ? found.toReversed().slice(0, limit) : found
    }
    const clock = new HandClock()
    let end = (): void => undefined
    const onInterrupt = (listen: () => void) => {
      end = listen
      return () => undefined
    }
    const argv = ['journal', 'list', '--follow', '-f', 'value', '-c', 'Seq']
    const done = run(argv, { clock, openReader: () => fakeJournal({ read }) }, { terminal: { onInterrupt } })
    await clock.pass(1000)
    end()
    expect((await done).out).toMatch(/^5\n6\n7\n/)
  })

  it('as lines for people, as one document per line for programs', async () => {
    expect((await following([], [])).out).toBe('2026-01-02T03:04:05.678Z  daemon  cmp01  said incident.phase\n')
    const lines = (await following(['-f', 'json'], [[entry(6)]])).out.trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { Seq: number }).Seq)).toEqual([5, 6])
  })

  it('a journal that cannot be read for a moment is said once and waited for', async () => {
    const lost = new LifeboatError('JOURNAL_UNAVAILABLE', 'gone')
    const { out, err } = await following(['-f', 'value', '-c', 'Seq'], [lost, lost, [entry(6)]])
    expect([out, err]).toEqual(['5\n6\n', expect.stringMatching(/^there is no journal yet at \S+; still trying\n$/)])
  })
})
