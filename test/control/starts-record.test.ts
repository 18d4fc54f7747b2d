/** What a start makes of the starts before it: a loop or none, told once; and which silence it goes on from. */
import { describe, expect, it } from 'vitest'
import { loopAlarm, restartLoop, silenceBefore, startsIn } from '../../src/control/starts-record.ts'
import type { Entry, NewEntry } from '../../src/domain/entry.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { SmallWorld } from '../daemon/small-world.ts'

const now = Date.parse('2026-03-01T12:00:00.000Z')

/** `+N` started and `-N` stopped, N seconds ago, the newest first. */
function before(...ends: number[]): Pick<Entry, 'kind' | 'seq' | 'at'>[] {
  return ends.map((ago, n) => ({
    kind: ago < 0 ? 'daemon.stopped' : 'daemon.started',
    seq: 100 - n,
    at: new Date(now - Math.abs(ago) * 1_000).toISOString(),
  }))
}

describe('the runs before', () => {
  it.each([
    ['none', [], { amongOthers: false, deaths: 0, rowFrom: null }],
    ['one that was stopped', [-1, 60], { amongOthers: true, deaths: 0, rowFrom: null }],
    ['one that died', [60], { amongOthers: true, deaths: 1, rowFrom: 100 }],
    ['three that died', [5, 10, 15], { amongOthers: true, deaths: 3, rowFrom: 98 }],
    ['two that died after one was stopped', [5, 10, -11, 15], { amongOthers: true, deaths: 2, rowFrom: 99 }],
    ['one that died after a day', [86_400], { amongOthers: false, deaths: 0, rowFrom: null }],
    ['two that died after one of a day', [5, 10, 86_400], { amongOthers: true, deaths: 2, rowFrom: 99 }],
    ['four that died, one of them too long ago', [250, 500, 700, 900], { amongOthers: true, deaths: 3, rowFrom: 97 }],
  ])('%s', (_what, ends, starts) => {
    expect(startsIn(before(...ends), now)).toMatchObject(starts)
  })

  it('count on where the clock was set back meanwhile', () => {
    const ahead = before(5, 10, 15).map((entry) => ({ ...entry, at: entry.at.replace('2026', '2027') }))
    expect(startsIn(ahead, now).deaths).toBe(3)
  })

  it('are a row that nobody need read to its end', () => {
    expect(startsIn(before(...Array.from({ length: 200 }, (_, n) => 5 * n)), now).rowCut).toBe(true)
    expect(startsIn(before(...Array.from({ length: 199 }, (_, n) => 5 * n)), now).rowCut).toBe(false)
  })
})

describe('a loop', () => {
  const three = startsIn(before(5, 10, 15), now)
  const alarm = { kind: 'alarm.raised', data: { code: 'RESTART_LOOP', message: '' } } as unknown as Entry
  const other = { kind: 'alarm.raised', data: { code: 'MEMORY_HIGH', message: '' } } as unknown as Entry

  it('is three deaths within ten minutes, until a run has lasted that long', () => {
    expect(restartLoop(startsIn(before(5, 10), now), 0)).toBeNull()
    expect(restartLoop(three, 600_000)?.died).toBe(3)
    expect(restartLoop(three, 600_001)).toBeNull()
  })

  it('raises one alarm', () => {
    expect(loopAlarm(three, { read: () => [other] })).toMatchObject([{ data: { code: 'RESTART_LOOP' } }])
    expect(loopAlarm(three, { read: (filter) => (filter?.after === 98 ? [alarm] : []) })).toEqual([])
    expect(loopAlarm({ ...three, rowCut: true }, { read: () => [] })).toEqual([])
  })
})

it(
  'is told by the alarm, the metric and the status, until the run has lasted',
  SmallWorld.run({}, async (world) => {
    await world.stop()
    const died: NewEntry = { kind: 'daemon.started', data: { version: 'test', mode: 'armed', pid: 1 } }
    const journal = openJournal(world.path, { clock: world.clock })
    journal.append([died, died, died])
    journal.close()
    world.compose()
    world.daemon.start()
    expect(world.alarms()).toEqual(['RESTART_LOOP'])
    expect(await world.telemetry.metricsText()).toContain('lifeboat_runs_died 3')
    expect(world.daemon.operations.status().restartLoop?.died).toBe(3)
    await world.clock.advance(601_000)
    expect(world.daemon.operations.status().restartLoop).toBeNull()
  }),
)

describe('the silence before', () => {
  const data = { hosts: [], others: [], othersForMs: 0, othersBeat: false, cloudTime: '' }

  it('is what was put on record last', () => {
    const noted = { kind: 'silence.noted', at: 'then', data } as unknown as Entry
    expect(silenceBefore({ read: () => [noted] })).toEqual({ ...data, at: 'then' })
  })

  it.each(['monitor.frozen', 'monitor.thawed'])('is none after %s', (kind) => {
    expect(silenceBefore({ read: () => [{ kind } as Entry] })).toBeNull()
    expect(silenceBefore({ read: () => [] })).toBeNull()
  })
})
