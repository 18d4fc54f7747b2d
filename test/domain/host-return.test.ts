/** The decision that moves a returning host, fact by fact and at every boundary. */
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { afterRefusalMs, rarestRetryMs } from '../../src/domain/service-refusals.ts'
import {
  changeReturn,
  decideReturn,
  defaultReturnRules,
  leastHealthyPolls,
  returnStates,
  traitGraceMs,
  type EvacuationLeft,
  type OurFlags,
  type ReturnDecision,
  type ReturnFacts,
  type ReturnRules,
  type ReturnState,
} from '../../src/domain/host-return.ts'

const now = 10_000_000
const ours = 'lifeboat: incident 1'
const rules: ReturnRules = {
  ...{ mode: 'automatic', healthyMs: 300_000, maxReturns: 3, withinMs: 1_800_000, startStopped: 'ask' },
}
const confirm: ReturnRules = { ...rules, mode: 'confirm' }
const ourFlags: OurFlags = { incidents: ['i-1'], serviceId: 's-1', forcedDown: true, disabled: true, reasons: [ours] }
const forced = { id: 's-1', status: 'disabled', state: 'down', forcedDown: true, disabledReason: ours } as const
const up = { ...forced, forcedDown: false, state: 'up' } as const
const enabled = { ...up, status: 'enabled', disabledReason: null } as const
const settled = { inFlight: [], done: [] }
const longHealthy = { since: now - rules.healthyMs, polls: leastHealthyPolls }
const ann = { by: 'ann', reason: 'repaired', keepOut: false }

/** Forced down by us, beating again, everything settled. */
const ready: ReturnFacts = {
  state: 'settling',
  ourFlags,
  unansweredUntil: null,
  readAt: now,
  isRefused: false,
  service: forced,
  pulse: 'beating',
  healthy: null,
  evacuations: settled,
  cleared: false,
  enabledAt: null,
  trait: null,
  failures: [now - 3_600_000],
  order: null,
  failed: null,
  blocked: null,
}
/** Our forced_down is taken back, and it was healthy for exactly as long as it must be. */
const proven: ReturnFacts = { ...ready, state: 'proving', service: up, cleared: true, healthy: longHealthy }
/** Everything of ours is taken back. */
const done: ReturnFacts = { ...proven, state: 'enabling', service: enabled, enabledAt: now - 5_000, trait: 'gone' }

function decided(facts: Partial<ReturnFacts>, from: ReturnFacts = ready, under = rules): ReturnDecision | null {
  return decideReturn({ ...from, ...facts }, under, now)
}

const refused = (agoMs: number) => ({ kind: 'clear-forced-down' as const, at: now - agoMs, message: '400' })

function short(decision: ReturnDecision | null): string | null {
  return decision === null ? null : `${decision.state} ${decision.code} ${decision.act ?? '-'}`
}

const left = (name: string, status: string): EvacuationLeft => ({
  migration: `m-${name}`,
  instance: name,
  name,
  status,
})
const flying = { inFlight: [left('web', 'pre-migrating')], done: [] }
const unsettled = { inFlight: [], done: [left('web', 'done')] }
const both = { inFlight: flying.inFlight, done: unsettled.done }

const table: [
  what: string,
  expected: string | null,
  facts: Partial<ReturnFacts>,
  from?: ReturnFacts,
  under?: ReturnRules,
][] = [
  // What stands on the service.
  ['a host that Nova does not list is away', 'away NOT_LISTED -', { service: null }],
  ['nothing is said while its cell does not answer', null, { service: { ...forced, id: null } }],
  [
    'a service that was made again carries nothing of ours',
    'back SERVICE_REPLACED end',
    { service: { ...forced, id: 's-2' } },
  ],
  ['someone else took everything back', 'back TAKEN_BACK_BY_OTHERS end', { service: enabled }],
  [
    "not while an order of ours may still be set: it would be nobody's",
    null,
    { service: enabled, pulse: 'silent', unansweredUntil: now + 1 },
  ],
  [
    'of a host that beats it is said, for that may take minutes',
    'settling UNANSWERED -',
    { service: enabled, unansweredUntil: now + 1 },
  ],
  [
    'an order that did not show up in time was never taken',
    'back NOT_TAKEN end',
    { service: enabled, unansweredUntil: now },
  ],
  ['an order that Nova refused was never taken', 'back NOT_TAKEN end', { service: enabled, isRefused: true }],
  ['also of a host that is silent', 'back TAKEN_BACK_BY_OTHERS end', { service: enabled, pulse: 'silent' }],
  [
    'someone took forced_down back and disabled it for a reason of theirs',
    'back TAKEN_BACK_BY_OTHERS end',
    { service: { ...up, disabledReason: 'theirs' } },
  ],
  [
    'forced down by someone else before us, and enabled since',
    'back TAKEN_BACK_BY_OTHERS end',
    { ourFlags: { ...ourFlags, forcedDown: false }, service: { ...forced, status: 'enabled', disabledReason: null } },
  ],
  [
    'enabled, with our words left behind: nothing is disabled',
    'back TAKEN_BACK_BY_OTHERS end',
    { ourFlags: { ...ourFlags, forcedDown: false }, service: { ...enabled, disabledReason: ours } },
  ],
  [
    'what we enabled was not taken back by others, though only our disable stood there',
    'enabling TRAIT_UNREAD -',
    {
      ourFlags: { ...ourFlags, forcedDown: false },
      service: enabled,
      state: 'enabling',
      healthy: longHealthy,
      enabledAt: now - 5_000,
    },
  ],
  [
    'someone enabled it: forced_down is still ours',
    'clearing CLEARING clear-forced-down',
    { service: { ...forced, status: 'enabled', disabledReason: null } },
  ],
  [
    'someone cleared forced_down: the disable is still ours, and is proven first',
    'proving PROVING -',
    { service: up, healthy: longHealthy },
  ],
  [
    'forced down by someone else before us: they take it back first',
    'settling FORCED_DOWN_BY_OTHERS -',
    { ourFlags: { ...ourFlags, forcedDown: false } },
  ],
  ['forced down again by someone else after we cleared it', 'settling FORCED_DOWN_BY_OTHERS -', { cleared: true }],
  [
    'the same with nothing of ours left',
    'back LEFT_FORCED_DOWN end',
    { cleared: true, service: { ...forced, disabledReason: 'theirs' } },
  ],
  // Its heartbeat.
  ['silent', 'away SILENT -', { pulse: 'silent', state: 'away' }],
  ['silent again', 'away SILENT_AGAIN -', { pulse: 'silent' }],
  ['silent again while it proves itself', 'away SILENT_AGAIN -', { pulse: 'silent' }, proven],
  ['not watched long enough: what was said stands', null, { pulse: 'unsure' }],
  ['not watched long enough while it proves itself', null, { pulse: 'unsure' }, proven],
  // Its evacuations.
  ['evacuations not read yet', 'settling READING -', { evacuations: null, state: 'away' }],
  ['an evacuation that has not ended', 'settling EVACUATION_IN_FLIGHT -', { evacuations: flying }],
  [
    'one that has not ended comes before those that need a start',
    'settling EVACUATION_IN_FLIGHT -',
    { evacuations: both },
  ],
  ['a record that needs another start', 'settling NEEDS_ANOTHER_START -', { evacuations: unsettled }],
  [
    'also when a person let it back: Nova would refuse',
    'settling NEEDS_ANOTHER_START -',
    { evacuations: unsettled, order: ann },
  ],
  [
    'records do not matter when someone else cleared forced_down',
    'proving PROVING -',
    { evacuations: unsettled, service: up },
  ],
  // Taking forced_down back.
  ['settled', 'clearing CLEARING clear-forced-down', {}],
  ['settled, from away', 'clearing CLEARING clear-forced-down', { state: 'away' }],
  ['refused a moment ago', 'clearing REFUSED -', { failed: refused(afterRefusalMs - 1) }],
  ['refused long enough ago', 'clearing CLEARING clear-forced-down', { failed: refused(afterRefusalMs) }],
  ...[
    [2, 2 * afterRefusalMs],
    [20, rarestRetryMs],
  ].flatMap(([times = 0, pauseMs = 0]): typeof table => [
    [`refused ${times} times in a row`, 'clearing REFUSED -', { failed: { ...refused(pauseMs - 1), times } }],
    [
      `and long enough ago, ${times}`,
      'clearing CLEARING clear-forced-down',
      { failed: { ...refused(pauseMs), times } },
    ],
  ]),
  ['held back a moment ago', null, { failed: { ...refused(9_999), heldBack: true } }],
  [
    'held back long enough ago',
    'clearing CLEARING clear-forced-down',
    { failed: { ...refused(10_000), heldBack: true } },
  ],
  [
    'the other write was refused',
    'clearing CLEARING clear-forced-down',
    { failed: { kind: 'enable', at: now, message: '400' } },
  ],
  // Proving.
  ['cleared, not seen healthy', 'proving PROVING -', { healthy: null }, proven],
  [
    'healthy, not long enough',
    'proving PROVING -',
    { healthy: { ...longHealthy, since: longHealthy.since + 1 } },
    proven,
  ],
  [
    'healthy long enough, in too few polls',
    'proving PROVING -',
    { healthy: { ...longHealthy, polls: leastHealthyPolls - 1 } },
    proven,
  ],
  ['healthy long enough', 'enabling ENABLING enable', {}, proven],
  ['healthy by its heartbeat, and Nova says down', 'proving PROVING -', { service: { ...up, state: 'down' } }, proven],
  ['the proving is said before the enabling', 'proving PROVING -', { state: 'clearing' }, proven],
  [
    'a person let it back after it was healthy for long',
    'enabling ENABLING enable',
    { state: 'waiting-confirmation', order: ann },
    proven,
    confirm,
  ],
  ['kept out until now, healthy for long', 'enabling ENABLING enable', { state: 'kept-out', order: ann }, proven],
  // Enabling.
  [
    'enabling failed before a restart, long ago: it is not proven healthy again',
    'enabling ENABLING enable',
    { state: 'enabling', failed: { kind: 'enable', at: now - afterRefusalMs, message: 'no' } },
    proven,
  ],
  [
    'enabling was refused a moment ago',
    'enabling REFUSED -',
    { failed: { kind: 'enable', at: now - 1, message: '500' } },
    proven,
  ],
  ['a person had disabled it before', 'back LEFT_DISABLED end', { ourFlags: { ...ourFlags, disabled: false } }, proven],
  [
    'a person changed the reason since',
    'back LEFT_DISABLED end',
    { service: { ...up, disabledReason: 'theirs' } },
    proven,
  ],
  ['a person removed the reason since', 'back LEFT_DISABLED end', { service: { ...up, disabledReason: null } }, proven],
  [
    'a text of an earlier incident of ours is ours',
    'enabling ENABLING enable',
    { ourFlags: { ...ourFlags, reasons: ['lifeboat: incident 0', ours] } },
    proven,
  ],
  [
    'the disable of others is said only when it is proven healthy',
    'proving PROVING -',
    { ourFlags: { ...ourFlags, disabled: false }, healthy: null },
    proven,
  ],
  ['someone enabled it while it proved itself', 'back BACK end', { service: enabled }, proven],
  ['enabled, and Placement follows', 'back BACK end', {}, done],
  ['enabled, Placement not read', 'enabling TRAIT_UNREAD -', { trait: null }, done],
  [
    'enabled, Placement cannot be read for long',
    'back TRAIT_UNREAD end',
    { trait: null, enabledAt: now - traitGraceMs },
    done,
  ],
  [
    'enabled, Placement still avoids it',
    'enabling TRAIT_LEFT -',
    { trait: 'set', enabledAt: now - traitGraceMs + 1 },
    done,
  ],
  [
    'enabled, Placement avoids it for long',
    'back TRAIT_LEFT end',
    { trait: 'set', enabledAt: now - traitGraceMs },
    done,
  ],
  [
    'enabled by us, disabled by someone else',
    'back DISABLED_AGAIN end',
    { service: { ...up, disabledReason: 'theirs' } },
    done,
  ],
  ['enabled by us, in a segment that asks: what was let back stays back', 'back BACK end', {}, done, confirm],
  // Confirmation.
  ['ready, and a person must say so', 'waiting-confirmation WAITING_FOR_A_PERSON -', {}, ready, confirm],
  ['a person said so', 'clearing CLEARING clear-forced-down', { order: ann }, ready, confirm],
  ['not settled: nobody is asked yet', 'settling NEEDS_ANOTHER_START -', { evacuations: unsettled }, ready, confirm],
  [
    'only the disable is ours: a person is asked all the same',
    'waiting-confirmation WAITING_FOR_A_PERSON -',
    { service: up, healthy: longHealthy },
    ready,
    confirm,
  ],
  // Kept out.
  ['a person keeps it out', 'kept-out KEPT_OUT -', { order: { ...ann, keepOut: true } }],
  ['also while it is silent', 'kept-out KEPT_OUT -', { order: { ...ann, keepOut: true }, pulse: 'silent' }],
  ['also while it proves itself', 'kept-out KEPT_OUT -', { order: { ...ann, keepOut: true } }, proven],
  ['what is in service is told so', 'back ENABLED_BEFORE_ORDER end', { order: { ...ann, keepOut: true } }, done],
  [
    'kept out, and enabled by someone or by our lost enable: in service all the same',
    'back ENABLED_ALTHOUGH_KEPT_OUT end',
    { order: { ...ann, keepOut: true }, state: 'kept-out', service: enabled },
    proven,
  ],
  [
    'also while it is silent: it gets an incident only once its return is over',
    'back ENABLED_ALTHOUGH_KEPT_OUT end',
    { order: { ...ann, keepOut: true }, state: 'kept-out', service: enabled, pulse: 'silent' },
    proven,
  ],
  [
    'forced down by someone since: not in service',
    'kept-out KEPT_OUT -',
    { order: { ...ann, keepOut: true }, state: 'kept-out', service: { ...enabled, forcedDown: true } },
    proven,
  ],
  [
    'kept out because of its failures, and enabled',
    'back ENABLED_ALTHOUGH_KEPT_OUT end',
    { state: 'kept-out', service: enabled },
    proven,
  ],
  [
    'a limit that was lowered keeps nothing out that is in service',
    'back BACK end',
    { failures: [now, now, now, now] },
    done,
  ],
  ['three failures are not too many', 'clearing CLEARING clear-forced-down', { failures: [now, now, now] }],
  ['a fourth is', 'kept-out FLAPPING -', { failures: [now, now, now, now] }],
  [
    'also before its evacuations are settled',
    'kept-out FLAPPING -',
    { failures: [now, now, now, now], evacuations: unsettled },
  ],
  ['failures count to the end of the time', 'kept-out FLAPPING -', { failures: [now, now, now, now - rules.withinMs] }],
  ['and no longer', 'clearing CLEARING clear-forced-down', { failures: [now, now, now, now - rules.withinMs - 1] }],
  [
    'a flapping host that is silent is away',
    'away SILENT -',
    { failures: [now, now, now, now], pulse: 'silent', state: 'away' },
  ],
  [
    'a person lets a flapping host back',
    'clearing CLEARING clear-forced-down',
    { failures: [now, now, now, now], order: ann },
  ],
  ['kept out once, it stays out when the time is over', 'kept-out FLAPPING -', { state: 'kept-out' }],
  ['and while it is silent', 'kept-out FLAPPING -', { state: 'kept-out', pulse: 'silent' }],
  ['until a person lets it back', 'clearing CLEARING clear-forced-down', { state: 'kept-out', order: ann }],
  // What forbids writing.
  ['observing: said, not done', 'clearing OBSERVING -', { blocked: { code: 'OBSERVING', message: 'observing' } }],
  ['paused: said, not done', 'enabling PAUSED -', { blocked: { code: 'PAUSED', message: 'paused by ann' } }, proven],
  ['the end is a record and no write', 'back BACK end', { blocked: { code: 'PAUSED', message: 'paused' } }, done],
  [
    'what is not to be written is said as ever',
    'settling NEEDS_ANOTHER_START -',
    { evacuations: unsettled, blocked: { code: 'PAUSED', message: 'paused' } },
  ],
]

describe('a host that carries our mark', () => {
  it('what is still ours goes its way also while the answer to an order of ours is missing', () => {
    expect(decided({})).not.toBeNull()
    expect(decided({ unansweredUntil: now + 1 })).toEqual(decided({}))
  })

  it.each(table)('%s', (_what, expected, facts, from, under) => {
    expect(short(decided(facts, from, under))).toBe(expected)
  })
})

describe('what is said', () => {
  test('names each record that needs another start, the first five in the sentence and all of them as leftovers', () => {
    const records = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => left(name, 'done'))
    const decision = decided({ evacuations: { inFlight: [], done: records } })
    expect(decision?.message).toContain(
      'a (m-a, done), b (m-b, done), c (m-c, done), d (m-d, done), e (m-e, done) and 2 more',
    )
    expect(decision?.leftovers.map(({ instance }) => instance)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    expect(decision?.leftovers[0]).toEqual({
      code: 'NEEDS_ANOTHER_START',
      message: 'a: evacuation m-a needs another start of nova-compute',
      instance: 'a',
    })
  })

  test('names what is in flight, without counting when all are named', () => {
    const decision = decided({ evacuations: flying })
    expect(decision?.message).toContain('have not ended: web (m-web, pre-migrating). If')
    expect(decision?.leftovers).toEqual([
      { code: 'EVACUATION_IN_FLIGHT', message: 'web: evacuation m-web is pre-migrating', instance: 'web' },
    ])
  })

  test('leaves nothing behind where nothing is named', () => {
    expect(decided({})?.leftovers).toEqual([])
    expect(decided({ service: null })?.leftovers).toEqual([])
    expect(decided({}, done)?.leftovers).toEqual([])
  })

  test('lists names with a comma', () => {
    const records = [left('web', 'done'), left('db', 'done')]
    expect(decided({ evacuations: { inFlight: [], done: records } })?.message).toContain(
      'complete web (m-web, done), db (m-db, done): each start',
    )
  })

  test('says the rules it acts by', () => {
    expect(decided({ healthy: null }, proven)?.message).toContain('for 5 min')
    expect(decided({ state: 'kept-out' })?.message).toContain('more than 3 times within 30 min')
    expect(decided({ order: { ...ann, keepOut: true } })?.message).toBe('Kept out by ann: repaired')
  })

  test('names who ordered that it stay out, or why it should, where it is in service all the same', () => {
    const of = (order: ReturnFacts['order']): ReturnDecision | null =>
      decided({ state: 'kept-out', service: enabled, order }, proven)
    expect(of({ ...ann, keepOut: true })?.leftovers).toMatchObject([{ code: 'ENABLED_ALTHOUGH_KEPT_OUT' }])
    expect(of({ ...ann, keepOut: true })?.message).toMatch(
      /^ann ordered that it stay out \(repaired\), but .* Disable its service in Nova/,
    )
    expect(of(null)?.message).toContain('because it failed more than 3 times within 30 min, but')
  })

  test('says why nothing is written, and which write waits', () => {
    const blocked = { code: 'PAUSED', message: 'paused by ann: lunch' }
    expect(decided({ blocked })).toMatchObject({ message: 'Clear our forced_down: not now, paused by ann: lunch' })
    expect(decided({ failed: { kind: 'clear-forced-down', at: now, message: 'Nova said 400' } })?.message).toContain(
      '(Nova said 400)',
    )
  })

  test('says the same of each refusal: a new sentence is a new entry', () => {
    const said = [1, 2].map((times) => decided({ failed: { ...refused(1), times } })?.message)
    expect(said[0]).toBe(said[1])
  })

  test('says whose disable stands', () => {
    expect(decided({ service: { ...up, disabledReason: 'theirs' } }, proven)?.message).toContain(
      'no longer ours (theirs)',
    )
    expect(
      decided({ ourFlags: { ...ourFlags, disabled: false }, service: { ...up, disabledReason: null } }, proven)
        ?.message,
    ).toContain('someone else had disabled it before (no reason given)')
  })

  test('reports a trait that stays as a leftover, only at the end', () => {
    expect(decided({ trait: 'set' }, done)?.leftovers).toEqual([])
    expect(decided({ trait: 'set', enabledAt: now - traitGraceMs }, done)?.leftovers).toMatchObject([
      { code: 'TRAIT_LEFT', instance: null },
    ])
    expect(decided({ trait: null, enabledAt: now - traitGraceMs }, done)?.leftovers).toMatchObject([
      { code: 'TRAIT_UNREAD', instance: null },
    ])
  })
})

const states = Object.keys(returnStates).filter((state) => state !== 'back') as ReturnState[]
const anyFacts: fc.Arbitrary<ReturnFacts> = fc.record({
  state: fc.constantFrom(...states),
  ourFlags: fc.record({
    incidents: fc.constant(['i-1']),
    serviceId: fc.constant('s-1'),
    forcedDown: fc.boolean(),
    disabled: fc.boolean(),
    reasons: fc.constant([ours]),
  }),
  unansweredUntil: fc.constant(null),
  readAt: fc.constant(now),
  isRefused: fc.boolean(),
  service: fc.option(
    fc.record({
      id: fc.constantFrom('s-1', 's-1', 's-1', 's-2', null),
      status: fc.constantFrom('enabled' as const, 'disabled' as const),
      state: fc.constantFrom('up' as const, 'down' as const),
      forcedDown: fc.boolean(),
      disabledReason: fc.constantFrom(ours, 'theirs', null),
    }),
    { freq: 9 },
  ),
  pulse: fc.constantFrom('beating' as const, 'beating' as const, 'silent' as const, 'unsure' as const),
  healthy: fc.constantFrom(null, longHealthy, { since: now, polls: 1 }),
  evacuations: fc.constantFrom(null, settled, settled, flying, unsettled, both),
  cleared: fc.boolean(),
  enabledAt: fc.constantFrom(null, now, now - traitGraceMs),
  trait: fc.constantFrom(null, 'set' as const, 'gone' as const),
  failures: fc.array(fc.constant(now), { maxLength: 5 }),
  order: fc.constantFrom(null, ann, { ...ann, keepOut: true }),
  failed: fc.constantFrom(null, { kind: 'enable' as const, at: now, message: 'no' }),
  blocked: fc.constantFrom(null, { code: 'PAUSED', message: 'paused' }),
})

describe('whatever the facts are', () => {
  const holds = (law: (facts: ReturnFacts, decision: ReturnDecision, under: ReturnRules) => void): void =>
    fc.assert(
      fc.property(anyFacts, fc.constantFrom(rules, confirm), (facts, under) => {
        const decision = decideReturn(facts, under, now)
        if (decision !== null) law(facts, decision, under)
      }),
      { numRuns: 3_000 },
    )

  test('the table allows the change', () =>
    holds(({ state }, decision) => expect(() => changeReturn(state, decision.state)).not.toThrow()))

  test('nothing is written that is not ours, of a host that does not beat, while something forbids it, or against a person', () =>
    holds(({ ourFlags: its, service, pulse, order, blocked }, { act }, under) => {
      if (act === null || act === 'end') return
      expect({ pulse, blocked, id: service?.id }).toEqual({ pulse: 'beating', blocked: null, id: its.serviceId })
      expect(order?.keepOut).not.toBe(true)
      if (under.mode === 'confirm') expect(order).toEqual(ann)
      if (act === 'clear-forced-down') expect(its.forcedDown && service?.forcedDown).toBe(true)
      else expect(its.disabled && service?.disabledReason).toBe(ours)
    }))

  test('forced_down is taken back only when every evacuation is settled, and a disable only of a host proven healthy', () =>
    holds(({ evacuations, healthy, service }, { act }) => {
      if (act === 'clear-forced-down') expect(evacuations).toEqual(settled)
      if (act === 'enable') expect({ healthy, state: service?.state }).toEqual({ healthy: longHealthy, state: 'up' })
    }))

  test('a host that is in service is not said to be kept out', () =>
    holds(({ service }, { state }) => {
      if (state === 'kept-out') expect(service?.status === 'enabled' && !service.forcedDown).toBe(false)
    }))

  test('the end is said exactly when the state is back', () =>
    holds((_facts, { state, act }) => expect(state === 'back').toBe(act === 'end')))
})

test('by default a host returns by itself after five minutes of health, and not after the fourth failure in half an hour', () =>
  expect(defaultReturnRules).toEqual({
    mode: 'automatic',
    healthyMs: 300_000,
    maxReturns: 3,
    withinMs: 1_800_000,
    startStopped: 'ask',
  }))

test('the table refuses what it does not allow, and knows that staying is no change', () => {
  expect(() => changeReturn('back', 'away')).toThrow('cannot go from back to away')
  expect(changeReturn('away', 'away')).toEqual({ from: 'away', to: 'away' })
  expect(changeReturn('settling', 'clearing')).toEqual({ from: 'settling', to: 'clearing' })
})
