/** When a silent nova-compute is a failure of its own, and what becomes of the incident that it opens. */
import { describe, expect, it } from 'vitest'
import { defaultReturnRules } from '../../src/domain/host-return.ts'
import {
  decideProcess,
  isProcessDown,
  isToBeDisabled,
  type ProcessDecision,
  type ProcessFacts,
} from '../../src/domain/process-failure.ts'
import type { ServiceRecord } from '../../src/domain/service.ts'
import type { Verdict } from '../../src/domain/verdict.ts'

const verdict = (kind: Verdict['kind'], reason: string, missedBeats: number): Verdict =>
  ({ kind, reason, evidence: { missedBeats } }) as Verdict

describe('a failure of nova-compute', () => {
  it.each<[string, Verdict, boolean]>([
    ['is twelve missing heartbeats of a host found alive', verdict('service-down', 'SILENT_BUT_PROBE_ALIVE', 12), true],
    ['is not less silence: an upgrade restarts it', verdict('service-down', 'SILENT_BUT_PROBE_ALIVE', 11.9), false],
    ['is not one whose host is still looked at', verdict('suspect', 'SILENT_BUT_PROBE_ALIVE', 12), false],
    ['is not what someone forced down', verdict('service-down', 'FORCED_DOWN_BUT_PROBE_ALIVE', 99), false],
    ['is not a host that is dead', verdict('host-down', 'NOVA_DOWN_AND_PROBES_DEAD', 99), false],
    ['is not a host that a person disabled', verdict('maintenance', 'DISABLED_AND_SILENT', 99), false],
  ])('%s', (_what, seen, is) => {
    expect(isProcessDown(seen)).toBe(is)
  })

  const row = { id: 's', status: 'enabled', forcedDown: false } as ServiceRecord
  it.each<[string, Partial<ServiceRecord>, boolean]>([
    ['is disabled where Nova would send guests once it is up', {}, true],
    ['needs no disable of ours where there is one', { status: 'disabled' }, false],
    ['needs none where it is forced down', { forcedDown: true }, false],
    ['gets none while its cell cannot be reached', { id: null }, false],
  ])('%s', (_what, change, is) => {
    expect(isToBeDisabled({ ...row, ...change })).toBe(is)
  })
})

describe('the open incident of a nova-compute', () => {
  const now = 1_000_000
  const rules = { ...defaultReturnRules, healthyMs: 60_000, maxReturns: 1, withinMs: 600_000 }
  const incident: ProcessFacts['incident'] = {
    ...{ process: 'nova-compute', mode: 'armed', cancelled: null, held: null, changedByOthers: null },
  }
  const down: ProcessFacts = {
    ...{
      incident,
      disabledBy: 'us',
      mayBeDisabled: false,
      isListed: true,
      hostIncident: null,
      isDown: true,
      healthy: null,
    },
    ...{ failures: [now - 100_000], order: null, blocked: null },
  }
  const proven: ProcessFacts = { ...down, isDown: false, healthy: { since: now - 60_000, polls: 3, beats: 2 } }
  const flapping = { ...proven, failures: [now - 500_000, now - 100_000] }
  const maintenance = { hold: 'MAINTENANCE', message: 'new memory' } as const
  const held = (code: 'MAINTENANCE' | 'CONFIRM_RETURN', message = '') => ({
    ...incident,
    held: { code, message, since: '' },
  })
  const ann = { by: 'ann', reason: 'repaired', keepOut: false }

  it.each<[string, ProcessFacts, string]>([
    ['waits as long as it is down', down, 'wait'],
    ['ends when its record is deleted', { ...down, isListed: false }, 'close left-to-people'],
    [
      'waits as long as it has not been well for the healthy time',
      { ...proven, healthy: { since: now - 59_999, polls: 9, beats: 2 } },
      'wait',
    ],
    ['waits for more than two good polls', { ...proven, healthy: { since: 0, polls: 2, beats: 2 } }, 'wait'],
    ['waits for a second heartbeat', { ...proven, healthy: { since: 0, polls: 9, beats: 1 } }, 'wait'],
    ['closes once it has been well', proven, 'close returned'],
    ['gives way to an incident of its host', { ...proven, hostIncident: 'i-2' }, 'close host-failed'],
    [
      'is left to the person who cancels it',
      { ...proven, incident: { ...incident, cancelled: { by: 'ann', reason: '' } } },
      'close left-to-people',
    ],
    [
      'is left to people who change the service',
      { ...proven, incident: { ...incident, changedByOthers: 'enabled' } },
      'close left-to-people',
    ],
    [
      'closes at once where it was only observed',
      { ...down, incident: { ...incident, mode: 'observe' } },
      'close observed',
    ],
    ['asks a person when it failed too often', flapping, 'hold CONFIRM_RETURN'],
    [
      'counts only failures within the time',
      { ...flapping, failures: [now - 700_001, now - 100_000] },
      'close returned',
    ],
    [
      'counts a failure that is just as old as the time',
      { ...flapping, failures: [now - 700_000, now - 100_000] },
      'hold CONFIRM_RETURN',
    ],
    [
      'asks on however long nobody answers',
      { ...flapping, failures: [now - 9_500_000, now - 9_100_000] },
      'hold CONFIRM_RETURN',
    ],
    ['asks nobody about a service that was never disabled', { ...flapping, disabledBy: null }, 'close returned'],
    ['is left to people who disable the service', { ...proven, disabledBy: 'others' }, 'close left-to-people'],
    [
      'keeps an order as its hold through a blip',
      { ...proven, healthy: { since: now, polls: 1, beats: 0 }, blocked: maintenance, incident: held('MAINTENANCE') },
      'wait',
    ],
    ['closes when that person returns the host', { ...flapping, order: ann }, 'close returned'],
    [
      'is kept disabled by a person who wants that',
      { ...proven, order: { ...ann, keepOut: true } },
      'hold CONFIRM_RETURN',
    ],
    [
      'cannot be kept disabled if it never was: the order waits for the next failure',
      { ...proven, disabledBy: null, order: { ...ann, keepOut: true } },
      'close left-to-people',
    ],
    [
      'waits while Nova may still carry out our disable',
      { ...proven, disabledBy: null, mayBeDisabled: true, order: { ...ann, keepOut: true } },
      'wait',
    ],
    [
      'stays held while a person keeps it out and its cell does not say whether it is disabled',
      {
        ...{ ...down, healthy: null, isDown: false, disabledBy: null, mayBeDisabled: true },
        ...{ order: { ...ann, keepOut: true }, incident: held('CONFIRM_RETURN') },
      },
      'wait',
    ],
    ['waits for an order to end before it enables', { ...proven, blocked: maintenance }, 'hold MAINTENANCE'],
    [
      'waits for an order to end before it disables',
      { ...down, disabledBy: null, blocked: maintenance },
      'hold MAINTENANCE',
    ],
    ['is not held by an order while nothing is to be written', { ...down, blocked: maintenance }, 'wait'],
    ['goes on when nothing holds it any more', { ...down, incident: held('MAINTENANCE') }, 'go-on'],
    [
      'goes on when an order has ended while it proves itself',
      { ...proven, healthy: { since: now, polls: 1, beats: 0 }, incident: held('MAINTENANCE') },
      'go-on',
    ],
    [
      'goes on when a person has answered while it proves itself',
      { ...flapping, healthy: { since: now, polls: 1, beats: 0 }, order: ann, incident: held('CONFIRM_RETURN') },
      'go-on',
    ],
    [
      'is not held by an order while it proves itself without a disable',
      { ...proven, healthy: { since: now, polls: 1, beats: 0 }, disabledBy: null, blocked: maintenance },
      'wait',
    ],
    ['closes although it was held', { ...proven, incident: held('MAINTENANCE') }, 'close returned'],
    [
      'says a hold again in other words',
      { ...proven, incident: held('MAINTENANCE', 'new disk'), blocked: maintenance },
      'hold MAINTENANCE',
    ],
    ['says a hold once', { ...proven, incident: held('MAINTENANCE', 'new memory'), blocked: maintenance }, 'wait'],
    [
      'keeps its question while it proves itself again',
      { ...flapping, healthy: { since: now, polls: 1, beats: 0 }, incident: held('CONFIRM_RETURN') },
      'wait',
    ],
    [
      'takes its question back when it is down again',
      { ...flapping, healthy: null, isDown: true, incident: held('CONFIRM_RETURN') },
      'go-on',
    ],
  ])('%s', (_what, facts, says) => {
    expect(shortly(decideProcess(facts, rules, now))).toBe(says)
  })

  it('says why it ends or is held', () => {
    const message = (facts: ProcessFacts): string => {
      const decision = decideProcess(facts, rules, now)
      return 'message' in decision ? decision.message : decision.do
    }
    expect(message({ ...proven, incident: { ...incident, process: null } })).toBe(
      'nova-compute has been up and beating for 1 min',
    )
    expect(message(flapping)).toBe(
      'it failed more than 1 times within 10 min: its service stays disabled until a person returns the host to service',
    )
    const cancelled = { ...down, incident: { ...incident, cancelled: { by: 'ann', reason: 'new memory' } } }
    expect(message(cancelled)).toBe(
      'cancelled by ann: new memory. Its service stays disabled until nova-compute has been well for a while',
    )
    expect(message({ ...cancelled, disabledBy: null })).toBe('cancelled by ann: new memory')
  })

  it('asks a person each time where the segment says so', () => {
    expect(shortly(decideProcess(proven, { ...rules, mode: 'confirm' }, now))).toBe('hold CONFIRM_RETURN')
  })
})

function shortly(decision: ProcessDecision): string {
  if (decision.do === 'close') return `close ${decision.outcome}`
  return decision.do === 'hold' ? `hold ${decision.code}` : decision.do
}
