/** Incidents that are over and not done with: none is missed for its age, and asking costs nothing. */
import { expect, it } from 'vitest'
import { UnreviewedIncidents } from '../../src/review/unreviewed.ts'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { OutcomeKind } from '../../src/domain/outcome.ts'
import { newJournal, plan } from '../journal/fixtures.ts'

interface Life {
  mode?: 'observe' | 'armed'
  ends?: OutcomeKind[]
  over?: boolean
}

/** An incident of the host of the same name. */
function life(host: string, { mode = 'armed', ends = [], over = true }: Life = {}): NewEntry[] {
  const of = { incident: `i-${host}`, host }
  const opened = { segment: 'az1', failure: 'host', mode, openedBy: 'monitor', workflowDigest: 'd', verdict: null }
  const closed = { outcome: 'done', message: 'over', counts: {} }
  return [
    { kind: 'incident.opened', ...of, data: opened },
    ...ends.flatMap((outcome, nth): NewEntry[] => {
      const instance = `${host}-${nth}`
      return [
        { kind: 'plan.made', ...of, instance, data: plan(instance) },
        { kind: 'outcome.recorded', ...of, instance, data: { outcome, code: 'X', message: 'so', after: null } },
      ]
    }),
    ...(over ? [{ kind: 'incident.closed', ...of, data: closed }] : []),
  ] as NewEntry[]
}
const signed = (host: string): NewEntry => ({
  kind: 'review.signed-off',
  incident: `i-${host}`,
  host,
  data: { by: 'ann', text: 'read' },
})

it('are those of any age that are over, armed, not all back, and signed off by nobody', () => {
  const journal = newJournal()
  const unreviewed = new UnreviewedIncidents(journal)
  journal.append(life('old', { ends: ['recovered', 'left', 'failed'] }))
  for (let nth = 0; nth < 150; nth++) journal.append(life(`well-${nth}`, { ends: ['recovered'] }))
  journal.append([
    ...life('empty'),
    ...life('observed', { mode: 'observe', ends: ['left'] }),
    ...life('open', { ends: ['failed'], over: false }),
    ...life('stuck', { ends: ['stuck', 'left'] }),
    ...life('done', { ends: ['left'] }),
    signed('done'),
  ])
  expect(unreviewed.list({}).map(({ host }) => host)).toEqual(['stuck', 'old'])
  expect(unreviewed.list({})[1]).toMatchObject({
    id: 'i-old',
    ended: { outcome: 'done' },
    outcomes: { recovered: 1, left: 1, failed: 1 },
    signedOff: null,
  })
  expect(unreviewed.counts()).toEqual({ incidents: 2, left: 2, lost: 2 })
  expect(unreviewed.list({ limit: 1 }).map(({ host }) => host)).toEqual(['stuck'])
  expect(unreviewed.list({ host: 'old' }).map(({ host }) => host)).toEqual(['old'])
  expect(unreviewed.list({ instance: 'old-2' }).map(({ host }) => host)).toEqual(['old'])
  expect(unreviewed.list({ instance: 'done-0' })).toEqual([])
  expect(unreviewed.list({ open: true })).toEqual([])

  journal.append([signed('old')])
  expect(unreviewed.counts()).toEqual({ incidents: 1, left: 1, lost: 1 })
  journal.append(life('open', { over: false }).slice(1))
  journal.append([
    { kind: 'incident.closed', incident: 'i-open', host: 'open', data: life('x').at(-1)?.data } as NewEntry,
  ])
  expect(unreviewed.list({}).map(({ host }) => host)).toEqual(['stuck', 'open'])
})

it('are read again while the journal lacks what is durable, and kept once it has caught up', () => {
  const journal = newJournal()
  let [isBehind, read] = [true, 0]
  const unreviewed = new UnreviewedIncidents({
    ...journal,
    isBehind: () => isBehind,
    incidents: (query) => {
      read += 1
      return isBehind ? [] : journal.incidents(query)
    },
  })
  journal.append(life('c1', { ends: ['left'] }))
  expect([unreviewed.counts().incidents, unreviewed.counts().incidents, read]).toEqual([0, 0, 2])
  isBehind = false
  expect([unreviewed.counts().incidents, unreviewed.counts().incidents, read]).toEqual([1, 1, 3])
})

it('are read from the journal only when something was written that changes them', () => {
  const journal = newJournal()
  let read = 0
  const unreviewed = new UnreviewedIncidents({
    ...journal,
    incidents: (query) => {
      read += 1
      return journal.incidents(query)
    },
  })
  journal.append(life('c1', { ends: ['left'] }))
  for (let nth = 0; nth < 3; nth++) expect(unreviewed.counts().incidents).toBe(1)
  journal.append(life('c2', { ends: ['recovered'], over: false }))
  expect([unreviewed.counts().incidents, unreviewed.list({}).length, read]).toEqual([1, 1, 1])
  journal.append([signed('c1')])
  expect([unreviewed.counts().incidents, read]).toEqual([0, 2])
})
