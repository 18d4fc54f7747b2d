/** The writes of a repair: nothing leaves that was allowed too long ago, or is not allowed any more. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { CallOptions } from '../../src/domain/cloud.ts'
import type { NewEntry } from '../../src/domain/entry.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { RepairKind } from '../../src/domain/stale-order.ts'
import type { StepRecord } from '../../src/domain/incident.ts'
import { reconcileRepairs, repair, type RepairRun } from '../../src/executor/stale-order-steps.ts'
import { VirtualClock } from '../../src/simulator/virtual-clock.ts'
import { instance } from '../engine/surveys.ts'

const broken = instance({ id: 'i-1', host: 'new', vmState: 'error', taskState: 'rebuilding', powerState: 0 })

let clock: VirtualClock
let rows: string[]
let sent: number
let isPaused: boolean
let run: RepairRun
let inCommit: () => void
let inLogin: () => void
beforeEach(() => {
  clock = new VirtualClock()
  rows = []
  sent = 0
  isPaused = false
  inCommit = inLogin = () => undefined
  const write = (_id: string, options: CallOptions = {}): Promise<{ requestId: string | null }> => {
    inLogin()
    options.mayLeave?.()
    sent += 1
    return Promise.resolve({ requestId: 'req-1' })
  }
  const append = (entries: NewEntry[]): [] => {
    for (const { kind, data } of entries) rows.push('error' in data ? `${kind} ${data.error.code}` : kind)
    if (rows.length === 1) inCommit()
    return []
  }
  run = {
    order: {
      incident: 'inc',
      source: 'dead',
      instance: 'i-1',
      host: 'gone',
      migration: 'm-1',
      requestId: null,
      seq: 1,
    },
    cloud: {
      getInstance: () => Promise.resolve({ ...broken, vmState: 'stopped', taskState: null, powerState: 4 }),
      resetState: write,
      stop: write,
    },
    journal: { append },
    clock,
    mayWrite: () => !isPaused,
    signal: new AbortController().signal,
    tickMs: 1_000,
    reconcileQuietMs: 30_000,
    servedUntil: () => 600_000,
  }
})

const kinds: RepairKind[] = ['reset-state', 'stop']

describe.each(kinds)('a %s', (kind) => {
  it.each<[string, () => void]>([
    ['its process stood still in the commit', () => (inCommit = () => clock.leap(300_000))],
    ['its process stood still while it logged in', () => (inLogin = () => clock.leap(300_000))],
    ['it was paused in the commit', () => (inCommit = () => void (isPaused = true))],
    ['it was paused while it logged in', () => (inLogin = () => void (isPaused = true))],
  ])('does not leave when %s, and that is on record', async (_what, happens) => {
    happens()
    await repair(run, kind, broken, [])
    expect([sent, rows]).toEqual([0, ['step.intended', 'step.failed HELD_BACK']])
  })

  it('leaves when the commit took a second', async () => {
    inCommit = () => clock.leap(1_000)
    await repair(run, kind, broken, [])
    expect([sent, rows]).toEqual([1, ['step.intended', 'step.issued', 'step.confirmed']])
  })
})

describe('a reset', () => {
  const lost = (code: 'API_TIMEOUT' | 'API_UNAVAILABLE'): void => {
    const certainty = code === 'API_TIMEOUT' ? 'unknown' : 'not-applied'
    const details = code === 'API_UNAVAILABLE' ? { status: 503 } : {}
    run.cloud.resetState = () => Promise.reject(new LifeboatError(code, 'no answer', { certainty, details }))
  }

  const lostStep = (): StepRecord =>
    ({ key: 'repair.reset-state.m-1.1', kind: 'reset-state', status: 'intended' }) as StepRecord

  it('that a proxy refused with 503 is confirmed when Nova took it, and has failed with that when it did not', async () => {
    lost('API_UNAVAILABLE')
    await repair(run, 'reset-state', broken, [])
    expect(rows).toEqual(['step.intended', 'step.confirmed'])
    rows = []
    run.cloud.getInstance = () => Promise.resolve(broken)
    const repaired = repair(run, 'reset-state', broken, [])
    await clock.advance(3_000)
    await repaired
    expect(rows).toEqual(['step.intended', 'step.failed API_UNAVAILABLE'])
  })

  it('whose connection was never made has failed at once', async () => {
    run.cloud.resetState = () =>
      Promise.reject(new LifeboatError('API_UNAVAILABLE', 'refused', { certainty: 'not-applied' }))
    await repair(run, 'reset-state', broken, [])
    expect(rows).toEqual(['step.intended', 'step.failed API_UNAVAILABLE'])
  })

  it('whose answer was lost stays open while a front end may still serve it, and keeps nothing waiting', async () => {
    lost('API_TIMEOUT')
    run.cloud.getInstance = () => Promise.resolve(broken)
    await repair(run, 'reset-state', broken, [])
    await reconcileRepairs(run, [lostStep()])
    expect(rows).toEqual(['step.intended'])
    await clock.advance(600_000)
    await reconcileRepairs(run, [lostStep()])
    expect(rows).toEqual(['step.intended', 'step.failed STATE_MISMATCH'])
  })

  it('whose answer was lost has failed once its instance is deleted: it keeps its order from its end no longer', async () => {
    run.cloud.getInstance = () => Promise.reject(new LifeboatError('INSTANCE_GONE', 'no such server'))
    await reconcileRepairs(run, [lostStep()])
    expect(rows).toEqual(['step.failed INSTANCE_GONE'])
  })

  it('whose answer was lost is confirmed once Nova shows it', async () => {
    await reconcileRepairs(run, [lostStep()])
    expect(rows).toEqual(['step.confirmed'])
  })
})
