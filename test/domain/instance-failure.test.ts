/** Which report tells of a crashed guest, and how long its restart waits. */
import { describe, expect, it } from 'vitest'
import {
  crashCodes,
  crashedInstance,
  crashesWithinMs,
  defaultRestartRules,
  isStopAgain,
  pauseBeforeRestart,
  stopAgain,
} from '../../src/domain/instance-failure.ts'
import type { ReportClass } from '../../src/domain/report-words.ts'

const uuid = '0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab'
const crash = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: uuid }

const said = (about: ReportClass, payload: Record<string, string>): string | null => crashedInstance({ about, payload })

describe('a report', () => {
  it('tells of a crash when it says that QEMU ended without a word', () => {
    expect(said('VM', crash)).toBe(uuid)
  })

  it.each<[string, ReportClass, Record<string, string>]>([
    ['of a host tells of none', 'COMPUTE_HOST', crash],
    ['of a process tells of none', 'PROCESS', crash],
    ['of a guest that was shut down tells of none', 'VM', { ...crash, vir_domain_event: 'STOPPED_SHUTDOWN' }],
    ['of a guest that was destroyed tells of none', 'VM', { ...crash, vir_domain_event: 'STOPPED_DESTROYED' }],
    ['of a disk that fails tells of none', 'VM', { ...crash, event: 'IO_ERROR' }],
    ['that names no instance tells of none', 'VM', { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED' }],
  ])('%s', (_what, about, payload) => {
    expect(said(about, payload)).toBeNull()
  })

  it('may write the uuid in upper case, or without dashes, as Masakari takes it', () => {
    expect(said('VM', { ...crash, instance_uuid: uuid.toUpperCase() })).toBe(uuid)
    expect(said('VM', { ...crash, instance_uuid: uuid.replaceAll('-', '') })).toBe(uuid)
    expect(said('VM', { ...crash, instance_uuid: uuid.replace('-', '') })).toBe(uuid)
  })
})

describe('the restarts of one instance', () => {
  it('wait longer each time: not at all, a minute, five minutes, and no longer than that', () => {
    expect([0, 1, 2, 3, 99].map(pauseBeforeRestart)).toEqual([0, 60_000, 300_000, 300_000, 300_000])
  })

  it('are for those who ask, three an hour and five on a host within ten minutes, unless the configuration says otherwise', () => {
    expect(defaultRestartRules).toEqual({ unasked: 'leave', maxRestarts: 3, withinMs: 3_600_000, maxPerHost: 5 })
    expect(crashesWithinMs).toBe(600_000)
  })
})

describe('an attempt', () => {
  it('is told by its key to be one that gives a stop of the owner again', () => {
    // As journals have it.
    expect(stopAgain).toBe('stop-again')
    expect(isStopAgain('1.reboot.stop-again.1')).toBe(true)
    expect(isStopAgain('1.reboot.reboot.1')).toBe(false)
    expect(isStopAgain('1.stop-again-and-more.stop.1')).toBe(false)
  })
})

describe('the codes that no rule gives', () => {
  it('are of guests that were left, and of those that Lifeboat restarted', () => {
    const recovered = Object.entries(crashCodes).flatMap(([code, { is }]) => (is === 'recovered' ? [code] : []))
    expect(recovered).toEqual(['RESTARTED'])
  })
})
