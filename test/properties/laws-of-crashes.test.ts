/** The laws on guests that crash say of a journal or a log that breaks them what is broken. */
import { describe, expect, it } from 'vitest'
import type { Incident } from '../../src/domain/incident.ts'
import type { Scenario } from '../../src/rehearsal/scenario.ts'
import type { Stage } from '../../src/rehearsal/stage.ts'
import { asked, journal } from './broken.ts'
import {
  rebootedUnasked,
  rebootedWithoutALook,
  restartedTooOften,
  stoppedByOwners,
  twoRestartsAtOnce,
  unsettled,
} from './laws-of-crashes.ts'

const id = '00000000-0000-4000-8000-000000000001'
const order = (at: number, action: string, user = 'lifeboat'): object => ({
  ...{ at, action, user, method: 'POST', status: 202 },
  path: `compute/v2.1/servers/${id}/action`,
})

function stage(runs: boolean): Stage {
  return {
    idOf: () => id,
    simulator: { truth: () => ({ running: runs ? { [id]: ['cmp01'] } : {} }) },
  } as unknown as Stage
}

const scenario = (instance: object = {}): Scenario =>
  ({
    instances: [{ name: 'web', ...instance }],
    config: { defaults: { restart: { max_restarts: 1 } } },
  }) as unknown as Scenario

describe('a guest', () => {
  it('that runs though its owner’s last order was a stop breaks a law, unless people are told', () => {
    const stop = asked(order(1_000, 'os-stop', 'tenant'))
    expect(stoppedByOwners(stage(true), scenario(), stop, [])).toHaveLength(1)
    expect(stoppedByOwners(stage(false), scenario(), stop, [])).toEqual([])
    const start = asked(order(1_000, 'os-stop', 'tenant'), order(2_000, 'os-start', 'tenant'))
    expect(stoppedByOwners(stage(true), scenario(), start, [])).toEqual([])
    const told = journal({ kind: 'outcome.recorded', instance: id, data: { outcome: 'stuck' } })
    expect(stoppedByOwners(stage(true), scenario(), stop, told)).toEqual([])
  })

  it('that is rebooted without a look at its hypervisor breaks a law', () => {
    const look = { at: 1_000, path: `compute/v2.1/servers/${id}/diagnostics`, status: 409 }
    expect(rebootedWithoutALook(asked(order(2_000, 'reboot')))).toHaveLength(1)
    expect(rebootedWithoutALook(asked(look, order(60_000, 'reboot')))).toHaveLength(1)
    expect(rebootedWithoutALook(asked(look, { ...look, status: 200 }, order(2_000, 'reboot')))).toHaveLength(1)
    expect(rebootedWithoutALook(asked(look, order(2_000, 'reboot')))).toEqual([])
  })

  it('that is rebooted though nobody asked for that breaks a law', () => {
    const reboot = asked(order(2_000, 'reboot'))
    expect(rebootedUnasked(stage(true), scenario(), reboot)).toHaveLength(1)
    expect(rebootedUnasked(stage(true), scenario({ metadata: { HA_Enabled: 'true' } }), reboot)).toEqual([])
    expect(rebootedUnasked(stage(true), scenario(), asked(order(2_000, 'reboot', 'tenant')))).toEqual([])
  })
})

describe('a restart', () => {
  const begins = (step: string): object => ({
    ...{ kind: 'step.intended', instance: id, step },
    data: { kind: 'reboot' },
  })

  it('that begins while another one of its instance is open breaks a law', () => {
    const ends = { kind: 'step.failed', instance: id, step: '0.reboot.1', data: {} }
    expect(twoRestartsAtOnce(journal(begins('0.reboot.1'), begins('0.reboot.2')))).toHaveLength(1)
    expect(twoRestartsAtOnce(journal(begins('0.reboot.1'), ends, begins('0.reboot.2')))).toEqual([])
  })

  it('beyond those that the segment allows breaks a law, unless a person let it through', () => {
    const incident = { id: 'inc-1', crashed: { instance: id } } as unknown as Incident
    const sent = (nth: number): object => ({ kind: 'step.issued', instance: id, step: `0.reboot.${nth}`, data: {} })
    const override = { kind: 'operator.override', data: {} }
    expect(restartedTooOften(journal(sent(1), sent(2)), [incident], scenario())).toHaveLength(1)
    expect(restartedTooOften(journal(sent(1)), [incident], scenario())).toEqual([])
    expect(restartedTooOften(journal(sent(1), override, sent(2)), [incident], scenario())).toEqual([])
  })
})

describe('a report', () => {
  const received = { kind: 'report.received', data: { uuid: 'r-1', payload: { instance_uuid: id } } }
  const held = (code: string): Incident =>
    ({ closed: null, held: { code }, crashed: { instance: id } }) as unknown as Incident

  it('that is never settled breaks a law, unless its incident or that of its host waits for a person', () => {
    expect(unsettled(journal(received), [])).toHaveLength(1)
    expect(unsettled(journal(received), [held('FROZEN')])).toHaveLength(1)
    expect(unsettled(journal(received), [held('RESTARTS_SPENT')])).toEqual([])
    const ofHost = { ...held('HOST_ALIVE'), crashed: null, host: 'cmp01' }
    expect(unsettled(journal(received), [ofHost])).toEqual([])
    expect(unsettled(journal(received), [{ ...ofHost, host: 'cmp02' }])).toHaveLength(1)
    expect(unsettled(journal(received, { kind: 'report.settled', data: { uuid: 'r-1' } }), [])).toEqual([])
  })
})
