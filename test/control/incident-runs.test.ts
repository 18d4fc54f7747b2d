/** What becomes of an incident whose run breaks. */
import { describe, expect, it } from 'vitest'
import { IncidentRuns } from '../../src/control/incident-runs.ts'
import type { Entry, NewEntry } from '../../src/domain/entry.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { applyEntry, type Incident } from '../../src/domain/incident.ts'
import { VirtualClock } from '../../src/simulator/index.ts'

/** One incident, and a run of it that does what the test says. */
function scene(run: (append: (entry: NewEntry) => void) => Promise<void>) {
  const clock = new VirtualClock()
  const stop = new AbortController()
  const incidents = new Map<string, Incident>()
  const seen: string[] = []
  const tell: ((entry: Entry) => void)[] = []
  const append = (entries: readonly NewEntry[]): Entry[] => {
    const written = entries.map(
      (entry) => ({ instance: null, step: null, at: '', seq: 0, ...entry }) as unknown as Entry,
    )
    for (const entry of written) {
      applyEntry(incidents, entry)
      const code = entry.kind === 'incident.held' ? ` ${entry.data.code}` : ''
      seen.push(`${clock.now() / 1_000} ${entry.kind}${code}`)
      for (const told of tell) told(entry)
    }
    return written
  }
  const one = (entry: NewEntry): void => void append([{ ...entry, incident: 'i1', host: 'cmp01' }])
  const runs = new IncidentRuns({
    clock,
    signal: stop.signal,
    observer: {},
    store: { inMemory: (id) => incidents.get(id) },
    journal: { append, onAppend: (told) => void tell.push(told) },
    run: () => {
      seen.push(`${clock.now() / 1_000} run`)
      return run(one)
    },
    ended: () => seen.push(`${clock.now() / 1_000} ended`),
  })
  one({
    kind: 'incident.opened',
    data: { verdict: null, segment: 's', failure: 'host', mode: 'armed', openedBy: 'daemon', workflowDigest: 'd' },
  })
  seen.length = 0
  const play = async (ms: number): Promise<void> => {
    await clock.advance(ms)
  }
  return { runs, seen, one, play, stop, clock }
}

const bug = (): Promise<void> => Promise.reject(new LifeboatError('INVARIANT', 'this cannot be'))

describe('an incident whose run breaks', () => {
  it('is tried again without a word after one break, held at the second, and tried ever more rarely', async () => {
    const { runs, seen, play } = scene(bug)
    runs.start('i1')
    await play(200_000)
    expect(seen).toEqual(['0 run', '10 run', '10 incident.held INTERNAL_ERROR', '30 run', '70 run', '150 run'])
  })

  it('goes on by itself once a run gets further, and its breaks are forgotten', async () => {
    let breaks = 2
    const { runs, seen, play } = scene((append) => {
      if (breaks-- > 0) return bug()
      append({ kind: 'incident.phase', data: { from: 'confirming', to: 'fencing' } })
      return breaks === -1 ? bug() : Promise.resolve()
    })
    runs.start('i1')
    await play(45_000)
    expect(seen.slice(3)).toEqual([
      '30 run',
      '30 incident.phase',
      '30 incident.continued',
      '40 run',
      '40 incident.phase',
      '40 ended',
    ])
  })

  it('is tried again at once when a person cancels it', async () => {
    const { runs, seen, play, one } = scene(bug)
    runs.start('i1')
    await play(12_000)
    one({ kind: 'operator.cancelled', data: { by: 'ann', reason: 'by hand' } })
    await play(1)
    expect(seen.slice(-2)).toEqual(['12 operator.cancelled', '12 run'])
  })

  it('is not held for a journal that cannot be written: nobody could be told', async () => {
    const full = (): Promise<void> => Promise.reject(new LifeboatError('JOURNAL_UNAVAILABLE', 'disk full'))
    const { runs, seen, play } = scene(full)
    runs.start('i1')
    await play(35_000)
    expect(seen).toEqual(['0 run', '10 run', '20 run', '30 run'])
  })
})
