/** Notices as people read them: by receiver, with how each stands, whatever one that is dead has waiting. */
import { expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { Notice, ReceiverHealth } from '../../src/domain/notice.ts'
import { noticeListing } from '../../src/review/notice-listing.ts'
import { incidentEntries, newJournal } from '../journal/fixtures.ts'

const notice: Notice = {
  ...{ id: 'n', topic: 'alarm', audience: 'operator', severity: 'critical', receivers: ['pager'], mode: 'armed' },
  ...{ cause: 1, at: '2026-01-02T03:04:05.000Z', code: 'TEST', message: 'something', host: null, segment: null },
  ...{ incident: null, project: null, reference: null },
}

function queued(id: string, receivers: string[], incident: string | null = null): NewEntry {
  return {
    kind: 'notice.queued',
    ...(incident !== null && { incident }),
    data: { ...notice, id, receivers, incident },
  }
}

const healthy = (receiver: string): ReceiverHealth => ({
  ...{ receiver, waiting: 0, takenAt: null, failingSince: null, problem: null, dead: false },
})

function listing(entries: NewEntry[], filter: Parameters<typeof noticeListing>[1] = {}): unknown[] {
  const journal = newJournal()
  journal.append(entries)
  return noticeListing({ journal, receivers: () => [healthy('pager'), healthy('mail')] }, filter).map(
    ({ receiver, health, counts, notices, more }) => [
      receiver,
      health !== null,
      counts,
      notices.map(({ id }) => id),
      more,
    ],
  )
}

it('the receivers of the configuration come first, in its order, also those that were sent nothing', () => {
  expect(listing([queued('n1', ['gone', 'mail'])])).toEqual([
    ['pager', true, {}, [], 0],
    ['mail', true, { waiting: 1 }, ['n1'], 0],
    ['gone', false, { waiting: 1 }, ['n1'], 0],
  ])
})

it('each has its newest, the newest first, and says how many are left out', () => {
  const waiting = Array.from({ length: 30 }, (_, n) => queued(`w${n}`, ['pager']))
  const sent: NewEntry = {
    kind: 'notice.sent',
    data: { notice: 'w29', receiver: 'pager', attempt: 1, result: 'HTTP 204', tookMs: 1 },
  }
  expect(listing([queued('first', ['mail']), ...waiting, sent], { limit: 2 })).toEqual([
    ['pager', true, { waiting: 29, sent: 1 }, ['w29', 'w28'], 28],
    ['mail', true, { waiting: 1 }, ['first'], 0],
  ])
})

it('a filter takes what fits of receiver, state and incident', () => {
  const entries = [queued('n1', ['pager', 'mail'], 'i-1'), queued('n2', ['pager'])]
  expect(listing(entries, { incident: 'i-1', receiver: 'pager' })).toEqual([['pager', true, { waiting: 1 }, ['n1'], 0]])
  expect(listing(entries, { state: 'dead', receiver: 'pager' })).toEqual([['pager', true, {}, [], 0]])
})

it('those of an incident are also what was told of its host shortly before', () => {
  const journal = newJournal()
  const opened = incidentEntries()[0]!
  const [{ at: openedAt } = { at: '' }] = journal.append([opened])
  const at = (minutes: number): string => new Date(Date.parse(openedAt) + minutes * 60_000).toISOString()
  const ofHost = (id: string, minutes: number, host = opened.host): NewEntry => ({
    kind: 'notice.queued',
    data: { ...notice, id, host: host ?? null, at: at(minutes), receivers: ['pager'] },
  })
  journal.append([ofHost('long-ago', -11), ofHost('down', -1), ofHost('other-host', -1, 'c9')])
  const listed = noticeListing({ journal, receivers: () => [healthy('pager')] }, { incident: opened.incident ?? '' })
  expect(listed[0]!.notices.map(({ id }) => id)).toEqual(['down'])
})

it('those of an incident are also those of the group that the brake holds with it, to the end of that', () => {
  const scope = { scope: 'domain:b' as const, title: 'rack b' }
  const ofGroup = (
    id: string,
    cause: number,
    held: Partial<NonNullable<Notice['held']>>,
    key = 'rack b',
  ): NewEntry => ({
    kind: 'notice.queued',
    data: {
      ...{ ...notice, id, cause, receivers: ['pager'] },
      held: { ...scope, hosts: [], incidents: [], ...held },
      alert: { key, action: 'trigger', labels: {}, since: notice.at, was: null },
    },
  })
  const entries = [
    ofGroup('before', 1, { incidents: ['i-0'] }),
    ofGroup('held', 2, { hosts: ['cmp07', 'cmp08'], incidents: ['i-1', 'i-2'] }),
    ofGroup('elsewhere', 3, { incidents: ['i-9'] }, 'rack c'),
    ofGroup('over', 4, {}),
    queued('own', ['pager'], 'i-1'),
  ]
  expect(listing(entries, { incident: 'i-1', receiver: 'pager' })).toEqual([
    ['pager', true, { waiting: 3 }, ['own', 'over', 'held'], 0],
  ])
})
