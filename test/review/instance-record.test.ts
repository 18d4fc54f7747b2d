/** One instance over all its incidents, and how it is found: from entries as the daemon writes them. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Entry, NewEntry } from '../../src/domain/entry.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'
import { instanceRecord } from '../../src/review/instance-record.ts'
import { search } from '../../src/review/search.ts'
import { newJournal, plan } from '../journal/fixtures.ts'

const alive = '2026-01-02T03:03:54.000Z'
const evidence = { silentMs: 6_000, sinceBeatMs: 11_000, intervalMs: 2_000 }
const verdict = { kind: 'host-down', reason: 'SILENT', message: 'silent', at: '2026-01-02T03:04:05.000Z', evidence }

interface Episode {
  incident: string
  host?: string
  seen?: boolean
  mode?: 'observe' | 'armed'
  wanted?: 'running' | 'stopped'
  outcome?: Extract<Entry, { kind: 'outcome.recorded' }>['data']
}

function episode({
  incident,
  host = 'c1',
  seen = true,
  mode = 'armed',
  wanted = 'running',
  outcome,
}: Episode): NewEntry[] {
  const of = { incident, host }
  const opened = { segment: 'az1', failure: 'host', mode, openedBy: 'daemon', workflowDigest: 'd' }
  const planned = plan('web-7')
  return [
    { kind: 'incident.opened', ...of, data: { ...opened, verdict: seen ? { ...verdict, host } : null } },
    {
      kind: 'plan.made',
      ...of,
      instance: 'web-7',
      data: { ...planned, original: { ...planned.original, wanted } },
    },
    ...(outcome === undefined ? [] : [{ kind: 'outcome.recorded', ...of, instance: 'web-7', data: outcome }]),
  ] as NewEntry[]
}

const after = { host: 'c2', vmState: 'active', taskState: null, powerState: 1, locked: false }
const back: Episode['outcome'] = { outcome: 'recovered', code: 'RUNNING', message: 'it runs', after }
const failed: Episode['outcome'] = { outcome: 'failed', code: 'API_REFUSED', message: 'vTPM', after: null }

describe('the record of an instance', () => {
  it('it was down from the last heartbeat until Nova showed it running', () => {
    const journal = newJournal()
    journal.append(episode({ incident: 'i-1', outcome: back }))
    const { now, stays, headline } = instanceRecord(journal, 'web-7')
    expect(stays[0]).toMatchObject({ host: 'c1', lastBeatAt: alive, downSince: alive, landedOn: 'c2' })
    expect(stays[0]?.upAt).toBe(now.at)
    expect(now).toMatchObject({ host: 'c2', state: 'active', code: 'RUNNING' })
    expect(headline).toMatch(/on c1 when that host failed\. It was down for 1\d s\. It is active on c2\.$/)
  })
  it('one that a first incident left down is down until the second brings it back', () => {
    const journal = newJournal()
    journal.append(episode({ incident: 'i-1', outcome: failed }))
    expect(instanceRecord(journal, 'web-7')).toMatchObject({ now: { host: 'c1', outcome: 'failed' } })
    journal.append(episode({ incident: 'i-2', seen: false, outcome: back }))
    const [again, first] = instanceRecord(journal, 'web-7').stays
    expect([again?.incident, first?.incident]).toEqual(['i-2', 'i-1'])
    expect([again?.downSince, first?.upAt]).toEqual([alive, null])
  })
  it.each<[string, Partial<Episode>]>([
    ['was off before', { wanted: 'stopped', outcome: back }],
    ['was on a host that nobody saw beat', { seen: false, outcome: back }],
  ])('one that %s has no time that it was down', (_what, how) => {
    const journal = newJournal()
    journal.append(episode({ incident: 'i-1', ...how }))
    expect(instanceRecord(journal, 'web-7').stays[0]?.downSince).toBeNull()
  })
  it('one that landed stopped is not running again', () => {
    const journal = newJournal()
    const off = { ...back, after: { ...after, vmState: 'stopped', powerState: 4 } }
    journal.append(episode({ incident: 'i-1', outcome: off }))
    expect(instanceRecord(journal, 'web-7')).toMatchObject({ stays: [{ upAt: null }], now: { state: 'stopped' } })
  })
  it('one of no incident is not found', () => {
    expect(() => instanceRecord(newJournal(), 'none')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
  })
})

describe('a search', () => {
  let journal: JournalWriter
  const named = (instance: string, name: string, incident = 'i-cmp01'): NewEntry[] =>
    [{ kind: 'plan.made', incident, host: 'cmp01', instance, data: { ...plan(instance), name } }] as NewEntry[]
  const monitor = {
    verdicts: () => ['cmp01', 'cmp010', 'old-cmp01'].map((host) => ({ host, segment: 'a', kind: 'healthy' })),
  }
  const find = (text: string, limit?: number) =>
    search(
      {
        journal,
        monitor: monitor as never,
        store: { isReturning: () => false, open: () => [] } as never,
        namedOn: () => [],
      },
      text,
      limit,
    )
  const opened = (incident: string): NewEntry =>
    ({ ...episode({ incident, host: 'cmp01' })[0], host: 'cmp01' }) as NewEntry
  const uuid = 'abcdef01-0000-4000-8000-000000000000'
  beforeEach(() => {
    journal = newJournal()
    journal.append([opened('i-cmp01'), ...named('1', 'my-web-7'), ...named('2', 'web-70'), ...named(uuid, 'Web-7')])
    journal.append([opened('i-cmp01-2'), ...named(uuid, 'Web-7', 'i-cmp01-2')])
  })
  it('finds by any part of a name, the whole name first, once for each instance', () => {
    expect(find('WEB-7').instances.map(({ name, incidents }) => [name, incidents])).toEqual([
      ['Web-7', 2],
      ['web-70', 1],
      ['my-web-7', 1],
    ])
    expect(find('web-7').instances[0]?.incident).toBe('i-cmp01-2')
  })
  it('a whole name stands before all UUIDs that begin like it', () => {
    const ids = Array.from({ length: 12 }, (_, n) => `db00000${n.toString(16)}-0000-4000-8000-000000000000`)
    journal.append([...ids.flatMap((id) => named(id, `vm-${id}`)), ...named('3', 'DB')])
    expect(find('db', 10).instances[0]?.name).toBe('DB')
  })
  it('finds by the beginning of a UUID', () => {
    expect(find('ABCDEF01-0').instances.map(({ id }) => id)).toEqual([uuid])
  })
  it('finds hosts and incidents by theirs', () => {
    expect(find('cmp01').hosts.map(({ host }) => host)).toEqual(['cmp01', 'cmp010', 'old-cmp01'])
    expect(find('cmp01').incidents.map(({ id }) => id)).toEqual(['i-cmp01-2', 'i-cmp01'])
  })
  it('says that there is more than it lists', () => {
    expect([find('web', 2).more, find('web', 3).more]).toEqual([true, false])
    expect(find('web', 2).instances).toHaveLength(2)
  })
  it.each(['%', '_', "'", '~', ' ', ''])('takes %j for what it is', (text) => {
    expect(find(text).instances).toEqual([])
  })
})
