/** Whether the control plane can be believed: each fault, on both sides of its mark. */
import { describe, expect, it } from 'vitest'
import {
  assessControlPlane,
  type ComputeFacts,
  type ControlPlaneFacts,
  type ControlPlaneLimits,
  type WorkerFacts,
} from '../../src/monitor/control-plane.ts'

const limits: ControlPlaneLimits = {
  suspectAfterBeats: 1.5,
  confirmAfterBeats: 2.5,
  maxClockSkewMs: 30_000,
  massSilenceShare: 0.5,
  pollIntervalMs: 500,
  quietAfterFreezeMs: 20_000,
}

const worker = (binary: string, changes: Partial<WorkerFacts> = {}): WorkerFacts => ({
  binary,
  state: 'up',
  missedBeats: 0,
  ...changes,
})
const conductor = (changes: Partial<WorkerFacts> = {}) => worker('nova-conductor', changes)
const scheduler = (changes: Partial<WorkerFacts> = {}) => worker('nova-scheduler', changes)

const now = 1_000_000

/** Beats every two seconds, and was last seen to beat so long ago. */
const host = (name: string, silentMs: number, changes: Partial<ComputeFacts> = {}): ComputeFacts => ({
  host: name,
  lastBeatAt: now - silentMs,
  intervalMs: 2_000,
  explained: false,
  ...changes,
})
const hosts = (...silences: number[]): ComputeFacts[] => silences.map((silentMs, index) => host(`h${index}`, silentMs))

function assess(changes: Partial<ControlPlaneFacts> = {}, marks: Partial<ControlPlaneLimits> = {}) {
  const facts: ControlPlaneFacts = {
    now,
    apiError: null,
    rows: 5,
    computes: 3,
    hadComputes: true,
    hadConductors: true,
    hadSchedulers: true,
    workers: [conductor(), scheduler()],
    hosts: hosts(0, 100, 200),
    skew: { ms: 0, of: 'nova-compute on h1' },
    ...changes,
  }
  return assessControlPlane(facts, { ...limits, ...marks })
}

/** `freeze REASON`, `doubt REASON` or `believed`. */
function belief(...args: Parameters<typeof assess>): string {
  const { freeze, doubt } = assess(...args)
  expect(freeze === null || doubt === null).toBe(true)
  if (freeze !== null) return `freeze ${freeze.reason}`
  return doubt === null ? 'believed' : `doubt ${doubt.reason}`
}

describe('an answer', () => {
  it('that is whole and whose rows move is believed', () => {
    expect(belief()).toBe('believed')
  })

  it.each([
    ['did not come', { apiError: '503' }, 'freeze API_FAILED'],
    ['did not come, before anything was seen', { apiError: '503', rows: 0 }, 'freeze API_FAILED'],
    ['lists nothing', { rows: 0 }, 'freeze NO_SERVICES'],
    ['lists no computes any more', { computes: 0 }, 'freeze NO_COMPUTES'],
    ['lists no computes and never did', { computes: 0, hadComputes: false }, 'believed'],
    ['is as far behind as may be', { skew: { ms: 30_000, of: 'nova-compute on h1' } }, 'believed'],
    ['is farther behind', { skew: { ms: 30_001, of: 'nova-compute on h1' } }, 'freeze CLOCK_SKEW'],
    ['is as far ahead as may be', { skew: { ms: -30_000, of: 'nova-compute on h1' } }, 'believed'],
    ['is farther ahead', { skew: { ms: -30_001, of: 'nova-compute on h1' } }, 'freeze CLOCK_SKEW'],
    ['does not say when it was made', { skew: null }, 'believed'],
  ] as [string, Partial<ControlPlaneFacts>, string][])('that %s', (_what, changes, expected) => {
    expect(belief(changes)).toBe(expected)
  })

  it('is said with its numbers', () => {
    expect(assess({ apiError: '503' }).freeze?.message).toContain('503')
    expect(assess({ skew: { ms: 45_400, of: 'nova-compute on h1' } }).freeze?.message).toContain('45 s behind')
    expect(assess({ skew: { ms: -45_600, of: 'nova-compute on h1' } }).freeze?.message).toContain('46 s ahead of')
  })
})

describe.each([
  ['nova-conductor', 'CONDUCTOR', 'hadConductors', scheduler()],
  ['nova-scheduler', 'SCHEDULER', 'hadSchedulers', conductor()],
] as const)('%s', (binary, short, had, other) => {
  const rows = (...some: Partial<WorkerFacts>[]): Partial<ControlPlaneFacts> => ({
    workers: [other, ...some.map((changes) => worker(binary, changes))],
  })

  it('one living row of it is enough', () => {
    expect(belief(rows({ state: 'down', missedBeats: 99 }, {}, { state: null }))).toBe('believed')
  })

  it.each([
    [{ missedBeats: 1.49 }, 'believed'],
    [{ missedBeats: 1.5 }, `doubt ${short}_SILENT`],
    [{ missedBeats: 2.49 }, `doubt ${short}_SILENT`],
    [{ missedBeats: 2.5 }, `freeze ${short}_SILENT`],
    [{ state: 'down' as const }, `freeze ${short}_SILENT`],
    [{ state: null }, `freeze ${short}_SILENT`],
  ])('%o', (changes, expected) => {
    expect(belief(rows(changes))).toBe(expected)
  })

  it('that was there and is listed no more freezes; one that never was does not', () => {
    expect(belief(rows())).toBe(`freeze ${short}_MISSING`)
    expect(belief({ ...rows(), [had]: false })).toBe('believed')
    expect(assess(rows()).freeze?.message).toContain(binary)
  })

  it('is counted', () => {
    expect(assess(rows({ state: 'down' }, { state: 'down' })).freeze?.message).toContain('(2 listed)')
  })
})

describe('hosts that fall silent together', () => {
  it.each([
    ['one alone is a dead host', [6_000, 0, 0], 'believed'],
    ['all of two', [6_000, 6_000], 'freeze MASS_SILENCE'],
    ['two of three are not everyone, and there are too few for a share', [6_000, 6_000, 0], 'believed'],
    ['all of three', [6_000, 6_000, 6_000], 'freeze MASS_SILENCE'],
    ['half of four', [6_000, 6_000, 0, 0], 'freeze MASS_SILENCE'],
    ['two of five are below the share', [6_000, 6_000, 0, 0, 0], 'believed'],
    ['before the confirmation mark nobody asks', [4_999, 4_999, 4_999], 'believed'],
    [
      'at the confirmation mark it is a doubt only when it is not yet sure',
      [5_000, 5_000, 5_000],
      'freeze MASS_SILENCE',
    ],
    ['a beat apart, they fell silent together', [8_500, 6_000, 0, 0], 'freeze MASS_SILENCE'],
    ['more than a beat and a poll apart, they did not', [8_501, 6_000, 0, 0, 0], 'believed'],
    ['the only host there is', [6_000], 'believed'],
    ['one more dead host among those that died long ago', [6_000, 0, 90_000, 120_000, 150_000], 'believed'],
    ['the later one is not yet confirmed', [6_500, 4_000, 0, 0], 'freeze MASS_SILENCE'],
    ['the later one fell silent more than a beat and a poll after', [6_500, 3_999, 0, 0], 'believed'],
    ['of two a beat apart the later one says how long ago it was', [25_500, 23_000, 0, 0], 'freeze MASS_SILENCE'],
    [
      'the latest, listed behind many that died one by one',
      [30_000, 40_000, 50_000, 60_000, 70_000, 80_000, 90_000, 100_000, 6_000, 6_000],
      'freeze MASS_SILENCE',
    ],
  ])('%s', (_what, silences, expected) => {
    expect(belief({ hosts: hosts(...silences) })).toBe(expected)
  })

  it('are no fault where a probe says that they are dead', () => {
    const explained = { explained: true }
    expect(belief({ hosts: [host('a', 6_000, explained), host('b', 6_000, explained), host('c', 0)] })).toBe('believed')
    expect(belief({ hosts: [host('a', 6_000, explained), host('b', 6_000), host('c', 0), host('d', 0)] })).toBe(
      'believed',
    )
  })

  it('are certain only when every living host would have been seen to beat since', () => {
    // With a poll as long as the interval that takes two beats and two polls: four beats.
    const slow = { pollIntervalMs: 2_000 }
    expect(belief({ hosts: hosts(7_999, 7_999, 7_999) }, slow)).toBe('doubt MASS_SILENCE')
    expect(belief({ hosts: hosts(8_000, 8_000, 8_000) }, slow)).toBe('freeze MASS_SILENCE')
    expect(belief({ hosts: hosts(4_999, 4_999) }, { pollIntervalMs: 1 })).toBe('believed')
    expect(belief({ hosts: hosts(5_000, 5_000) }, { pollIntervalMs: 1 })).toBe('freeze MASS_SILENCE')
  })

  it('while others kept beating are left to the brake after a quiet time', () => {
    // Confirmed after 5 s, and a quiet time of 20 s.
    expect(belief({ hosts: hosts(25_000, 25_000, 0, 0) })).toBe('freeze MASS_SILENCE')
    expect(belief({ hosts: hosts(25_001, 25_001, 0, 0) })).toBe('believed')
    expect(belief({ hosts: hosts(99_000, 99_000, 99_000) })).toBe('freeze MASS_SILENCE')
  })

  it('are found also behind one that fell silent later', () => {
    expect(belief({ hosts: hosts(5_000, 15_000, 15_000, 15_000) })).toBe('freeze MASS_SILENCE')
    expect(belief({ hosts: hosts(15_000, 15_000, 15_000, 5_000, 0) })).toBe('freeze MASS_SILENCE')
  })

  it('that had fallen silent long before are not counted among the watched', () => {
    expect(belief({ hosts: hosts(6_000, 6_000, 90_000, 95_000, 99_000) })).toBe('freeze MASS_SILENCE')
  })

  it('of the share that was set', () => {
    expect(belief({ hosts: hosts(6_000, 6_000, 0, 0) }, { massSilenceShare: 0.51 })).toBe('believed')
    expect(belief({ hosts: hosts(6_000, 6_000, 6_000, 0) }, { massSilenceShare: 0.75 })).toBe('freeze MASS_SILENCE')
  })

  it('are counted in the sentence', () => {
    expect(assess({ hosts: hosts(6_000, 6_000, 0, 0) }).freeze?.message).toContain('2 of 4 hosts')
  })

  it('come before a doubt about the workers, and after a fault of them', () => {
    const silent = { hosts: hosts(6_000, 6_000) }
    expect(belief({ ...silent, workers: [conductor({ missedBeats: 2 }), scheduler()] })).toBe('freeze MASS_SILENCE')
    expect(belief({ ...silent, workers: [conductor({ missedBeats: 3 }), scheduler()] })).toBe('freeze CONDUCTOR_SILENT')
    const doubtful = { hosts: hosts(7_000, 7_000), workers: [conductor({ missedBeats: 2 }), scheduler()] }
    expect(belief(doubtful, { pollIntervalMs: 2_000 })).toBe('doubt MASS_SILENCE')
  })
})
