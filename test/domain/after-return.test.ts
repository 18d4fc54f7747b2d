/** What is known of a host that came back by itself, folded from entries as the journal keeps them. */
import { describe, expect, it } from 'vitest'
import { applyToWatched, type WatchedReturn } from '../../src/domain/after-return.ts'
import type { Entry } from '../../src/domain/entry.ts'

const at = '2030-01-01T00:00:00Z'
const ann = { by: 'ann', reason: 'power works' }

function folded(...rows: [kind: Entry['kind'], incident: string, data: object][]): WatchedReturn[] {
  const watched = new Map<string, WatchedReturn>()
  for (const [kind, incident, data] of rows)
    applyToWatched(watched, { kind, incident, data, at, host: 'cmp01' } as unknown as Entry)
  return [...watched.values()]
}

const returned: Parameters<typeof folded> = [
  ['incident.closed', '1', { outcome: 'returned', watched: true }],
  ['instances.watched', '1', { to: 'known', off: 20 }],
  ['operator.start', '1', ann],
]

describe('an incident that a person cancelled', () => {
  const closed = (data: object): WatchedReturn[] => folded(['incident.closed', '1', { outcome: 'cancelled', ...data }])

  it('is followed by a look at its host, which may still be away; those of older releases only where it was back', () => {
    expect(closed({ watched: 'once-back' })).toMatchObject([{ incident: '1', backAt: null, known: false }])
    expect(closed({ watched: true })).toMatchObject([{ incident: '1', backAt: at, known: false }])
    expect(closed({})).toEqual([])
  })

  it('knows after a restart when its host was back', () => {
    const backAt = '2030-01-02T00:00:00Z'
    const back: Parameters<typeof folded> = [
      ['incident.closed', '1', { outcome: 'cancelled', watched: 'once-back' }],
      ['instances.watched', '1', { to: 'watching', off: 0, backAt }],
    ]
    expect(folded(...back)).toMatchObject([{ backAt }])
    expect(folded(...back, ['instances.watched', '1', { to: 'watching', off: 0, backAt: null }])).toMatchObject([
      { backAt: null },
    ])
    expect(folded(...back, ['instances.watched', '1', { to: 'known', off: 2 }])).toMatchObject([{ backAt, off: 2 }])
  })
})

describe('a host that came back by itself and fails again', () => {
  it('hands its instances to the next incident, and the order with which a person had them started ends', () => {
    const opened = ['incident.opened', '2', { mode: 'armed' }] as const
    expect(folded(...returned, [...opened])).toMatchObject([{ incident: '1', supersededBy: '2' }])
    expect(folded(...returned, [...opened], ['incident.closed', '2', { watched: true }])).toMatchObject([
      { incident: '2', order: null, supersededBy: null },
    ])
  })

  it('keeps them, and the order, where that incident only observed', () => {
    const observed: typeof returned = [
      ['incident.opened', '2', { mode: 'observe' }],
      ['incident.closed', '2', { outcome: 'observed' }],
    ]
    expect(folded(...returned, ...observed)).toMatchObject([
      { incident: '1', off: 20, known: true, order: ann, supersededBy: null },
    ])
  })
})
