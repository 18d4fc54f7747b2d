/** What an incident left to try again, and who may order it when. */
import { describe, expect, it } from 'vitest'
import { orderTryAgain, type TryAgainParts } from '../../src/operations/try-again-order.ts'
import { againFacts, tryAgainOf, type AgainFacts, type AgainParts } from '../../src/operations/try-again.ts'
import type { Certainty } from '../../src/domain/errors.ts'
import type { Incident, InstanceRecovery } from '../../src/domain/incident.ts'
import type { TryAgain } from '../../src/domain/operations.ts'
import type { Outcome } from '../../src/domain/outcome.ts'
import type { EarlierRecovery } from '../../src/domain/survey.ts'
import type { Verdict } from '../../src/domain/verdict.ts'

interface Told {
  decision?: 'recover' | 'leave' | 'hold'
  reason?: string
  certainty?: Certainty
  landedOn?: string
}

function ended(outcome: Outcome['outcome'], code: string, told: Told = {}): InstanceRecovery {
  const { decision = 'recover', reason = 'RUNNING', certainty, landedOn } = told
  const step = { kind: 'evacuate', status: 'failed', requestId: 'r', error: { certainty, details: {} } }
  return {
    plan: { instanceId: 'x', name: 'web', decision, reason },
    outcome: { outcome, code, message: '', after: landedOn === undefined ? null : { host: landedOn } },
    steps: new Map(certainty === undefined ? [] : [['s', step]]),
  } as unknown as InstanceRecovery
}

function incident(instances: Record<string, InstanceRecovery>, changes: Partial<Incident> = {}): Incident {
  const entries = Object.entries(instances).map(([id, it]) => [id, { ...it, plan: { ...it.plan, instanceId: id } }])
  return {
    id: 'i-1',
    host: 'cmp01',
    mode: 'armed',
    proof: { strength: 'power-off' },
    closed: { outcome: 'done' },
    instances: new Map(entries as [string, InstanceRecovery][]),
    ...changes,
  } as unknown as Incident
}

const row = { updatedAt: '2026-01-01T00:00:50.000000', forcedDown: false, status: 'enabled' }
const away = { kind: 'returning', reason: 'AWAY_AFTER_INCIDENT', evidence: row } as unknown as Verdict
const facts: AgainFacts = {
  newest: { id: 'i-1', isOpen: false },
  verdict: away,
  old: null,
  hasOurFlags: true,
  fencing: ['bmc'],
  mode: 'armed',
  earlier: () => null,
}

function earlier(details: Record<string, unknown>, proven: string[] = []): AgainFacts['earlier'] {
  const steps = [{ kind: 'evacuate', status: 'failed', requestId: 'r', error: { certainty: 'unknown', details } }]
  const provenDeadSince = (host: string): boolean => proven.includes(host)
  return () => ({ outcome: { outcome: 'stuck' }, steps, endedAt: '', provenDeadSince }) as unknown as EarlierRecovery
}

describe('of the instances of an incident', () => {
  it.each([
    ['failed', ended('failed', 'NO_VALID_HOST'), 'again'],
    ['left by a cancel', ended('left', 'CANCELLED'), 'again'],
    ['stuck where it was', ended('stuck', 'INSTANCE_BUSY', { certainty: 'not-applied' }), 'again'],
    ['perhaps running elsewhere', ended('stuck', 'STEP_TIMEOUT', { certainty: 'unknown' }), 'unsure'],
    ['held for that', ended('stuck', 'EARLIER_UNSETTLED', { decision: 'hold', reason: 'EARLIER_UNSETTLED' }), 'unsure'],
    [
      'left for that after its host came back by itself',
      ended('left', 'EARLIER_UNSETTLED', { decision: 'leave', reason: 'EARLIER_UNSETTLED' }),
      null,
    ],
    ['recovered', ended('recovered', 'RUNNING'), null],
    ['on another host, not as it was', ended('stuck', 'STATE_MISMATCH', { landedOn: 'cmp02' }), null],
    ['left by a rule', ended('left', 'WISH_LEAVE', { decision: 'leave' }), null],
    ['held by a rule', ended('stuck', 'NO_RULE', { decision: 'hold' }), null],
    ['deleted meanwhile', ended('left', 'INSTANCE_GONE'), null],
  ] as const)('one that is %s', (_name, recovery, expected) => {
    const again = tryAgainOf(incident({ a: recovery }), { ...facts, earlier: earlier({ destination: 'cmp02' }) })
    const found = again === null ? null : again.instances.includes('a') ? 'again' : 'unsure'
    expect(found).toBe(expected)
  })

  it.each([
    ['is proven dead since', earlier({ destination: 'cmp02' }, ['cmp02'])],
    ['is the dead host itself', earlier({ destination: 'cmp01' })],
    ['and that of the order that crossed it are', earlier({ destinations: ['cmp01', 'cmp02'] }, ['cmp02'])],
  ])('one in doubt is tried again when its destination %s', (_name, known) => {
    const doubted = ended('stuck', 'STEP_TIMEOUT', { certainty: 'unknown' })
    expect(tryAgainOf(incident({ a: doubted }), { ...facts, earlier: known })).toMatchObject({ instances: ['a'] })
  })

  it('one in doubt is not tried again while one of the hosts that it may be on is not known to be dead', () => {
    const doubted = ended('stuck', 'GUEST_ON_DESTINATION', { certainty: 'unknown' })
    for (const destinations of [['cmp02', 'cmp03'], ['cmp02']]) {
      const known = earlier({ migrations: ['m2', 'm3'], destinations }, ['cmp02'])
      expect(tryAgainOf(incident({ a: doubted }), { ...facts, earlier: known })).toMatchObject({ unsure: ['a'] })
    }
  })

  it('nothing is offered while the incident is open, or of one that only observed', () => {
    const failed = { a: ended('failed', 'NO_VALID_HOST') }
    expect(tryAgainOf(incident(failed, { closed: null }), facts)).toBeNull()
    expect(tryAgainOf(incident(failed, { mode: 'observe' }), facts)).toBeNull()
  })
})

const failed = incident({ a: ended('failed', 'NO_VALID_HOST') })

describe('a statement is needed', () => {
  it.each([
    ['not where a machine can prove it again', failed, {}, false],
    ['where nothing proved it', incident({ a: ended('failed', 'X') }, { proof: null }), {}, true],
    [
      'where a person did',
      incident({ a: ended('failed', 'X') }, { proof: { strength: 'statement' } as Incident['proof'] }),
      {},
      true,
    ],
    ['where what was set does not stand any more', failed, { hasOurFlags: false }, true],
    ['where no method is configured', failed, { fencing: [] }, true],
  ] as const)('%s', (_name, it_, changes: Partial<AgainFacts>, needed) => {
    expect(tryAgainOf(it_, { ...facts, ...changes })?.needsStatement).toBe(needed)
  })
})

describe('it is refused', () => {
  it.each([
    ['while another incident is open', { newest: { id: 'i-2', isOpen: true } }, 'INCIDENT_OPEN', 'i-2'],
    ['where a later incident knows more', { newest: { id: 'i-2', isOpen: false } }, 'NOTHING_TO_TRY', 'i-2'],
    ['while the host beats', { verdict: { ...away, reason: 'BEATING_UNDER_OUR_FLAGS' } }, 'HOST_ALIVE', null],
    [
      'while nobody can tell whether the host still beats',
      { verdict: { ...away, kind: 'healthy' }, old: 'Nova did not answer' },
      'MONITOR_FROZEN',
      null,
    ],
    ['of a host that Nova does not list', { verdict: undefined }, 'NOT_FOUND', null],
    ['in observe mode', { mode: 'observe' }, 'OBSERVING', null],
  ] as const)('%s', (_name, changes, code, later) => {
    const again = tryAgainOf(failed, { ...facts, ...(changes as Partial<AgainFacts>) })
    expect(again).toMatchObject({ refused: { code }, later })
  })

  it('a later incident that was cancelled before anything was planned closes no door', () => {
    const counts = { recovered: 0, left: 0, failed: 0, stuck: 0, open: 0 }
    const lines = [
      { id: 'i-2', closedAt: 'x', outcome: 'cancelled', instances: counts },
      { id: 'i-1', closedAt: 'x', outcome: 'done', instances: { ...counts, failed: 1 } },
    ]
    const parts = {
      journal: { incidents: () => lines },
      store: { hasOurFlags: () => true },
      monitor: { verdict: () => away, segment: () => ({ fencing: [] }), frozen: () => null, lastPoll: () => null },
      mode: () => 'armed',
      earlier: () => null,
    }
    expect(againFacts('cmp01', parts as unknown as AgainParts).newest).toEqual({ id: 'i-1', isOpen: false })
  })
})

describe('the order', () => {
  const again: TryAgain = { instances: ['a'], unsure: [], needsStatement: false, later: null, refused: null }

  function parts(changes: { again?: TryAgain | null; open?: string } = {}) {
    const opened: unknown[] = []
    const made = {
      records: { get: () => ({ incident: failed }) },
      store: { get: () => failed, openOn: () => (changes.open === undefined ? undefined : { id: changes.open }) },
      brake: { holds: () => 'too many' },
      monitor: { verdict: () => away },
      watch: {
        open: (...[host, , by, rows]: Parameters<TryAgainParts['watch']['open']>) => {
          opened.push(host, by, ...(rows?.('i-2') ?? []))
          return 'i-2'
        },
      },
      again: () => (changes.again === undefined ? again : changes.again),
    }
    return { opened, made: made as unknown as TryAgainParts }
  }
  const order = { by: 'ann', reason: 'there is room', proof: null }

  it('opens one incident with the reason on record, and says what it brings back and what holds it', () => {
    const { opened, made } = parts()
    expect(orderTryAgain('i-1', order, made)).toEqual({
      incident: 'i-2',
      held: 'too many',
      instances: [{ id: 'a', name: 'web' }],
      unsure: [],
    })
    const about = { actor: 'operator:ann', incident: 'i-2', host: 'cmp01' }
    const data = { by: 'ann', reason: 'there is room', of: 'i-1' }
    expect(opened).toEqual(['cmp01', 'ann', { kind: 'operator.again', ...about, data }])
  })

  it('keeps a person’s word as the attestation that it is', () => {
    const { opened, made } = parts({ again: { ...again, needsStatement: true } })
    orderTryAgain('i-1', { ...order, reason: '', proof: 'it is off' }, made)
    expect(opened.slice(2)).toMatchObject([
      { kind: 'operator.again', data: { reason: 'it is off' } },
      { kind: 'operator.statement', data: { by: 'ann', statement: 'it is off', row } },
    ])
  })

  it.each([
    ['INCIDENT_OPEN', { open: 'i-9' }, order],
    ['NOTHING_TO_TRY', { again: null }, order],
    ['HOST_ALIVE', { again: { ...again, refused: { code: 'HOST_ALIVE', message: 'beats' } } }, order],
    ['PROOF_INVALID', { again: { ...again, needsStatement: true } }, order],
    ['PROOF_INVALID', {}, { by: 'root', reason: '', proof: 'off' }],
  ] as const)('%s: nothing is opened', (code, changes, given) => {
    const { opened, made } = parts(changes)
    expect(() => orderTryAgain('i-1', given, made)).toThrow(expect.objectContaining({ code }) as Error)
    expect(opened).toEqual([])
  })
})
